"""The calls that a model wants: which are made, with what, and why one is not. Pure."""

from perdure.agent.plan import Act, Action
from perdure.agent.skill_plan import CARRIED_INLINE, SMALL_INLINE_LIMIT
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.step_context import context_of
from perdure.agent.steps.calls import (
    INLINE_LIMIT,
    Ended,
    PreparedTask,
    RecallCall,
    RememberCall,
    Result,
    Scope,
    StepCall,
    Value,
)
from perdure.agent.tool_specs import MemoryTool, memory_tools
from perdure.agent.turns import Conversation, ModelTurn, WantedCall
from perdure.errors import InvalidArguments
from perdure.model import Instant
from perdure.names import Activity
from perdure.registry.agents import Agent
from perdure.skills.shape import MOST_AT_ONCE, MemoryTemplate, RecallStep, RecallTemplate, RememberStep, ToolStep
from perdure.tasks import StepStatus

REPEATS_TOLD = 2
"""Repetitions of the same calls in a row after which the model is told, and its effects are not repeated."""

_NOT_AGAIN = "not called: you have made this same call {times} times in a row, and it may act"


class Calls:
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

    def of(self, state: TaskState, conversation: Conversation, turn: ModelTurn, now: Instant) -> Act:
        """Return the calls of a turn that are neither on their way nor ended."""
        begun = {name for name, branch in state.branches.items() if branch.path}
        paths = {path_of(conversation.begun, place): place for place in range(len(turn.calls))}
        left = [path for path, place in paths.items() if turn.gave(place) is None and path not in begun]
        # The others follow as these end: each that is on its way is one more activity that Temporal has to know.
        now_on = left[: max(0, MOST_AT_ONCE - len(begun))]
        return Act(actions=tuple(self._call(one, turn.calls[paths[one]], conversation, state, now) for one in now_on))

    def _call(
        self, path: str, wanted: WantedCall, conversation: Conversation, state: TaskState, now: Instant
    ) -> Action:
        """Return one call; one that cannot be made has ended already, with what the model is told of it."""
        if problem := self.problem(wanted, conversation):
            return Action(branch=path, path=path, known=_known(problem), is_step=False)
        given = wanted.arguments
        match wanted.tool:
            case MemoryTool.RECALL:
                step = RecallStep(id="recall", recall=RecallTemplate(text="${inputs.given.text}"))
                call = RecallCall.model_validate(
                    {**context_of(self._task, self._prepared, path, now, _scope(given)), "step": step, "now": now}
                )
                return Action(branch=path, path=path, activity=Activity.RECALL_STEP, call=call)
            case MemoryTool.REMEMBER:
                entry = MemoryTemplate(memory="${inputs.given.text}")
                remembering = RememberStep(id="remember", remember=(entry,))
                context = context_of(self._task, self._prepared, path, now, _scope(given))
                call = RememberCall.model_validate({**context, "step": remembering})
                return Action(branch=path, path=path, activity=Activity.REMEMBER_STEP, call=call)
            case tool:
                shape = self._prepared.tools[tool]
                approve = f"May {tool} be called?" if tool in self._agent.approve else None
                of = context_of(self._task, self._prepared, path, now) | {
                    "step": ToolStep(id="call", tool=tool, approve=approve),
                    "arguments": given,
                    "inline_limit": inline_limit_of(conversation),
                    "resumed": state.branches[path].resumed if path in state.branches else None,
                    "timeout": shape.timeout,
                }
                if shape.effect.is_once:
                    of |= {"binding": self._prepared.binding, "earlier": state.earlier}
                return Action(branch=path, path=path, activity=tool, call=StepCall.model_validate(of), tool=shape)

    def problem(self, wanted: WantedCall, conversation: Conversation) -> str:
        """Return why a call is not made; empty: it is."""
        if wanted.problem:
            return wanted.problem
        own = memory_tools(self._task.memory)
        if wanted.tool in own:
            return ""
        if wanted.tool not in self._prepared.tools:
            known = ", ".join((*self._agent.tools, *own))
            return f"there is no tool {wanted.tool!r}; there are {known}"
        if conversation.repeated >= REPEATS_TOLD and self._prepared.tools[wanted.tool].effect.is_once:
            return _NOT_AGAIN.format(times=conversation.repeated + 1)
        if any(
            call.digest == wanted.digest and (gave := turn.gave(place)) and gave.may_have_acted
            for turn in conversation.turns
            for place, call in enumerate(turn.calls)
        ):
            return "not called: this same call failed before, and its effect may have happened"
        return ""

    def may_have_acted(self, wanted: WantedCall, problem: str) -> bool:
        """Return whether a call that failed may have had an effect that must not be repeated."""
        shape = self._prepared.tools.get(wanted.tool)
        # Arguments are refused before anything is claimed.
        return shape is not None and shape.effect.is_once and not problem.startswith(InvalidArguments.code)


def path_of(turn: int, place: int) -> str:
    """Return the path of a call, which is also its branch."""
    return f"turn[{turn}].call[{place}]"


def turn_of(path: str) -> int:
    """Return the number of the turn that a call is of."""
    return int(path.partition("[")[2].partition("]")[0])


def place_of(branch: str) -> int:
    """Return which call of its turn a branch makes."""
    return int(branch.rpartition("[")[2].removesuffix("]"))


def inline_limit_of(conversation: Conversation) -> int:
    """Return the bytes up to which a part of a turn travels in the history: few where the turns are large already."""
    return INLINE_LIMIT if sum(turn.size for turn in conversation.turns) < CARRIED_INLINE else SMALL_INLINE_LIMIT


def _known(problem: str) -> Ended:
    return Ended(result=Result(status=StepStatus.FAILED, parts={"problem": Value(inline=problem)}))


def _scope(arguments: Value) -> Scope:
    """Return what the model's own text is called in a template: it is never evaluated itself."""
    return Scope(inputs={"given": arguments})
