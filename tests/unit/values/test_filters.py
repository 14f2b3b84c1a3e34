"""What a recall is limited to."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perdure.memory.retention import RetentionRules
from perdure.values.entries import Entry, Lane, Memory, MemoryType, Purpose, Record, State, Turn
from perdure.values.filters import Filters, Omission, is_of_task

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def memory(**more: Any) -> Memory:
    seen = {"first_seen": NOW - DAY, "last_seen": NOW - DAY}
    return Memory.model_validate({"id": "mem_1", "text": "x", **seen, **more})


def record(**more: Any) -> Record:
    seen = {"first_seen": NOW - DAY, "last_seen": NOW - DAY}
    return Record.model_validate(
        {"id": "exec_1", "text": "x", "lane": "pattern", "key": "k", "payload": 1, **seen, **more}
    )


def turn(**more: Any) -> Turn:
    seen = {"first_seen": NOW - DAY, "last_seen": NOW - DAY}
    return Turn.model_validate(
        {"id": "turn_1", "text": "x", "session": "s", "position": 0, "speaker": "Kim", **seen, **more}
    )


def filters(**more: Any) -> Filters:
    return Filters.model_validate({"now": NOW, **more})


@pytest.mark.parametrize(
    ("limited", "entry", "objection"),
    [
        ({}, memory(), None),
        ({"withheld": ("extracted",)}, memory(purpose=Purpose.EXTRACTED), Omission.CONSENT),
        ({"withheld": ("extracted",)}, memory(), None),
        ({"withheld": ("extracted",)}, record(), None),
        ({"withheld": ("given",)}, turn(), Omission.CONSENT),
        ({}, memory(state=State.SUPERSEDED), Omission.SUPERSEDED),
        ({}, memory(state=State.FORGOTTEN), Omission.FILTERED),
        ({}, memory(valid_until=NOW), Omission.FILTERED),
        ({}, memory(valid_until=NOW + DAY, valid_from=NOW), None),
        ({}, memory(valid_from=NOW + DAY), Omission.FILTERED),
        ({"min_confidence": 0.7}, memory(confidence=0.69), Omission.CONFIDENCE),
        ({"min_confidence": 0.7}, memory(confidence=0.7), None),
        ({"scopes": ("work",)}, memory(), None),
        ({"scopes": ("work",)}, memory(scopes=("home", "work")), None),
        ({"scopes": ("work",)}, memory(scopes=("home",)), Omission.SCOPE),
        ({"scopes": ("work", "home")}, memory(scopes=("home",)), None),
        ({}, memory(scopes=("home",)), None),
        ({"scopes": ("work",)}, record(), None),
        ({"scopes": ("work",)}, turn(), None),
        ({"tags": ("a",)}, memory(tags=("a", "b")), None),
        ({"tags": ("a", "b")}, memory(tags=("a",)), Omission.FILTERED),
        ({"tags": ("a",)}, record(), Omission.FILTERED),
        ({"memory_types": ("fact",)}, memory(), None),
        ({"memory_types": ("constraint",)}, memory(), Omission.FILTERED),
        ({"memory_types": ("constraint",)}, memory(memory_type=MemoryType.CONSTRAINT), None),
        ({"memory_types": ("fact",)}, record(), Omission.FILTERED),
        ({"memory_types": ("fact",), "lane": "pattern"}, record(), None),
        ({"memory_types": ("fact",)}, turn(), Omission.FILTERED),
        ({"lane": "feedback"}, record(), Omission.FILTERED),
        ({"lane": "pattern"}, record(), None),
        ({"lane": "pattern"}, memory(), None),
        ({"lane": "pattern"}, turn(), Omission.FILTERED),
        ({"since": NOW - DAY}, memory(), None),
        ({"since": NOW}, memory(), Omission.FILTERED),
        ({"until": NOW - DAY}, memory(), Omission.FILTERED),
        ({"until": NOW}, memory(), None),
        ({"since": NOW}, turn(), Omission.FILTERED),
        ({"task": "audit"}, memory(), Omission.FILTERED),
        ({"task": "audit"}, memory(task="audit"), None),
        ({"task": "audit"}, memory(tags=("audit",)), None),
        ({"task": "audit"}, record(task="audit"), None),
        ({"task": "audit"}, record(task="other"), Omission.FILTERED),
        ({"task": "audit"}, turn(), Omission.FILTERED),
    ],
)
def test_an_entry_meets_all_filters_or_says_which_it_does_not(
    limited: dict[str, Any], entry: Entry, objection: Omission | None
) -> None:
    assert filters(**limited).objection(entry) is objection


def test_another_scope_is_said_before_what_else_it_lacks() -> None:
    entry = memory(scopes=("home",), confidence=0.1, valid_until=NOW)
    assert filters(scopes=("work",), min_confidence=0.7).objection(entry) is Omission.SCOPE


@pytest.mark.parametrize(
    ("entry", "days", "objection"),
    [
        (memory(confidence=0.7), 29, None),
        (memory(confidence=0.7), 31, Omission.CONFIDENCE),
        (memory(confidence=0.9), 94, None),
        (memory(confidence=0.9), 97, Omission.CONFIDENCE),
        (memory(confidence=0.9, last_accessed=NOW + 60 * DAY), 97, None),
        (memory(confidence=0.9, memory_type=MemoryType.CONSTRAINT), 9_000, None),
        (memory(confidence=0.9, pinned=True), 9_000, None),
        (record(confidence=0.9), 9_000, None),
        (turn(confidence=0.9), 9_000, None),
    ],
)
def test_belief_is_taken_after_decay(entry: Entry, days: int, objection: Omission | None) -> None:
    limited = {"now": NOW + (days - 1) * DAY, "min_confidence": 0.7}
    assert filters(**limited, decay=RetentionRules().decay).objection(entry) is objection
    assert filters(**limited).objection(entry) is None, "without decay"


def test_a_turn_is_of_no_task() -> None:
    assert not is_of_task(turn(), "audit")


@pytest.mark.parametrize(
    ("limited", "kinds"),
    [
        ({}, {"memory", "record", "turn"}),
        ({"lane": Lane.PATTERN}, {"memory", "record"}),
        ({"tags": ("a",)}, {"memory"}),
        ({"memory_types": ("fact",)}, {"memory"}),
        ({"task": "t"}, {"memory", "record"}),
        ({"scopes": ("a",), "since": NOW}, {"memory", "record", "turn"}),
    ],
)
def test_what_kinds_can_meet_them(limited: dict[str, Any], kinds: set[str]) -> None:
    assert {kind for kind in ("memory", "record", "turn") if filters(**limited).covers(kind)} == kinds
