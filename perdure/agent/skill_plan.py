"""The plan of a task that runs a skill: its steps in order or side by side, and what failures mean. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from perdure.agent.cursor import MAIN, Cursor, Here, Route, counts, inside, leaves
from perdure.agent.plan import Act, Action, Ask, Finish
from perdure.agent.prepared import PreparedTask
from perdure.agent.state import Branch, TaskRun, TaskState
from perdure.agent.step_context import acting_of, context_of
from perdure.agent.steps.awaited import ExpectCall, TakeCall, known_wait
from perdure.agent.steps.calls import (
    Ended,
    EvaluateCall,
    ExpandCall,
    LetCall,
    PromptCall,
    RecallCall,
    RememberCall,
    Result,
    Scope,
    StepCall,
    TaskFacts,
    Value,
    WaitCall,
    Waits,
)
from perdure.durations import is_duration, moment_of
from perdure.events import TakenEvent
from perdure.identity import idempotency_key
from perdure.model import DEEPEST_VALUE, Instant, depth
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
from perdure.skills.steps import (
    EventStep,
    ForEach,
    LetStep,
    OnFailure,
    Parallel,
    PromptStep,
    RecallStep,
    RememberStep,
    ToolStep,
    WaitStep,
)
from perdure.tasks import StepStatus

CARRIED_INLINE = 400_000
"""Bytes of results that are carried along as they are; beyond that, all but small values are kept elsewhere."""

SMALL_INLINE_LIMIT = 128
"""Bytes up to which a value is then carried along: about what a reference takes."""


class SkillPlan:
    """Walks through a skill's steps.

    Args:
        task: The task.
        prepared: What it is pinned to: a skill.
    """

    def __init__(self, task: TaskRun, prepared: PreparedTask) -> None:
        if prepared.skill is None:
            raise ValueError("the task runs no skill")
        self._task = task
        self._prepared = prepared
        self._skill = prepared.skill
        self._route = Route(prepared.skill, prepared.reads)

    def begin(self, state: TaskState) -> TaskState:
        """Return the state before the first step."""
        return state.branch(MAIN, position=Cursor()).changed(total=leaves(self._skill.steps))

    def next(self, state: TaskState, now: Instant) -> Act | Ask | Finish:
        """Return the next steps, the question about one's failure, or the end."""
        if state.failure:
            return Finish(problem=state.failure)
        cursors = self._cursors(state)
        free = {name: branch for name, branch in state.branches.items() if not branch.path and not cursors[name].walk}
        steps = {name: at for name in free if (at := self._route.here(cursors, name))}
        for name, at in steps.items():
            if free[name].problem:
                return Ask(branch=name, question=self._question(at, free[name]))
        if MAIN in free and MAIN not in steps:
            of: dict[str, Any] = {"tenant": self._prepared.tenant, "task_id": self._task.task_id}
            of["scope"] = self._scope(cursors, MAIN, "")
            of |= {"expect": self._skill.expect, "judge": self._skill.judge}
            return Finish(evaluation=EvaluateCall(output=self._skill.output, **of))
        return Act(actions=tuple(self._action(state, cursors, name, at, now) for name, at in steps.items()))

    def ended(self, state: TaskState, branch: str, outcome: Ended) -> TaskState:
        """Return the state after the branch's step, or inside the next block."""
        if outcome.elements is None:
            return self._after(state, branch, outcome.result).changed(tokens=state.tokens + outcome.tokens)
        cursors = self._cursors(state)
        total = state.total + inside(self._here(cursors, branch).step, len(outcome.elements))
        entering = self._route.entered(cursors, branch, outcome.elements)
        return state.positioned(entering).changed(total=total)

    def failed(self, state: TaskState, branch: str, problem: str, attempt: FailedAttempt | None) -> TaskState:
        """Return the state after a failure, as the step's ``on_failure`` says; an unknown one fails the task."""
        failed = self._here(self._cursors(state), branch)
        step = failed.step
        match step.on_failure if isinstance(step, ToolStep | PromptStep | RememberStep) else OnFailure.FAIL:
            case OnFailure.ASK:
                return state.branch(branch, problem=problem, failed=attempt)
            case OnFailure.CONTINUE:
                return self._after(state, branch, _with_problem(StepStatus.FAILED, problem))
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
                return self._after(state, branch, _with_problem(StepStatus.SKIPPED, problem))
            case _:
                path = self._here(self._cursors(state), branch).path
                return state.changed(failure=f"step {path}: {problem}")

    def _cursors(self, state: TaskState) -> dict[str, Cursor]:
        # After a rollover they have been through JSON; otherwise this returns them as they are.
        return {name: Cursor.model_validate(branch.position) for name, branch in state.branches.items()}

    def _here(self, cursors: Mapping[str, Cursor], branch: str) -> Here:
        at = self._route.here(cursors, branch)
        if at is None:
            raise ValueError(f"every step of {branch} has ended")
        return at

    def _after(self, state: TaskState, branch: str, result: Result) -> TaskState:
        cursors = self._cursors(state)
        after = self._route.ended(cursors, branch, result)
        ended = state.branch(branch, resumed=None, again=False).positioned(after)
        return ended.counted(result.status) if counts(self._here(cursors, branch).step) else ended

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

    def _scope(self, cursors: Mapping[str, Cursor], branch: str, step: str) -> Scope:
        prepared = self._prepared
        facts = TaskFacts(id=self._task.task_id, date=prepared.date, agent=self._task.agent)
        return self._route.scope(cursors, branch, prepared.reads[step], prepared.inputs, facts)

    def _action(self, state: TaskState, cursors: Mapping[str, Cursor], branch: str, at: Here, now: Instant) -> Action:
        """Return the action of a step; if the task's memory mode leaves nothing to do, it is skipped."""
        task, prepared, step = self._task, self._prepared, at.step
        scope = self._scope(cursors, branch, step.id)
        if isinstance(step, ForEach | Parallel):
            of: dict[str, Any] = {"tenant": prepared.tenant, "task_id": task.task_id, "path": at.path, "scope": scope}
            return _expansion(branch, at.path, step, of)
        of = context_of(task, prepared, at.path, now, scope) | {"step": step}
        if sum(cursor.inline for cursor in cursors.values()) > CARRIED_INLINE:
            of["inline_limit"] = SMALL_INLINE_LIMIT
        match step:
            case LetStep():
                call = LetCall.model_validate(of)
                how: dict[str, Any] = {"is_step": False, "activity": Activity.LET_STEP, "call": call}
                if is_literal(step, call.inline_limit):
                    parts = {name: Value(inline=value) for name, value in step.let.items()}
                    how = {"is_step": False, "known": Ended(result=Result(status=StepStatus.DONE, parts=parts))}
            case ToolStep(tool=tool, critical=critical):
                shape = prepared.tools[tool]
                of |= {"resumed": state.branches[branch].resumed, "timeout": shape.timeout}
                of |= {"acting": acting_of(task, prepared, state)}
                if shape.effect.is_once:
                    earlier = state.earlier or (state.started_at if state.branches[branch].again else None)
                    of |= {"binding": prepared.binding, "earlier": earlier}
                how = {
                    "activity": tool,
                    "call": StepCall.model_validate(of),
                    "tool": shape,
                    "critical": critical,
                }
            case WaitStep():
                how = _waiting(step, of, now)
            case EventStep():
                how = _expecting(step, of, now, state.branches[branch].delivered)
            case PromptStep(critical=critical):
                call = PromptCall.model_validate(of)
                how = {"activity": Activity.PROMPT_STEP, "call": call, "is_model": True, "critical": critical}
            case RecallStep() if task.memory.recalls:
                how = {"activity": Activity.RECALL_STEP, "call": RecallCall.model_validate({**of, "now": now})}
            case RememberStep(critical=critical) if task.memory.remembers:
                call = RememberCall.model_validate(of)
                how = {"activity": Activity.REMEMBER_STEP, "call": call, "critical": critical}
            case _:
                how = {"known": Ended(result=Result(status=StepStatus.SKIPPED))}
        return Action(branch=branch, path=at.path, **how)


