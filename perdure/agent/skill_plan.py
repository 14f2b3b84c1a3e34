"""The plan of a task that runs a skill: its steps in order, in a single branch, and what its failures mean. Pure."""

from datetime import timedelta
from typing import Any

from perdure.agent.cursor import Cursor, Here, Readers, ended, entered, here, leaves, scope
from perdure.agent.plan import Act, Action, Ask, Finish
from perdure.agent.state import Branch, TaskRun, TaskState
from perdure.agent.steps.calls import (
    Ended,
    EvaluateCall,
    ExpandCall,
    PreparedTask,
    RecallCall,
    RememberCall,
    Result,
    Scope,
    StepCall,
    TaskFacts,
    Value,
)
from perdure.identity import idempotency_key
from perdure.model import Instant
from perdure.names import Activity
from perdure.questions import (
    AfterFailure,
    FailedAttempt,
    Question,
    QuestionKind,
    Subject,
    TakenAnswer,
    choice_of,
    shortened,
)
from perdure.skills.shape import ForEach, OnFailure, RecallStep, RememberStep, ToolStep
from perdure.tasks import StepStatus

CARRIED_INLINE = 400_000
"""Bytes of results that are carried along as they are; of what comes then, all but small values is kept elsewhere."""

SMALL_INLINE_LIMIT = 128
"""Bytes up to which a value is then carried along: about what a reference takes."""

MAIN = "main"
"""The only branch of a skill."""


