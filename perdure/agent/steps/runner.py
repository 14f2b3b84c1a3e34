"""One step, from its expressions to its outcome. Decides what a step does; when it runs is decided by its workflow."""

import datetime
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import JsonValue

from perdure.agent.steps.calling import calling
from perdure.agent.steps.calls import (
    ITEMS_LIMIT,
    LIST_LIMIT,
    Asks,
    Ended,
    EvaluateCall,
    Evaluated,
    ExpandCall,
    PromptCall,
    RecallCall,
    RecallTerms,
    RememberCall,
    Result,
    StepCall,
    StepContext,
    Value,
)
from perdure.agent.steps.enforcing import Enforcer, permission
from perdure.agent.steps.gate import Gate, Stopped, Verdict
from perdure.agent.steps.items import items_of
from perdure.agent.steps.once import Attempt, Happened, OnceRunner, Unknown
from perdure.agent.steps.prompting import Answered
from perdure.agent.steps.reached import Reached, is_declined, question_of, so_far_of, unknown_effect
from perdure.agent.steps.recalling import terms_of
from perdure.agent.steps.threads import counted
from perdure.agent.steps.values import Values
from perdure.documents import kind_of, mapping
from perdure.errors import ExpectationFailed, InvalidArguments, InvalidExpression, InvalidItem, ResultTooLarge
from perdure.expressions.evaluation import evaluate, holds, written
from perdure.identity import content_digest, idempotency_key
from perdure.questions import (
    AnswerSpec,
    Approval,
    EffectFate,
    QuestionKind,
    Subject,
    choice_of,
    shortened,
)
from perdure.stores.redis.claims import Claims, Holding, OnceEffect
from perdure.tasks import Evaluation, StepStatus
from perdure.toolbox import Toolbox
from perdure.tools import Tool, ToolCall

OUTPUT_LIMIT = 1_800_000
"""Bytes of JSON that a task may give back: what Temporal takes in one payload, less the lists of its result."""

_SKIPPED = Ended(result=Result(status=StepStatus.SKIPPED))
_LISTED = Result(status=StepStatus.DONE)


