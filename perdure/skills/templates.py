"""What the steps of a skill are made of: templates, inputs, and what becomes of a failure. Pure values."""

from collections.abc import Callable
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, model_validator

from perdure.durations import check_wait, lasting, with_unit
from perdure.identity import OwnerId
from perdure.model import Name, OpenEnum, Passed, spelled
from perdure.values.entries import Lane, MemoryType
from perdure.values.events import event_name
from perdure.values.items import required_feedback, required_intent, required_pattern
from perdure.values.strategies import ProfileName, Strategy

Identifier = Annotated[
    str,
    spelled(r"[a-z_][a-z0-9_]{0,39}", "name here", "lower-case letters, digits, '_'; start with no digit; at most 40"),
]
"""A name that expressions can use: lower-case letters, digits and underscores."""

Template = Annotated[str, Field(min_length=1, max_length=8_000)]
"""Text in which each ``${…}`` is an expression."""


def awaited(text: str) -> str:
    """Return what a step waits for; raises ValueError where it is neither a duration, a moment nor an expression."""
    if "${" not in text:
        check_wait(text)
    return text


def _called(text: str) -> str:
    return text if "${" in text else event_name(text)


Duration = Annotated[str, BeforeValidator(with_unit), AfterValidator(lasting), Field(examples=["45s"])]
"""A number and a unit, as it was written: ``45s``."""


def _part(name: str, require: Callable[[Any], object], value: object) -> None:
    try:
        require(value)
    except ValueError as problem:
        raise ValueError(f"its {name} {problem}") from None


class InputType(OpenEnum):
    """What an input may hold. An unknown type takes any value."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    LIST = "list"
    OBJECT = "object"
    ANY = "any"


class InputSpec(Passed):
    """One input of a skill."""

    type: InputType = InputType.STRING
    """What it may hold."""
    required: bool = True
    """Whether a task has to give it; an input with a default never has to."""
    default: JsonValue = None
    """What it is where a task does not give it."""
    description: str = ""
    """What it is, for whoever starts a task."""


class OnFailure(OpenEnum):
    """What becomes of the task when a step fails. An unknown value counts as ``fail``."""

    FAIL = "fail"
    CONTINUE = "continue"
    ASK = "ask"


class CompensateTemplate(Passed):
    """The call that undoes what a step's tool has done."""

    tool: Name
    """The tool that undoes it."""
    args: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Its arguments; expressions in them know the step's ``output`` too."""


class RecordTemplate(Passed):
    """An execution record to be written when its step is done."""

    lane: Lane
    """The log that it belongs to."""
    key: Template
    """What it is found by exactly."""
    payload: JsonValue
    """What is recorded: any JSON; for feedback, a mapping with the person's ``answer``, ``correction`` or ``rating``
    (from 0 to 1); for a pattern, anything that is not empty."""
    summary: str = ""
    """What happened, in a sentence that a search can find."""
    intent: str = ""
    """What was wanted; a recommendation has to say what it is for."""
    of: OwnerId | None = None
    """Whose memory it is; without it, that of the task's user."""
    when: Template | None = None
    """Whether it is written at all."""

    @model_validator(mode="after")
    def _is_fit_for_its_lane(self) -> Self:
        match self.lane:
            case Lane.RECOMMENDATION:
                _part("intent", required_intent, self.intent)
            case Lane.FEEDBACK if not (isinstance(self.payload, str) and "${" in self.payload):
                _part("payload", required_feedback, self.payload)
            case Lane.PATTERN:
                _part("payload", required_pattern, self.payload)
            case _:
                # An expression, whose value the step checks; or a newer build's lane.
                pass
        return self


class MemoryTemplate(Passed):
    """A memory to be written when its step is done."""

    memory: Template
    """What is believed, in a sentence."""
    type: MemoryType = MemoryType.FACT
    """What kind of thing it is."""
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.9
    """How sure it is, from 0 to 1."""
    tags: tuple[Name, ...] = ()
    """Words that a recall can be limited to."""
    of: OwnerId | None = None
    """Whose memory it is; without it, that of the task's user."""
    when: Template | None = None
    """Whether it is written at all."""


class RecallTemplate(Passed):
    """What a recall step asks for."""

    of: OwnerId | None = None
    """Whose memory is asked; without it, that of the task's user."""
    text: str = ""
    """What it is about, in words; without it, only keys find something, or the strategy ``structured``."""
    lane: Lane | None = None
    """The log to look in; without it, memories are looked for too."""
    key: Template | None = None
    """One key, which is looked up exactly."""
    keys: Template | tuple[Template, ...] = ()
    """Keys, or one expression that gives a list of them."""
    memory_types: tuple[MemoryType, ...] = ()
    """Only memories of these types; empty: of all."""
    strategy: Strategy = Strategy.BALANCED
    """What is chosen among all that may be returned."""
    profile: ProfileName | None = None
    """The weights that the result is ordered by; without it, the strategy's own."""
    tags: tuple[Name, ...] = ()
    """Only what has all of these tags."""
    scopes: tuple[Name, ...] = ()
    """Only what counts in one of these scopes; what has none counts everywhere."""
    since: Template | None = None
    """A moment with its time zone; what was last observed before it does not count."""
    until: Template | None = None
    """A moment with its time zone; what was last observed at it or later does not count."""
    task: Template | None = None
    """What this task wrote, or what is tagged so."""
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    """Only memories of which one is so sure, from 0 to 1; without it, as the installation is configured."""
    enough: Annotated[int, Field(ge=0, le=1_000)] = 3
    """With keys: how many items they have to find so that nothing is searched for by ``text`` besides; 0: keys alone
    count."""
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    """How many items at most."""

    @model_validator(mode="after")
    def _keys_need_a_lane(self) -> Self:
        if (self.key or self.keys) and self.lane is None:
            raise ValueError("keys need a lane: name the log that they are in")
        return self


class EventTemplate(Passed):
    """An event that a step waits for."""

    event: Annotated[Template, AfterValidator(_called), Field(examples=["paid ${inputs.order}"])]
    """What it is called."""
    deadline: Annotated[Template, AfterValidator(awaited), Field(examples=["2d"])] | None = None
    """Until when it may come: a duration, a moment or an expression; without it, the step waits as long as it takes."""
    otherwise: JsonValue = None
    """The step's output where the deadline passes; without it, the step fails then."""
