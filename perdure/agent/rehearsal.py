"""A skill run with given results and answers, as a task would run it, without a tool, a store or a model."""

import datetime
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from perdure.agent.given import Given, NotGiven, fields_of, miss
from perdure.agent.plan import Act, Action, Ask, Finish, waited
from perdure.agent.prepared import InnerSkill, PreparedTask, ToolShape
from perdure.agent.skill_plan import SkillPlan
from perdure.agent.state import TaskRun, TaskState, result_of
from perdure.agent.steps.awaited import ExpectCall, TakeCall
from perdure.agent.steps.calls import (
    Asks,
    Ended,
    ExpandCall,
    LetCall,
    PromptCall,
    RecallCall,
    RememberCall,
    Result,
    Resumed,
    StepCall,
    Value,
    WaitCall,
    Waits,
)
from perdure.agent.steps.entering import entering, leaving
from perdure.agent.steps.evaluator import SKIPPED, StepEvaluator, remembering, runs
from perdure.agent.steps.expecting import expecting, taken
from perdure.agent.steps.gate import Unknown
from perdure.agent.steps.judging import Judged
from perdure.agent.steps.named import named
from perdure.agent.steps.nested import EnterCall, LeaveCall
from perdure.agent.steps.prompting import Answered
from perdure.agent.steps.reached import Reached, is_declined, question_of, so_far_of, unknown_effect
from perdure.agent.steps.validation import check_linked, checked_inputs, is_of, wanted
from perdure.agent.steps.values import Values
from perdure.agent.steps.waiting import waiting
from perdure.documents import kind_of, nearest
from perdure.errors import ExpectationFailed, PerdureError, ToolFailed
from perdure.expressions.evaluation import evaluate, holds, written
from perdure.model import Instant
from perdure.questions import (
    Approval,
    EffectFate,
    QuestionKind,
    Subject,
    choice_of,
    shortened,
)
from perdure.skills.cases import Rehearsed, SkillCase
from perdure.skills.linking import LinkedSkill
from perdure.skills.shape import Skill
from perdure.tasks import Judgement, Phase, StepStatus
from perdure.toolbox import Toolbox
from perdure.tools import Tool

_TASK = "rehearsal"
_OF_A_TASK = {"occurrence", "occurred_at", "source"}
"""Fields of remembered items that say which task wrote them, and when."""
_RECALLED: Mapping[str, JsonValue] = {"items": [], "records": {}, "context": ""}
"""What a recall finds if a case says nothing about it."""


async def rehearsed(
    skill: Skill, case: SkillCase, toolbox: Toolbox, inner: Mapping[str, Skill] | None = None
) -> Rehearsed:
    """Run a skill on a case.

    Args:
        skill: The skill.
        case: What its tools return, what people answer.
        toolbox: The tools, by whose signatures arguments are checked. None is called.
        inner: The skills that its steps run, and those that these run, by their names.

    Raises:
        InvalidSkill: The skill does not fit the tools; or the case names a step that does not exist, or leaves out
            what a step returns or a person answers.
        InvalidInput: Its inputs are not what the skill requires.
    """
    return await _Rehearsal(LinkedSkill(skill=skill, inner=inner or {}), case, toolbox).run()


def differences(case: SkillCase, ended: Rehearsed) -> list[str]:
    """Return how the end of a case differs from what was expected; nothing if it does not.

    Raises:
        InvalidExpression: Its ``expect`` has no value.
    """
    if case.expect is not None:
        return [] if holds(case.expect, ended.model_dump(mode="json"), "expect") else [f"does not hold: {case.expect}"]
    found = [f"is {ended.status}: {ended.problem}"] if ended.status is not Phase.COMPLETED else []
    return [*found, "what the skill expects does not hold"] if ended.passed is False else found


class _InlineValues(Values):
    """Values that are never kept elsewhere."""

    def __init__(self) -> None:
        """Need no place to keep anything."""

    async def keep(
        self, tenant: str, task_id: str, value: JsonValue, *, limit: int = 0, epoch: int | None = None
    ) -> Value:
        return Value(inline=value)

    async def get(self, tenant: str, task_id: str, value: Value) -> JsonValue:
        return value.inline


