"""The actions of a skill's steps: which activity a step is, and what that is given. Decides not when. Pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from perdure.agent.cursor import Cursor
from perdure.agent.plan import Action
from perdure.agent.preparation import PreparedTask
from perdure.agent.route import Here, Route
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.step_context import acting_of, context_of
from perdure.agent.steps.calls import (
    Acting,
    Ended,
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
from perdure.agent.steps.foreign_calls import ForeignCall
from perdure.agent.steps.inner_skill_calls import EnterCall, LeaveCall, known_end
from perdure.agent.steps.prompt_steps import ASKED
from perdure.agent.steps.wait_calls import ExpectCall, TakeCall, known_wait
from perdure.durations import is_duration, moment_of
from perdure.model import DEEPEST_VALUE, Instant, depth
from perdure.names import Activity
from perdure.skills.foreign import ForeignStep
from perdure.skills.inputs import Accepting
from perdure.skills.steps import (
    EventStep,
    ForEach,
    LetStep,
    Parallel,
    PromptStep,
    RecallStep,
    RememberStep,
    SkillStep,
    ToolStep,
    WaitStep,
)
from perdure.skills.templates import OnFailure
from perdure.values.events import TakenEvent
from perdure.values.tasks import StepStatus

CARRIED_INLINE = 400_000
"""Bytes of results that are carried along as they are; beyond that, all but small values are kept elsewhere."""

SMALL_INLINE_LIMIT = 128
"""Bytes up to which a value is then carried along: about what a reference takes."""


class SkillActions:
    """Makes the actions of a task's steps.

    Args:
        task: The task.
        prepared: What it is pinned to.
        route: The way through its skill.
    """

    def __init__(self, task: TaskRun, prepared: PreparedTask, route: Route) -> None:
        self._task = task
        self._prepared = prepared
        self._route = route

    def scope(self, cursors: Mapping[str, Cursor], branch: str, step: str) -> Scope:
        """Return what the expressions of a branch's step refer to; of the end of its skill, under the empty name."""
        facts = TaskFacts(id=self._task.task_id, date=self._prepared.date, agent=self._task.agent)
        reads = self._route.reads(cursors, branch)[step]
        return self._route.scope(cursors, branch, reads, self._prepared.inputs, facts)

    def action(self, state: TaskState, cursors: Mapping[str, Cursor], branch: str, at: Here, now: Instant) -> Action:
        """Return the action of a step; if the task's memory mode leaves nothing to do, it is skipped."""
        action = replace(self._action(state, cursors, branch, at, now), is_alone=self._route.is_alone(cursors, branch))
        shown = self._route.shown(cursors, branch, at)
        return action if shown == at.path else replace(action, shown=shown, is_named=self._prepared.summary_content)

    def _action(self, state: TaskState, cursors: Mapping[str, Cursor], branch: str, at: Here, now: Instant) -> Action:
        task, prepared, step = self._task, self._prepared, at.step
        if at.leaves:
            return self._leaving(cursors, branch, at, now)
        scope = self.scope(cursors, branch, step.id)
        if isinstance(step, ForEach | Parallel):
            of: dict[str, Any] = {"tenant": prepared.tenant, "task_id": task.task_id, "path": at.path, "scope": scope}
            return _expansion(branch, at.path, step, of)
        of = self._context(cursors, at, now, scope)
        match step:
            case LetStep():
                how: dict[str, Any] = _naming(step, of)
            case ToolStep():
                how = self._calling(state, branch, step, of | {"acting": self._acting(state, cursors, branch)})
            case ForeignStep():
                how = self._calling_others(state, branch, step, of | {"acting": self._acting(state, cursors, branch)})
            case SkillStep():
                how = self._entering(step, of)
            case WaitStep():
                how = _waiting(step, of, now)
            case EventStep():
                how = _expecting(step, of, now, state.branches[branch].delivered)
            case PromptStep(critical=critical):
                call = PromptCall.model_validate(of | {"step": step.changed(model=step.model or prepared.model)})
                how = {"activity": Activity.PROMPT_STEP, "call": call, "critical": critical}
                how["requests"] = ASKED * step.tries
            case RecallStep() if task.memory.recalls:
                asked = {"now": now, "user_id": task.user_id}
                how = {"activity": Activity.RECALL_STEP, "call": RecallCall.model_validate(of | asked)}
            case RememberStep(critical=critical) if task.memory.remembers:
                call = RememberCall.model_validate(of)
                how = {"activity": Activity.REMEMBER_STEP, "call": call, "critical": critical}
            case _:
                mode = f"the task's memory is {task.memory.value}"
                how = {"known": Ended(result=Result(status=StepStatus.SKIPPED), reason=mode)}
        applies = on_failure_of(at) is not OnFailure.CONTINUE
        return Action(branch=branch, path=at.path, applies_lessons=applies, **how)

    def _acting(self, state: TaskState, cursors: Mapping[str, Cursor], branch: str) -> Acting:
        """Return for whom a branch's step calls a tool."""
        return acting_of(self._task, self._prepared, state, self._route.skill(cursors, branch).name)

    def _calling(self, state: TaskState, branch: str, step: ToolStep, of: dict[str, Any]) -> dict[str, Any]:
        """Return the action that calls a tool."""
        prepared, here = self._prepared, state.branches[branch]
        shape = prepared.tools[step.tool]
        of |= {"resumed": here.resumed, "timeout": shape.timeout, "lessons": here.lessons}
        if shape.effect.is_once:
            earlier = state.earlier or (state.started_at if here.again else None)
            of |= {"binding": prepared.binding, "earlier": earlier}
        call = StepCall.model_validate(of)
        return {"activity": step.tool, "call": call, "tool": shape, "critical": step.critical}

    def _calling_others(self, state: TaskState, branch: str, step: ForeignStep, of: dict[str, Any]) -> dict[str, Any]:
        """Return the action that works out a call of an activity or a workflow of others."""
        prepared, here = self._prepared, state.branches[branch]
        of |= {"resumed": here.resumed}
        if step.declared.is_once:
            earlier = state.earlier or (state.started_at if here.again else None)
            of |= {"binding": prepared.binding, "earlier": earlier}
        call = ForeignCall.model_validate(of)
        return {"activity": Activity.BEGIN_CALL, "call": call, "critical": step.critical, "summary": step.called}

    def _context(self, cursors: Mapping[str, Cursor], at: Here, now: Instant, scope: Scope) -> dict[str, Any]:
        of = context_of(self._task, self._prepared, at.path, now, scope) | {"step": at.step}
        if sum(cursor.inline for cursor in cursors.values()) > CARRIED_INLINE:
            of["inline_limit"] = SMALL_INLINE_LIMIT
        return of

    def _entering(self, step: SkillStep, of: Mapping[str, Any]) -> dict[str, Any]:
        """Return the action that works out what a step's skill is given."""
        skill = self._prepared.inner[step.skill].skill
        call = EnterCall.model_validate({**of, "skill": Accepting.of(skill)})
        how: dict[str, Any] = {"summary": f"the inputs of {step.skill}", "is_step": False}
        return {"activity": Activity.ENTER_SKILL, "call": call, **how}

    def _leaving(self, cursors: Mapping[str, Cursor], branch: str, at: Here, now: Instant) -> Action:
        """Return the action that works out what a skill gives back to the step that runs it."""
        skill, outside = self._route.skill(cursors, branch), cursors[branch].parent
        of = self._context(cursors, at, now, self.scope(cursors, outside, at.step.id))
        inner = self.scope(cursors, branch, "")
        call = LeaveCall.model_validate({**of, "output": skill.output, "expect": skill.expect, "inner": inner})
        how: dict[str, Any] = {"branch": branch, "path": at.path, "is_step": False, "critical": call.step.critical}
        if (known := known_end(call)) is not None:
            return Action(known=known, **how)
        return Action(activity=Activity.LEAVE_SKILL, call=call, summary="its output", **how)


def _naming(step: LetStep, of: Mapping[str, Any]) -> dict[str, Any]:
    """Return the action that works out what is named; a literal needs no activity."""
    call = LetCall.model_validate(of)
    if not is_literal(step, call.inline_limit):
        return {"is_step": False, "activity": Activity.LET_STEP, "call": call}
    parts = {name: Value(inline=value) for name, value in step.let.items()}
    return {"is_step": False, "known": Ended(result=Result(status=StepStatus.DONE, parts=parts))}


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
    how: dict[str, Any] = {"activity": Activity.EXPAND, "summary": "its list", "is_step": False}
    return Action(branch=branch, path=path, call=call, **how)


def on_failure_of(at: Here) -> OnFailure:
    """Return what a failure of a step means; what a skill does not give back is a failure in that skill."""
    match at.step:
        case SkillStep() if at.leaves:
            return OnFailure.FAIL
        case ToolStep() | PromptStep() | RememberStep() | SkillStep() | ForeignStep() as step:
            return step.on_failure
        case _:
            return OnFailure.FAIL
