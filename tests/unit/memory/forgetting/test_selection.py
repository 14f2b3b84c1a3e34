"""What a sweep lets go: pure rules."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from perdure.entries import Lane, Record
from perdure.memory.forgetting.selection import Counts, DueEntry, Forgetting, Guard, select
from perdure.memory.retention import RetentionRules

NOW = datetime(2026, 5, 1, tzinfo=UTC)
RULES = RetentionRules()


def entry(name: str, **more: object) -> Record:
    plain = {
        "id": name,
        "text": name,
        "lane": Lane.PATTERN,
        "key": name,
        "payload": 1,
        "first_seen": NOW,
        "last_seen": NOW,
    }
    return Record.model_validate(plain | more)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, (None, "")),
        ({"importance": None}, (None, "")),
        ({"importance": 0.0}, (None, "")),
        ({"valid_until": NOW}, (NOW, "expired")),
        ({"confidence": 0.29}, (NOW, "confidence below 0.3")),
        ({"confidence": 0.3}, (None, "")),
        ({"confidence": 0.1, "valid_until": NOW - timedelta(days=1)}, (NOW - timedelta(days=1), "expired")),
        ({"confidence": 0.1, "kept_at": NOW}, (None, "")),
    ],
)
def test_when_the_rules_let_go(more: dict[str, object], expected: tuple[datetime | None, str]) -> None:
    assert RULES.date(entry("a", **more)) == expected


def chosen_of(
    read: Sequence[Record], *, due: dict[str, int], stored: int = 10, rules: RetentionRules = RULES
) -> Forgetting:
    return select(
        "t",
        due=read,
        purgeable=[],
        counts=Counts(stored=stored, due=due, purgeable=0),
        rules=rules,
        guard=Guard(),
        approved=False,
        at=NOW,
    )


def test_rules_that_changed_have_another_version() -> None:
    assert RULES.version == "564fc6e77454", "each stored date carries it"
    assert RULES.version != RetentionRules(minimum_confidence=0.2).version


def test_todays_rules_have_the_last_word_over_an_old_date() -> None:
    old = {"confidence": 0.25, "forget_after": NOW, "forget_reason": "confidence below 0.4", "rules_version": "old"}
    expired = {"valid_until": NOW, "forget_after": NOW, "forget_reason": "expired"}
    chosen = chosen_of(
        [entry("kept", **old), entry("expired", **expired), entry("both", **old, valid_until=NOW)],
        due={"confidence below 0.4": 2, "expired": 5},
        rules=RetentionRules(minimum_confidence=0.2),
    )
    assert [(item.id, item.reason) for item in chosen.tombstone] == [("expired", "expired"), ("both", "expired")]
    assert [item.id for item in chosen.backdated] == ["kept"]
    assert chosen.due == {"expired": 6}, "what was not read is counted as it was dated"


def test_the_guard_counts_also_what_one_plan_does_not_read() -> None:
    expired = {"valid_until": NOW, "forget_after": NOW, "forget_reason": "expired"}
    read = [entry(f"e{number}", **expired) for number in range(200)]
    chosen = chosen_of(read, due={"expired": 4_000}, stored=10_000)
    assert chosen.held == "4000 of 10000 entries are due, more than 30%"
    assert chosen.more
    assert chosen_of(read, due={"expired": 3_000}, stored=10_000).held == ""


@pytest.mark.parametrize(
    ("due", "stored", "held"),
    [(21, 70, False), (21, 69, True), (300, 1_000, False), (301, 1_000, True), (20, 0, False), (21, 0, True)],
)
def test_the_guard_holds_what_is_both_many_and_a_large_share(due: int, stored: int, held: bool) -> None:
    assert bool(Guard(fraction=0.3, free=20).objection(due, stored)) is held


def test_twenty_go_without_a_person() -> None:
    assert (Guard().objection(20, 20), bool(Guard().objection(21, 21))) == ("", True)


def test_an_entry_is_dated_by_the_rules_of_the_day() -> None:
    dated = RULES.dated(entry("a", valid_until=NOW))
    assert (dated.forget_after, dated.forget_reason, dated.rules_version) == (NOW, "expired", RULES.version)
    kept = RULES.dated(dated.changed(valid_until=None))
    assert (kept.forget_after, kept.forget_reason, kept.rules_version) == (None, "", RULES.version)


@pytest.mark.parametrize(("due", "purgeable", "more"), [(2, 1, False), (3, 1, True), (2, 2, True), (3, 2, True)])
def test_a_plan_says_what_it_purges_and_whether_there_is_more(due: int, purgeable: int, more: bool) -> None:
    expired = {"valid_until": NOW, "forget_after": NOW, "forget_reason": "expired"}
    gone = entry("gone", version=4).forgotten("confidence below 0.3", NOW)
    plan = select(
        "t",
        due=[entry("a", **expired), entry("b", version=7, forget_after=NOW, forget_reason="old")],
        purgeable=[gone],
        counts=Counts(stored=100, due={"expired": due - 1, "old": 1}, purgeable=purgeable),
        rules=RULES,
        guard=Guard(),
        approved=False,
        at=NOW,
    )
    assert (plan.tenant, plan.at, plan.held, plan.more, plan.purgeable) == ("t", NOW, "", more, purgeable)
    assert plan.purge == (DueEntry(id="gone", version=4, reason="confidence below 0.3"),)
    assert plan.tombstone == (DueEntry(id="a", version=1, reason="expired"),)
    assert plan.backdated == (DueEntry(id="b", version=7, reason="the rules changed"),)


def test_what_a_person_approved_is_not_held() -> None:
    expired = {"valid_until": NOW, "forget_after": NOW, "forget_reason": "expired"}
    many = [entry(f"e{number}", **expired) for number in range(30)]
    held = chosen_of(many, due={"expired": 30}, stored=30)
    assert held.held == "30 of 30 entries are due, more than 30%"
    approved = select(
        "t",
        due=many,
        purgeable=[],
        counts=Counts(stored=30, due={"expired": 30}, purgeable=0),
        rules=RULES,
        guard=Guard(),
        approved=True,
        at=NOW,
    )
    assert (approved.held, len(approved.tombstone)) == ("", 30)