class StepRunner:
    """Runs steps with the tools of one worker.

    Args:
        toolbox: The tools.
        claims: Claims on effects that must not happen twice.
        values: Where large values are kept.
        redis_since: Returns since when Redis, with its claims, has lost nothing.
        claimed: Counts a claim.
        enforcer: Asks the policies about each call of a tool.
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
    ) -> None:
        self._toolbox = toolbox
        self._claims = claims
        self._once = OnceRunner(claims, redis_since, claimed)
        self._values = values
        self._enforcer = enforcer

    async def act(self, call: StepCall, attempt: Attempt) -> Ended | Asks:
        """Run a tool step: resolve, ask, act, check, render what is to be remembered.

        Raises:
            Blocked: A policy does not let the tool act.
            PerdureError: When it fails; the class says whether trying again makes sense.
        """
        step, so_far = call.step, so_far_of(call)
        if is_declined(so_far):
            await self._enforcer.declined(call, attempt, so_far)
            return _SKIPPED
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        if so_far.acted is not None:
            output = await self._values.get(call.tenant, call.task_id, so_far.acted)
            return await self._concluded(call, names, output, so_far)
        if not _runs(step.when, names, call.path):
            return _SKIPPED
        tool = self._toolbox.get(step.tool, f"{call.path}.tool")
        arguments = await self._arguments(call, names)
        keywords = tool.validate(arguments, f"{call.path}.args")
        attempt.report.arguments = shortened(arguments)
        about = Subject(
            tool=tool.name,
            arguments=attempt.report.arguments,
            idempotency_key=_key(call, arguments),
        )
        effect = OnceEffect(
            tenant=call.tenant,
            task_id=call.task_id,
            step=call.path,
            arguments=content_digest([tool.name, arguments]),
            binding=call.binding,
            epoch=call.epoch,
        )
        if so_far.approved is None and (asks := await self._unapproved(call, names, effect, attempt.owner, about)):
            return asks
        how: dict[str, Any] = {"arguments": arguments, "digest": effect.arguments, "so_far": so_far}
        gate = self._enforcer.gate(call, attempt, tool, **how)
        acted = await self._perform(
            tool, keywords, call, effect, about.idempotency_key, gate=gate, attempt=attempt, verdict=so_far.verdict
        )
        if not isinstance(acted, Happened):
            return _undone(call, about, so_far, acted)
        so_far = so_far.changed(warnings=gate.warnings)
        about = about.changed(attempted_at=acted.at or attempt.started_at)
        asks = await self._unexpected(call, names, acted.output, about, so_far.warnings)
        return asks or await self._concluded(call, names, acted.output, so_far)

    async def prompt(self, call: PromptCall, answer: Callable[[str], Awaitable[Answered]]) -> Ended:
        """Run a step that a language model answers.

        Args:
            call: The step.
            answer: Returns the model's answer to a request.

        Raises:
            ExpectationFailed: The answer is not what the step expects.
        """
        names, step = await self._values.names(call.tenant, call.task_id, call.scope), call.step
        if not _runs(step.when, names, call.path):
            return _SKIPPED
        answered = await answer(written(evaluate(step.prompt, names, f"{call.path}.prompt")))
        known = {**names, "output": answered.output}
        if step.expect is not None and not holds(step.expect, known, f"{call.path}.expect"):
            raise ExpectationFailed(f"{call.path}: the answer is not what is expected: {step.expect}")
        ended, parts = _remembering(call, known), await self.keep(call, {"output": answered.output})
        return ended.changed(result=ended.result.changed(parts=parts), tokens=answered.tokens)

    async def remember(self, call: RememberCall) -> Ended:
        """Run a step that only remembers."""
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        if not _runs(call.step.when, names, call.path):
            return _SKIPPED
        return _remembering(call, names)

    async def terms(self, call: RecallCall) -> RecallTerms | None:
        """Return what a recall step asks for; None when its ``when`` is false."""
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        return terms_of(call, names) if _runs(call.step.when, names, call.path) else None

    async def keep(self, call: StepContext, parts: Mapping[str, JsonValue]) -> dict[str, Value]:
        """Return the parts of a result in a form that fits the history."""
        task, how = call.task_id, dict[str, Any](limit=call.inline_limit, epoch=call.epoch)
        return {name: await self._values.keep(call.tenant, task, value, **how) for name, value in parts.items()}

    async def expand(self, call: ExpandCall) -> Ended:
        """Return the list of a ``for_each``.

        Raises:
            InvalidExpression: When it is not a list.
            ResultTooLarge: When it is too long to be walked.
        """
        field = f"{call.path}.for_each"
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        if not _runs(call.when, names, call.path):
            return Ended(result=_LISTED, elements=())
        elements = evaluate(call.for_each, names, field)
        if not isinstance(elements, list):
            raise InvalidExpression(field, f"is {kind_of(elements)}, not a list")
        size = len(json.dumps(elements).encode())
        if len(elements) > ITEMS_LIMIT or size > LIST_LIMIT:
            raise ResultTooLarge(
                f"{field} gives {len(elements):,} elements in {size:,} bytes; "
                f"at most {ITEMS_LIMIT:,} and {LIST_LIMIT:,} can be walked (give shorter elements, or split the task)"
            )
        return Ended(result=_LISTED, elements=tuple(elements))

    async def evaluate(self, call: EvaluateCall) -> Evaluated:
        """Return a task's output, and whether it is what its skill promises.

        Raises:
            ResultTooLarge: When the output is more than a task can give back.
        """
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        output = evaluate(call.output, names, "output")
        size = len(json.dumps(output, ensure_ascii=False).encode())
        if size > OUTPUT_LIMIT:
            raise ResultTooLarge(
                f"output: has {size:,} bytes, and a task gives back at most {OUTPUT_LIMIT:,} (give a reference to it)"
            )
        if call.expect is None:
            return Evaluated(output=output, evaluation=None)
        passed = holds(call.expect, {**names, "output": output}, "expect")
        return Evaluated(output=output, evaluation=Evaluation(passed=passed, reason=call.expect))

    async def _arguments(self, call: StepCall, names: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        if call.arguments is None:
            args = call.step.args.items()
            return {name: evaluate(value, names, f"{call.path}.args.{name}") for name, value in args}
        return mapping(await self._values.get(call.tenant, call.task_id, call.arguments), call.path, InvalidArguments)

    async def _unapproved(
        self, call: StepCall, names: Mapping[str, JsonValue], effect: OnceEffect, owner: str, about: Subject
    ) -> Asks | None:
        """Return the question whether the step may act; None where it needs no approval, or its effect is recorded."""
        if call.step.approve is None:
            return None
        if call.earlier is not None:
            # This attempt has no claim whose time could end: it is only told of the one that there is.
            found = await self._claims.doubt(effect, owner, 0.0)
            if found.holding is Holding.DONE and found.arguments == effect.arguments:
                return None
            about = about.changed(attempted_at=found.at)
        text = written(evaluate(call.step.approve, names, f"{call.path}.approve"))
        return question_of(call, text, about, choice_of(Approval), Reached(asked=QuestionKind.APPROVAL))

    async def _perform(
        self,
        tool: Tool[..., Any],
        keywords: Mapping[str, Any],
        call: StepCall,
        effect: OnceEffect,
        key: str,
        *,
        gate: Gate,
        attempt: Attempt,
        verdict: Verdict | None,
    ) -> Happened | Unknown | Stopped:
        if not tool.effect.is_once and (stopped := await gate.stopped()):
            return stopped
        seconds = call.timeout or tool.timeout
        times = {"seconds": seconds, "cut": call.cut_after(seconds)}
        tool_call = ToolCall(
            idempotency_key=key,
            task_id=call.task_id,
            step=call.path,
            attempt=attempt.number,
            deadline=datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=times["cut"]),
        )
        if tool.effect.is_once:
            how: dict[str, Any] = {"gate": gate, **times, "earlier": call.earlier, "verdict": verdict}
            return await self._once.run(tool, tool_call, keywords, effect, attempt, **how)
        attempt.report.deadline = tool_call.deadline
        with counted() as work:
            try:
                async with calling(tool.name, times["cut"]):
                    returned = await tool.call(tool_call, keywords)
                attempt.report.deadline = None
            finally:
                if work.is_running:
                    attempt.report.deadline = None
        return Happened(output=tool.jsonable(returned))

    async def _unexpected(
        self,
        call: StepCall,
        names: Mapping[str, JsonValue],
        output: JsonValue,
        about: Subject,
        warnings: tuple[str, ...],
    ) -> Asks | None:
        """Return the question that an unexpected result calls for; None where the result is as expected.

        Raises:
            ExpectationFailed: The step has no question for it.
        """
        step = call.step
        names = {**names, "output": output, "answer": None}
        if step.expect is None or holds(step.expect, names, f"{call.path}.expect"):
            return None
        if step.ask is None:
            raise ExpectationFailed(f"{call.path}: the result is not what is expected: {step.expect}")
        text = written(evaluate(step.ask, names, f"{call.path}.ask"))
        kept = await self._values.keep(call.tenant, call.task_id, output, epoch=call.epoch)
        so_far = Reached(asked=QuestionKind.INPUT, acted=kept, warnings=warnings)
        return question_of(call, text, about, step.answer or AnswerSpec(), so_far)

    async def _concluded(
        self, call: StepCall, names: Mapping[str, JsonValue], output: JsonValue, so_far: Reached
    ) -> Ended:
        answered = {"answer": so_far.answer.value} if so_far.answer else {}
        known = {**names, "output": output, "answer": None, **answered}
        ended = _remembering(call, known)
        parts = await self.keep(call, {"output": output, **answered})
        return ended.changed(result=ended.result.changed(parts=parts), warnings=so_far.warnings)


def _undone(call: StepCall, about: Subject, so_far: Reached, acted: Unknown | Stopped) -> Asks:
    """Return the question without whose answer the tool is not called.

    Raises:
        Blocked: A policy does not let the tool act.
    """
    if isinstance(acted, Stopped):
        return permission(call, about, so_far, acted)
    so_far = so_far.changed(asked=QuestionKind.UNKNOWN_EFFECT, claim=acted.claim, verdict=None)
    about = about.changed(attempted_at=acted.at, deadline=acted.deadline)
    return question_of(call, unknown_effect(about.tool, acted), about, choice_of(EffectFate), so_far)


def _key(call: StepCall, arguments: Mapping[str, JsonValue]) -> str:
    """Return the idempotency key of a call.

    A path names a step of a skill, and its arguments are the same whoever runs it. Of a model's turns it names a place
    only: asked anew, the model may want another tool or other arguments there, which is another call.
    """
    wanted: JsonValue = [call.step.tool, dict(arguments)]
    place = call.path if call.arguments is None else f"{call.path}#{content_digest(wanted)[:16]}"
    return idempotency_key(call.tenant, call.task_id, place)


def _remembering(call: StepCall | PromptCall | RememberCall, names: Mapping[str, JsonValue]) -> Ended:
    """Return the outcome of a step that is done, with what it remembers.

    Raises:
        InvalidItem: The step is critical, and something cannot be remembered.
    """
    items, refused = items_of(call.step.remember, names, call) if call.memory.remembers else ((), ())
    if refused and call.step.critical:
        raise InvalidItem(f"{call.path}.remember", refused[0])
    return Ended(result=Result(status=StepStatus.DONE), items=items, refused=refused)


def _runs(when: str | None, names: Mapping[str, JsonValue], path: str) -> bool:
    return when is None or holds(when, names, f"{path}.when")
