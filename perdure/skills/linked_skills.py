"""A skill with the skills that its steps run, each in the one version that a task is pinned to. Pure."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from pydantic import JsonValue

from perdure.errors import InvalidInput, InvalidSkill
from perdure.identity import digest
from perdure.registry.prompts import pinned_version
from perdure.skills.foreign import ForeignStep
from perdure.skills.shape import Skill
from perdure.skills.steps import SkillStep, Step, ToolStep
from perdure.tolerance import taken_back
from perdure.yaml_text import placed

LARGEST_SKILL = 600_000
"""Bytes of a skill as JSON, with those that it runs: some 3,300 steps of one line. A task carries it with 400 kB of
results and a reference of 200 bytes for each further one when its history is rolled over, and Temporal takes 2 MB in
one payload."""

DEEPEST = 5
"""Skills within one another, a choice: a task carries a position for each of them."""


@dataclass(frozen=True, kw_only=True)
class LinkedSkill:
    """A skill with all that its steps run, and what steps of these run, by their names."""

    skill: Skill
    inner: Mapping[str, Skill] = field(default_factory=dict[str, Skill])
    sources: Mapping[str, tuple[Path, str]] = field(default_factory=dict[str, tuple[Path, str]], compare=False)
    """The files that they were read from, with their texts, by their names."""

    @property
    def every(self) -> tuple[Skill, ...]:
        """The skill, and all others."""
        return (self.skill, *self.inner.values())

    @property
    def document(self) -> dict[str, JsonValue]:
        """All of it as JSON, as ``of_document`` reads it."""
        inner: dict[str, JsonValue] = {name: one.model_dump(mode="json") for name, one in self.inner.items()}
        return {"skill": self.skill.model_dump(mode="json"), "inner": inner}

    @classmethod
    def of_document(cls, document: Any) -> Self:
        """Return the skill that a document is of."""
        inner = {name: taken_back(Skill, one) for name, one in document["inner"].items()}
        return cls(skill=taken_back(Skill, document["skill"]), inner=inner)

    @property
    def steps(self) -> Iterator[Step]:
        """The steps of all of them."""
        return (step for skill in self.every for _, step, _ in skill.walk())

    @property
    def tools(self) -> list[str]:
        """The tools that steps call, and those that undo them, sorted."""
        calling = [step for step in self.steps if isinstance(step, ToolStep | ForeignStep)]
        called = {step.tool for step in calling if isinstance(step, ToolStep)}
        return sorted(called | {step.compensate.tool for step in calling if step.compensate})

    @property
    def version(self) -> str:
        """The digest of what it does, with its prompts: that of the skill alone if it runs no other."""
        own, prompts = self.skill.digest, {name: one for skill in self.every for name, one in skill.prompts.items()}
        if self.inner:
            own = digest("linked-skill/1", own, {name: one.digest for name, one in self.inner.items()})
        return pinned_version(own, prompts)

    @contextmanager
    def placing(self, name: str) -> Generator[None]:
        """Add the file and the line to errors about one of them that the block raises; or else an inner one's name."""
        try:
            yield
        except InvalidInput as error:
            if name in self.sources:
                raise placed(error, *self.sources[name]) from None
            if name == self.skill.name:
                raise
            raise type(error)(f"{name}: {error.field}", error.problem, fix=error.fix) from None


def linked(skill: Skill, get: Callable[[str], Skill]) -> LinkedSkill:
    """Return a skill with the skills that its steps run.

    Args:
        skill: The skill.
        get: Returns a skill by its name.

    Raises:
        InvalidSkill: Naming the field: a skill runs itself, with the chain; there is none of a name; one cannot be
            read; or all together are larger, or deeper within one another, than a task can carry.
        InvalidExpression: An expression of a skill does not parse.
    """
    linker = _Linker(get)
    linker.link(skill, (skill.name,))
    found = LinkedSkill(skill=skill, inner={name: linker.inner[name] for name in sorted(linker.inner)})
    size = sum(len(one.model_dump_json().encode()) for one in found.every)
    if size > LARGEST_SKILL:
        problem = f"have {size:,} bytes as JSON, with those of the skills that they run"
        raise InvalidSkill("steps", problem, fix=f"at most {LARGEST_SKILL:,}: start some of it as a task of its own")
    return found


class _Linker:
    """Reads each skill once."""

    def __init__(self, get: Callable[[str], Skill]) -> None:
        self._get = get
        self._below: dict[str, tuple[str, ...]] = {}
        """The longest chain of skills that each skill runs, itself included."""
        self.inner: dict[str, Skill] = {}

    def link(self, skill: Skill, chain: tuple[str, ...]) -> tuple[str, ...]:
        """Read what a skill runs; returns the longest chain from it on."""
        place, longest = f"{skill.name}: " if len(chain) > 1 else "", ()
        for path, step, _ in skill.walk():
            if isinstance(step, SkillStep):
                below = self._linked(step.skill, chain, f"{place}{path}.skill")
                longest = max(longest, below, key=len)
                if len(chain) + len(below) > DEEPEST:
                    problem = f"are within one another: {_told((*chain, *below))}"
                    raise InvalidSkill(
                        f"{place}{path}.skill", f"{len(chain) + len(below)} skills {problem}", fix=f"at most {DEEPEST}"
                    )
        return (skill.name, *longest)

    def _linked(self, name: str, chain: tuple[str, ...], field_: str) -> tuple[str, ...]:
        if name in chain:
            problem = f"a skill cannot run itself: {_told((*chain[chain.index(name) :], name))}"
            raise InvalidSkill(field_, problem, fix="use for_each to do something again")
        if name not in self._below:
            try:
                skill = self._get(name)
            except InvalidInput as error:
                if error.place:
                    raise
                # That there is none of this name is a mistake of who names it.
                place = field_ if error.field == "skill" else f"{name}: {error.field}"
                raise type(error)(place, error.problem, fix=error.fix) from None
            self._below[name] = self.link(skill, (*chain, name))
            self.inner[name] = skill
        return self._below[name]


def _told(chain: tuple[str, ...]) -> str:
    return " runs ".join(map(repr, chain))
