"""The header of a skill: when to use it, what it needs, and how it has changed. Pure values."""

import datetime
import re
import unicodedata
from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints

from perdure.model import Name, Passed, one_line

MOST_TRIGGERS = 50
MOST_CHECKS = 50
MOST_EXAMPLES = 20
MOST_CHANGES = 200
"""Phrases, checks, examples and lines of a changelog that a skill may have; each a choice."""

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500), one_line]
"""A line of text for people."""


def is_none(value: object) -> bool:
    """Return whether a field takes no room in JSON: few skills have it, and a task carries its skill along."""
    return value is None


def is_empty(value: object) -> bool:
    """Return whether a field takes no room in JSON, as ``is_none`` does, of one that is a text or a list."""
    return not value


class Requirements(Passed):
    """What a worker has to have before the first step, besides the tools that the steps call."""

    tools: Annotated[tuple[Name, ...], Field(max_length=200)] = ()
    """The tools' names."""


class SafetyCheck(Passed):
    """What must hold of a task's inputs before its first step."""

    check: Annotated[str, Field(min_length=1, max_length=8_000, examples=["${inputs.count < 10}"])]
    """A condition over ``inputs``."""
    otherwise: Line
    """The text of the refusal if it does not hold."""


class Example(Passed):
    """Inputs that a task may give."""

    inputs: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """The inputs, by name."""
    note: str = ""
    """What they are an example of."""


class SkillChange(Passed):
    """A line of a skill's changelog."""

    date: datetime.date
    """The day of the change."""
    change: Line
    """What changed, in a line."""


class SkillHeader(Passed):
    """A skill's header."""

    name: Name
    """Its name, which is also that of its file."""
    description: str = ""
    """What it does, for people and for agents that call it."""
    when_to_use: str = ""
    """When it is the right one; read when a skill is chosen."""
    triggers: Annotated[tuple[Line, ...], Field(max_length=MOST_TRIGGERS)] = Field(default=(), exclude_if=is_empty)
    """What somebody who needs it would say. No other skill may have the same phrase."""
    deprecated: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = Field(
        default="", exclude_if=is_empty
    )
    """Why it is being phased out. It runs until its file is removed, and each of its tasks says so in its result."""
    successor: Name | None = Field(default=None, exclude_if=is_none)
    """The skill to use instead."""
    requires: Requirements | None = Field(default=None, exclude_if=is_none)
    """What a worker has to have besides the tools that the steps call."""
    checks: Annotated[tuple[SafetyCheck, ...], Field(max_length=MOST_CHECKS)] = Field(default=(), exclude_if=is_empty)
    """What must hold of the inputs; where one does not, the task is refused before its first step."""
    lessons: bool = Field(default=True, exclude_if=bool)
    """Whether its tasks write down what they learn from failures, and recall what earlier ones learned."""
    examples: Annotated[tuple[Example, ...], Field(max_length=MOST_EXAMPLES)] = Field(default=(), exclude_if=is_empty)
    """Inputs that a task may give: they have to be what ``inputs`` declares, and to pass the checks."""
    changelog: Annotated[tuple[SkillChange, ...], Field(max_length=MOST_CHANGES)] = Field(
        default=(), exclude_if=is_empty
    )
    """What changed and when, newest first."""


DESCRIBING = frozenset({"description", "when_to_use", "triggers", "examples", "changelog"})
"""Fields for people who choose or read a skill: nothing that runs reads them."""

GOING = frozenset({"deprecated", "successor"})
"""Fields of which a task tells in its result, and does what it did without them."""


def same_phrase(phrase: str) -> str:
    """Return what two phrases have in common that differ in case, spaces and punctuation alone.

    >>> same_phrase("Audit  the lock-file!")
    'audit the lock file'
    """
    return " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", phrase).casefold()))