def is_literal(step: LetStep, limit: int) -> bool:
    """Return whether a ``let`` holds only literal values, and they fit the history.

    Expressions are evaluated only in activities: their library orders some results differently in each process.
    """
    text = json.dumps(step.let, ensure_ascii=False)
    return "${" not in text and len(text.encode()) <= limit and depth(step.let) <= DEEPEST_VALUE


def _waiting(step: WaitStep, of: Mapping[str, Any], now: Instant) -> dict[str, Any]:
    """Return the action that makes a step wait; a literal time needs no activity."""
    if step.when is None and is_duration(step.wait):
        return {"waits": Waits(until=moment_of(step.wait, now))}
    return {"activity": Activity.WAIT_STEP, "call": WaitCall.model_validate({**of, "now": now})}


def _expecting(step: EventStep, of: Mapping[str, Any], now: Instant, event: TakenEvent | None) -> dict[str, Any]:
    """Return the action that makes a step wait for its event or, once it has come, take it."""
    if event is not None:
        return {"activity": Activity.TAKE_EVENT, "call": TakeCall.model_validate({**of, "event": event})}
    if (waits := known_wait(step, now)) is not None:
        return {"waits": waits}
    return {"activity": Activity.EXPECT_EVENT, "call": ExpectCall.model_validate({**of, "now": now})}


def _expansion(branch: str, path: str, block: ForEach | Parallel, of: Mapping[str, Any]) -> Action:
    """Return the action that computes a block's list, which is known for unconditional steps side by side."""
    if isinstance(block, ForEach):
        elements: JsonValue = block.for_each
    else:
        elements = list(range(len(block.lanes)))
        if block.when is None:
            known = Ended(result=Result(status=StepStatus.DONE), elements=tuple(elements))
            return Action(branch=branch, path=path, known=known, is_step=False)
    call = ExpandCall.model_validate({**of, "for_each": elements, "when": block.when})
    how: dict[str, Any] = {"activity": Activity.EXPAND, "summary": f"{path}: its list", "is_step": False}
    return Action(branch=branch, path=path, call=call, **how)


def _with_problem(status: StepStatus, problem: str) -> Result:
    return Result(status=status, parts={"problem": Value(inline=problem)})
