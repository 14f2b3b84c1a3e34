"""The shape of a skill: inputs, steps, output. Pure values; expressions are kept as they were written."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, model_validator

from perdure.durations import check_wait, duration_of
from perdure.entries import Lane, MemoryType
from perdure.identity import OwnerId, digest
from perdure.model import Name, OpenEnum, Passed, spelled
from perdure.questions import AnswerSpec
from perdure.strategies import ProfileName, Strategy

Identifier = Annotated[
    str, spelled(r"[a-z_][a-z0-9_]{0,39}", "write 1 to 40 lower-case letters, digits or '_', no digit first")
]
"""A name that expressions can use: lower-case letters, digits and underscores."""

Template = Annotated[str, Field(min_length=1, max_length=8_000)]
"""Text in which each ``${…}`` is an expression."""


MOST_AT_ONCE = 50
"""Actions that one block may have on their way at the same time: each is a branch that the task carries."""


MOST_NAMES = 50
"""Names of one ``let``, a choice: a value that is kept elsewhere leaves 130 bytes in the history for its name."""


def _lasting(text: str) -> str:
    if not duration_of(text):
        raise ValueError("is no time at all (write a number above 0)")
    return text


def _awaited(text: str) -> str:
    if "${" not in text:
        check_wait(text)
    return text


def _is_none(value: object) -> bool:
    # What few steps have takes no room in those that have it not: a skill is carried along as JSON.
    return value is None


def _is_empty(value: object) -> bool:
    return not value


Duration = Annotated[str, AfterValidator(_lasting), Field(examples=["45s"])]
"""A number and a unit, as it was written: ``45s``."""


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
    required: bool = True
    """Ignored where there is a default."""
    default: JsonValue = None
    description: str = ""


class OnFailure(OpenEnum):
    """What becomes of the task when a step fails. An unknown value counts as ``fail``."""

    FAIL = "fail"
    CONTINUE = "continue"
    ASK = "ask"


class RecordTemplate(Passed):
    """An execution record to be written when its step is done."""

    lane: Lane
    key: Template
    payload: JsonValue
    summary: str = ""
    intent: str = ""
    of: OwnerId | None = None
    """Whose memory it is; None: that of the task's user."""
    when: Template | None = None


class MemoryTemplate(Passed):
    """A memory to be written when its step is done."""

    memory: Template
    type: MemoryType = MemoryType.FACT
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.9
    tags: tuple[Name, ...] = ()
    of: OwnerId | None = None
    """Whose memory it is; None: that of the task's user."""
    when: Template | None = None


class RecallTemplate(Passed):
    """What a recall step asks for."""

    of: OwnerId | None = None
    """Whose memory is asked; None: that of the task's user."""
    text: str = ""
    lane: Lane | None = None
    key: Template | None = None
    keys: Template | tuple[Template, ...] = ()
    """Keys, or one expression that gives a list of them."""
    memory_types: tuple[MemoryType, ...] = ()
    strategy: Strategy = Strategy.BALANCED
    profile: ProfileName | None = None
    tags: tuple[Name, ...] = ()
    scopes: tuple[Name, ...] = ()
    since: Template | None = None
    """A moment with its time zone; what was last observed before it does not count."""
    until: Template | None = None
    """A moment with its time zone; what was last observed at it or later does not count."""
    task: Template | None = None
    """What this task wrote, or what is tagged so."""
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    enough: Annotated[int, Field(ge=0, le=1_000)] = 3
    limit: Annotated[int, Field(ge=1, le=100)] = 10

    @model_validator(mode="after")
    def _keys_need_a_lane(self) -> Self:
        if (self.key or self.keys) and self.lane is None:
            raise ValueError("keys need a lane: name the log that they are in")
        return self


class ToolStep(Passed):
    """A step that calls a tool."""

    kind: Literal["tool"] = "tool"
    id: Identifier
    tool: Name
    args: dict[str, JsonValue] = Field(default_factory=dict)
    when: Template | None = None
    """Whether the step runs at all."""
    expect: Template | None = None
    """What must hold of ``output``."""
    ask: Template | None = None
    """The question for a person when ``expect`` does not hold; the answer becomes ``answer``."""
    answer: AnswerSpec | None = None
    """Which answers ``ask`` takes; without it, any text. The short form names the type alone."""
    approve: Template | None = None
    """The question for a person before the step acts."""
    retry: Annotated[int, Field(ge=0, le=1_000)] | None = Field(default=None, exclude_if=_is_none)
    """How often the tool is tried; 0 is once, and None as often as the installation says."""
    timeout: Duration | None = Field(default=None, exclude_if=_is_none)
    """How long a call may take, if that is less than the tool's own time."""
    on_failure: OnFailure = OnFailure.FAIL
    remember: tuple[RecordTemplate | MemoryTemplate, ...] = ()
    critical: bool = False
    """Whether what it remembers must be searchable before the task goes on."""


class PromptStep(Passed):
    """A step that a language model answers."""

    kind: Literal["prompt"] = "prompt"
    id: Identifier
    prompt: Template
    model: str = ""
    """``openai:<model>``; empty: the installation's."""
    output: dict[Identifier, InputType] = Field(default_factory=dict[str, InputType])
    """The fields of its ``output``, each with its type; none: its output is text."""
    when: Template | None = None
    expect: Template | None = None
    """What must hold of ``output``."""
    on_failure: OnFailure = OnFailure.FAIL
    remember: tuple[RecordTemplate | MemoryTemplate, ...] = ()
    critical: bool = False
    """Whether what it remembers must be searchable before the task goes on."""


class RecallStep(Passed):
    """A step that reads all tiers of memory."""

    kind: Literal["recall"] = "recall"
    id: Identifier
    recall: RecallTemplate
    when: Template | None = None


