"""What temporary memories override: for as long as they are believed themselves, whatever became of them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.recall.decay_paging import past_faded
from perdure.memory.recall.related_memories import Overridden, holding, overridden
from perdure.values.entries import Entry, Memory, Purpose, State
from perdure.values.filters import Filters
from perdure.values.suspensions import Suspension

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
LATER = NOW + 5 * DAY


def memory(name: str, *by: str, **more: Any) -> Memory:
    suspended = tuple(Suspension(by=one, start=NOW - DAY, until=LATER) for one in by)
    return Memory.model_validate(
        {"id": name, "text": name, "first_seen": NOW, "last_seen": NOW, "suspended": suspended, **more}
    )


def brief(name: str, *by: str, **more: Any) -> Memory:
    return memory(name, *by, **{"valid_until": LATER, **more})


async def over(*stored: Memory, judged: str = "usual", **limits: Any) -> bool:
    """Return whether one of these is overridden, and require that no recall reads anything twice."""
    known: dict[str, Entry] = {one.id: one for one in stored}
    read: list[str] = []

    async def reading(ids: Sequence[str]) -> Mapping[str, Entry]:
        read.extend(ids)
        return {one: known[one] for one in ids if one in known}

    filters = Filters.model_validate({"now": NOW, "min_confidence": 0.7, **limits})
    found = await overridden([known[judged]], filters, reading)
    assert len(read) == len(set(read))
    return judged in found


USUAL = memory("usual", "brief")


@pytest.mark.parametrize(
    ("became", "is_over"),
    [
        (brief("brief"), True),
        (brief("brief", confidence=0.5), False),
        (brief("brief", confidence=0.5, pinned=True), True),
        (brief("brief", state=State.FORGOTTEN), False),
        (brief("brief", valid_until=NOW), False),
        (brief("brief", valid_until=None), True),
        (brief("brief", valid_from=NOW + DAY), False),
        (brief("brief", purpose=Purpose.EXTRACTED), False),
        (brief("brief", scopes=("work",)), False),
        (brief("brief", scopes=("home",)), True),
        (brief("brief", state=State.SUPERSEDED, superseded_by="other", contradicted=True), False),
        (memory("another"), False),
    ],
    ids=str,
)
async def test_it_counts_as_it_would_be_told(became: Memory, is_over: bool) -> None:
    others = [memory("other")]
    assert await over(USUAL, became, *others, withheld=(Purpose.EXTRACTED,), scopes=("home",)) is is_over


@pytest.mark.parametrize("state", [State.SUPERSEDED, State.FORGOTTEN], ids=["merged", "and swept since"])
async def test_what_it_was_merged_into_counts_in_its_place(state: State) -> None:
    merged = brief("brief", state=state, superseded_by="whole")
    assert await over(USUAL, merged, brief("whole", merged_from=("brief", "x")))
    assert not await over(USUAL, merged, brief("whole", merged_from=("brief", "x"), state=State.FORGOTTEN))
    assert not await over(USUAL, merged, brief("whole")), "a correction to something else says nothing against it"
    wholes = [
        brief(f"whole{number}", state=State.SUPERSEDED, superseded_by=f"whole{number + 1}", merged_from=(before,))
        for number, before in enumerate(["brief", *(f"whole{number}" for number in range(5))])
    ]
    last = brief("whole6", merged_from=("whole5",))
    assert await over(USUAL, merged.changed(superseded_by="whole0"), *wholes, last)


async def test_what_is_overridden_itself_overrides_nothing() -> None:
    assert not await over(USUAL, brief("brief", "not"), brief("not"))
    assert await over(USUAL, brief("brief", "not"), brief("not", state=State.FORGOTTEN))
    assert await over(memory("usual", "brief", "not"), brief("brief", "not"), brief("not"))


@given(st.dictionaries(st.sampled_from("abcde"), st.lists(st.sampled_from("abcde"), max_size=3, unique=True)))
async def test_whatever_overrides_what_it_ends(edges: dict[str, list[str]]) -> None:
    stored = [brief(name, *by) for name, by in edges.items()]
    for one in stored:
        known = {other.id: other for other in stored}
        counting = [by for by in edges[one.id] if by in known and by != one.id]
        found = await over(*stored, judged=one.id)
        assert not found or counting, "only what is there overrides"


async def test_what_only_a_part_of_the_journal_lacks_may_be_believed() -> None:
    async def nothing(_: Sequence[str]) -> Mapping[str, Entry]:
        return {}

    for is_all in (True, False):
        judged = Overridden(nothing)
        await judged.judge([USUAL], Filters(now=NOW), is_all=is_all)
        assert ("usual" in judged.ids) is not is_all
        await judged.judge([USUAL], Filters(now=LATER), is_all=True)


async def test_what_was_found_already_is_not_read_again() -> None:
    read: list[str] = []

    async def reading(ids: Sequence[str]) -> Mapping[str, Entry]:
        read.extend(ids)
        return {one: brief(one) for one in ids}

    judged = Overridden(reading)
    await judged.judge([USUAL, brief("brief")], Filters(now=NOW))
    assert (judged.ids, read) == ({"usual"}, [])
    for _ in range(2):
        await judged.judge([memory("other", "far")], Filters(now=NOW))
    assert (judged.ids, read) == ({"usual", "other"}, ["far"])


async def test_what_is_read_by_its_id_is_judged_as_a_recall_judges_it() -> None:
    async def read(ids: Sequence[str]) -> Mapping[str, Entry]:
        return {one: brief("brief", confidence=0.3) for one in ids}

    filters = Filters(now=NOW, min_confidence=0.7)
    assert await holding({"usual": USUAL}, filters, read) == {"usual": USUAL}
    doubted = memory("doubted", confidence=0.3)
    assert await holding({"asked": doubted}, filters, read) == {"asked": doubted}, "it was recalled by another question"


async def test_what_is_overridden_takes_no_place() -> None:
    stored = [*(memory(f"usual{number}", "brief") for number in range(30)), memory("wanted")]
    judged = Overridden(lambda ids: _all({one: brief(one) for one in ids}))
    filters = Filters(now=NOW)

    async def find(most: int) -> list[Entry]:
        found: list[Entry] = [*stored[:most]]
        await judged.judge(found, filters)
        return found

    found = await past_faded(find, lambda one: one.id not in judged.ids, 1)
    assert [one.id for one in found if one.id not in judged.ids] == ["wanted"]


async def _all(found: dict[str, Entry]) -> Mapping[str, Entry]:
    return found
