"""What a sweep lets go: pure rules."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from perdure.memory.forgetting.selection import DueEntry, Forgetting, Guard, SweepCounts, select
from perdure.memory.retention import RetentionRules
from perdure.values.entries import Lane, Record

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


def chosen_of(
    read: Sequence[Record], *, due: dict[str, int], stored: int = 10, rules: RetentionRules = RULES
) -> Forgetting:
    return select(
        "t",
        due=read,
        purgeable=[],
        counts=SweepCounts(stored=stored, due=due, purgeable=0),
        rules=rules,
        guard=Guard(),
        approved=False,
        at=NOW,
    )


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


@pytest.mark.parametrize(("due", "purgeable", "more"), [(2, 1, False), (3, 1, True), (2, 2, True), (3, 2, True)])
def test_a_plan_says_what_it_purges_and_whether_there_is_more(due: int, purgeable: int, more: bool) -> None:
    expired = {"valid_until": NOW, "forget_after": NOW, "forget_reason": "expired"}
    gone = entry("gone", version=4).forgotten("confidence below 0.3", NOW)
    plan = select(
        "t",
        due=[entry("a", **expired), entry("b", version=7, forget_after=NOW, forget_reason="old")],
        purgeable=[gone],
        counts=SweepCounts(stored=100, due={"expired": due - 1, "old": 1}, purgeable=purgeable),
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
        counts=SweepCounts(stored=30, due={"expired": 30}, purgeable=0),
        rules=RULES,
        guard=Guard(),
        approved=True,
        at=NOW,
    )
    assert (approved.held, len(approved.tombstone)) == ("", 30)
