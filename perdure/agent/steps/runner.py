"""One step, from its expressions to its outcome. Decides what a step does; when it runs is decided by its workflow."""

import asyncio
import datetime
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue

from perdure.agent.steps.attempts import Attempt, Happened
from perdure.agent.steps.calls import Acts, Asks, Compensation, Ended, StepCall
from perdure.agent.steps.enforcement import Enforcer, permission
from perdure.agent.steps.evaluator import DECLINED, SKIPPED, StepEvaluator, failed_after, runs
from perdure.agent.steps.gate import Gate, Stopped, Unknown, Verdict
from perdure.agent.steps.invocation import calling, ended
from perdure.agent.steps.limiter import Limiter
from perdure.agent.steps.once import OnceRunner
from perdure.agent.steps.resume_point import (
    Reached,
    is_declined,
    is_undecided,
    question_of,
    so_far_of,
    unknown_effect,
)
from perdure.agent.steps.secrecy import SecretGate, secrets_for
from perdure.agent.steps.threads import counted
from perdure.agent.steps.validation import checked_arguments
from perdure.agent.steps.values import Values
from perdure.errors import InvalidArguments, InvalidInput, InvalidTask, ResultTooLarge
from perdure.expressions.evaluation import evaluate, written
from perdure.frames import said_by
from perdure.identity import content_digest, idempotency_key
from perdure.secrets.sources import SecretKeeper
from perdure.stores.redis.claims import Claims, ClaimState, OnceEffect
from perdure.toolbox import Toolbox
from perdure.tools import Effect, Tool, ToolCall
from perdure.values.questions import (
    Approval,
    EffectFate,
    QuestionKind,
    Subject,
    choice_of,
    shortened,
)


