"""Steps that call activities and workflows of others: what is called, under which claim, and what comes of it.

The call itself is made by the task's workflow. It is claimed before, and its result stored after it; a claim without a
result is that of a call of which nobody knows whether it happened.
"""

import datetime
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from perdure.agent.steps.attempts import Attempt
from perdure.agent.steps.calls import Asks, Calls, Compensation, Ended, Result
from perdure.agent.steps.claim_results import packed, packed_problem, unpacked
from perdure.agent.steps.enforcement import Enforcer, permission
from perdure.agent.steps.evaluator import DECLINED, SKIPPED, StepEvaluator, failed_after, runs
from perdure.agent.steps.foreign_calls import EndCall, ForeignCall, arguments_of, child_of, of_user, task_of
from perdure.agent.steps.foreign_ends import concluded
from perdure.agent.steps.gate import Gate, Stopped, Unknown, Verdict
from perdure.agent.steps.resume_point import Reached, is_declined, question_of, so_far_of, unknown_effect
from perdure.agent.steps.values import Values, require_fitting
from perdure.errors import ClaimLost, InvalidInput, NotDone, ResultTooLarge
from perdure.expressions.evaluation import evaluate, written
from perdure.identity import content_digest
from perdure.names import Workflow
from perdure.skills.foreign import ForeignStep, WorkflowStep
from perdure.stores.redis.claims import Claim, Claims, ClaimState, OnceEffect
from perdure.tools import RESULT_LIMIT
from perdure.values.questions import Approval, EffectFate, QuestionKind, Subject, choice_of, shortened
from perdure.values.tasks import StepStatus

CALL_LIMIT = 256_000
"""Bytes of the arguments of a call, which are in the history twice: a choice."""

_UNTIL_STARTED = 60.0
"""Seconds of a claim on a workflow: it has been started by then, or its id tells that it has not; a choice."""

_KNOWN_FOR = datetime.timedelta(hours=12)
"""How long Temporal surely knows a workflow by its id: half of the shortest retention that it takes."""

_DOUBTED = "?"
"""Ends the owner of a claim of which nobody knows whether its call happened."""


