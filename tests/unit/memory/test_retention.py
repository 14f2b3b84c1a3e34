"""The retention rules: when each forgets, what is exempt, and that decay's formula and date agree."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.retention import RetentionRules, earliest_due
from perdure.values.entries import Entry, Lane, Memory, MemoryType, Record, State, Turn

NOW = datetime(2026, 5, 1, tzinfo=UTC)
RULES = RetentionRules()
MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
SECOND = timedelta(seconds=1)


def days(number: float) -> timedelta:
    return timedelta(days=number)


def memory(**more: Any) -> Memory:
    plain: dict[str, Any] = {"id": "mem_a", "text": "a", "first_seen": NOW, "last_seen": NOW, "confidence": 1.0}
    return Memory.model_validate(plain | more)


def replaced(at: datetime = NOW, *, contradicted: bool = False, **more: Any) -> Memory:
    return memory(**more).superseded("mem_b", at, contradicted=contradicted)


TO_BE_REPLACED = memory(superseded_by="mem_b", superseded_at=NOW + days(7), valid_until=NOW + days(7))
TURN = Turn(id="turn_a", text="a", first_seen=NOW, last_seen=NOW, session="s", position=0, speaker="Kim")
RECORD = Record(
    id="exec_a", text="a", first_seen=NOW, last_seen=NOW, lane=Lane.PATTERN, key="a", payload=1, confidence=0.5
)

memories = st.builds(
    memory,
    confidence=st.floats(0, 1),
    last_seen=MOMENTS,
    recorded_at=st.none() | MOMENTS,
    last_accessed=st.none() | MOMENTS,
    valid_until=st.none() | MOMENTS,
    pinned=st.booleans(),
    memory_type=st.sampled_from(list(MemoryType)),
    state=st.sampled_from([State.CURRENT, State.SUPERSEDED]),
    superseded_by=st.sampled_from(["", "mem_b"]),
    superseded_at=st.none() | MOMENTS,
    contradicted=st.booleans(),
)
rules = st.builds(
    RetentionRules,
    minimum_confidence=st.floats(0, 1),
    superseded_days=st.floats(0.1, 36_500),
    contradicted_days=st.floats(0.1, 36_500),
    fresh_days=st.floats(0, 36_500),
    half_life_days=st.none() | st.floats(0.1, 36_500),
    unused_days=st.none() | st.floats(0.1, 36_500),
)


@pytest.mark.parametrize(
    ("entry", "after", "reason"),
    [
        (memory(valid_until=NOW + days(2)), 2, "expired"),
        (memory(confidence=0.29), 0, "confidence below 0.3"),
        (memory(confidence=0.6), 210, "decayed below 0.3"),
        (memory(confidence=0.6, last_accessed=NOW + days(10)), 220, "decayed below 0.3"),
        (memory(confidence=0.6, recorded_at=NOW + days(20)), 230, "decayed below 0.3"),
        (memory(confidence=0.3), 30, "decayed below 0.3"),
        (replaced(NOW + days(5)), 95, "superseded for 90 days"),
        (replaced(NOW + days(5), contradicted=True), 95, "contradicted for 90 days"),
        (replaced().changed(superseded_at=None), 90, "superseded for 90 days"),
        (replaced(valid_until=NOW - days(9)), -9, "expired"),
        (TO_BE_REPLACED, 97, "superseded for 90 days"),
        (RECORD, 365, "not used or confirmed for 365 days"),
        (RECORD.changed(last_accessed=NOW + days(1)), 366, "not used or confirmed for 365 days"),
        (TURN, 365, "not used or confirmed for 365 days"),
        (TURN.changed(last_seen=NOW - days(1_000), recorded_at=NOW), 365, "not used or confirmed for 365 days"),
    ],
)
def test_each_rule_names_its_moment(entry: Entry, after: float, reason: str) -> None:
    assert RULES.date(entry) == (NOW + days(after), reason)


@pytest.mark.parametrize("exempt", [{"pinned": True}, {"memory_type": MemoryType.CONSTRAINT}])
def test_what_is_pinned_or_a_constraint_only_expires(exempt: dict[str, Any]) -> None:
    assert RULES.date(memory(confidence=0.1, last_seen=NOW - days(9_000), **exempt)) == (None, "")
    assert RULES.date(replaced(**exempt)) == (None, "")
    assert RULES.date(memory(valid_until=NOW, **exempt)) == (NOW, "expired")
    assert RULES.believed(memory(confidence=0.5, **exempt), NOW + days(180)) == 0.5


def test_rules_may_be_switched_off() -> None:
    kept = RetentionRules(half_life_days=None, unused_days=None)
    assert kept.date(memory(confidence=0.6)) == kept.date(TURN) == (None, "")
    assert kept.believed(memory(confidence=0.6), NOW + days(9_000)) == 0.6
    assert RetentionRules(minimum_confidence=0.0, unused_days=None).date(memory(confidence=0.0)) == (None, "")


def test_a_date_beyond_all_dates_is_none() -> None:
    late = memory(last_seen=datetime.max.replace(tzinfo=UTC))
    assert RULES.date(late) == (None, "")


def test_a_half_life_after_it_was_fresh_halves_what_is_believed_of_memories_alone() -> None:
    assert RULES.believed(memory(confidence=0.8), NOW + days(30)) == 0.8
    assert RULES.believed(memory(confidence=0.8), NOW + days(31)) < 0.8
    assert RULES.believed(memory(confidence=0.8), NOW + days(210)) == pytest.approx(0.4)
    assert RetentionRules(fresh_days=0).believed(memory(confidence=0.8), NOW + days(180)) == pytest.approx(0.4)
    assert RULES.believed(memory(confidence=0.8, last_accessed=NOW + days(180)), NOW + days(180)) == 0.8
    assert RULES.believed(memory(confidence=0.8), NOW - days(1)) == 0.8, "it was observed tomorrow"
    assert RULES.believed(RECORD, NOW + days(180)) == 0.5
    assert RULES.believed(TURN, NOW + days(180)) == 1.0


@given(st.floats(1e-6, 1), st.floats(0, 1), st.floats(0.1, 36_500), MOMENTS, st.none() | MOMENTS, st.none() | MOMENTS)
def test_decays_date_is_when_the_formula_falls_under_the_minimum(
    least: float,
    share: float,
    half_life: float,
    seen: datetime,
    recorded: datetime | None,
    accessed: datetime | None,
) -> None:
    by = RetentionRules(minimum_confidence=least, half_life_days=half_life, unused_days=None)
    entry = memory(confidence=least + share * (1 - least), last_seen=seen, recorded_at=recorded, last_accessed=accessed)
    moment, reason = by.date(entry)
    assert moment is not None
    assert reason == f"decayed below {least:g}"
    # A millionth, for what floats lose over a hundred years.
    assert by.believed(entry, moment + SECOND) <= by.minimum_confidence * (1 + 1e-6)
    if moment - SECOND >= entry.used_at:
        assert by.believed(entry, moment - SECOND) >= by.minimum_confidence * (1 - 1e-6)


@given(rules, memories, MOMENTS, MOMENTS)
def test_nothing_is_believed_more_with_time(by: RetentionRules, entry: Memory, one: datetime, other: datetime) -> None:
    early, late = sorted([one, other])
    assert 0.0 <= by.believed(entry, late) <= by.believed(entry, early) <= entry.confidence


@given(rules, memories, MOMENTS, st.floats(0, 1))
def test_use_and_confirmation_never_bring_the_end_nearer(
    by: RetentionRules, entry: Memory, moment: datetime, more: float
) -> None:
    before, _ = by.date(entry)
    for better in (
        entry.changed(last_accessed=max(moment, entry.last_accessed or moment)),
        entry.changed(confidence=max(more, entry.confidence)),
        entry.changed(pinned=True),
    ):
        after, _ = by.date(better)
        assert after is None or (before is not None and after >= before)


@given(memories, st.floats(0.1, 36_500), st.floats(0.1, 36_500))
def test_tighter_rules_never_forget_later(entry: Memory, one: float, other: float) -> None:
    shorter, longer = sorted([one, other])
    for name in ("half_life_days", "unused_days", "superseded_days", "contradicted_days"):
        tight, _ = RetentionRules.model_validate({name: shorter}).date(entry)
        loose, _ = RetentionRules.model_validate({name: longer}).date(entry)
        assert loose is None or (tight is not None and tight <= loose)


@given(rules, memories, MOMENTS)
def test_what_the_rules_forgot_and_a_person_brought_back_is_due_again_only_where_it_ends(
    by: RetentionRules, entry: Memory, at: datetime
) -> None:
    restored = by.restored(entry.forgotten("expired", at), at, on_request=False)
    for one in (restored, restored.changed(confidence=0.0, last_seen=NOW - days(9_000))):
        moment, reason = by.date(one)
        assert (moment, reason) in [(None, ""), (one.valid_until, "expired")]
        assert moment is None or moment > at


@given(rules, memories, MOMENTS)
def test_what_was_forgotten_on_request_comes_back_as_it_was_and_is_not_due_at_once(
    by: RetentionRules, entry: Memory, at: datetime
) -> None:
    entry = entry.changed(superseded_by="mem_b" if entry.state is State.SUPERSEDED else "", superseded_at=None)
    forgotten = entry.forgotten("on request", at)
    back = by.restored(forgotten, at, on_request=True)
    due, _ = by.date(back)
    assert due is None or due > at
    before, _ = by.date(entry)
    if before is None or before > at:
        assert back == forgotten.changed(state=entry.state, purge_after=None)


@pytest.mark.parametrize("on_request", [True, False])
def test_an_end_that_was_reached_meanwhile_no_longer_applies_and_a_later_one_does(*, on_request: bool) -> None:
    by, at = RetentionRules(), NOW + days(30)
    for state in ({}, {"state": State.SUPERSEDED, "superseded_by": "other", "superseded_at": NOW}):
        for until, restored in ((at, None), (at + days(1), at + days(1))):
            entry = memory(valid_until=until).changed(**state)
            back = by.restored(entry.forgotten("why", at), at, on_request=on_request)
            assert (back.state, back.valid_until, back.purge_after) == (entry.state, restored, None)
            assert back.kept_at == (None if on_request and restored else at)


def test_what_another_memory_replaces_some_day_is_believed_until_then() -> None:
    by, at = RetentionRules(), NOW + days(30)
    for until, state in ((at, State.SUPERSEDED), (at + days(1), State.CURRENT)):
        entry = memory(valid_until=until, superseded_by="other", superseded_at=until, contradicted=True)
        back = by.restored(entry.forgotten("why", at), at, on_request=True)
        assert (back.state, back.superseded_by, back.contradicted) == (state, "other", True)


@given(rules, memories)
def test_the_date_is_the_earliest_of_all_rules(by: RetentionRules, entry: Memory) -> None:
    moment, reason = by.date(entry)
    assert (moment is None) == (reason == "")
    dated = by.dated(entry)
    assert (dated.forget_after, dated.forget_reason, dated.rules_version) == (moment, reason, by.version)
    for name in ("half_life_days", "unused_days"):
        later, _ = by.changed(**{name: None}).date(entry)
        assert later is None or (moment is not None and moment <= later)


def test_rules_that_changed_have_another_version() -> None:
    assert RULES.version == "b45fc9158320", "each stored date carries it"
    others = [RetentionRules.model_validate({name: 0.2}) for name in RetentionRules.model_fields]
    assert len({RULES.version, *(one.version for one in others)}) == 1 + len(others)
    assert RetentionRules(unused_days=365).version == RULES.version


@pytest.mark.parametrize(
    ("dues", "first"),
    [
        ([], None),
        ([(None, None, State.CURRENT)], None),
        ([(3, 1, State.CURRENT), (2, None, State.SUPERSEDED)], 2),
        ([(1, 3, State.FORGOTTEN), (4, None, State.CURRENT)], 3),
        ([(1, None, State.FORGOTTEN)], None),
    ],
    ids=["none", "never", "to be forgotten", "to be purged", "forgotten for good"],
)
def test_a_tenant_is_due_when_its_first_entry_is(
    dues: list[tuple[int | None, int | None, State]], first: int | None
) -> None:
    def at(day: int | None) -> datetime | None:
        return None if day is None else NOW + days(day)

    entries = [memory(forget_after=at(forget), purge_after=at(purge), state=state) for forget, purge, state in dues]
    assert earliest_due(entries) == at(first)
