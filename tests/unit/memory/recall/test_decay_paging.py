"""How far a search goes on behind what has faded."""

from datetime import UTC, datetime, timedelta

from perdure.memory.recall.decay_paging import past_faded
from perdure.values.decay import Decay
from perdure.values.entries import Entry, Memory
from perdure.values.filters import Filters

NOW = datetime(2026, 6, 1, tzinfo=UTC)
FILTERS = Filters(now=NOW, min_confidence=0.7, decay=Decay(half_life_days=180, fresh_days=30))


def memory(number: int, *, days: int) -> Memory:
    at = NOW - timedelta(days=days)
    return Memory(id=f"mem_{number}", text=f"Train {number}", confidence=0.9, first_seen=at, last_seen=at)


async def asked_for(stored: list[Memory], wanted: int = 30) -> list[int]:
    asked: list[int] = []

    async def find(most: int) -> list[Entry]:
        asked.append(most)
        return [*stored[:most]]

    await past_faded(find, lambda memory: FILTERS.objection(memory) is None, wanted)
    return asked


async def test_a_search_is_widened_until_enough_is_believed_and_no_further_than_it_has_time_for() -> None:
    faded, believed = ([memory(number, days=days) for number in range(5_000)] for days in (200, 1))
    assert await asked_for(believed) == [30]
    assert await asked_for([*faded[:100], *believed]) == [30, 120, 480]
    assert await asked_for(faded[:100]) == [30, 120]
    assert await asked_for(faded) == [30, 120, 480]
    assert await asked_for(faded, wanted=1_000) == [1_000]
