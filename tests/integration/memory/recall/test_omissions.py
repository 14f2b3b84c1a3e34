"""What a recall left out is told from the searches that it makes anyway, on the real stores."""

from pathlib import Path

import pytest

from perdure.memory.recall.query import RecallResult
from perdure.values.entries import Lane
from perdure.values.filters import Omission
from perdure.values.items import PatternItem
from perdure.values.strategies import Strategy
from tests.integration.conftest import Stores
from tests.integration.memory.recall.test_absences import Watched
from tests.integration.memory.recall.test_strategies import NOW, ask, item, recall_of, write

TRAINS = [item(f"Train {number} goes to Bruges.", "Bruges") for number in range(5)]


def reasons(found: RecallResult) -> dict[str, Omission]:
    return {one.text: one.reason for one in found.left_out}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", Strategy)
async def test_telling_what_was_left_out_asks_no_store_more(
    stores: Stores, tenant: str, tmp_path: Path, strategy: Strategy
) -> None:
    await write(stores, tenant, *TRAINS)
    watched = Watched(stores, tmp_path)
    await watched.counted(tenant, strategy=strategy)
    plain = await watched.counted(tenant, strategy=strategy)
    assert await watched.counted(tenant, strategy=strategy, tell_left_out=True) == plain
    widely = await watched.counted(tenant, strategy=strategy, explain=True)
    assert widely["weaviate.search"] == plain["weaviate.search"] + 1, "the control"


@pytest.mark.slow
@pytest.mark.parametrize("strategy", Strategy)
async def test_each_strategy_tells_what_took_no_place(
    stores: Stores, tenant: str, tmp_path: Path, strategy: Strategy
) -> None:
    await write(stores, tenant, *TRAINS)
    recall = recall_of(stores, tmp_path)
    found = await ask(recall, tenant, "Bruges", strategy=strategy, limit=2, tell_left_out=True)
    assert list(reasons(found).values()) == [Omission.LIMIT] * 3
    assert {one.text for one in found.items} | {*reasons(found)} == {one.content for one in TRAINS}
    assert (await ask(recall, tenant, "Bruges", strategy=strategy, limit=2)).left_out == ()


@pytest.mark.slow
async def test_a_log_that_shares_the_places_is_over_the_limit(stores: Stores, tenant: str, tmp_path: Path) -> None:
    logged = [
        PatternItem(lane=Lane.PATTERN, key=f"k{number}", payload=number, occurrence=f"{number}", occurred_at=NOW)
        for number in range(4)
    ]
    await write(stores, tenant, *TRAINS, *logged)
    asked = {"lane": Lane.PATTERN, "limit": 4, "strategy": Strategy.SIMILARITY, "tell_left_out": True}
    found = await ask(recall_of(stores, tmp_path), tenant, "Bruges", **asked)
    assert {one.kind for one in found.items} == {"record", "memory"}
    assert {one.kind: one.reason for one in found.left_out if one.kind == "record"} == {"record": Omission.LIMIT}


async def test_of_what_has_the_name_it_tells_what_was_replaced_or_counts_elsewhere(
    stores: Stores, tenant: str, tmp_path: Path
) -> None:
    old, home = item("Bruges has one station.", "Bruges"), item("At home, Bruges is a cat.", "Bruges", scopes=("home",))
    [replaced, _] = await write(stores, tenant, old, home)
    await write(stores, tenant, item("Bruges has two stations.", "Bruges", supersedes=replaced, occurrence="two"))
    asked = {"strategy": Strategy.PRECISE, "scopes": ("work",), "tell_left_out": True}
    found = await ask(recall_of(stores, tmp_path), tenant, "Bruges", **asked)
    assert [one.text for one in found.items] == ["Bruges has two stations."]
    assert reasons(found) == {old.content: Omission.SUPERSEDED, home.content: Omission.SCOPE}
