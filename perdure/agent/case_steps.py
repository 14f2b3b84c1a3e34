"""The outcomes of a skill's steps where a case says what is returned and what fails. Calls no tool, model or store."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from perdure.agent.case_values import CaseValues, fields_of, miss, step_of
from perdure.agent.plan import Action
from perdure.agent.steps.calls import (
    Asks,
    Ended,
    ExpandCall,
    LetCall,
    PromptCall,
    RecallCall,
    RememberCall,
    Result,
    StepCall,
    Value,
    WaitCall,
    Waits,
)
from perdure.agent.steps.evaluator import DECLINED, SKIPPED, StepEvaluator, remembering, runs
from perdure.agent.steps.event_steps import expecting, taken
from perdure.agent.steps.foreign_calls import ForeignCall
from perdure.agent.steps.foreign_ends import concluded
from perdure.agent.steps.gate import Unknown
from perdure.agent.steps.inner_skill_calls import EnterCall, LeaveCall
from perdure.agent.steps.inner_skills import entering, leaving
from perdure.agent.steps.let_steps import named
from perdure.agent.steps.prompt_steps import Answered
from perdure.agent.steps.resume_point import Reached, is_declined, question_of, so_far_of, unknown_effect
from perdure.agent.steps.validation import is_of, wanted
from perdure.agent.steps.values import Values
from perdure.agent.steps.wait_calls import ExpectCall, TakeCall
from perdure.agent.steps.wait_steps import waiting
from perdure.documents import kind_of
from perdure.errors import ExpectationFailed, ToolFailed
from perdure.expressions.evaluation import evaluate, written
from perdure.skills.foreign import ActivityStep
from perdure.skills.steps import COMPENSATE
from perdure.suggestions import nearest
from perdure.toolbox import Toolbox
from perdure.tools import Tool
from perdure.values.questions import Approval, EffectFate, QuestionKind, Subject, choice_of, shortened
from perdure.values.tasks import StepStatus

_CLAIM = "rehearsal"
_RECALLED: Mapping[str, JsonValue] = {"items": [], "records": {}, "context": ""}
"""What a recall finds if a case says nothing about it."""


@dataclass
class _Tries:
    """How often a case's model was asked in vain."""

    failures: int = 0
    unusable: int = 0


class InlineValues(Values):
    """Values that are never kept elsewhere."""

    def __init__(self) -> None:
        """Need no place to keep anything."""

    async def keep(
        self, tenant: str, task_id: str, value: JsonValue, *, limit: int = 0, epoch: int | None = None
    ) -> Value:
        """Return a value as it is."""
        return Value(inline=value)

    async def get(self, tenant: str, task_id: str, value: Value) -> JsonValue:
        """Return what a value holds."""
        return value.inline


