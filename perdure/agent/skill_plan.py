"""The plan of a task that runs a skill: its steps in order or side by side, and what failures mean. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from perdure.agent.cursor import MAIN, Cursor, counts, inside, leaves
from perdure.agent.plan import Act, Action, ActionFailure, Ask, Finish, Unanswered
from perdure.agent.preparation import PreparedTask
from perdure.agent.reused_steps import TakenOver, begun
from perdure.agent.route import Here, Route
from perdure.agent.skill_actions import SkillActions, on_failure_of
from perdure.agent.state import Branch, TaskRun, TaskState
from perdure.agent.steps.calls import Ended, Result, Value
from perdure.agent.steps.task_calls import EvaluateCall
from perdure.identity import idempotency_key
from perdure.model import Instant
from perdure.skills.steps import (
    ToolStep,
)
from perdure.skills.templates import OnFailure
from perdure.tolerance import taken_back
from perdure.values.lessons import shown_lessons
from perdure.values.questions import (
    AfterFailure,
    FailedAttempt,
    Question,
    QuestionKind,
    Subject,
    TakenAnswer,
    choice_of,
    shortened,
)
from perdure.values.steering import TakenMessage
from perdure.values.tasks import StepStatus


class SkillPlan:
    """Walks through a skill's steps.

    Args:
        task: The task.
        prepared: What it is pinned to: a skill.
    """

    unanswered = Unanswered.TASK_FAILS

    def __init__(self, task: TaskRun, prepared: PreparedTask) -> None:
        if prepared.skill is None:
            raise ValueError("the task runs no skill")
        self._task = task
        self._prepared = prepared
        self._skill = prepared.skill
        self._route = Route(prepared.skill, prepared.reads, prepared.inner)
        self._actions = SkillActions(task, prepared, self._route)

    def begin(self, state: TaskState) -> TaskState:
        """Return the state before the first step, or before the one at which the task begins."""
        if self._prepared.position is None:
            return state.branch(MAIN, position=Cursor()).changed(total=leaves(self._skill.steps))
        taken = taken_back(TakenOver, self._prepared.position)
        cursor = begun(self._skill, self._prepared.reads, taken.place, taken.results)
        # The history need not carry it along a second time.
        state = state.changed(prepared=self._prepared.changed(position=None), compensations=taken.compensations)
        state = state.changed(failures=taken.failures)
        return state.branch(MAIN, position=cursor).changed(total=leaves(self._skill.steps[taken.place :]))

    def next(self, state: TaskState, now: Instant) -> Act | Ask | Finish:
        """Return the next steps, the question about one's failure, or the end."""
        if state.failure:
            return Finish(problem=state.failure)
        cursors = self._cursors(state)
        free = {name: branch for name, branch in state.branches.items() if not branch.path and not cursors[name].walk}
        steps = {name: at for name in free if (at := self._route.here(cursors, name))}
        over = {name for name in steps if self._route.is_given_up(cursors, name)}
        for name, at in steps.items():
            if free[name].problem and name not in over:
                return Ask(branch=name, question=self._question(at, free[name]))
        if MAIN in free and MAIN not in steps:
            of: dict[str, Any] = {"tenant": self._prepared.tenant, "task_id": self._task.task_id}
            of["scope"] = self._actions.scope(cursors, MAIN, "")
            judge = self._skill.judge
            judge = judge and judge.changed(model=judge.model or self._prepared.model)
            of |= {"expect": self._skill.expect, "judge": judge}
            return Finish(evaluation=EvaluateCall(output=self._skill.output, **of))
        return Act(
            actions=tuple(
                _dropping(name, at.path) if name in over else self._actions.action(state, cursors, name, at, now)
                for name, at in steps.items()
            )
        )

    def ended(self, state: TaskState, branch: str, outcome: Ended) -> TaskState:
        """Return the state after the branch's step, or inside the next block."""
        elements = (0,) if outcome.inputs is not None else outcome.elements
        cursors = self._cursors(state)
        if elements is None or self._route.is_given_up(cursors, branch):
            state = state.changed(tokens=state.tokens + outcome.tokens)
            return self._after(state, branch, outcome.result, outcome.reason)
        total = state.total + inside(self._here(cursors, branch).step, len(elements), self._prepared.inner)
        entering = self._route.entered(cursors, branch, elements, outcome.inputs)
        return state.positioned(entering).changed(total=total)

    def failed(self, state: TaskState, branch: str, failure: ActionFailure) -> TaskState:
        """Return the state after a failure, as the step's ``on_failure`` says; an unknown one fails the task."""
        cursors, state = self._cursors(state), state.changed(tokens=state.tokens + failure.tokens)
        failed, problem = self._here(cursors, branch), failure.problem
        if self._route.is_given_up(cursors, branch):
            return self._after(state, branch, _with_problem(StepStatus.FAILED, problem), problem, failure.attempt)
        match on_failure_of(failed):
            case OnFailure.ASK:
                return state.branch(branch, problem=problem, failed=failure.attempt)
            case OnFailure.CONTINUE:
                return self._after(state, branch, _with_problem(StepStatus.FAILED, problem), problem, failure.attempt)
            case _:
                state = state.reported(branch, failed.path, StepStatus.FAILED, problem, failure.attempt)
                # For whoever decides what to do about the task.
                told = shown_lessons(state.branches[branch].lessons)
                problem = "\n".join(filter(None, [f"step {failed.path}: {problem}", told]))
        if not (around := self._route.catching(cursors, branch)):
            return _given_up(state, failed, problem)
        state = state.positioned(self._route.given_up(cursors, around, problem))
        return self._after(state, branch, Result(status=StepStatus.FAILED))

    def refused(self, state: TaskState, branch: str, problem: str) -> TaskState | None:
        """Return None: beyond its limits, a task that runs a skill fails."""
        return None

    def heard(self, state: TaskState, messages: Sequence[TakenMessage]) -> TaskState | None:
        """Never called: the steps of a skill are fixed, and a task that runs one takes no messages."""
        raise ValueError(f"a skill is told nothing ({len(messages)} messages)")

    def answered(self, state: TaskState, branch: str, answer: TakenAnswer) -> TaskState:
        """Return the state after a person decided about a failure; anything but retry and skip stops the task."""
        problem, attempt = state.branches[branch].problem, state.branches[branch].failed
        state = state.branch(branch, problem="", failed=None)
        match answer.value:
            case AfterFailure.RETRY:
                return state.branch(branch, again=True)
            case AfterFailure.SKIP:
                return self._after(state, branch, _with_problem(StepStatus.SKIPPED, problem), problem, attempt)
            case _:
                at = self._here(self._cursors(state), branch)
                state = state.reported(branch, at.path, StepStatus.FAILED, problem, attempt)
                return _given_up(state, at, f"step {at.path}: {problem}")

    def _cursors(self, state: TaskState) -> dict[str, Cursor]:
        # After a rollover they have been through JSON; otherwise this returns them as they are.
        return {name: taken_back(Cursor, branch.position) for name, branch in state.branches.items()}

    def _here(self, cursors: Mapping[str, Cursor], branch: str) -> Here:
        at = self._route.here(cursors, branch)
        if at is None:
            raise ValueError(f"every step of {branch} has ended")
        return at

    def _after(
        self, state: TaskState, branch: str, result: Result, why: str = "", attempt: FailedAttempt | None = None
    ) -> TaskState:
        cursors, status = self._cursors(state), result.status
        at = self._here(cursors, branch)
        if why:
            state = state.reported(branch, at.path, status, why, attempt)
        state = state.branch(branch, resumed=None, again=False, problem="", failed=None, lessons=())
        if not self._route.is_given_up(cursors, branch):
            state = state.positioned(self._route.ended(cursors, branch, result))
            return state.counted(status) if counts(at.step) else state
        # What had not begun is not counted; nor is what was skipped.
        ended = None if status is StepStatus.SKIPPED else status
        state = state.positioned(self._route.dropped(cursors, branch, ended))
        return state.counted(status) if ended and counts(at.step) else state

    def _question(self, at: Here, branch: Branch) -> Question:
        about = None
        if isinstance(at.step, ToolStep):
            key = idempotency_key(self._prepared.tenant, self._task.task_id, at.path)
            about = Subject(tool=at.step.tool, arguments=shortened(at.step.args), idempotency_key=key)
            if (failed := branch.failed) is not None:
                arguments = failed.arguments or about.arguments
                about = about.changed(arguments=arguments, attempted_at=failed.began, deadline=failed.deadline)
        text, takes = f"{at.path} failed: {branch.problem}", choice_of(AfterFailure)
        text = "\n".join(filter(None, [text, shown_lessons(branch.lessons)]))
        return Question(id=at.path, kind=QuestionKind.FAILURE, text=text, about=about, answer=takes)


def _given_up(state: TaskState, at: Here, problem: str) -> TaskState:
    """Return the state of a task that a step's failure ends: the step has ended too."""
    state = state.counted(StepStatus.FAILED) if counts(at.step) else state
    return state.changed(failure=problem)


def _dropping(branch: str, path: str) -> Action:
    """Return the action that ends a branch of a skill that has failed."""
    known = Ended(result=Result(status=StepStatus.SKIPPED))
    return Action(branch=branch, path=path, known=known, is_step=False)


def _with_problem(status: StepStatus, problem: str) -> Result:
    return Result(status=status, parts={"problem": Value(inline=problem)})
