"""The calls that a model wants: which are made, with which arguments, and why others are not. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from pydantic import JsonValue

from perdure.agent.offered_skills import task_of_call
from perdure.agent.plan import Act, Action
from perdure.agent.preparation import PreparedTask
from perdure.agent.skill_actions import CARRIED_INLINE, SMALL_INLINE_LIMIT
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.step_context import acting_of, context_of
from perdure.agent.steps.calls import INLINE_LIMIT, Ended, RecallCall, RememberCall, Result, Scope, StepCall, Value
from perdure.agent.steps.foreign_calls import ForeignCall
from perdure.agent.tool_specs import MemoryTool, memory_tools
from perdure.agent.turns import Conversation, CorrectCall, ModelTurn, WantedCall
from perdure.model import Instant
from perdure.names import Activity
from perdure.registry.agents import Agent
from perdure.skills.foreign import TaskStep
from perdure.skills.steps import MOST_AT_ONCE, RecallStep, RememberStep, ToolStep
from perdure.skills.templates import MemoryTemplate, RecallTemplate
from perdure.values.tasks import StepStatus

REPEATS_TOLD = 2
"""Turns in a row with the same call after which the model is warned, and the call is not made again if it acts."""

_NOT_AGAIN = "not called: you have made this same call {times} times in a row, and it may act"
_TWICE = "not called: it is in this turn already, and it may act"
_UNCERTAIN = "not called: this same call failed before, and its effect may have happened"
_NOTHING_LEFT = "not called: no tokens are left for it"


class TurnCalls:
    """The calls of one task.

    Args:
        task: The task.
        prepared: What it is pinned to.
        agent: Who works on it.
    """

    def __init__(self, task: TaskRun, prepared: PreparedTask, agent: Agent) -> None:
        self._task = task
        self._prepared = prepared
        self._agent = agent
        self._offered = {one.name: one for one in prepared.offered}

    def of(self, state: TaskState, conversation: Conversation, turn: ModelTurn, now: Instant) -> Act:
        """Return the calls of a turn that are neither on their way nor ended."""
        begun = {name for name, branch in state.branches.items() if branch.path}
        paths = {path_of(conversation.begun, place): place for place in range(len(turn.calls))}
        left = [path for path, place in paths.items() if turn.gave(place) is None and path not in begun]
        # The others follow as these end: each call under way is one more activity that Temporal has to track.
        now_on = left[: max(0, MOST_AT_ONCE - len(begun))]
        actions = (self._call(one, turn.calls[paths[one]], conversation, state, now) for one in now_on)
        return Act(actions=tuple(replace(one, is_alone=len(turn.calls) == 1) for one in actions))

    def _call(
        self, path: str, wanted: WantedCall, conversation: Conversation, state: TaskState, now: Instant
    ) -> Action:
        """Return one call; one that cannot be made has already ended, with the reason for the model."""
        if wanted.problem:
            return Action(branch=path, path=path, known=_known(wanted.problem), is_step=False)
        given = wanted.arguments
        resumed = state.branches[path].resumed if path in state.branches else None
        # Of what a model does with its own memory, policies are asked as well.
        asked_about = {"acting": acting_of(self._task, self._prepared, state), "resumed": resumed}
        of_user = {"user_id": self._task.user_id}
        match wanted.tool:
            case MemoryTool.RECALL:
                step = RecallStep(id="recall", recall=RecallTemplate(text="${inputs.given.text}"))
                context = context_of(self._task, self._prepared, path, now, _scope(given))
                asked = {"step": step, "now": now, "shows_ids": self._task.memory.remembers, "in_session": True}
                call = RecallCall.model_validate(context | asked | asked_about | of_user)
                return Action(branch=path, path=path, activity=Activity.RECALL_STEP, call=call)
            case MemoryTool.REMEMBER:
                entry = MemoryTemplate(memory="${inputs.given.text}")
                remembering = RememberStep(id="remember", remember=(entry,))
                context = context_of(self._task, self._prepared, path, now, _scope(given))
                call = RememberCall.model_validate({**context, **asked_about, "step": remembering})
                return Action(branch=path, path=path, activity=Activity.REMEMBER_STEP, call=call, hands_over=True)
            case MemoryTool.CORRECT:
                context = context_of(self._task, self._prepared, path, now)
                correcting = CorrectCall.model_validate({**context, **asked_about, "arguments": given})
                return Action(branch=path, path=path, activity=Activity.CORRECT, call=correcting)
            case skill if skill in self._offered:
                return self._skill(path, wanted, conversation, state, now)
            case tool:
                shape = self._prepared.tools[tool]
                approve = f"May {tool} be called?" if tool in self._agent.approve else None
                of = (
                    context_of(self._task, self._prepared, path, now)
                    | asked_about
                    | {
                        "step": ToolStep(id="call", tool=tool, approve=approve),
                        "arguments": given,
                        "inline_limit": inline_limit_of(conversation),
                        "timeout": shape.timeout,
                    }
                )
                if shape.effect.is_once:
                    of |= {"binding": self._prepared.binding, "earlier": state.earlier}
                call = StepCall.model_validate(of)
                return Action(branch=path, path=path, activity=tool, call=call, tool=shape, applies_lessons=True)

    def _skill(
        self, path: str, wanted: WantedCall, conversation: Conversation, state: TaskState, now: Instant
    ) -> Action:
        """Return a call of a skill, which is a task of its own."""
        skill, here = wanted.tool, state.branches.get(path)
        # Its claim names what is done, by skill and inputs, and not how much it may use.
        tokens = self._share(conversation, state)
        task = task_of_call(self._task, self._offered[skill], turn_of(path), place_of(path), tokens=tokens)
        # By reference: what the user or the model wrote is no expression.
        args: JsonValue = {**{name: f"${{inputs.task.{name}}}" for name in task}, "inputs": "${inputs.given}"}
        scope = Scope(inputs={"given": wanted.arguments, "task": Value(inline=task)})
        approve = f"May {skill} be run?" if skill in self._agent.approve else None
        step = TaskStep(id="call", skill=skill, queue=self._prepared.queue, args=(args,), approve=approve)
        of = context_of(self._task, self._prepared, path, now, scope) | {
            "step": step,
            "acting": acting_of(self._task, self._prepared, state),
            "resumed": here.resumed if here else None,
            "binding": self._prepared.binding,
            "earlier": state.earlier,
        }
        call = ForeignCall.model_validate(of)
        how: dict[str, Any] = {"summary": skill, "applies_lessons": True}
        return Action(branch=path, path=path, activity=Activity.BEGIN_CALL, call=call, **how)

    def _share(self, conversation: Conversation, state: TaskState) -> int:
        """Return how many tokens a skill may use that is called now: as many as any other one of the turn."""
        last = conversation.last or ModelTurn()
        wanted = (one for place, one in enumerate(last.calls) if last.gave(place) is None and not one.problem)
        calls = sum(one.tool in self._offered for one in wanted)
        # What has begun may be called again, also where others have used up everything meanwhile.
        return max(1, self._left(state) // max(1, calls))

    def _left(self, state: TaskState) -> int:
        """Return how many tokens the model, and the skills that it calls, may still use."""
        return min(self._agent.tokens, self._task.limits.tokens) - state.used.tokens

    def checked(self, turn: ModelTurn, before: Conversation, times: int, state: TaskState) -> ModelTurn:
        """Return a turn with a reason on each of its calls that is not made.

        Args:
            turn: What the model wants now.
            before: The conversation without it.
            times: How often in a row these calls, or a loop that they end, were wanted before.
            state: What the task has used, with this turn.
        """
        left = self._left(state)
        calls = turn.calls
        return turn.changed(
            calls=tuple(
                call.changed(problem=self._problem(call, calls[:place], before, times, left))
                for place, call in enumerate(calls)
            )
        )

    def _problem(
        self, wanted: WantedCall, beside: Sequence[WantedCall], before: Conversation, times: int, left: int
    ) -> str:
        """Return why a call is not made; empty: it is."""
        if wanted.problem:
            return wanted.problem
        own = memory_tools(self._task.memory)
        if wanted.tool in own:
            return ""
        if wanted.tool not in self._prepared.tools and wanted.tool not in self._offered:
            known = ", ".join((*self._offered, *self._agent.tools, *own))
            return f"there is no tool {wanted.tool!r}; there are {known}"
        if wanted.tool in self._offered and left <= 0:
            return _NOTHING_LEFT
        return _repetition(wanted.digest, beside, before, times) if self.acts(wanted.tool) else ""

    def acts(self, tool: str) -> bool:
        """Return whether a call of a tool must not be repeated once it may have had its effect.

        A skill called again would be another task.
        """
        return tool in self._offered or ((shape := self._prepared.tools.get(tool)) is not None and shape.effect.is_once)


def path_of(turn: int, place: int) -> str:
    """Return the path of a call, which is also its branch."""
    return f"turn[{turn}].call[{place}]"


def turn_of(path: str) -> int:
    """Return the number of a call's turn."""
    return int(path.partition("[")[2].partition("]")[0])


