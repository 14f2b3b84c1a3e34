"""What is believed after people, agents and tools have said things over days. Pure: extraction, plan and application.

A story has the form of ``governance/stories.jsonl``: turns with their day, user, speaker and text; whose memory is
looked at in the end; what must be and must not be in a current memory, compared without case; how many there are.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.extraction.grounds.chatter import is_chatter
from perdure.memory.extraction.parser import words_of
from perdure.memory.recall.related_memories import overridden_among
from perdure.memory.writing.observation import applied
from perdure.memory.writing.planning import Known, WritePolicy, plan
from perdure.testing import TESTER
from perdure.values.entries import Entry, Memory, Source
from perdure.values.filters import Filters
from perdure.values.items import MemoryItem
from perdure.values.jobs import Batch, PlannedItem

START = datetime(2026, 5, 4, 9, tzinfo=UTC)
"""A Monday."""


class ToldTurn(BaseModel):
    """One thing that somebody said."""

    day: int
    user: str
    said_by: str
    text: str


class Story(BaseModel):
    """Turns, and what is to be believed after them."""

    id: str
    kind: str
    turns: list[ToldTurn]
    user: str
    believe: list[str]
    not_believe: list[str]
    count: int | None = None


class Believed(NamedTuple):
    """What is believed after a story."""

    texts: list[str]
    missing: list[str]
    wrong: list[str]
    miscounted: bool

    @property
    def right(self) -> bool:
        """Whether the whole story came out right."""
        return not (self.missing or self.wrong or self.miscounted)


def stories(file: Path) -> list[Story]:
    """Read the stories of a file."""
    return [Story.model_validate(json.loads(line)) for line in file.read_text().splitlines() if line.strip()]


def items(story: Story) -> Iterator[tuple[str, MemoryItem]]:
    """Yield what is to be remembered of a story, with its user, in the order in which it was said."""
    for number, turn in enumerate(story.turns):
        if is_chatter(words_of(turn.text)):
            continue
        at = START + timedelta(days=turn.day, seconds=number)
        stated = assertion_of(turn.text, at)
        source = Source.EXPLICIT if turn.said_by == "user" else Source.LEARNED
        yield (
            turn.user,
            MemoryItem(
                content=turn.text,
                assertion=stated.assertion,
                valid_from=stated.valid_from,
                valid_until=stated.valid_until,
                source=source,
                occurrence=f"turn {number}",
                occurred_at=at,
            ),
        )


def written(
    tenant: str, *told: MemoryItem, stored: dict[str, Entry], **about: object
) -> tuple[dict[str, Entry], tuple[PlannedItem, ...]]:
    """Return what is stored after a batch, and the decisions on it."""
    batch = Batch(tenant=tenant, key="k", items=told, by=TESTER).changed(**about)
    decided = plan(batch, Known(entries=stored, deletions={}), policy=WritePolicy(), at=told[-1].occurred_at)
    return stored | {
        identifier: entry for identifier, (entry, _) in applied(batch, decided, stored).items()
    }, decided.items


def current(stored: dict[str, Entry], at: datetime) -> list[Memory]:
    """Return the memories that are current and hold at a moment, but for those that something temporary overrides."""
    filters = Filters(now=at)
    over = overridden_among(stored, stored, filters)
    found = (one for one in stored.values() if one.id not in over and filters.objection(one) is None)
    return [entry for entry in found if isinstance(entry, Memory)]


def believed(story: Story) -> Believed:
    """Tell a story, and judge what is believed an hour after its last turn."""
    stored: dict[str, dict[str, Entry]] = {}
    for user, item in items(story):
        stored[user], _ = written(user, item, stored=stored.get(user, {}))
    end = START + timedelta(days=max(turn.day for turn in story.turns), hours=1)
    texts = [memory.text.lower() for memory in current(stored.get(story.user, {}), end)]
    return Believed(
        texts,
        missing=[part for part in story.believe if not any(part.lower() in text for text in texts)],
        wrong=[part for part in story.not_believe if any(part.lower() in text for text in texts)],
        miscounted=story.count is not None and story.count != len(texts),
    )
