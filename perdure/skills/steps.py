"""The parts of a skill: inputs and steps. Pure values; expressions are kept as they were written."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from perdure.model import Name, Passed
from perdure.registry.prompts import LONGEST_TEMPLATE, PromptUse
from perdure.skills.foreign import ActivityStep, WorkflowStep
from perdure.skills.header import is_none
from perdure.skills.templates import (
    CompensateTemplate,
    Duration,
    EventTemplate,
    Identifier,
    InputType,
    MemoryTemplate,
    OnFailure,
    RecallTemplate,
    RecordTemplate,
    Template,
    awaited,
)
from perdure.values.questions import AnswerSpec

MOST_AT_ONCE = 50
"""Actions that one block may have on their way at the same time: each is a branch that the task carries."""


MOST_ASKED = 20
"""How often a step may ask its model; a choice: one activity asks all of it, and each answer is paid for."""

COMPENSATE = "compensate"
"""What the path of a compensation ends with, behind that of its step."""

MOST_NAMES = 50
"""Names of one ``let``, a choice: a value that is kept elsewhere leaves 130 bytes in the history for its name."""


class ToolStep(Passed):
    """A step that calls a tool."""

    kind: Literal["tool"] = "tool"
    id: Identifier
    """Its name in paths and expressions (``steps.<id>``), unique in the skill."""
    tool: Name
    """The tool's name."""
    args: dict[str, JsonValue] = Field(default_factory=dict)
    """The arguments, by name."""
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
    retry: Annotated[int, Field(ge=0, le=1_000)] | None = Field(default=None, exclude_if=is_none)
    """How often the tool is tried; 0 is once; without it, as often as the installation says."""
    timeout: Duration | None = Field(default=None, exclude_if=is_none)
    """How long a call may take, if that is less than the tool's own time."""
    compensate: CompensateTemplate | None = Field(default=None, exclude_if=is_none)
    """What undoes it, if the task fails or is cancelled later."""
    on_failure: OnFailure = OnFailure.FAIL
    """What becomes of the task when the step fails for good."""
    remember: tuple[RecordTemplate | MemoryTemplate, ...] = ()
    """What is written to memory once the step is done."""
    critical: bool = False
    """Whether what it remembers must be searchable before the task goes on."""


class PromptStep(Passed):
    """A step that a language model answers."""

    kind: Literal["prompt"] = "prompt"
    id: Identifier
    prompt: Annotated[str, Field(max_length=LONGEST_TEMPLATE)]
    """The request; as a mapping, a prompt by its name, whose expressions know its inputs alone."""
    uses: PromptUse | None = Field(default=None, exclude_if=is_none)
    """The prompt that it names; written as a mapping under ``prompt``."""
    model: str = ""
    """``openai:<model>``, or ``<module>:<model>`` of a provider of your own; empty: the installation's."""
    retry: Annotated[int, Field(ge=0, le=MOST_ASKED)] | None = Field(default=None, exclude_if=is_none)
    """How often the model is asked until its answer is as expected and in time; 0, as without it, is once."""
    timeout: Duration | None = Field(default=None, exclude_if=is_none)
    """How long it may take to answer, if that is less than the installation's time for a request."""
    output: dict[Identifier, InputType] = Field(default_factory=dict[str, InputType])
    """The fields of its ``output``, each with its type; without it, its output is text."""
    when: Template | None = None
    expect: Template | None = None
    """What must hold of ``output``."""
    on_failure: OnFailure = OnFailure.FAIL
    remember: tuple[RecordTemplate | MemoryTemplate, ...] = ()
    critical: bool = False
    """Whether what it remembers must be searchable before the task goes on."""

    @property
    def tries(self) -> int:
        """How often it may ask its model."""
        return max(1, self.retry or 1)


class RecallStep(Passed):
    """A step that reads all tiers of memory."""

    kind: Literal["recall"] = "recall"
    id: Identifier
    recall: RecallTemplate
    """What is asked for."""
    when: Template | None = None