class RememberStep(Passed):
    """A step that only writes memory."""

    kind: Literal["remember"] = "remember"
    id: Identifier
    remember: Annotated[tuple[RecordTemplate | MemoryTemplate, ...], Field(min_length=1)]
    when: Template | None = None
    on_failure: OnFailure = OnFailure.FAIL
    critical: bool = False


class LetStep(Passed):
    """Names for values, which the steps behind it read; it counts as no step."""

    kind: Literal["let"] = "let"
    let: Annotated[dict[Identifier, JsonValue], Field(min_length=1, max_length=MOST_NAMES)]

    @property
    def id(self) -> str:
        """What paths call it: no step that a person writes can be called so, as an id has no space."""
        return f"let {next(iter(self.let))}"


class WaitStep(Passed):
    """A step that waits for a time, or until a moment."""

    kind: Literal["wait"] = "wait"
    id: Identifier
    wait: Annotated[Template, AfterValidator(_awaited), Field(examples=["2h"])]
    """A duration, a moment with its time zone, or an expression that gives one of the two."""
    when: Template | None = None


class ForEach(Passed):
    """Steps that run once for each element of a list."""

    kind: Literal["for_each"] = "for_each"
    id: Identifier
    """Its name in paths; by default the name of the element."""
    for_each: Template
    element: Identifier
    """What expressions call the element; written ``as``."""
    steps: Annotated[tuple["Step", ...], Field(min_length=1)]
    at_once: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 1
    """For how many elements they may run at the same time."""
    when: Template | None = None


class Parallel(Passed):
    """Steps that run side by side; what stands behind them waits for all."""

    kind: Literal["parallel"] = "parallel"
    id: Identifier = "parallel"
    lanes: Annotated[
        tuple[Annotated[tuple["Step", ...], Field(min_length=1)], ...], Field(min_length=1, max_length=MOST_AT_ONCE)
    ]
    """Lists of steps, each in its order; written ``parallel``, and a list of one step as the step alone."""
    when: Template | None = None


Step = Annotated[
    ToolStep | PromptStep | RecallStep | RememberStep | LetStep | WaitStep | ForEach | Parallel,
    Field(discriminator="kind"),
]
"""Anything that a skill can do."""

Steps = Annotated[tuple[Step, ...], Field(min_length=1)]
"""Steps in their order, beside others."""

ForEach.model_rebuild()
Parallel.model_rebuild()


def templates_of(step: Step) -> dict[str, JsonValue]:
    """Return the fields of a step that can hold expressions, without those of the steps inside it."""
    without = {
        "steps",
        "lanes",
        "at_once",
        "id",
        "kind",
        "element",
        "tool",
        "answer",
        "model",
        "output",
        "retry",
        "timeout",
    }
    return step.model_dump(mode="json", exclude=without)


class Skill(Passed):
    """A procedure: a plan with steps."""

    name: Name
    description: str = ""
    use_when: str = ""
    """When it is the right one; read when a skill is chosen."""
    deprecated: Annotated[str, AfterValidator(str.strip), Field(max_length=500)] = Field(
        default="", exclude_if=_is_empty
    )
    """Why it is on its way out. It runs until its file is removed, and each of its tasks says so in its result."""
    successor: Name | None = Field(default=None, exclude_if=_is_none)
    """The skill to use instead."""
    inputs: dict[Identifier, InputSpec] = Field(default_factory=dict)
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    output: JsonValue = None
    """What the task gives back."""
    expect: Template | None = None
    """What must hold at the end; becomes the task's evaluation."""

    @property
    def digest(self) -> str:
        """The identity of its content: a changed skill is another version."""
        # Without defaults: a build that knows one field more gives the same skill the same digest. On its way out it
        # does what it did.
        without = {"deprecated", "successor"}
        return digest("skill/1", self.model_dump(mode="json", exclude_defaults=True, exclude=without))

    @property
    def going(self) -> str:
        """That it is deprecated, why, and what to use instead; empty where it is not."""
        instead = f" (use {self.successor})" if self.successor else ""
        return f"skill {self.name} is deprecated: {self.deprecated}{instead}" if self.deprecated else ""

    @property
    def owners(self) -> tuple[str, ...]:
        """The teams and agents whose memory its steps name."""
        templates = [template for _, step, _ in self.walk() for template in _of_memory(step)]
        return tuple(sorted({template.of for template in templates if template.of}))

    def walk(self) -> Iterator[tuple[str, Step, tuple[ForEach, ...]]]:
        """Yield every step with the path of its field and the lists that are walked around it, in order."""
        yield from _walk(self.steps, "steps", ())


def _walk(
    steps: tuple[Step, ...], path: str, around: tuple[ForEach, ...]
) -> Iterator[tuple[str, Step, tuple[ForEach, ...]]]:
    for index, step in enumerate(steps):
        here = f"{path}[{index}]"
        yield here, step, around
        match step:
            case ForEach(steps=inner):
                yield from _walk(inner, f"{here}.steps", (*around, step))
            case Parallel(lanes=lanes):
                for number, lane in enumerate(lanes):
                    yield from _walk(lane, lane_path(here, number), around)
            case _:
                pass


def _of_memory(step: Step) -> tuple[RecallTemplate | RecordTemplate | MemoryTemplate, ...]:
    """Return what a step reads of memory, or writes to it."""
    match step:
        case RecallStep(recall=recall):
            return (recall,)
        case ToolStep() | PromptStep() | RememberStep():
            return step.remember
        case _:
            return ()


def lane_path(block: str, number: int) -> str:
    """Return the path of one of the lists of steps that run side by side."""
    return f"{block}.parallel[{number}]"