class ForeignSteps(StepEvaluator):
    """Works out calls of activities and workflows of others, and takes up what they give back.

    Args:
        claims: Claims on effects that must not happen twice.
        values: Where large values are kept.
        redis_since: Returns since when Redis, with its claims, has lost nothing.
        claimed: Counts a claim.
        enforcer: Asks the policies about each call.
    """

    def __init__(
        self,
        claims: Claims,
        values: Values,
        redis_since: Callable[[], Awaitable[datetime.datetime | None]],
        claimed: Callable[[], Awaitable[None]],
        *,
        enforcer: Enforcer,
    ) -> None:
        super().__init__(values)
        self._claims = claims
        self._redis_since = redis_since
        self._claimed = claimed
        self._enforcer = enforcer

    async def begin(
        self, call: ForeignCall, attempt: Attempt, owner: str, is_known: Callable[[str], Awaitable[bool]]
    ) -> Calls | Ended | Asks:
        """Return what is to be called; where nothing is, the outcome, or the question without whose answer it is not.

        Args:
            call: The step.
            attempt: The attempt at working it out.
            owner: Who claims the call: the same for each attempt at this, and nobody else.
            is_known: Returns whether a workflow of an id was started.

        Raises:
            Blocked: A policy does not let it be called.
            PerdureError: It cannot be worked out.
        """
        step, so_far = call.step, so_far_of(call)
        # Nothing is called here, however many attempts at working it out were cut off.
        attempt.report.acted = False
        if is_declined(so_far):
            await self._enforcer.declined(call, attempt, so_far)
            return DECLINED
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        if not runs(step.when, names, call.path):
            return SKIPPED
        return await self._begun(call, attempt, names, so_far, owner=owner, is_known=is_known)

    async def _begun(
        self,
        call: ForeignCall,
        attempt: Attempt,
        names: Mapping[str, JsonValue],
        so_far: Reached,
        *,
        owner: str,
        is_known: Callable[[str], Awaitable[bool]],
    ) -> Calls | Ended | Asks:
        step = call.step
        args = [evaluate(value, names, f"{call.path}.args[{place}]") for place, value in enumerate(step.args)]
        if isinstance(step, WorkflowStep) and step.called == Workflow.RESUMABLE_AGENT:
            args = of_user(args, call.acting.user, f"{call.path}.args[0].user_id")
        require_fitting(args, f"{call.path}.args", CALL_LIMIT, "a call")
        arguments = arguments_of(step, args)
        effect = _effect(call, content_digest([step.kind, step.called, arguments]))
        about = Subject(tool=step.called, arguments=shortened(arguments), idempotency_key=effect.key)
        is_once = step.declared.is_once
        child = child_of(call, effect.arguments, args)
        if step.approve is not None and so_far.approved is None:
            claim = await self._claims.look(effect) if is_once else None
            if claim is None or not await _is_made(call, effect, claim, lambda: is_known(child)):
                text = written(evaluate(step.approve, names, f"{call.path}.approve"))
                about = about.changed(attempted_at=claim.at if claim else None)
                return question_of(call, text, about, choice_of(Approval), Reached(asked=QuestionKind.APPROVAL))
        how: dict[str, Any] = {"acting": call.acting, "arguments": arguments}
        how |= {"digest": effect.arguments, "so_far": so_far}
        gate = self._enforcer.gate(call, attempt, step.called, step.declared, **how)
        task = task_of(call, args)
        calls = Calls(args=tuple(args), arguments=effect.arguments, shown=about.arguments, child=child, task=task)
        if is_once:
            how = {"gate": gate, "verdict": so_far.verdict, "started": lambda: is_known(child)}
            found = await self._found(call, effect, owner, **how)
            if isinstance(found, Stopped | Unknown):
                return _asked(call, about, so_far, found)
            attempt.report.acted = found.holding is ClaimState.DONE
            if found.holding is ClaimState.DONE:
                return await concluded(self, call, names, unpacked(found.result), ())
            if found.owner != owner:
                return calls.changed(args=(), owner=found.owner, runs=True)
        if stopped := await gate.stopped():
            if is_once:
                await self._claims.release(effect, owner, known=True)
            return permission(call, about, so_far, stopped)
        if is_once:
            await self._claimed()
        return calls.changed(owner=owner if is_once else "", warnings=gate.warnings)

    async def end(self, call: EndCall) -> Ended | Asks:
        """Return the outcome of a step whose call has ended; of one that failed, a failed one, or a question.

        Raises:
            ExpectationFailed: What it gave back is not what the step expects.
            PerdureError: It is more than a step can carry.
        """
        effect = _effect(call, call.arguments)
        if call.problem:
            return await self._failed(call, effect)
        try:
            _require_taken(call)
        except (ResultTooLarge, InvalidInput) as problem:
            # It has been called: who tries the step again is told the same, and calls nothing.
            if call.owner:
                await self._claims.store(effect, call.owner, packed_problem(problem))
            if call.step.compensate is None:
                raise
            lacking = f"its output is not known: {problem}"
            undoing = Compensation(path=call.path, tool=call.step.compensate.tool, problem=lacking)
            return failed_after(undoing, str(problem)).changed(tokens=call.used)
        if call.owner:
            await self._claims.store(effect, call.owner, packed(call.output))
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        return await concluded(self, call, names, call.output, call.warnings)

    async def _found(
        self,
        call: ForeignCall,
        effect: OnceEffect,
        owner: str,
        *,
        gate: Gate,
        verdict: Verdict | None,
        started: Callable[[], Awaitable[bool]],
    ) -> Claim | Unknown | Stopped:
        """Return the claim under which the call is to be made, was made or is under way.

        Returns:
            Unknown: Nobody knows whether it was made. Stopped: Policies do not let it be made, and a claim on a call
            with other arguments is left as it is.
        """
        claim = await self._claims.claim(effect, owner, _seconds(call.step))
        if claim.holding is ClaimState.OURS and verdict is not None:
            # Redis lost the claim that a person was asked about, or an attempt before this one took it over.
            return await self._as_told(effect, owner, verdict, claim)
        if claim.holding is ClaimState.OURS:
            if call.earlier is None or await self._has_all_since(call.earlier):
                return claim
            # It may have been claimed, and the claim lost.
            claim = await self._claims.doubt(effect, owner, 0.0)
            claim = await self._claims.take_over(effect, owner, _doubted(owner), 0.001)
        return await self._found_anothers(call, effect, claim, owner, gate=gate, verdict=verdict, started=started)

    async def _found_anothers(
        self,
        call: ForeignCall,
        effect: OnceEffect,
        claim: Claim,
        owner: str,
        *,
        gate: Gate,
        verdict: Verdict | None,
        started: Callable[[], Awaitable[bool]],
    ) -> Claim | Unknown | Stopped:
        """Return the same where a call before this one has the claim."""
        step, other = call.step, claim.arguments != effect.arguments
        if await _is_made(call, effect, claim, started):
            return claim
        is_known = verdict is not None and verdict.claim == claim.owner
        # It was not started where nobody knows it, and nobody else can start it any more.
        is_free = step.kind != "activity" and not other and _would_be_known(claim)
        # A call of this run has ended, whatever became of it.
        if is_known or is_free or not _is_of_one_run(claim.owner, owner):
            await self._wait_for(call, effect, claim, owner)
        if not (is_known or is_free):
            return Unknown(claim=claim.owner, deadline=None, at=claim.at, other_arguments=other)
        if other and verdict and not verdict.happened and (stopped := await gate.stopped()):
            # What was called with the other arguments stays recorded until this call may really be made.
            return replace(stopped, verdict=verdict)
        taken = await self._claims.take_over(effect, claim.owner, owner, _seconds(step), acts=True)
        if taken.holding is not ClaimState.OURS:
            raise ClaimLost("another attempt took the claim meanwhile")
        return await self._as_told(effect, owner, verdict, taken) if verdict and is_known else taken

    async def _wait_for(self, call: ForeignCall, effect: OnceEffect, claim: Claim, owner: str) -> None:
        """Wait until a call must have ended: only then it can be found out whether it happened.

        Raises:
            NotDone: It may go on.
        """
        left = claim.remaining
        waited = claim.owner.endswith(_DOUBTED) or _is_of_one_run(claim.owner, owner)
        if left <= 0 and call.step.kind == "activity" and claim.holding is not ClaimState.DONE and not waited:
            # It may have waited for a worker after it was claimed, and begun until the run that made it ended.
            left = _seconds(call.step)
            await self._claims.take_over(effect, claim.owner, _doubted(claim.owner), left)
        if left > 0:
            raise NotDone(f"{call.path}: an earlier call may go on for {left:.0f} s")

    async def _as_told(self, effect: OnceEffect, owner: str, verdict: Verdict, claim: Claim) -> Claim:
        """Return the claim on a call after a person has said whether it happened: if it did, it is done."""
        if not verdict.happened:
            return claim
        await self._claims.store(effect, owner, packed(None))
        return await self._claims.claim(effect, owner, 0.0)

    async def _has_all_since(self, moment: datetime.datetime) -> bool:
        since = await self._redis_since()
        return since is not None and since <= moment

    async def _failed(self, call: EndCall, effect: OnceEffect) -> Ended | Asks:
        failed = Ended(result=Result(status=StepStatus.FAILED))
        if call.not_done:
            await self._claims.release(effect, call.owner, known=True)
            return failed
        # Nobody acts under this claim any more, nor may a later attempt of this run take it for one not yet used.
        await self._claims.doubt(effect, call.owner, 0.0)
        await self._claims.take_over(effect, call.owner, _doubted(call.owner), 0.001)
        if call.step.retry in (0, 1) or call.step.kind != "activity":
            return failed
        unknown = Unknown(claim=_doubted(call.owner), deadline=None, at=call.began)
        so_far = Reached(asked=QuestionKind.UNKNOWN_EFFECT, claim=unknown.claim)
        about = Subject(tool=call.step.called, arguments=call.shown, idempotency_key=effect.key)
        about = about.changed(attempted_at=call.began)
        text = f"{call.problem}\n{unknown_effect(call.step.called, unknown)}"
        return question_of(call, text, about, choice_of(EffectFate), so_far)