class RememberStep(Passed):
    """A step that only writes memory."""

    kind: Literal["remember"] = "remember"
    id: Identifier
    remember: Annotated[tuple[RecordTemplate | MemoryTemplate, ...], Field(min_length=1)]
    """What is written to memory."""
    when: Template | None = None
    on_failure: OnFailure = OnFailure.FAIL
    critical: bool = False


class LetStep(Passed):
    """Names for values, which later steps read; it does not count as a step."""

    kind: Literal["let"] = "let"
    let: Annotated[dict[Identifier, JsonValue], Field(min_length=1, max_length=MOST_NAMES)]
    """The values, by the names under which later steps read them."""

    @property
    def id(self) -> str:
        """Its name in paths: no step that a person writes can have it, as an id has no space."""
        return f"let {next(iter(self.let))}"


class WaitStep(Passed):
    """A step that waits for a time, or until a moment."""

    kind: Literal["wait"] = "wait"
    id: Identifier
    wait: Annotated[Template, AfterValidator(awaited), Field(examples=["2h"])]
    """A duration, a moment with its time zone, or an expression that gives one of the two."""
    when: Template | None = None


class EventStep(Passed):
    """A step that waits for an event, whose value is its output."""

    kind: Literal["event"] = "event"
    id: Identifier
    wait: EventTemplate
    """The event."""
    when: Template | None = None


class SkillStep(Passed):
    """A step that runs another skill."""

    kind: Literal["skill"] = "skill"
    id: Identifier
    skill: Name
    """The name of the skill that it runs."""
    inputs: dict[Identifier, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """What it gives that skill, by name."""
    when: Template | None = None
    on_failure: OnFailure = OnFailure.FAIL
    """What becomes of the task when the step fails for good; the skill's own steps may ask."""
    remember: tuple[RecordTemplate | MemoryTemplate, ...] = ()
    critical: bool = False
    """Whether what it remembers must be searchable before the task goes on."""


class ForEach(Passed):
    """Steps that run once for each element of a list."""

    kind: Literal["for_each"] = "for_each"
    id: Identifier
    """Its name in paths; by default the name of the element."""
    for_each: Template
    """The list: an expression."""
    element: Identifier
    """What expressions call the element."""
    steps: Annotated[tuple["Step", ...], Field(min_length=1)]
    """What is done for each element, in this order."""
    at_once: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 1
    """For how many elements they may run at the same time."""
    when: Template | None = None


class Parallel(Passed):
    """Steps that run side by side; what stands behind them waits for all."""

    kind: Literal["parallel"] = "parallel"
    id: Identifier = "parallel"
    """Its name in paths; a second block of a skill needs one of its own."""
    lanes: Annotated[
        tuple[Annotated[tuple["Step", ...], Field(min_length=1)], ...], Field(min_length=1, max_length=MOST_AT_ONCE)
    ]
    """What runs side by side: each entry is a step, or a list of steps in their order."""
    when: Template | None = None


Step = Annotated[
    ToolStep
    | PromptStep
    | RecallStep
    | RememberStep
    | LetStep
    | WaitStep
    | EventStep
    | SkillStep
    | ActivityStep
    | WorkflowStep
    | ForEach
    | Parallel,
    Field(discriminator="kind"),
]
"""Anything that a skill can do."""

Steps = Annotated[tuple[Step, ...], Field(min_length=1)]
"""Steps in their order, in parallel with others."""

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
        "skill",
        "activity",
        "workflow",
        "queue",
        "effect",
        "answer",
        "model",
        "output",
        "retry",
        "timeout",
    }
    found = step.model_dump(mode="json", exclude=without)
    if (uses := found.pop("uses", None)) is not None:
        # The text itself knows no name of the skill.
        del found["prompt"]
        found["prompt.inputs"] = uses["inputs"]
    return found
