"""A skill run with given results and answers, as a task would run it, without a tool, a store or a model."""

import datetime
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from perdure.agent.case_steps import CaseSteps
from perdure.agent.case_values import CaseValues, NotGiven
from perdure.agent.compensation_plan import CompensationPlan
from perdure.agent.plan import Act, Action, ActionFailure, Ask, Finish, Listen, Plan, beyond, waited
from perdure.agent.preparation import InnerSkill, PreparedTask, ToolShape
from perdure.agent.reports import result_of
from perdure.agent.skill_plan import SkillPlan
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.steps.calls import Asks, Ended, Resumed, Value, Waits
from perdure.agent.steps.judgements import Judged
from perdure.agent.steps.validation import check_linked, checked_inputs
from perdure.errors import PerdureError, ToolFailed
from perdure.expressions.evaluation import holds
from perdure.model import Instant
from perdure.skills.cases import Rehearsed, SkillCase
from perdure.skills.linked_skills import LinkedSkill
from perdure.skills.shape import Skill
from perdure.toolbox import Toolbox
from perdure.values.tasks import Judgement, Phase

_TASK = "rehearsal"
_OF_A_TASK = {"occurrence", "occurred_at", "source"}
"""Fields of remembered items that say which task wrote them, and when."""


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


class _Rehearsal:
    """One case."""

    def __init__(self, linked: LinkedSkill, case: SkillCase, toolbox: Toolbox) -> None:
        skill = linked.skill
        self._given = CaseValues(skill, case, linked.inner)
        self._judged = case.judged is not False
        self._steps = CaseSteps(self._given, toolbox)
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
        self._plan: Plan = SkillPlan(self._task, prepared)
        state = TaskState(prepared=prepared, started_at=self._now, renewed_at=self._now)
        self._state = self._plan.begin(state)
        self._reached: set[str] = set()
        self._refused: list[str] = []
        self._remembered: list[dict[str, JsonValue]] = []

    async def run(self) -> Rehearsed:
        """Run it to its end."""
        try:
            return await self._run()
        except NotGiven as missing:
            raise missing.problem from None

    async def _run(self) -> Rehearsed:
        ended = await self._finished(await self._finish())
        if ended.status is Phase.FAILED:
            # What the task has done is undone, as it would be.
            self._plan = CompensationPlan(self._task, self._state.prepared)
            self._state = self._plan.begin(self._state.changed(failure=""))
            await self._finish()
            undone = {"compensated": self._state.compensated, "uncompensated": self._state.uncompensated}
            ended = ended.changed(**undone, **self._told())
        self._given.check(self._reached)
        return ended

    async def _finish(self) -> Finish:
        """Do what the plan says until it is finished."""
        # Each question takes an answer of the case, and each step counts, so it ends.
        while True:
            match self._plan.next(self._state, self._now):
                case Finish() as finish:
                    return finish
                case Ask(branch=branch, question=question):
                    self._state = self._plan.answered(self._state, branch, self._given.answer(question, self._now))
                case Listen():
                    raise ValueError("a skill does not converse")
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

    def _told(self) -> dict[str, Any]:
        return {
            "asked": tuple(self._given.asked),
            "called": tuple(self._steps.called),
            "remembered": tuple(self._remembered),
            "refused": tuple(self._refused),
            "warnings": result_of(self._task, self._state, Phase.COMPLETED, "").warnings,
        }

    async def _finished(self, finish: Finish) -> Rehearsed:
        told = self._told()
        if finish.evaluation is None:
            return Rehearsed(status=Phase.FAILED, problem=finish.problem, **told)
        try:
            evaluated = await self._steps.evaluator.evaluate(finish.evaluation, self._judge)
        except PerdureError as problem:
            return Rehearsed(status=Phase.FAILED, problem=str(problem), **told)
        passed = evaluated.evaluation.passed if evaluated.evaluation else None
        return Rehearsed(status=Phase.COMPLETED, output=evaluated.output, passed=passed, **told)

    async def _judge(self, request: str) -> Judged:
        judgement = Judgement(by="model", passed=self._judged, reason="the case says so")
        return Judged(judgement, 0)

    async def _act(self, action: Action) -> None:
        if problem := beyond(self._task.limits, action, self._state):
            self._state = self._state.changed(failure=problem)
            return
        self._reached.add(action.path)
        try:
            outcome = action.known or action.waits or await self._steps.outcome(action)
        except PerdureError as error:
            told = f"{error}: {error.text}" if isinstance(error, ToolFailed) else str(error)
            self._state = self._plan.failed(self._state, action.branch, ActionFailure(told))
            return
        match outcome:
            case Asks(question=question, resume=resume):
                self._state = self._state.undoable(outcome.compensation)
                resumed = Resumed(resume=resume, asked=question.kind, answer=self._given.answer(question, self._now))
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
        self._state = self._state.undoable(outcome.compensation)
        if outcome.problem and outcome.compensation:
            self._state = self._plan.failed(self._state, action.branch, ActionFailure(outcome.problem))
            return
        state = self._state.branch(action.branch, path="", resumed=None, delivered=None)
        self._state = self._plan.ended(state, action.branch, outcome)
