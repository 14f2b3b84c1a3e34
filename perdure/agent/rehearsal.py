"""A skill gone through with given results and answers: as a task would go, without a tool, a store or a model."""

import datetime
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import JsonValue

from perdure.agent.plan import Act, Action, Ask, Finish
from perdure.agent.skill_plan import SkillPlan
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.steps.calls import (
    Asks,
    Ended,
    ExpandCall,
    LetCall,
    PreparedTask,
    PromptCall,
    RecallCall,
    RememberCall,
    Result,
    Resumed,
    StepCall,
    ToolShape,
    Value,
    WaitCall,
    Waits,
)
from perdure.agent.steps.evaluator import SKIPPED, StepEvaluator, runs
from perdure.agent.steps.named import named
from perdure.agent.steps.prompting import Answered
from perdure.agent.steps.reached import Reached, is_declined, question_of, so_far_of
from perdure.agent.steps.validation import check_skill, checked_inputs, is_of
from perdure.agent.steps.values import Values
from perdure.agent.steps.waiting import waiting
from perdure.documents import mapping, nearest
from perdure.errors import InvalidSkill, PerdureError, ToolFailed
from perdure.expressions.evaluation import evaluate, holds, written
from perdure.model import Instant
from perdure.questions import Approval, Question, QuestionKind, Subject, TakenAnswer, choice_of, shortened, typed
from perdure.skills.cases import Rehearsed, SkillCase
from perdure.skills.shape import ForEach, LetStep, Parallel, PromptStep, RecallStep, RememberStep, Skill, ToolStep
from perdure.tasks import Phase, StepStatus
from perdure.toolbox import Toolbox

LONGEST = 10_000
"""Moves after which a case is given up: a step that fails for ever, and is tried again each time, would never end."""

_TASK = "rehearsal"
_OF_A_TASK = {"occurrence", "occurred_at"}
"""Fields of what is remembered that say which task it was, and when."""
_RECALLED: Mapping[str, JsonValue] = {"items": [], "records": {}, "context": ""}
"""What a recall finds that a case says nothing of."""


async def rehearsed(skill: Skill, case: SkillCase, toolbox: Toolbox) -> Rehearsed:
    """Go through a skill.

    Args:
        skill: The skill.
        case: What its tools return, what people answer.
        toolbox: The tools, by whose signatures arguments are checked. None is called.

    Raises:
        InvalidSkill: The skill does not fit the tools; the case names a step that is not there, or says nothing of
            what a step returns or of what a person answers.
        InvalidInput: Its inputs are not what the skill wants.
    """
    return await _Rehearsal(skill, case, toolbox).run()


def differences(case: SkillCase, ended: Rehearsed) -> list[str]:
    """Return in which ways a case did not end as it should; nothing where it did.

    Raises:
        InvalidExpression: Its ``expect`` has no value.
    """
    if case.expect is not None:
        return [] if holds(case.expect, ended.model_dump(mode="json"), "expect") else [f"does not hold: {case.expect}"]
    found = [f"is {ended.status}: {ended.problem}"] if ended.status is not Phase.COMPLETED else []
    return [*found, "what the skill expects does not hold"] if ended.passed is False else found


