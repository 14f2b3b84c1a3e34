"""What of a step needs no tool and no store but where large values are kept: its expressions, and what they lead to."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import JsonValue

from perdure.agent.steps.calls import (
    ITEMS_LIMIT,
    LIST_LIMIT,
    Asks,
    Compensation,
    Ended,
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
from perdure.agent.steps.items import items_of
from perdure.agent.steps.judgements import Judged, judge_request
from perdure.agent.steps.prompt_steps import Answered, PromptTries
from perdure.agent.steps.recall_steps import terms_of
from perdure.agent.steps.resume_point import Reached, question_of
from perdure.agent.steps.task_calls import EvaluateCall, Evaluated
from perdure.agent.steps.values import Values
from perdure.documents import kind_of, mapping
from perdure.durations import duration_of
from perdure.errors import (
    ExpectationFailed,
    InvalidArguments,
    InvalidExpression,
    InvalidItem,
    PerdureError,
    ResultTooLarge,
)
from perdure.expressions.evaluation import evaluate, holds, written
from perdure.model import json_size
from perdure.registry.prompts import rendered
from perdure.skills.foreign import ForeignStep
from perdure.skills.steps import COMPENSATE, PromptStep, RememberStep, SkillStep, ToolStep
from perdure.skills.templates import CompensateTemplate
from perdure.values.questions import AnswerSpec, QuestionKind, Subject
from perdure.values.tasks import Evaluation, Judgement, StepStatus

OUTPUT_LIMIT = 1_800_000
"""Bytes of JSON that a task may give back: what Temporal takes in one payload, less the lists of its result."""

COMPENSATION_INLINE = 128
"""Bytes up to which the arguments of a compensation are carried along by a task: about what a reference takes, as it
may have a thousand of them."""

SKIPPED = Ended(result=Result(status=StepStatus.SKIPPED), reason="its condition (when) is false")
DECLINED = Ended(result=Result(status=StepStatus.SKIPPED), reason="a person did not approve it")
_LISTED = Result(status=StepStatus.DONE)


class StepEvaluator:
    """Evaluates steps.

    Args:
        values: Where large values are kept.
    """

    def __init__(self, values: Values) -> None:
        self._values = values

    async def prompt(self, call: PromptCall, answer: Callable[[str], Awaitable[Answered]], tries: PromptTries) -> Ended:
        """Run a step that a language model answers.

        Args:
            call: The step.
            answer: Returns the model's answer to a request.
            tries: Those of the attempts before; counts those of this one.

        Raises:
            ExpectationFailed: No answer is what the step expects, and in time.
        """
        names, step = await self._values.names(call.tenant, call.task_id, call.scope), call.step
        if not runs(step.when, names, call.path):
            return SKIPPED
        answered = await _answered(call, names, answer, tries)
        known = {**names, "output": answered.output}
        ended, parts = remembering(call, step, known), await self.keep(call, {"output": answered.output})
        return ended.changed(result=ended.result.changed(parts=parts), tokens=answered.tokens)

    async def remember(self, call: RememberCall) -> Ended:
        """Run a step that only remembers."""
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        if not runs(call.step.when, names, call.path):
            return SKIPPED
        return remembering(call, call.step, names)

    async def terms(self, call: RecallCall) -> RecallTerms | None:
        """Return what a recall step asks for; None when its ``when`` is false."""
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        return terms_of(call, names) if runs(call.step.when, names, call.path) else None

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
        if not runs(call.when, names, call.path):
            return Ended(result=_LISTED, elements=())
        elements = evaluate(call.for_each, names, field)
        if not isinstance(elements, list):
            raise InvalidExpression(field, f"is {kind_of(elements)}, not a list")
        size = json_size(elements)
        if len(elements) > ITEMS_LIMIT or size > LIST_LIMIT:
            raise ResultTooLarge(
                f"{field} gives {len(elements):,} elements in {size:,} bytes; "
                f"at most {ITEMS_LIMIT:,} and {LIST_LIMIT:,} can be walked (give shorter elements, or split the task)"
            )
        return Ended(result=_LISTED, elements=tuple(elements))

    async def evaluate(self, call: EvaluateCall, judge: Callable[[str], Awaitable[Judged]]) -> Evaluated:
        """Return a task's output, and whether it is what its skill promises.

        Args:
            call: What the task gives back.
            judge: Returns what a model says to a request about the output.

        Raises:
            ResultTooLarge: When the output is more than a task can give back.
        """
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        output = evaluate(call.output, names, "output")
        size = json_size(output)
        if size > OUTPUT_LIMIT:
            raise ResultTooLarge(
                f"output: has {size:,} bytes, and a task gives back at most {OUTPUT_LIMIT:,} (give a reference to it)"
            )
        known, judgements, tokens = {**names, "output": output}, list[Judgement](), 0
        if call.expect is not None:
            passed = holds(call.expect, known, "expect")
            judgements.append(Judgement(by="expect", passed=passed, reason=call.expect))
        if call.judge is not None:
            criterion = written(evaluate(call.judge.criterion, known, "judge"))
            judgement, tokens = await judge(judge_request(criterion, output))
            judgements.append(judgement)
        evaluation = Evaluation(judgements=tuple(judgements)) if judgements else None
        return Evaluated(output=output, evaluation=evaluation, tokens=tokens)

    async def arguments(self, call: StepCall, names: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return what a tool is called with: literal arguments, or those of the step with expressions filled in."""
        if call.arguments is None:
            args = call.step.args.items()
            return {name: evaluate(value, names, f"{call.path}.args.{name}") for name, value in args}
        return mapping(await self._values.get(call.tenant, call.task_id, call.arguments), call.path, InvalidArguments)

    async def unexpected(
        self,
        call: StepCall,
        names: Mapping[str, JsonValue],
        output: JsonValue,
        about: Subject,
        so_far: Reached,
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
        reached = Reached(asked=QuestionKind.INPUT, acted=kept, **_told(so_far))
        return question_of(call, text, about, step.answer or AnswerSpec(), reached)

    async def acted(
        self,
        call: StepCall,
        names: Mapping[str, JsonValue],
        output: JsonValue,
        about: Subject,
        so_far: Reached,
    ) -> Ended | Asks:
        """Return the outcome of a step whose tool has acted, with what undoes that.

        Raises:
            PerdureError: The step has failed, and does not say what would undo it.
        """
        compensation = await self.compensation(call, call.step.compensate, names, output)
        try:
            if compensation is not None and compensation.problem:
                raise InvalidExpression(f"{call.path}.{COMPENSATE}", compensation.problem)
            asks = await self.unexpected(call, names, output, about, so_far)
            outcome = asks or await self.concluded(call, names, output, so_far)
        except PerdureError as problem:
            if compensation is None or problem.retryable:
                raise
            return failed_after(compensation, str(problem))
        return outcome.changed(compensation=compensation) if compensation else outcome

    async def compensation(
        self, call: StepContext, undoing: CompensateTemplate | None, names: Mapping[str, JsonValue], output: JsonValue
    ) -> Compensation | None:
        """Return what undoes what a step has done; None: the step does not say."""
        if undoing is None:
            return None
        known, how = {**names, "output": output}, dict[str, Any](limit=COMPENSATION_INLINE, epoch=call.epoch)
        try:
            arguments = evaluate(dict(undoing.args), known, "args")
        except InvalidExpression as problem:
            return Compensation(path=call.path, tool=undoing.tool, problem=str(problem))
        kept = await self._values.keep(call.tenant, call.task_id, arguments, **how)
        return Compensation(path=call.path, tool=undoing.tool, arguments=kept)

    async def concluded(
        self, call: StepCall, names: Mapping[str, JsonValue], output: JsonValue, so_far: Reached
    ) -> Ended:
        """Return the outcome of a tool's step that is done, whose result is as expected."""
        answered = {"answer": so_far.answer.value} if so_far.answer else {}
        known = {**names, "output": output, "answer": None, **answered}
        ended = remembering(call, call.step, known)
        parts = await self.keep(call, {"output": output, **answered})
        return ended.changed(result=ended.result.changed(parts=parts), **_told(so_far))


def _told(so_far: Reached) -> dict[str, Any]:
    """Return what a step that has acted tells of how it did, also where it asks before it ends."""
    return {
        "warnings": so_far.warnings,
        "unkept": so_far.unkept,
        "happened_before": so_far.happened_before,
    }


async def _answered(
    call: PromptCall,
    names: Mapping[str, JsonValue],
    answer: Callable[[str], Awaitable[Answered]],
    tries: PromptTries,
) -> Answered:
    """Return the first answer that is in time, and what the step expects; the model is asked as often as it says."""
    step, request = call.step, _request(call, names)
    problem = ExpectationFailed(f"{call.path}: no answer was in time and what is expected (retry: {step.tries})")
    while tries.failures < step.tries:
        try:
            async with asyncio.timeout(duration_of(step.timeout).total_seconds() if step.timeout else None):
                answered = await answer(request)
            known = {**names, "output": answered.output}
            if step.expect is None or holds(step.expect, known, f"{call.path}.expect"):
                return answered
            problem = ExpectationFailed(f"{call.path}: the answer is not what is expected: {step.expect}")
        except TimeoutError:
            problem = ExpectationFailed(f"{call.path}: the model took longer than {step.timeout} to answer")
        except ExpectationFailed as unusable:
            problem = unusable
        tries.failures += 1
        tries.unusable = 0
    raise problem


def _request(call: PromptCall, names: Mapping[str, JsonValue]) -> str:
    """Return what a model is asked: the step's own text, or that of its prompt, with its inputs worked out first."""
    step, field = call.step, f"{call.path}.prompt"
    if step.uses is None:
        return written(evaluate(step.prompt, names, field))
    inputs = {name: evaluate(value, names, f"{field}.inputs.{name}") for name, value in step.uses.inputs.items()}
    return rendered(step.prompt, {**step.uses.defaults, **inputs}, field)


def failed_after(compensation: Compensation, problem: str) -> Ended:
    """Return the outcome of a step that failed after its tool had acted."""
    return Ended(result=Result(status=StepStatus.FAILED), problem=problem, compensation=compensation)


def remembering(
    call: StepContext,
    step: ToolStep | PromptStep | RememberStep | SkillStep | ForeignStep,
    names: Mapping[str, JsonValue],
) -> Ended:
    """Return the outcome of a step that is done, with what it remembers.

    Raises:
        InvalidItem: The step is critical, and something cannot be remembered.
    """
    items, refused = items_of(step.remember, names, call) if call.memory.remembers else ((), ())
    if refused and step.critical:
        raise InvalidItem(f"{call.path}.remember", refused[0])
    return Ended(result=Result(status=StepStatus.DONE), items=items, refused=refused)


def runs(when: str | None, names: Mapping[str, JsonValue], path: str) -> bool:
    """Return whether a step runs: it has no ``when``, or that is true."""
    return when is None or holds(when, names, f"{path}.when")
