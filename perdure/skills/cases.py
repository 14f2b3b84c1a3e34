"""Cases to test a skill on: what its tools return, what people answer, and the expected outcome. Pure."""

import datetime

from pydantic import Field, JsonValue

from perdure.documents import join, validated
from perdure.errors import InvalidSkill
from perdure.expressions.evaluation import references
from perdure.model import Model, Name
from perdure.skills.templates import Template
from perdure.suggestions import nearest
from perdure.values.events import EventName
from perdure.values.tasks import Phase
from perdure.yaml_text import read_document

NAMES = frozenset(
    {
        *("status", "problem", "output", "passed", "asked", "called"),
        *("remembered", "refused", "warnings", "compensated", "uncompensated"),
    }
)
"""What ``expect`` can read of how a case ended."""


class SkillCase(Model):
    """One way through a skill."""

    name: str = ""
    inputs: dict[str, JsonValue] = Field(default_factory=dict)
    date: datetime.date = datetime.date(2026, 1, 1)
    """The day that the task is about."""
    results: dict[str, JsonValue] = Field(default_factory=dict)
    """What steps return, by their ids, or by their paths (``line[2].look``), which go before ids: the output of a tool
    or of a model; of a recall, ``items``, ``records`` and ``context``, each of which may be left out."""
    failures: dict[str, str | tuple[str, ...]] = Field(default_factory=dict)
    """Why calls of tools, and models, fail, by the ids or the paths of their steps: each time, or a list with a reason
    for each time, after which they return."""
    answers: dict[str, JsonValue] = Field(default_factory=dict)
    """What people answer, by the ids or the paths of the steps that ask: to the first question at a step, or a list
    with an answer to each."""
    events: dict[EventName, JsonValue] = Field(default_factory=dict[EventName, JsonValue])
    """The events that come, by their names: the value of each, however often it is waited for. No other event comes, so
    the deadline of a step that waits for one passes."""
    judged: bool | None = None
    """What the model that judges the output says: whether it meets the criterion. None: that it does."""
    expect: Template | None = None
    """What has to be true in the end; without it, the task has to complete, and its skill's own ``expect`` to hold."""


class SkillCases(Model):
    """The cases of one skill."""

    skill: Name
    cases: tuple[SkillCase, ...] = Field(min_length=1)


class Rehearsed(Model):
    """How a case ended."""

    status: Phase
    problem: str = ""
    """Why it failed."""
    output: JsonValue = None
    passed: bool | None = None
    """Whether the skill's own ``expect`` held, and its judge was content; None: it has neither."""
    asked: tuple[str, ...] = ()
    """The questions that a person was asked, in their order: each the path of its step; ``path#2`` is its second."""
    called: tuple[dict[str, JsonValue], ...] = ()
    """The calls of tools, in their order: each with its ``step`` (a path), ``tool`` and ``arguments``."""
    remembered: tuple[dict[str, JsonValue], ...] = ()
    """What would be remembered: the fields of each item; ``of`` is the team or agent whose memory it is."""
    refused: tuple[str, ...] = ()
    """What cannot be remembered, and why."""
    warnings: tuple[str, ...] = ()
    """What the task's result would warn of."""
    compensated: tuple[str, ...] = ()
    """The paths of the steps that were undone as it failed, the last one first."""
    uncompensated: tuple[str, ...] = ()
    """The steps that could not be undone, each with the reason."""


def read_cases(text: str, where: str) -> SkillCases:
    """Read cases from YAML.

    Args:
        text: The document.
        where: What it is, for messages about the document as a whole.

    Raises:
        InvalidSkill: Naming the field, and the nearest name where one is unknown.
        InvalidExpression: When an ``expect`` does not parse.
    """
    found = validated(SkillCases, read_document(text, where, InvalidSkill), "", InvalidSkill)
    for place, case in enumerate(found.cases):
        field = join("cases", place, "expect")
        for root, *_ in references(case.expect, field):
            if root not in NAMES:
                raise InvalidSkill(field, f"there is no name {root!r}", fix=nearest(root, NAMES))
    return found
