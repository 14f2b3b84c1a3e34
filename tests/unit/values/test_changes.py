"""Who changed what, as it is kept and shown: other people's ids stay out, and what was undone no longer counts."""

from datetime import UTC, datetime, timedelta

import pytest

from perdure.values.changes import Actor, ActorKind, Deletion, is_overtaken

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("kind", "identifier", "seen"),
    [
        (ActorKind.PERSON, "ada", "ada"),
        (ActorKind.PERSON, "kim", ""),
        (ActorKind.AGENT, "planner", "planner"),
        (ActorKind.SCHEDULE, "nightly", "nightly"),
    ],
)
def test_a_user_takes_away_no_other_persons_id(kind: ActorKind, identifier: str, seen: str) -> None:
    shown = Actor(kind=kind, id=identifier).seen_by("ada")
    assert (shown.kind, shown.id) == (kind, seen)


def test_a_line_of_a_sweep_holds_until_it_is_undone_or_purged() -> None:
    line = Deletion(id="mem_1", at=NOW, reason="expired", sweep="one")
    assert line.holds("one")
    assert not line.holds("two")
    assert not line.changed(restored_at=NOW).holds("one")
    assert not line.changed(purged=True).holds("one")


@pytest.mark.parametrize(
    ("asked", "by", "overtaken"),
    [
        (-HOUR, HOUR * 0, True),
        (-HOUR, -HOUR, False),
        (HOUR * 0, -HOUR, False),
        (-HOUR, HOUR, False),
    ],
    ids=["held up", "asked for together", "the later one", "by a clock that is wrong"],
)
def test_what_was_held_up_until_after_another_is_overtaken(asked: timedelta, by: timedelta, overtaken: bool) -> None:
    assert is_overtaken(NOW + asked, NOW, by=NOW + by) is overtaken
