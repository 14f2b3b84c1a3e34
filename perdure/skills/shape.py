"""The shape of a skill: a header, inputs, steps and an output. Pure values."""

from collections.abc import Callable, Iterator
from typing import Annotated, Self

from pydantic import Field, JsonValue

from perdure.identity import digest
from perdure.registry.judge import OptionalJudge
from perdure.skills.foreign import ForeignStep
from perdure.skills.header import DESCRIBING, GOING, SkillHeader, is_none
from perdure.skills.steps import (
    ForEach,
    Parallel,
    PromptStep,
    RecallStep,
    RememberStep,
    SkillStep,
    Step,
    ToolStep,
)
from perdure.skills.templates import (
    Identifier,
    InputSpec,
    MemoryTemplate,
    RecallTemplate,
    RecordTemplate,
    Template,
)


class Skill(SkillHeader):
    """A procedure: a plan with steps."""

    inputs: dict[Identifier, InputSpec] = Field(default_factory=dict)
    """What a task gives it, by name; the short form of one is its type alone: ``tag: string``."""
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    """What it does, in this order."""
    output: JsonValue = None
    """What the task gives back."""
    expect: Template | None = None
    """What must hold at the end; part of the task's evaluation."""
    judge: OptionalJudge = Field(default=None, exclude_if=is_none)
    """What a language model finds out about the output; part of the task's evaluation as well."""

    @property
    def digest(self) -> str:
        """The identity of what it does: a skill that does something else is another version, and no other is."""
        # Without defaults: a build that knows one field more gives the same skill the same digest.
        without = {*DESCRIBING, *GOING}
        written = self.mapped(_as_written) if self.uses_prompts else self
        return digest("skill/1", written.model_dump(mode="json", exclude_defaults=True, exclude=without))

    @property
    def uses_prompts(self) -> bool:
        """Whether a step of it names a prompt."""
        return any(isinstance(step, PromptStep) and step.uses is not None for _, step, _ in self.walk())

    @property
    def prompts(self) -> dict[str, str]:
        """The versions of the prompts that its steps name, by their names."""
        uses = [step.uses for _, step, _ in self.walk() if isinstance(step, PromptStep)]
        return {use.name: use.version for use in uses if use is not None}

    @property
    def running(self) -> Self:
        """The skill as a task carries it along: without the fields for people who choose or read it."""
        return self.changed(**{name: type(self).model_fields[name].default for name in DESCRIBING})

    @property
    def going(self) -> str:
        """A notice that it is deprecated, why, and what to use instead; empty if it is not."""
        instead = f" (use {self.successor})" if self.successor else ""
        return f"skill {self.name} is deprecated: {self.deprecated}{instead}" if self.deprecated else ""

    @property
    def owners(self) -> tuple[str, ...]:
        """The teams and agents whose memory its steps name."""
        templates = [template for _, step, _ in self.walk() for template in _of_memory(step)]
        return tuple(sorted({template.of for template in templates if template.of}))

    def mapped(self, change: Callable[[Step, str], Step]) -> Self:
        """Return the skill with each step changed that has no steps inside it.

        Args:
            change: Returns what a step becomes, given the path of its field too.
        """
        return self.changed(steps=_mapped(self.steps, "steps", change))

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


def _mapped(steps: tuple[Step, ...], path: str, change: Callable[[Step, str], Step]) -> tuple[Step, ...]:
    found = list[Step]()
    for place, step in enumerate(steps):
        here = f"{path}[{place}]"
        match step:
            case ForEach(steps=inner):
                found.append(step.changed(steps=_mapped(inner, f"{here}.steps", change)))
            case Parallel(lanes=lanes):
                changed = (_mapped(lane, lane_path(here, number), change) for number, lane in enumerate(lanes))
                found.append(step.changed(lanes=tuple(changed)))
            case _:
                found.append(change(step, here))
    return tuple(found)


def _as_written(step: Step, _: str) -> Step:
    """Return a step as its file has it: a prompt that it names is another definition, with a version of its own."""
    if isinstance(step, PromptStep) and step.uses is not None:
        return step.changed(prompt="", uses=step.uses.as_written)
    return step


def _of_memory(step: Step) -> tuple[RecallTemplate | RecordTemplate | MemoryTemplate, ...]:
    """Return what a step reads of memory, or writes to it."""
    match step:
        case RecallStep(recall=recall):
            return (recall,)
        case ToolStep() | PromptStep() | RememberStep() | SkillStep() | ForeignStep():
            return step.remember
        case _:
            return ()


def lane_path(block: str, number: int) -> str:
    """Return the path of one of the lists of steps that run side by side."""
    return f"{block}.parallel[{number}]"