class StepRunner(StepEvaluator):
    """Runs steps with the tools of one worker.

    Args:
        toolbox: The tools.
        claims: Claims on effects that must not happen twice.
        values: Where large values are kept.
        redis_since: Returns since when Redis, with its claims, has lost nothing.
        claimed: Counts a claim.
        enforcer: Asks the policies about each call of a tool.
        limiter: Lets calls begin as their tools' limits allow.
        secrets: Has the secrets that tools ask for.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        claims: Claims,
        values: Values,
        redis_since: Callable[[], Awaitable[datetime.datetime | None]],
        claimed: Callable[[], Awaitable[None]],
        *,
        enforcer: Enforcer,
        limiter: Limiter,
        secrets: SecretKeeper,
    ) -> None:
        super().__init__(values)
        self._toolbox = toolbox
        self._claims = claims
        self._once = OnceRunner(claims, redis_since, claimed)
        self._enforcer = enforcer
        self._limiter = limiter
        self._secrets = secrets

    async def decide(self, call: StepCall, attempt: Attempt) -> Acts | Ended | Asks:
        """Return whether a step's tool is to be called, by its ``when`` and by what people say. Calls no tool.

        Raises:
            PerdureError: When that cannot be decided; the class says whether trying again makes sense.
        """
        so_far = so_far_of(call)
        if is_declined(so_far):
            await self._enforcer.declined(call, attempt, so_far)
            return DECLINED
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        if not runs(call.step.when, names, call.path):
            return SKIPPED
        if call.step.approve is None or so_far.approved is not None:
            return Acts()
        return await self._unapproved(call, names, await self._wanted(call, names, attempt)) or Acts()

    async def act(self, call: StepCall, attempt: Attempt) -> Ended | Asks:
        """Run a step whose tool is to be called: resolve, act, check, render what is to be remembered.

        What nobody has decided yet is decided first, so that no workflow can have a tool called that a person was to
        approve.

        Raises:
            Blocked: A policy does not let the tool act.
            PerdureError: When it fails; the class says whether trying again makes sense.
        """
        if is_undecided(call) and not isinstance(decided := await self.decide(call, attempt), Acts):
            # A workflow that has not decided it is none of this build's.
            return decided
        so_far = so_far_of(call)
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        if so_far.acted is not None:
            # What it was called with, also where another attempt called it: what comes back of it states nothing.
            attempt.report.arguments = shortened(await self.arguments(call, names))
            output = await self._values.get(call.tenant, call.task_id, so_far.acted)
            return await self.concluded(call, names, output, so_far)
        wanted = await self._wanted(call, names, attempt)
        tool, about = wanted.tool, wanted.about
        how: dict[str, Any] = {
            "acting": call.acting,
            "arguments": wanted.arguments,
            "digest": wanted.effect.arguments,
            "so_far": so_far,
        }
        gate = self._enforcer.gate(call, attempt, tool.name, tool.effect, **how)
        async with self._limiter.within(tool, call, attempt) as admission:
            performing = self._perform(wanted, call, gate=gate, attempt=attempt, verdict=so_far.verdict)
            acted = await _tried(call, performing)
            admission.is_made = isinstance(acted, Happened | Ended)
        if not isinstance(acted, Happened):
            return _undone(call, about, so_far, acted)
        so_far = so_far.changed(warnings=gate.warnings, unkept=acted.unkept, happened_before=acted.before)
        about = about.changed(attempted_at=acted.at or attempt.started_at)
        return await self.acted(call, names, acted.output, about, so_far)

    async def _wanted(self, call: StepCall, names: Mapping[str, JsonValue], attempt: Attempt) -> "_Wanted":
        """Return the call that a step wants to be made."""
        tool = self._toolbox.get(call.step.tool, f"{call.path}.tool")
        arguments = await self.arguments(call, names)
        keywords = checked_arguments(tool, arguments, call.step.args, f"{call.path}.args")
        attempt.report.arguments = shortened(arguments)
        about = Subject(
            tool=tool.name,
            arguments=attempt.report.arguments,
            idempotency_key=_key(call, tool, arguments),
        )
        effect = OnceEffect(
            tenant=call.tenant,
            task_id=call.task_id,
            step=call.path,
            arguments=content_digest([tool.name, arguments]),
            binding=call.binding,
            epoch=call.epoch,
        )
        return _Wanted(tool=tool, arguments=arguments, keywords=keywords, about=about, effect=effect)

    async def _unapproved(self, call: StepCall, names: Mapping[str, JsonValue], wanted: "_Wanted") -> Asks | None:
        """Return the question whether the step may act; None where its effect is recorded."""
        about, effect = wanted.about, wanted.effect
        if call.earlier is not None:
            found = await self._claims.look(effect)
            if found.holding is ClaimState.DONE and found.arguments == effect.arguments:
                return None
            about = about.changed(attempted_at=found.at)
        text = written(evaluate(call.step.approve, names, f"{call.path}.approve"))
        return question_of(call, text, about, choice_of(Approval), Reached(asked=QuestionKind.APPROVAL))

    async def _perform(
        self, wanted: "_Wanted", call: StepCall, *, gate: Gate, attempt: Attempt, verdict: Verdict | None
    ) -> Happened | Unknown | Stopped:
        tool, keywords = wanted.tool, wanted.keywords
        secrets = await secrets_for(tool, self._secrets, call.path, attempt.number)
        gate = SecretGate(gate, secrets)
        if not tool.effect.is_once and (stopped := await gate.stopped()):
            return stopped
        seconds = call.timeout or tool.timeout
        times = {"seconds": seconds, "cut": call.cut_after(seconds)}
        tool_call = ToolCall(
            idempotency_key=wanted.about.idempotency_key,
            task_id=call.task_id,
            step=call.path,
            attempt=attempt.number,
            lessons=call.lessons,
            deadline=datetime.datetime.now(datetime.UTC)
            + datetime.timedelta(seconds=times["cut"] if attempt.cut is None else min(attempt.cut, times["cut"])),
        )
        if tool.effect.is_once:
            how: dict[str, Any] = {
                "gate": gate,
                **times,
                "earlier": call.earlier,
                "verdict": verdict,
                "secrets": secrets,
            }
            return await self._once.run(tool, tool_call, keywords, wanted.effect, attempt, **how)
        attempt.report.deadline = tool_call.deadline
        with counted() as work:
            try:
                called = _called(tool, times["cut"], tool_call, keywords, secrets.values)
                if tool.effect is Effect.READ:
                    returned = await called
                else:
                    returned = await ended(asyncio.create_task(called), attempt.lets_end)
                attempt.report.deadline = None
            finally:
                if work.is_running:
                    attempt.report.deadline = None
        return Happened(output=tool.jsonable(returned))


class _Wanted(NamedTuple):
    """The call that a step wants to be made."""

    tool: Tool[..., Any]
    arguments: Mapping[str, JsonValue]
    keywords: Mapping[str, Any]
    about: Subject
    effect: OnceEffect


async def _tried(
    call: StepCall, performing: Awaitable[Happened | Unknown | Stopped]
) -> Happened | Unknown | Stopped | Ended:
    """Perform an effect; of one that can be undone and returned what no step can carry, return how it ended."""
    try:
        return await performing
    except (ResultTooLarge, InvalidInput) as problem:
        # Of arguments, and of what is missing, it is said before anything is called.
        if call.step.compensate is None or isinstance(problem, InvalidTask | InvalidArguments):
            raise
        lacking = f"its output is not known: {said_by(problem)}"
        undoing = Compensation(path=call.path, tool=call.step.compensate.tool, problem=lacking)
        return failed_after(undoing, said_by(problem))


async def _called(tool: Tool[..., Any], seconds: float, *given: Any) -> Any:
    async with calling(tool.name, seconds):
        return await tool.call(*given)


def _undone(call: StepCall, about: Subject, so_far: Reached, acted: Unknown | Stopped | Ended) -> Asks | Ended:
    """Return the question without whose answer the tool is not called; a step that has ended as it is.

    Raises:
        Blocked: A policy does not let the tool act.
    """
    if isinstance(acted, Ended):
        return acted
    if isinstance(acted, Stopped):
        return permission(call, about, so_far, acted)
    so_far = so_far.changed(asked=QuestionKind.UNKNOWN_EFFECT, claim=acted.claim, verdict=None)
    about = about.changed(attempted_at=acted.at, deadline=acted.deadline)
    return question_of(call, unknown_effect(about.tool, acted), about, choice_of(EffectFate), so_far)


def _key(call: StepCall, tool: Tool[..., Any], arguments: Mapping[str, JsonValue]) -> str:
    """Return the idempotency key of a call.

    A path names a step of a skill, whose arguments are the same in every run. In a model's turns it is only a place:
    asked again, the model may want another tool or other arguments there, which is another call. So may a quick step
    that is run again together with those before it.
    """
    wanted: JsonValue = [call.step.tool, dict(arguments)]
    by_place = call.arguments is None and not tool.quick
    place = call.path if by_place else f"{call.path}#{content_digest(wanted)[:16]}"
    return idempotency_key(call.tenant, call.task_id, place)
