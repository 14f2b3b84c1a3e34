"""What passes between a task's workflow and its steps. Pure values, each small enough for a history."""

import datetime
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from perdure.durations import duration_of
from perdure.identity import OwnerId, UserId
from perdure.model import Instant, Passed
from perdure.skills.header import is_empty, is_none
from perdure.skills.steps import LetStep, PromptStep, RecallStep, RememberStep, ToolStep, WaitStep
from perdure.values.bindings import TaskBinding
from perdure.values.entries import Lane, MemoryType
from perdure.values.explanations import RecallSummary
from perdure.values.items import OfferedItem
from perdure.values.questions import Approval, Question, QuestionKind, TakenAnswer
from perdure.values.strategies import ProfileName, Strategy
from perdure.values.tasks import MemoryMode, StepStatus

INLINE_LIMIT = 4_096
"""Bytes up to which a value travels in the history itself; a larger one is kept by its digest."""

LIST_LIMIT = 262_144
"""Bytes that the list of one ``for_each`` may have: it is in the history once, and in what continues it."""

ITEMS_LIMIT = 5_000
"""Elements that the list of one ``for_each`` may have."""

MARGIN = 10.0
"""Seconds that an attempt has for everything but the tool itself."""


def longest_attempt(timeout: float) -> float:
    """Return the seconds that an attempt at a once tool may take.

    It may have to wait until the claim of a dead one has run out, then ask the tool's check, and then act: three times
    what the tool itself may take.
    """
    return 3 * timeout + MARGIN


QUICK_SECONDS = 0.5
"""Seconds after which a quick step is cut off and goes on as any other, and after which no further one begins in one
workflow task: answers and cancellations wait for its end."""


class Value(Passed):
    """A value, or where it is kept."""

    inline: JsonValue = None
    ref: str = ""
    """The sha256 under which a large value is kept; empty for an inline one."""
    size: int = 0
    """Characters of it as JSON, where it is kept elsewhere."""


class Result(Passed):
    """What a step left for the steps after it."""

    status: StepStatus
    parts: dict[str, Value] = Field(default_factory=dict)
    """``output`` and ``answer`` of a tool; ``items``, ``records`` and ``context`` of a recall; names of a ``let``."""


class TaskFacts(Passed):
    """What expressions call ``task``."""

    id: str
    date: datetime.date
    agent: str


class Scope(Passed):
    """What one step's expressions refer to, and nothing else."""

    inputs: dict[str, Value] = Field(default_factory=dict)
    steps: dict[str, dict[str, Value]] = Field(default_factory=dict)
    task: TaskFacts | None = None
    elements: dict[str, JsonValue] = Field(default_factory=dict)
    """The elements of the blocks around it, and ``index``."""
    names: dict[str, Value] = Field(default_factory=dict[str, Value])
    """What ``let`` has named."""


class Resumed(Passed):
    """What a step gets back after it asked."""

    resume: JsonValue
    """What it handed over with its question: the step's own activities read it, and no workflow."""
    asked: QuestionKind
    """The kind of its question."""
    answer: TakenAnswer

    @property
    def is_refused(self) -> bool:
        """Whether a person was asked whether it may act, and did not say yes."""
        return self.asked is QuestionKind.APPROVAL and self.answer.value != Approval.YES


class StepContext(Passed):
    """Whose step it is and where it stands; the same for every kind of step."""

    tenant: str
    epoch: int | None = None
    """The tenant's epoch that the task was prepared under; None: Redis did not answer then."""
    session: str
    task_id: str
    path: str
    """The step's place in the running plan: ``audit[12].inspect``."""
    scope: Scope = Scope()
    memory: MemoryMode = MemoryMode.ON
    occurred_at: Instant
    """When what it observes counts as observed."""
    inline_limit: int = INLINE_LIMIT
    """Bytes up to which a part of its result travels in the history."""


class Acting(Passed):
    """For whom a tool is called and how far the task is: what policies see in addition to the call itself."""

    user: UserId
    agent: str
    skill: str
    """The one whose step acts: the task's own, or one that a step runs; empty for a goal."""
    task_skill: str
    """The one that the task runs; empty for a goal."""
    date: datetime.date
    done: int
    """How many steps of the task had ended."""


class StepCall(StepContext):
    """The input of a tool's activity."""

    step: ToolStep
    acting: Acting
    arguments: Value | None = None
    """Literal arguments, in which nothing is evaluated; None: those of the step."""
    resumed: Resumed | None = None
    timeout: float | None = None
    """Seconds that a call may take, as pinned for the task's life: what surrounds it was made for that time."""
    binding: TaskBinding | None = None
    """What the first claim binds the task's id to; for once tools."""
    tried: int = 0
    """How often it was tried as a quick step, before the activity that has this input."""
    lessons: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """What earlier tasks learned about the failure after which a person had it tried again."""
    failed: int = 0
    """In how many of these its tool failed by itself."""
    earlier: Instant | None = None
    """Since when attempts before this activity may have claimed the effect, in this run or another; None: none did."""

    def cut_after(self, seconds: float) -> float:
        """Return the seconds after which the call is cut off, of a tool that may take so many."""
        return min(seconds, duration_of(self.step.timeout).total_seconds()) if self.step.timeout else seconds


