"""What a task does next: a plan decides, from the task's state alone; the workflow executes it. Pure.

The workflow asks ``next`` after every change, starts the actions that it returns, each in its branch, and hands every
outcome back as a new state. Actions of different branches run at the same time. A plan that reasons with a model fits
in here: its turn is an action, the tool calls of the turn are actions in branches of their own, and ``ended`` keeps
their results for the next turn in the branches' positions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from perdure.agent.preparation import ToolShape
from perdure.agent.state import TaskState
from perdure.agent.steps.calls import Ended, Result, StepCall, Value, Waits
from perdure.agent.steps.foreign_calls import ForeignCall
from perdure.agent.steps.task_calls import EvaluateCall
from perdure.model import Instant, Passed
from perdure.plurals import counted
from perdure.values.questions import FailedAttempt, Question, TakenAnswer
from perdure.values.steering import TakenMessage
from perdure.values.task_limits import Limits
from perdure.values.tasks import StepStatus

UNDER_WAY = 2_000_000
"""Bytes of input that the actions under way may have together: half of the 4 MB that gRPC takes in one message, since a
worker sends all that it starts in one. Larger messages were refused again and again, and the task stood still."""

MOST_COMPENSATIONS = 1_000
"""Effects of a task that can be undone, a choice: a task carries 350 bytes for each of them along."""


def has_room(under_way: int, size: int) -> bool:
    """Return whether an action may start; one that is too large to run with others runs alone.

    Args:
        under_way: Bytes of input of the actions that have started and not ended.
        size: Bytes of its own.
    """
    return not under_way or under_way + size <= UNDER_WAY


@dataclass(frozen=True, kw_only=True)
class Action:
    """Something to do in a branch: one activity."""

    branch: str
    path: str
    """Its place in the plan: ``audit[12].inspect``; unique in the task, as it names the effect."""
    activity: str = ""
    call: Passed | None = None
    """The activity's input, with templates and the scope of their names, or with literal arguments."""
    tool: ToolShape | None = None
    """What decides its timeouts; None: a step without a tool."""
    known: Ended | None = None
    """Its outcome, if nothing has to run to determine it."""
    waits: Waits | None = None
    """What it waits for, if nothing has to run to determine that."""
    shown: str = ""
    """The same with the names of list elements, for people to read; empty: there are none around it."""
    is_named: bool = False
    """Whether it may be written into summaries with these names, which are content."""
    summary: str = ""
    """What the Temporal UI shows behind its place; empty: nothing."""
    is_step: bool = True
    """Whether it counts against the task's limit of steps."""
    requests: int = 0
    """How often a language model is asked for it at most, which is slow; 0: none answers it."""
    critical: bool = False
    """Whether what it remembers must be searchable before the branch goes on."""
    applies_lessons: bool = False
    """Whether somebody decides what to do if it fails, be it of the whole task, and is told what was learned of such
    failures."""
    is_alone: bool = False
    """Whether nothing else of the task can be under way, by its shape alone: only then may it run, or be decided,
    inside the worker that has the task.

    Temporal (server 1.8, SDK 1.35) may record that such work has ended in one workflow task, and hand its result over
    in the next, behind whatever else has ended meanwhile; a replay hands it over where it was recorded. What other
    branches go on to do then has another place than in the history: the task is stuck (seen, with eight at once).
    """
    hands_over: bool = False
    """Whether what it remembers is submitted at once, as no later run of the task passes here again."""

    @property
    def is_quick(self) -> bool:
        """Whether it runs inside the worker that has the task, several in one workflow task.

        What a step remembers may be large, and outcomes of quick steps are sent together.
        """
        is_quick = self.tool is not None and self.tool.quick
        if not (is_quick and isinstance(self.call, StepCall)):
            return False
        # What undoes a call has to be known, however often the call is made.
        return not self.call.step.remember and self.call.step.compensate is None

    @property
    def is_undecided(self) -> bool:
        """Whether it has to be decided first whether its tool is called at all."""
        if self.tool is None or not isinstance(self.call, StepCall):
            return False
        resumed, step = self.call.resumed, self.call.step
        return resumed.is_refused if resumed else step.when is not None or step.approve is not None

    @property
    def decided(self) -> "Action":
        """The same once it was decided that its tool is called: whoever calls it need not decide that again."""
        if not isinstance(self.call, StepCall):
            return self
        return replace(self, call=self.call.changed(step=self.call.step.changed(when=None, approve=None)))

    @property
    def undone_by(self) -> str:
        """The tool that undoes what it does; empty: none."""
        undoing = self.call.step.compensate if isinstance(self.call, StepCall | ForeignCall) else None
        return undoing.tool if undoing else ""

    @property
    def told(self) -> str:
        """What the Temporal UI shows."""
        return ": ".join(filter(None, (self.place, self.summary)))

    @property
    def place(self) -> str:
        """Its place in the plan as summaries may say it."""
        return self.shown if self.is_named and self.shown else self.path