class _Rehearsal:
    """One case."""

    def __init__(self, linked: LinkedSkill, case: SkillCase, toolbox: Toolbox) -> None:
        skill = linked.skill
        self._given = Given(skill, case, linked.inner)
        self._judged = case.judged is not False
        self._toolbox = toolbox
        self._values = _InlineValues()
        self._evaluator = StepEvaluator(self._values)
        self._now: Instant = datetime.datetime.combine(case.date, datetime.time(), datetime.UTC)
        reads = check_linked(linked, toolbox)
        tools = {name: toolbox.get(name) for name in linked.tools}
        inputs = checked_inputs(skill, case.inputs)
        prepared = PreparedTask(
            tenant="",
            skill=skill,
            inner={name: InnerSkill(skill=one, reads=reads[name]) for name, one in linked.inner.items()},
            version=linked.version,
            tools={name: ToolShape(effect=tool.effect, timeout=tool.timeout) for name, tool in tools.items()},
            inputs={name: Value(inline=value) for name, value in inputs.items()},
            reads=reads[skill.name],
            date=case.date,
            heartbeat=1,
        )
        self._task = TaskRun(task_id=_TASK, user_id=_TASK, skill=skill.name)
        self._plan = SkillPlan(self._task, prepared)
        state = TaskState(prepared=prepared, started_at=self._now, renewed_at=self._now)
        self._state = self._plan.begin(state)
        self._reached: set[str] = set()
        self._refused: list[str] = []
        self._called: list[dict[str, JsonValue]] = []
        self._remembered: list[dict[str, JsonValue]] = []

    async def run(self) -> Rehearsed:
        """Run it to its end."""
        try:
            return await self._run()
        except NotGiven as missing:
            raise missing.problem from None

    async def _run(self) -> Rehearsed:
        # Each question takes an answer of the case, and each step counts, so it ends.
        while True:
            match self._plan.next(self._state, self._now):
                case Finish() as finish:
                    return await self._finished(finish)
                case Ask(branch=branch, question=question):
                    self._state = self._plan.answered(self._state, branch, self._given.answer(question, self._now))
                case Act(actions=()):
                    self._wake()
                case Act(actions=actions):
                    for action in actions:
                        if not self._state.failure:
                            await self._act(action)

    def _wake(self) -> None:
        """Go on to the next moment that a branch waits for."""
        waiting = {name: branch.until for name, branch in self._state.branches.items() if branch.until is not None}
        name, until = min(waiting.items(), key=lambda one: one[1])
        self._now = max(self._now, until)
        self._state = waited(self._plan, self._state, name)

    async def _finished(self, finish: Finish) -> Rehearsed:
        told: dict[str, Any] = {
            "asked": tuple(self._given.asked),
            "called": tuple(self._called),
            "remembered": tuple(self._remembered),
            "refused": tuple(self._refused),
            "warnings": result_of(self._task, self._state, Phase.COMPLETED, "").warnings,
        }
        self._given.check(self._reached)
        if finish.evaluation is None:
            return Rehearsed(status=Phase.FAILED, problem=finish.problem, **told)
        try:
            evaluated = await self._evaluator.evaluate(finish.evaluation, self._judge)
        except PerdureError as problem:
            return Rehearsed(status=Phase.FAILED, problem=str(problem), **told)
        passed = evaluated.evaluation.passed if evaluated.evaluation else None
        return Rehearsed(status=Phase.COMPLETED, output=evaluated.output, passed=passed, **told)

    async def _judge(self, request: str) -> Judged:
        judgement = Judgement(by="model", passed=self._judged, reason="the case says so")
        return Judged(judgement, 0)

    async def _act(self, action: Action) -> None:
        limit = self._task.limits.steps
        if action.is_step and self._state.begun >= limit:
            problem = f"step {action.path}: the task may run {limit} steps (limits.steps)"
            self._state = self._state.changed(failure=problem)
            return
        self._reached.add(action.path)
        try:
            outcome = action.known or action.waits or await self._outcome(action)
        except PerdureError as error:
            told = f"{error}: {error.text}" if isinstance(error, ToolFailed) else str(error)
            self._state = self._plan.failed(self._state, action.branch, told, None)
            return
        match outcome:
            case Asks(question=question, resume=resume):
                resumed = Resumed(resume=resume, answer=self._given.answer(question, self._now))
                self._state = self._state.branch(action.branch, resumed=resumed)
            case Waits():
                self._wait(action, outcome)
            case Ended():
                self._end(action, outcome)

    def _wait(self, action: Action, waits: Waits) -> None:
        """Hand the step the case's event, or have its branch wait for the moment."""
        event = self._given.event(waits, action.path, self._now) if waits.event else None
        if event is not None:
            self._state = self._state.branch(action.branch, delivered=event)
        else:
            waiting = {"until": waits.until, "event": waits.event, "otherwise": waits.otherwise}
            self._state = self._state.branch(action.branch, path=action.path, **waiting)

    def _end(self, action: Action, outcome: Ended) -> None:
        self._remembered += [
            {**one.item.model_dump(mode="json", exclude=_OF_A_TASK), "of": one.of} for one in outcome.items
        ]
        self._refused += outcome.refused
        state = self._state.branch(action.branch, path="", resumed=None, delivered=None)
        self._state = self._plan.ended(state, action.branch, outcome)

    async def _outcome(self, action: Action) -> Ended | Asks | Waits:
        match action.call:
            case StepCall() as call:
                outcome = self._tool(call)
            case PromptCall() as call:
                outcome = self._evaluator.prompt(call, lambda _: self._reply(call))
            case RecallCall() as call:
                outcome = self._recall(call)
            case RememberCall() as call:
                outcome = self._evaluator.remember(call)
            case LetCall() as call:
                outcome = named(call, self._values)
            case WaitCall() as call:
                outcome = waiting(call, self._values)
            case ExpectCall() as call:
                outcome = expecting(call, self._values)
            case TakeCall() as call:
                outcome = taken(call, self._values)
            case EnterCall() as call:
                outcome = self._entered(call)
            case LeaveCall() as call:
                outcome = leaving(call, self._values)
            case ExpandCall() as call:
                outcome = self._evaluator.expand(call)
            case _:
                raise ValueError(f"{action.activity} is no step")
        return await outcome

    async def _tool(self, call: StepCall) -> Ended | Asks:
        step, so_far = call.step, so_far_of(call)
        if is_declined(so_far):
            return SKIPPED
        names = await self._values.names(call.tenant, call.task_id, call.scope)
        if so_far.acted is not None:
            return await self._evaluator.concluded(call, names, so_far.acted.inline, so_far)
        if not runs(step.when, names, call.path):
            return SKIPPED
        tool = self._toolbox.get(step.tool, f"{call.path}.tool")
        arguments = await self._evaluator.arguments(call, names)
        tool.validate(arguments, f"{call.path}.args")
        if step.approve is not None and so_far.approved is None:
            text = written(evaluate(step.approve, names, f"{call.path}.approve"))
            so_far = Reached(asked=QuestionKind.APPROVAL)
            return question_of(call, text, _about(tool, arguments), choice_of(Approval), so_far)
        if so_far.verdict is not None and so_far.verdict.happened:
            return await self._evaluator.concluded(call, names, None, so_far)
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
        self._called.append({"step": call.path, "tool": tool.name, "arguments": dict(arguments)})
        if failure := self._given.failure(call.path):
            if tool.effect.is_once and tool.check is None and call.step.retry not in (0, 1):
                # Its next attempt finds the failed one's claim, and nothing can tell what became of its effect.
                unknown = Unknown(claim=_TASK, deadline=None, at=None)
                asked = so_far.changed(asked=QuestionKind.UNKNOWN_EFFECT, claim=_TASK, verdict=None)
                return question_of(call, unknown_effect(tool.name, unknown), about, choice_of(EffectFate), asked)
            raise ToolFailed(tool.name, "Failure", failure)
        output = tool.jsonable(self._given.result(call.path, "what it returns")[1])
        asks = await self._evaluator.unexpected(call, names, output, about, ())
        return asks or await self._evaluator.concluded(call, names, output, so_far)

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
        if await self._evaluator.terms(call) is None:
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