class MemoryCall(StepContext):
    """A call of memory: by a skill's step, or by a model, which policies are asked about."""

    user_id: str = Field(default="", exclude_if=is_empty)
    """For whom: the memory of another installation knows nobody by their tenant."""

    acting: Acting | None = Field(default=None, exclude_if=is_empty)
    """For whom a model makes it; None: a skill's step does, as its author wrote it."""
    resumed: Resumed | None = Field(default=None, exclude_if=is_empty)


class RecallCall(MemoryCall):
    """The input of a recall step's activity."""

    step: RecallStep
    now: Instant
    shows_ids: bool = False
    """Whether its ``context`` names memories by their ids, for a model that may correct them."""
    in_session: bool = Field(default=False, exclude_if=is_empty)
    """Whether what happened in the session is searched too, of which a model no longer sees everything."""


class RememberCall(MemoryCall):
    """The input of a remember step's activity."""

    step: RememberStep


class PromptCall(StepContext):
    """The input of a prompt step's activity."""

    step: PromptStep


class LetCall(StepContext):
    """The input of the activity that works out what a ``let`` names."""

    step: LetStep


class WaitCall(StepContext):
    """The input of the activity that works out until when a step waits."""

    step: WaitStep
    now: Instant
    """When the wait begins."""


class Compensation(Passed):
    """A call that undoes what a step has done, worked out when the step had done it."""

    path: str
    """That of the step."""
    tool: str
    arguments: Value = Value()
    problem: str = ""
    """Why it cannot be called; empty: it can."""


class Ended(Passed):
    """The outcome of a step that ended."""

    kind: Literal["ended"] = "ended"
    result: Result
    problem: str = ""
    """Why the step failed although its tool has acted, where that can be undone."""
    reason: str = Field(default="", exclude_if=is_empty)
    """Why it was skipped."""
    compensation: Compensation | None = None
    items: tuple[OfferedItem, ...] = ()
    """What is to be remembered."""
    refused: tuple[str, ...] = ()
    """What cannot be remembered, and why."""
    recall: RecallSummary | None = None
    elements: tuple[JsonValue, ...] | None = None
    """The list of a ``for_each``, made once."""
    inputs: dict[str, Value] | None = None
    """The inputs of the skill that the step runs, once they are known."""
    tokens: int = 0
    """Tokens that a language model read and wrote for it."""
    warnings: tuple[str, ...] = ()
    """The soft policies that spoke about its call, each with its rationale."""
    unkept: bool = Field(default=False, exclude_if=is_empty)
    """Whether its effect has happened, and Redis could not take the result."""
    happened_before: bool = Field(default=False, exclude_if=is_empty)
    """Whether its effect had happened in an earlier attempt, of this run or another, and was not repeated."""
    seconds: float = Field(default=0.0, exclude_if=is_empty)
    """How long a quick step took; 0 for every other one."""


class Asks(Passed):
    """The outcome of a step that needs a person's answer before it can end."""

    kind: Literal["asks"] = "asks"
    question: Question
    resume: JsonValue = None
    """What the step needs to go on; it comes back with the answer, and nothing but its own activities reads it."""
    compensation: Compensation | None = None
    """What undoes what its tool has done already."""

    @property
    def has_acted(self) -> bool:
        """Whether its tool has acted, and the question is about what came of it."""
        return self.question.kind is QuestionKind.INPUT


class Acts(Passed):
    """What was decided about a step whose tool has not been called yet: it is called now."""

    kind: Literal["acts"] = "acts"
    seconds: float = Field(default=0.0, exclude_if=is_empty)
    """How long it took to decide that inside the worker; 0: it was decided elsewhere."""


class Waits(Passed):
    """The outcome of a step that ends at a moment, or with an event, with nothing more to do until then."""

    kind: Literal["waits"] = "waits"
    until: Instant | None = None
    event: str = ""
    otherwise: Value | None = None
    """The output where no event comes; None: the step fails then."""


class Calls(Passed):
    """The outcome of a step that calls an activity or a workflow of others, once its arguments are known."""

    kind: Literal["calls"] = "calls"
    args: tuple[JsonValue, ...] = ()
    owner: str = ""
    """Who has the claim; empty: it needs none."""
    arguments: str = ""
    """The digest of what is called."""
    shown: str = ""
    """What a person reads of the arguments."""
    child: str = ""
    """The id of the workflow that is called; empty: an activity is."""
    task: TaskBinding | None = Field(default=None, exclude_if=is_none)
    """What a skill's task under that id has to be, as another task could have it; None: no skill is called."""
    runs: bool = False
    """Whether that workflow was started before."""
    warnings: tuple[str, ...] = ()
    """The soft policies that spoke about it."""


StepOutcome = Annotated[Ended | Asks | Acts | Waits | Calls, Field(discriminator="kind")]
"""What the activity of a step returns."""


class RecallTerms(Passed):
    """What a recall step asks of memory, with its expressions evaluated."""

    of: OwnerId | None = None
    text: str
    lane: Lane | None = None
    keys: tuple[str, ...]
    memory_types: tuple[MemoryType, ...]
    strategy: Strategy = Strategy.BALANCED
    profile: ProfileName | None = None
    tags: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    task: str = ""
    min_confidence: float | None = None
    enough: int
    limit: int


class ExpandCall(Passed):
    """The input of the activity that makes the list of a block."""

    tenant: str
    task_id: str
    path: str
    for_each: JsonValue
    when: str | None
    scope: Scope