def _asked(call: ForeignCall, about: Subject, so_far: Reached, found: Stopped | Unknown) -> Asks:
    """Return the question about a call that policies stop, or of which nobody knows whether it was made."""
    if isinstance(found, Stopped):
        return permission(call, about, so_far, found)
    so_far = so_far.changed(asked=QuestionKind.UNKNOWN_EFFECT, claim=found.claim, verdict=None)
    about = about.changed(attempted_at=found.at, deadline=found.deadline)
    return question_of(call, unknown_effect(about.tool, found), about, choice_of(EffectFate), so_far)


async def _is_made(call: ForeignCall, effect: OnceEffect, claim: Claim, started: Callable[[], Awaitable[bool]]) -> bool:
    """Return whether the very call that is to be made was made before, or is under way."""
    if not claim.owner or claim.arguments != effect.arguments:
        return False
    return claim.holding is ClaimState.DONE or (call.step.kind != "activity" and await started())


def _require_taken(call: EndCall) -> None:
    field = f"{call.path}.output"
    if call.too_large:
        problem = f"{field} has {call.too_large:,} bytes, with its step's values more than can be taken up"
        raise ResultTooLarge(f"{problem} (return a reference to it)")
    require_fitting(call.output, field, RESULT_LIMIT, "an output")


def _effect(call: ForeignCall | EndCall, arguments: str) -> OnceEffect:
    return OnceEffect(
        tenant=call.tenant,
        task_id=call.task_id,
        step=call.path,
        arguments=arguments,
        binding=call.binding,
        epoch=call.epoch,
    )


def _doubted(owner: str) -> str:
    """Return who has the claim of a call that failed: the next attempt of the same run finds it as another's."""
    return f"{owner}{_DOUBTED}"


def _is_of_one_run(one: str, other: str) -> bool:
    """Return whether two owners are of the same run of a task."""
    return one.partition("/")[0] == other.partition("/")[0]


def _seconds(step: ForeignStep) -> float:
    """Return how long a claim on a call lasts."""
    return step.seconds or _UNTIL_STARTED


def _would_be_known(claim: Claim) -> bool:
    """Return whether Temporal would know the workflow that was started under a claim, if it was."""
    return (
        not claim.owner.endswith(_DOUBTED)
        and claim.at is not None
        and datetime.datetime.now(datetime.UTC) - claim.at < _KNOWN_FOR
    )