class CaseSteps:
    """What becomes of each step.

    Args:
        given: What the case says.
        toolbox: The tools, by whose signatures arguments are checked.
    """

    def __init__(self, given: CaseValues, toolbox: Toolbox) -> None:
        self._given = given
        self._toolbox = toolbox
        self._values = InlineValues()
        self.evaluator = StepEvaluator(self._values)
        self.called: list[dict[str, JsonValue]] = []
        """The calls of tools, in their order."""

    async def outcome(self, action: Action) -> Ended | Asks | Waits:
        """Return the outcome of an action; raises what its step fails with, or NotGiven."""
        match action.call:
            case StepCall() as call:
                outcome: Awaitable[Ended | Asks | Waits] = self._tool(call)
            case PromptCall() as call:
                outcome = self.evaluator.prompt(call, lambda _: self._reply(call), _Tries())
            case RecallCall() as call:
                outcome = self._recall(call)
            case RememberCall() as call:
                outcome = self.evaluator.remember(call)
            case ForeignCall() as call:
                outcome = self._foreign(call)
            case EnterCall() as call:
                outcome = self._entered(call)
            case _:
                outcome = self._computed(action)
        return await outcome

    async def _computed(self, action: Action) -> Ended | Asks | Waits:
        """Return the outcome of an action that is the same in a task."""
        match action.call:
            case LetCall() as call:
                return await named(call, self._values)
            case WaitCall() as call:
                return await waiting(call, self._values)
            case ExpectCall() as call:
                return await expecting(call, self._values)
            case TakeCall() as call:
                return await taken(call, self._values)
            case LeaveCall() as call:
                return await leaving(call, self._values)
            case ExpandCall() as call:
                return await self.evaluator.expand(call)
            case _:
                raise ValueError(f"{action.activity} is no step")

    async def _tool(self, call: StepCall) -> Ended | Asks:
        step, so_far = call.step, so_far_of(call)
        if is_declined(so_far):
            return DECLINED
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        if so_far.acted is not None:
            return await self.evaluator.concluded(call, names, so_far.acted.inline, so_far)
        if not runs(step.when, names, call.path):
            return SKIPPED
        tool = self._toolbox.get(step.tool, f"{call.path}.tool")
        arguments = await self.evaluator.arguments(call, names)
        tool.validate(arguments, f"{call.path}.args")
        if step.approve is not None and so_far.approved is None:
            text = written(evaluate(step.approve, names, f"{call.path}.approve"))
            so_far = Reached(asked=QuestionKind.APPROVAL)
            return question_of(call, text, _about(tool, arguments), choice_of(Approval), so_far)
        if so_far.verdict is not None and so_far.verdict.happened:
            return await self.evaluator.acted(call, names, None, _about(tool, arguments), so_far)
        return await self._called_tool(call, names, tool, arguments, so_far)

    async def _called_tool(
        self,
        call: StepCall,
        names: Mapping[str, JsonValue],
        tool: Tool[..., Any],
        arguments: Mapping[str, JsonValue],
        so_far: Reached,
    ) -> Ended | Asks:
        about = _about(tool, arguments)
        self.called.append({"step": call.path, "tool": tool.name, "arguments": dict(arguments)})
        if failure := self._given.failure(call.path):
            if tool.effect.is_once and tool.check is None and call.step.retry not in (0, 1):
                # Its next attempt finds the failed one's claim, and nothing can tell what became of its effect.
                unknown = Unknown(claim=_CLAIM, deadline=None, at=None)
                asked = so_far.changed(asked=QuestionKind.UNKNOWN_EFFECT, claim=_CLAIM, verdict=None)
                return question_of(call, unknown_effect(tool.name, unknown), about, choice_of(EffectFate), asked)
            raise ToolFailed(tool.name, "Failure", failure)
        given = None
        # Nobody reads what undoes something returns.
        if step_of(call.path) != COMPENSATE or self._given.stands_for(call.path):
            given = self._given.result(call.path, "what it returns")[1]
        return await self.evaluator.acted(call, names, tool.jsonable(given), about, so_far)

    async def _foreign(self, call: ForeignCall) -> Ended | Asks:
        """Return what a call of an activity or a workflow of others gives back, as the case says."""
        step, so_far = call.step, so_far_of(call)
        if is_declined(so_far):
            return DECLINED
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        if not runs(step.when, names, call.path):
            return SKIPPED
        args = [evaluate(value, names, f"{call.path}.args[{place}]") for place, value in enumerate(step.args)]
        arguments: dict[str, JsonValue] = {"queue": step.queue, "args": args}
        about = Subject(tool=step.called, arguments=shortened(arguments), idempotency_key="")
        if step.approve is not None and so_far.approved is None and so_far.verdict is None:
            text = written(evaluate(step.approve, names, f"{call.path}.approve"))
            return question_of(call, text, about, choice_of(Approval), Reached(asked=QuestionKind.APPROVAL))
        if so_far.verdict is not None and so_far.verdict.happened:
            return await concluded(self.evaluator, call, names, None, ())
        self.called.append({"step": call.path, "tool": step.called, "arguments": arguments})
        if failure := self._given.failure(call.path):
            if isinstance(step, ActivityStep) and step.effect.is_once and step.retry not in (0, 1):
                unknown = Unknown(claim=_CLAIM, deadline=None, at=None)
                asked = Reached(asked=QuestionKind.UNKNOWN_EFFECT, claim=_CLAIM)
                return question_of(call, unknown_effect(step.called, unknown), about, choice_of(EffectFate), asked)
            raise ToolFailed(step.called, "Failure", failure)
        output = self._given.result(call.path, "what it gives back")[1]
        return await concluded(self.evaluator, call, names, output, ())

    async def _entered(self, call: EnterCall) -> Ended:
        """Go into the skill that a step runs, unless the case says what comes of it."""
        entered = await entering(call, self._values)
        if entered.inputs is None:
            return entered
        if failure := self._given.failure(call.path):
            raise ExpectationFailed(f"{call.path}: {failure}")
        if not self._given.stands_for(call.path):
            return entered
        _, output = self._given.result(call.path, "what it gives back")
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        ended = remembering(call, call.step, {**names, "output": output})
        return ended.changed(result=ended.result.changed(parts={"output": Value(inline=output)}))

    async def _reply(self, call: PromptCall) -> Answered:
        if failure := self._given.failure(call.path):
            raise ExpectationFailed(f"{call.path}: {failure}")
        field, output = self._given.result(call.path, "what the model answers")
        if not call.step.output:
            if not isinstance(output, str) or not output.strip():
                miss(field, f"is {kind_of(output)}", fix="give the text that the model answers")
            return Answered(output.strip(), 0)
        fields = fields_of(output, field)
        if fields.keys() != call.step.output.keys():
            miss(field, "is not what the step asks for", fix=f"give {', '.join(call.step.output)}")
        for name, kind in call.step.output.items():
            if not is_of(kind, fields[name]):
                miss(f"{field}.{name}", f"is {kind_of(fields[name])}", fix=f"give {wanted(kind)}")
        return Answered(output, 0)

    async def _recall(self, call: RecallCall) -> Ended:
        if await self.evaluator.terms(call) is None:
            return SKIPPED
        field, given = self._given.found(call.path)
        for name, value in given.items():
            if name not in _RECALLED:
                miss(f"{field}.{name}", "is no part of a recall", fix=nearest(name, _RECALLED))
            if kind_of(value) != kind_of(_RECALLED[name]):
                miss(f"{field}.{name}", f"is {kind_of(value)}, not {kind_of(_RECALLED[name])}")
        parts = {name: Value(inline=value) for name, value in {**_RECALLED, **given}.items()}
        return Ended(result=Result(status=StepStatus.DONE, parts=parts))


def _about(tool: Tool[..., Any], arguments: Mapping[str, JsonValue]) -> Subject:
    return Subject(tool=tool.name, arguments=shortened(arguments), idempotency_key="")