def place_of(branch: str) -> int:
    """Return the place in its turn of the call that a branch makes."""
    return int(branch.rpartition("[")[2].removesuffix("]"))


def _repetition(digest: str, beside: Sequence[WantedCall], before: Conversation, times: int) -> str:
    """Return why a call that acts is not made a further time; empty: it is."""
    if digest in before.uncertain:
        return _UNCERTAIN
    if any(call.digest == digest for call in beside):
        return _TWICE
    times = max(times, _in_a_row(digest, before.turns))
    return _NOT_AGAIN.format(times=times + 1) if times >= REPEATS_TOLD else ""


def _in_a_row(digest: str, turns: Sequence[ModelTurn]) -> int:
    """Return how many of the newest turns in a row contain a call."""
    having = (any(call.digest == digest for call in turn.calls) for turn in reversed(turns))
    return sum(1 for _ in takewhile(bool, having))


def inline_limit_of(conversation: Conversation) -> int:
    """Return the bytes up to which a part of a turn travels in the history: few if the turns are already large."""
    return INLINE_LIMIT if sum(turn.size for turn in conversation.turns) < CARRIED_INLINE else SMALL_INLINE_LIMIT


def _known(problem: str) -> Ended:
    return Ended(result=Result(status=StepStatus.FAILED, parts={"problem": Value(inline=problem)}))


def _scope(arguments: Value) -> Scope:
    """Return the name of the model's own text in a template: the text itself is never evaluated."""
    return Scope(inputs={"given": arguments})
