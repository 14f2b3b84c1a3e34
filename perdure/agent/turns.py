"""A model's work towards a goal, turn by turn: what it said, the calls it wanted, what they gave. Pure values."""

import datetime
from enum import auto
from typing import Annotated

from pydantic import Field

from perdure.agent.offered_skills import OfferedSkill
from perdure.agent.steps.calls import MemoryCall, StepContext, Value
from perdure.model import Instant, OpenEnum, Passed
from perdure.registry.agents import Agent
from perdure.skills.header import is_empty
from perdure.values.steering import GivenConstraint, Heard

RESULT_SHOWN = 8_000
"""Characters of a tool's result, of a call's arguments, of what the model said and of a message that it is shown; of
what is longer it reads the beginning and the end."""


class WantedCall(Passed):
    """A tool call that the model wants."""

    tool: str
    arguments: Value = Value()
    """A mapping, unless there is a problem."""
    digest: str
    """Of tool and arguments: two with the same are the same call."""
    problem: str = ""
    """Why it cannot be made; shown to the model."""


class Returned(Passed):
    """What a call gave."""

    output: Value = Value()
    problem: str = ""
    """Why it failed; empty: it did not."""
    lessons: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """What earlier tasks learned about such a failure; shown to the model."""
    unfit: bool = Field(default=False, exclude_if=is_empty)
    """Whether it was not made, as its arguments do not fit the tool."""


class ModelTurn(Passed):
    """One turn of the model."""

    text: Value = Value()
    """What it said."""
    calls: tuple[WantedCall, ...] = ()
    returned: dict[str, Returned] = Field(default_factory=dict[str, Returned])
    """What its calls gave, by their place as text."""
    told: str = ""
    """What the model reads after it: what was wrong with the turn."""
    heard: tuple[Heard, ...] = ()
    """What somebody said after it, and before the next turn."""
    size: int = 0
    """Characters that it takes when the model reads it again."""

    def gave(self, place: int) -> Returned | None:
        """Return what the call at a place gave; None: it has not ended."""
        return self.returned.get(str(place))

    def ended(self, place: int, returned: Returned) -> "ModelTurn":
        """Return the turn with what a call gave."""
        return self.changed(returned={**self.returned, str(place): returned})

    @property
    def is_answer(self) -> bool:
        """Whether it ends the task: its text is the answer."""
        return self.stands and not self.heard

    @property
    def stands(self) -> bool:
        """Whether its text answers, and all that was said after it leaves the goal and its constraints as they are."""
        aims = any(one.sets_aim for one in self.heard)
        return self.text != Value() and not (self.calls or self.told or aims)

    @property
    def is_open(self) -> bool:
        """Whether a call has not ended."""
        return len(self.returned) < len(self.calls)

    @property
    def is_mistake(self) -> bool:
        """Whether nothing of it could be used: each call names no tool, or has arguments that do not fit."""
        if not self.calls:
            return bool(self.told)
        gave = map(self.gave, range(len(self.calls)))
        return all(call.problem or (one is not None and one.unfit) for call, one in zip(self.calls, gave, strict=True))


class Notes(Passed):
    """What the model itself wrote down while it worked. Never evicted."""

    constraints: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


class Conversation(Passed):
    """All that the model knows of its task: its working memory."""

    goal: str = ""
    """What it works towards since somebody redirected the task; empty: the task's own goal. Never evicted."""
    constraints: tuple[GivenConstraint, ...] = ()
    """What somebody said has to hold while the task ran. Never evicted."""
    messages: tuple[str, ...] = ()
    """The ids of the last messages in it."""
    message: str = Field(default="", exclude_if=is_empty)
    """In a conversation with somebody: the id of what they said last."""
    begun_before: int = Field(default=0, exclude_if=is_empty)
    """How many turns there were before that."""
    answering: Heard | None = Field(default=None, exclude_if=is_empty)
    """What they said last, once the turn that it stands behind is no longer shown. Never evicted."""
    recalled: Value | None = None
    """What memory gave for the goal, or for what was said last; None: it was not asked yet."""
    notes: Notes = Notes()
    summary: Value = Value()
    """What stands for the turns that are no longer shown."""
    summary_size: int = 0
    """Characters of it."""
    turns: tuple[ModelTurn, ...] = ()
    """The newest ones."""
    begun: int = 0
    """How many turns there were."""
    read: int = 0
    """Tokens that the model has read."""
    written: int = 0
    """Tokens that it has written."""
    inside: int = Field(default=0, exclude_if=is_empty)
    """Tokens that the skills used which it called."""
    mistakes: int = 0
    """Turns in a row that could not be used."""
    repeated: tuple[int, ...] = ()
    """How many turns in a row want what the turn before wanted; what the one before that wanted; and so on."""
    uncertain: tuple[str, ...] = ()
    """Digests of the calls that failed after they may have had their effect. Never evicted: none is made again."""
    exceeded: int = 0
    """How often in a row it was longer than the model can read."""

    @property
    def tokens(self) -> int:
        """Tokens that the model has used, and those of the skills that it called."""
        return self.read + self.written + self.inside

    @property
    def last(self) -> ModelTurn | None:
        """The last turn."""
        return self.turns[-1] if self.turns else None


class CallKind(OpenEnum):
    """What a reply came to. An unknown kind counts as a mistake."""

    TURN = auto()
    DECLINED = auto()
    """The model refuses to go on."""
    EXCEEDED = auto()
    """What it was to read is longer than it can."""


class ReasonCall(StepContext):
    """The input of the activity that has the model take a turn."""

    agent: Agent
    offered: tuple[OfferedSkill, ...] = ()
    """The skills that it may call as tools."""
    goal: Value
    date: datetime.date
    """The day that the task is about."""
    conversation: Conversation
    shown: Annotated[int, Field(ge=0)] = RESULT_SHOWN
    """Characters of each text, of each call's arguments, of each result and of each message that the model is shown."""
    earlier: Instant | None = None
    """When an earlier run began whose effects this one may not know; None: there is none. See ``TaskState.earlier``."""


class Reasoned(Passed):
    """What came of a turn."""

    kind: CallKind = CallKind.TURN
    turn: ModelTurn = ModelTurn()
    read: int = 0
    written: int = 0


class CorrectCall(MemoryCall):
    """The input of the activity that corrects a memory as the model wants."""

    arguments: Value
    """The memory's id and what is right, as the model gave them."""


class CompressCall(StepContext):
    """The input of the activity that makes a summary of turns which will not be shown any more."""

    agent: Agent
    summary: Value
    """The one of what was left out before."""
    first: int
    """The number of the first of the turns."""
    turns: tuple[ModelTurn, ...]
    limit: int
    """Characters that the summary may have."""


class Compressed(Passed):
    """The summary of what is left out."""

    summary: Value
    size: int
    read: int = 0
    written: int = 0