def beyond(limits: Limits, action: Action, state: TaskState) -> str:
    """Return why an action is more than its task, or this answer of a conversation, may do; empty: it may begin."""
    if action.is_step and state.used.steps >= limits.steps:
        return f"step {action.path}: {_bounded(state)} may run {counted(limits.steps, 'step')} (limits.steps)"
    if action.requests and (problem := spent(limits, state)):
        return f"step {action.path}: {problem}"
    if action.undone_by and len(state.compensations) >= MOST_COMPENSATIONS:
        return f"step {action.path}: a task has at most {MOST_COMPENSATIONS:,} effects that can be undone"
    return ""


def spent(limits: Limits, state: TaskState) -> str:
    """Return why a task, or this answer of a conversation, may ask no model any more; empty: it may."""
    if (used := state.used.tokens) < limits.tokens:
        return ""
    return f"{_bounded(state)} has used {used:,} tokens, and may use {limits.tokens:,} (limits.tokens)"


def _bounded(state: TaskState) -> str:
    """Return what limits count for."""
    return "the task" if state.used_before is None else "this answer"


@dataclass(frozen=True, kw_only=True)
class Act:
    """Start these actions, each in a free branch; none: wait for those under way."""

    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ask:
    """Put a question to a person, in a free branch."""

    branch: str
    question: Question


@dataclass(frozen=True, kw_only=True)
class Finish:
    """End the task."""

    problem: str = ""
    """Why it failed; empty: it completed."""
    evaluation: EvaluateCall | None = None
    """The action that computes its output; None: ``output`` is the output."""
    output: JsonValue = None


_NOTHING = Value()


@dataclass(frozen=True, kw_only=True)
class Listen:
    """Answer what was said last, if it is not answered yet, and wait for what is said next."""

    reply: Value = _NOTHING
    problem: str = ""
    """Why there is no reply; empty: there is."""


Move = Act | Ask | Finish | Listen
"""What a plan wants to have done."""


class ActionFailure(NamedTuple):
    """How an action failed for good."""

    problem: str
    attempt: FailedAttempt | None = None
    """Its last attempt, if known."""
    acted: bool = True
    """Whether an attempt may have had an effect."""
    tokens: int = 0
    """How many a model used for it."""
    unfit: bool = False
    """Whether its arguments do not fit the tool."""


class Unanswered(StrEnum):
    """What happens where nobody answers a question in time, in the words with which the question says so."""

    TASK_FAILS = "the task fails"
    CALL_FAILS = "this call fails"
    EFFECT_STAYS = "the effect is left as it is, and named"


class Plan(Protocol):
    """What decides about a task. Every method is pure: a replay calls them again, with the same states."""

    @property
    def unanswered(self) -> Unanswered:
        """What happens where nobody answers a question in time."""
        ...

    def begin(self, state: TaskState) -> TaskState:
        """Return the state of a task that is prepared, with its first branches."""
        ...

    def next(self, state: TaskState, now: Instant) -> Move:
        """Return what to do now. Branches with a ``path`` are busy."""
        ...

    def ended(self, state: TaskState, branch: str, outcome: Ended) -> TaskState:
        """Return the state after a branch's action has ended; the branch is free again."""
        ...

    def failed(self, state: TaskState, branch: str, failure: ActionFailure) -> TaskState:
        """Return the state after a branch's action has failed for good; the branch is free again."""
        ...

    def refused(self, state: TaskState, branch: str, problem: str) -> TaskState | None:
        """Return the state where an action does not begin, as it is more than the limits allow; None: the task fails.

        Args:
            state: The state; the branch is free.
            branch: The action's branch.
            problem: What it is beyond.
        """
        ...

    def heard(self, state: TaskState, messages: Sequence[TakenMessage]) -> TaskState | None:
        """Return the state once the plan has taken up what somebody told the task; None: it cannot at the moment.

        Only a task with a goal, or a conversation, is told anything.
        """
        ...

    def answered(self, state: TaskState, branch: str, answer: TakenAnswer) -> TaskState:
        """Return the state after a person answered what the plan asked; the branch is free again."""
        ...


def waited(plan: Plan, state: TaskState, branch: str) -> TaskState:
    """Return the state once a branch has waited until its moment, and no event came before."""
    awaited = state.branches[branch]
    state = state.branch(branch, path="", until=None, event="", otherwise=None)
    if awaited.event and awaited.otherwise is None:
        problem = f"the event {awaited.event!r} did not come until {awaited.until:%Y-%m-%d %H:%M:%S %Z}"
        return plan.failed(state, branch, ActionFailure(problem))
    parts = {} if awaited.otherwise is None else {"output": awaited.otherwise}
    return plan.ended(state, branch, Ended(result=Result(status=StepStatus.DONE, parts=parts)))
