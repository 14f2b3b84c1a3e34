"""A batch that waits finds in the index what its job would ask the store for, and nothing else."""

from datetime import UTC, datetime, timedelta
from typing import Any

from perdure.memory.extraction.statements import stated
from perdure.memory.recall.entry_index import EntryIndex
from perdure.values.assertions import ABOUT_AT_MOST, SHARING, Assertion
from perdure.values.entries import Memory, State
from perdure.values.items import MemoryItem, item_id
from perdure.values.jobs import Batch

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TENANT = "t_1"


def remembered(identifier: str, text: str, subject: str = "", **more: Any) -> Memory:
    assertion = Assertion(subject=subject, attribute="be", value="x") if subject else None
    times: dict[str, Any] = {"first_seen": NOW, "last_seen": NOW, **more}
    return Memory(id=identifier, text=text, assertion=assertion, **times)


def batch(content: str, **more: Any) -> Batch:
    item = stated(MemoryItem(content=content, occurrence="o", occurred_at=NOW, **more))
    return Batch(tenant=TENANT, key=content, items=(item,))


def needed(offered: Batch, *memories: Memory) -> list[str]:
    return list(EntryIndex({one.id: one for one in memories}, [offered]).needed(offered))


def test_what_an_item_becomes_or_replaces_is_needed_with_what_has_replaced_that() -> None:
    offered = batch("Lunch is at noon.", supersedes="mem_old")
    own = item_id(TENANT, offered.items[0])  # pyright: ignore[reportArgumentType]
    itself = remembered(own, "Lunch is at noon.", state=State.SUPERSEDED, superseded_by="mem_heir")
    old, heir, other = (remembered(f"mem_{name}", name) for name in ("old", "heir", "other"))
    assert needed(offered, itself, old, heir, other) == [*sorted([own, "mem_old"]), "mem_heir"]
    merged = heir.changed(state=State.SUPERSEDED, superseded_by="mem_whole", merged_from=(own,))
    whole = remembered("mem_whole", "whole", merged_from=("mem_heir",))
    assert needed(offered, itself, merged, whole, other) == [own, "mem_heir", "mem_whole"]


def test_what_is_about_the_same_is_needed_the_newest_first() -> None:
    early = remembered("mem_1", "The printer is slow.", "printer")
    late = remembered("mem_2", "The printer is loud.", "printer", last_seen=NOW + timedelta(days=1))
    gone = remembered("mem_3", "The printer is red.", "printer", state=State.FORGOTTEN)
    other = remembered("mem_4", "The lift is slow.", "lift")
    assert needed(batch("The printer is on floor 2."), early, late, gone, other) == ["mem_2", "mem_1"]


def test_of_more_than_are_compared_the_newest_are_needed() -> None:
    many = [
        remembered(f"mem_{number}", "It is.", "printer", last_seen=NOW + timedelta(seconds=number))
        for number in range(ABOUT_AT_MOST + 1)
    ]
    found = needed(batch("The printer is on floor 2."), *many)
    assert (len(found), found[0]) == (ABOUT_AT_MOST, many[-1].id)
    assert many[0].id not in found


def test_what_shares_the_rarest_words_with_a_change_is_needed() -> None:
    standup = remembered("mem_rare", "Standup happens at nine in the annex.")
    replaced = remembered("mem_over", "Standup happens in the annex.", state=State.SUPERSEDED)
    common = [remembered(f"mem_{number}", "Everything happens at nine.") for number in range(SHARING + 5)]
    found = needed(batch("We moved standup from the annex at nine."), *common, standup, replaced)
    assert found[0] == "mem_rare"
    assert len(found) == SHARING
    assert needed(batch("Standup in the annex at nine."), *common, standup) == [], "the control: it changes nothing"


def test_what_is_added_is_found() -> None:
    first, second = batch("The printer is on floor 2."), batch("The lift is on floor 3.")
    index = EntryIndex({}, [first, second])
    index.add([remembered("mem_1", "The printer is slow.", "printer"), remembered("mem_2", "Fish swim.", "fish")])
    assert (list(index.needed(first)), list(index.needed(second))) == (["mem_1"], [])
    assert index.size_of("printer") == 1
    assert list(index.entries) == ["mem_1", "mem_2"]