class _InlineValues(Values):
    """Values that go nowhere else."""

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

    def __init__(self, skill: Skill, case: SkillCase, toolbox: Toolbox) -> None:
        self._case = case
        self._toolbox = toolbox
        self._values = _InlineValues()
        self._evaluator = StepEvaluator(self._values)
        self._now: Instant = datetime.datetime.combine(case.date, datetime.time(), datetime.UTC)
        reads = check_skill(skill, toolbox)
        _check_steps(skill, case)
        names = {step.tool for _, step, _ in skill.walk() if isinstance(step, ToolStep)}
        tools = {name: toolbox.get(name) for name in names}
        inputs = checked_inputs(skill, case.inputs)
        prepared = PreparedTask(
            tenant="",
            skill=skill,
            version=skill.digest,
            tools={name: ToolShape(effect=tool.effect, timeout=tool.timeout) for name, tool in tools.items()},
            inputs={name: Value(inline=value) for name, value in inputs.items()},
            reads=reads,
            date=case.date,
            heartbeat=1,
        )
        self._plan = SkillPlan(TaskRun(task_id=_TASK, user_id=_TASK, skill=skill.name), prepared)
        state = TaskState(prepared=prepared, started_at=self._now, renewed_at=self._now)
        self._state = self._plan.begin(state)
        self._asked: list[str] = []
        self._called: list[dict[str, JsonValue]] = []
        self._remembered: list[dict[str, JsonValue]] = []

    async def run(self) -> Rehearsed:
        """Go through it to its end."""
        try:
            return await self._run()
        except _Missing as missing:
            raise missing.problem from None

    async def _run(self) -> Rehearsed:
        for _ in range(LONGEST):
            match self._plan.next(self._state, self._now):
                case Finish() as finish:
                    return await self._finished(finish)
                case Ask(branch=branch, question=question):
                    self._state = self._plan.answered(self._state, branch, self._answer(question))
                case Act(actions=actions):
                    for action in actions:
                        await self._act(action)
        raise InvalidSkill("case", f"does not end within {LONGEST:,} steps")

    async def _finished(self, finish: Finish) -> Rehearsed:
        told: dict[str, Any] = {
            "asked": tuple(self._asked),
            "called": tuple(self._called),
            "remembered": tuple(self._remembered),
        }
        if finish.evaluation is None:
            return Rehearsed(status=Phase.FAILED, problem=finish.problem, **told)
        try:
            evaluated = await self._evaluator.evaluate(finish.evaluation)
        except PerdureError as problem:
            return Rehearsed(status=Phase.FAILED, problem=str(problem), **told)
        passed = evaluated.evaluation.passed if evaluated.evaluation else None
        return Rehearsed(status=Phase.COMPLETED, output=evaluated.output, passed=passed, **told)

    async def _act(self, action: Action) -> None:
        try:
            outcome = action.known or action.waits or await self._outcome(action)
        except PerdureError as problem:
            self._state = self._plan.failed(self._state, action.branch, str(problem), None)
            return
        match outcome:
            case Asks(question=question, resume=resume):
                resumed = Resumed(resume=resume, answer=self._answer(question))
                self._state = self._state.branch(action.branch, resumed=resumed)
            case Waits(until=until):
                self._now = max(self._now, until)
                self._end(action, Ended(result=Result(status=StepStatus.DONE)))
            case Ended():
                self._end(action, outcome)

    def _end(self, action: Action, outcome: Ended) -> None:
        self._remembered += [
            one.item.model_dump(mode="json", exclude_defaults=True, exclude=_OF_A_TASK) for one in outcome.items
        ]
        state = self._state.branch(action.branch, path="", resumed=None)
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
        about = Subject(tool=tool.name, arguments=shortened(arguments), idempotency_key="")
        if step.approve is not None and so_far.approved is None:
            text = written(evaluate(step.approve, names, f"{call.path}.approve"))
            return question_of(call, text, about, choice_of(Approval), Reached(asked=QuestionKind.APPROVAL))
        self._called.append({"step": call.path, "tool": tool.name, "arguments": arguments})
        self._fail(call.path, tool.name)
        output = tool.jsonable(self._of(self._case.results, "results", call.path, "what it returns"))
        asks = await self._evaluator.unexpected(call, names, output, about, ())
        return asks or await self._evaluator.concluded(call, names, output, so_far)

    async def _reply(self, call: PromptCall) -> Answered:
        self._fail(call.path, "model")
        output = self._of(self._case.results, "results", call.path, "what the model answers")
        if call.step.output:
            fields = mapping(output, f"results.{call.step.id}", InvalidSkill)
            if fields.keys() != call.step.output.keys():
                fix = f"give {', '.join(call.step.output)}"
                _miss(f"results.{call.step.id}", "is not what the step asks for", fix=fix)
            for name, kind in call.step.output.items():
                if not is_of(kind, fields[name]):
                    _miss(f"results.{call.step.id}.{name}", f"is not of the type {kind}")
        return Answered(output, 0)

    async def _recall(self, call: RecallCall) -> Ended:
        if await self._evaluator.terms(call) is None:
            return SKIPPED
        place = _place(self._case.results, call.path)
        given = mapping(self._case.results[place], f"results.{place}", InvalidSkill) if place else {}
        for name in given:
            if name not in _RECALLED:
                _miss(f"results.{place}.{name}", "is no part of a recall", fix=nearest(name, _RECALLED))
        parts = {name: Value(inline=value) for name, value in {**_RECALLED, **given}.items()}
        return Ended(result=Result(status=StepStatus.DONE, parts=parts))

    def _answer(self, question: Question) -> TakenAnswer:
        path = question.id
        self._asked.append(path)
        value = self._of(self._case.answers, "answers", path, f"what a person answers to {question.text!r}")
        try:
            value = typed(value, question.answer)
        except PerdureError as problem:
            _miss(f"answers.{_place(self._case.answers, path)}", str(problem))
        return TakenAnswer(question_id=path, value=value, by=_TASK, at=self._now)

    def _fail(self, path: str, what: str) -> None:
        if place := _place(self._case.failures, path):
            raise ToolFailed(what, "Failure", self._case.failures[place])

    def _of(self, given: Mapping[str, JsonValue], field: str, path: str, wanted: str) -> JsonValue:
        place = _place(given, path)
        if not place:
            _miss(f"{field}.{_id(path)}", f"is missing: {path} is reached, and the case does not say {wanted}")
        return given[place]


class _Missing(Exception):
    """The case cannot be gone through: no failure of the task."""

    def __init__(self, problem: InvalidSkill) -> None:
        super().__init__(str(problem))
        self.problem = problem


def _miss(field: str, problem: str, fix: str = "") -> NoReturn:
    raise _Missing(InvalidSkill(field, problem, fix=fix))


def _id(path: str) -> str:
    return path.rsplit(".", 1)[-1].split("[", 1)[0]


def _place(given: Mapping[str, Any], path: str) -> str:
    """Return under which name something is given for a step: its path, or its id; empty where it is not."""
    return next((one for one in (path, _id(path)) if one in given), "")


def _check_steps(skill: Skill, case: SkillCase) -> None:
    """Refuse what is given for a step that is not there: it would count for nothing.

    Raises:
        InvalidSkill: With the nearest step.
    """
    kinds = {step.id: step for _, step, _ in skill.walk()}
    silent = (ForEach, Parallel, LetStep)
    steps = {name for name, step in kinds.items() if not isinstance(step, silent)}
    with_results = {name for name in steps if isinstance(kinds[name], ToolStep | PromptStep | RecallStep)}
    asking = {name for name in steps if isinstance(kinds[name], ToolStep | PromptStep | RememberStep)}
    failing = {name for name in steps if isinstance(kinds[name], ToolStep | PromptStep)}
    for field, given, known in (
        ("results", case.results, with_results),
        ("failures", case.failures, failing),
        ("answers", case.answers, asking),
    ):
        for name in given:
            if _id(name) not in known:
                raise InvalidSkill(f"{field}.{name}", "is no step that could have one", fix=nearest(name, known))