class SkillPlan:
    """Walks through a skill's steps.

    Args:
        task: The task.
        prepared: What it is pinned to.
    """

    def __init__(self, task: TaskRun, prepared: PreparedTask) -> None:
        self._task = task
        self._prepared = prepared
        self._skill = prepared.skill
        self._readers = Readers(prepared.skill, prepared.reads)

    def begin(self, state: TaskState) -> TaskState:
        """Return the state before the first step."""
        return state.branch(MAIN, position=Cursor()).changed(total=leaves(self._skill.steps))

    def next(self, state: TaskState, now: Instant) -> Act | Ask | Finish:
        """Return the next step, the question about the last one's failure, or the end."""
        branch = state.branches[MAIN]
        if branch.path:
            return Act()
        if state.failure:
            return Finish(problem=state.failure)
        at = here(self._skill, self._cursor(state))
        if at is None:
            skill, scope = self._skill, self._scope(state, "")
            of: dict[str, Any] = {"tenant": self._prepared.tenant, "task_id": self._task.task_id, "scope": scope}
            call = EvaluateCall(output=skill.output, expect=skill.expect, **of)
            return Finish(evaluation=call)
        if branch.problem:
            return Ask(branch=MAIN, question=self._question(at, branch))
        return Act(actions=(self._action(state, at, now),))

    def ended(self, state: TaskState, branch: str, outcome: Ended) -> TaskState:
        """Return the state after the next step, or inside the next block."""
        if outcome.elements is None:
            return self._after(state, outcome.result)
        block = self._here(state).step
        total = state.total + len(outcome.elements) * leaves(block.steps if isinstance(block, ForEach) else ())
        cursor = entered(self._skill, self._cursor(state), outcome.elements, self._readers)
        return state.branch(branch, position=cursor).changed(total=total)

    def failed(self, state: TaskState, branch: str, problem: str, attempt: FailedAttempt | None) -> TaskState:
        """Return the state after a failure, as the step's ``on_failure`` says; an unknown one fails the task."""
        failed = self._here(state)
        match failed.step.on_failure if isinstance(failed.step, ToolStep | RememberStep) else OnFailure.FAIL:
            case OnFailure.ASK:
                return state.branch(branch, problem=problem, failed=attempt)
            case OnFailure.CONTINUE:
                return self._after(state, _with_problem(StepStatus.FAILED, problem))
            case _:
                return state.changed(failure=f"step {failed.path}: {problem}")

    def answered(self, state: TaskState, branch: str, answer: TakenAnswer) -> TaskState:
        """Return the state after a person decided about a failure; anything but retry and skip stops the task."""
        problem = state.branches[branch].problem
        state = state.branch(branch, problem="", failed=None)
        match answer.value:
            case AfterFailure.RETRY:
                return state.branch(branch, again=True)
            case AfterFailure.SKIP:
                return self._after(state, _with_problem(StepStatus.SKIPPED, problem))
            case _:
                return state.changed(failure=f"step {self._here(state).path}: {problem}")

    def _cursor(self, state: TaskState) -> Cursor:
        # After a rollover it is what JSON makes of it; otherwise this returns it as it is.
        return Cursor.model_validate(state.branches[MAIN].position)

    def _here(self, state: TaskState) -> Here:
        at = here(self._skill, self._cursor(state))
        if at is None:
            raise ValueError("every step has ended")
        return at

    def _after(self, state: TaskState, result: Result) -> TaskState:
        cursor = ended(self._skill, self._cursor(state), result, self._readers)
        return state.branch(MAIN, position=cursor, resumed=None, again=False).counted(result.status)

    def _question(self, at: Here, branch: Branch) -> Question:
        about = None
        if isinstance(at.step, ToolStep):
            key = idempotency_key(self._prepared.tenant, self._task.task_id, at.path)
            about = Subject(tool=at.step.tool, arguments=shortened(at.step.args), idempotency_key=key)
            if (failed := branch.failed) is not None:
                arguments = failed.arguments or about.arguments
                about = about.changed(arguments=arguments, attempted_at=failed.began, deadline=failed.deadline)
        text, takes = f"{at.path} failed: {branch.problem}", choice_of(AfterFailure)
        return Question(id=at.path, kind=QuestionKind.FAILURE, text=text, about=about, answer=takes)

    def _scope(self, state: TaskState, step: str) -> Scope:
        prepared = self._prepared
        facts = TaskFacts(id=self._task.task_id, date=prepared.date, agent=self._task.agent)
        return scope(self._skill, self._cursor(state), prepared.reads[step], prepared.inputs, facts)

    def _action(self, state: TaskState, at: Here, now: Instant) -> Action:
        """Return the action of a step; where the task's memory mode leaves nothing to do, it is skipped."""
        task, prepared, step = self._task, self._prepared, at.step
        of: dict[str, Any] = {"tenant": prepared.tenant, "path": at.path, "scope": self._scope(state, step.id)}
        of["task_id"] = task.task_id
        if isinstance(step, ForEach):
            call = ExpandCall.model_validate({**of, "for_each": step.for_each, "when": step.when})
            how: dict[str, Any] = {"activity": Activity.EXPAND, "summary": f"{at.path}: its list", "is_step": False}
            return Action(branch=MAIN, path=at.path, call=call, **how)
        of |= {"epoch": prepared.epoch, "session": task.session, "memory": task.memory}
        of |= {"occurred_at": self._observed_at(now), "step": step}
        if self._cursor(state).inline > CARRIED_INLINE:
            of["inline_limit"] = SMALL_INLINE_LIMIT
        match step:
            case ToolStep(tool=tool, critical=critical):
                shape = prepared.tools[tool]
                of |= {"resumed": state.branches[MAIN].resumed, "timeout": shape.timeout}
                if shape.effect.is_once:
                    earlier = state.earlier or (state.started_at if state.branches[MAIN].again else None)
                    of |= {"binding": prepared.binding, "earlier": earlier}
                how = {"activity": tool, "call": StepCall.model_validate(of), "tool": shape, "critical": critical}
            case RecallStep() if task.memory.recalls:
                how = {"activity": Activity.RECALL_STEP, "call": RecallCall.model_validate({**of, "now": now})}
            case RememberStep(critical=critical) if task.memory.remembers:
                call = RememberCall.model_validate(of)
                how = {"activity": Activity.REMEMBER_STEP, "call": call, "critical": critical}
            case _:
                how = {"known": Ended(result=Result(status=StepStatus.SKIPPED))}
        return Action(branch=MAIN, path=at.path, **how)

    def _observed_at(self, now: Instant) -> Instant:
        """When what a step observes counts as observed: noon of the task's date, if it has one, a day ahead at most."""
        day = self._task.date
        if day is None:
            return now
        noon = now.replace(year=day.year, month=day.month, day=day.day, hour=12, minute=0, second=0, microsecond=0)
        return min(noon, now + timedelta(days=1))


def _with_problem(status: StepStatus, problem: str) -> Result:
    return Result(status=status, parts={"problem": Value(inline=problem)})
