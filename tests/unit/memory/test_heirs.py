"""What was merged is found where it was merged into, and what was contradicted or corrected is not."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.memory.heirs import standing_for, with_parts
from perdure.values.entries import Entry, Lane, Memory, Record, State

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def memory(name: str, **more: Any) -> Memory:
    return Memory(id=name, text=name, first_seen=NOW, last_seen=NOW, **more)


def replaced(name: str, by: str, **more: Any) -> Memory:
    return memory(name, **{"state": State.SUPERSEDED, "superseded_by": by, **more})


async def stands(*stored: Entry, ids: Sequence[str] = ("one",)) -> dict[str, str]:
    """Return what stands for each id, and require that nothing is read twice."""
    known, asked = {one.id: one for one in stored}, list[str]()

    async def read(ids: Sequence[str]) -> Mapping[str, Entry]:
        asked.extend(ids)
        return {one: known[one] for one in ids if one in known}

    found = await standing_for(ids, read)
    assert len(asked) == len(set(asked))
    return {one: entry.id for one, entry in found.items()}


@pytest.mark.parametrize("state", [State.SUPERSEDED, State.FORGOTTEN], ids=["merged", "and swept since"])
async def test_the_whole_stands_for_its_parts_however_often_it_was_merged(state: State) -> None:
    one, two = replaced("one", "whole", state=state), replaced("two", "whole")
    whole = memory("whole", merged_from=("one", "two"))
    assert await stands(one, two, whole, ids=("one", "two", "gone")) == {"one": "whole", "two": "whole"}
    more = [replaced("whole", "more", merged_from=("one", "two")), memory("more", merged_from=("whole", "x"))]
    assert await stands(one, *more) == {"one": "more"}


async def test_what_was_corrected_is_not_followed_and_nothing_is_looked_for_twice() -> None:
    corrected = [replaced(f"m{number}", f"m{number + 1}") for number in range(9)]
    asked = list[str]()

    async def read(ids: Sequence[str]) -> Mapping[str, Entry]:
        asked.extend(ids)
        return {one.id: one for one in corrected if one.id in ids}

    assert {*await standing_for(["m0"], read)} == {"m0"}
    assert asked == ["m0", "m1"]
    asked.clear()
    corrected = [replaced("m0", "purged")]
    assert {*await standing_for(["m0", "purged"], read)} == {"m0"}
    assert asked == ["m0", "purged"]


@pytest.mark.parametrize(
    "stored",
    [
        [replaced("one", "other", contradicted=True), memory("other", merged_from=("one",))],
        [replaced("one", "other"), memory("other")],
        [replaced("one", "purged")],
        [memory("one", superseded_by="other"), memory("other", merged_from=("one",))],
        [Record(id="one", text="k", lane=Lane.PATTERN, key="k", payload=1, first_seen=NOW, last_seen=NOW)],
    ],
    ids=["contradicted", "corrected", "its heir is purged", "to be replaced one day", "a record"],
)
async def test_everything_else_stands_for_itself(stored: list[Entry]) -> None:
    assert await stands(*stored) == {"one": "one"}


async def test_a_ring_ends() -> None:
    ring = [replaced("one", "two", merged_from=("two",)), replaced("two", "one", merged_from=("one",))]
    assert set(await stands(*ring)) == {"one"}


async def test_what_stands_for_several_is_returned_once_with_all_of_them() -> None:
    stored = [replaced("one", "whole"), replaced("two", "whole"), memory("whole", merged_from=("one", "two"))]
    known = {one.id: one for one in (*stored, memory("alone"))}

    async def read(ids: Sequence[str]) -> Mapping[str, Entry]:
        return {one: known[one] for one in ids if one in known}

    found = await with_parts(["one", "alone", "two", "gone"], read)
    assert sorted((entry.id, sorted(ids)) for entry, ids in found) == [("alone", ["alone"]), ("whole", ["one", "two"])]
