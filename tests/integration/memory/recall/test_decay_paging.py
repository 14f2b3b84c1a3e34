"""What nobody has used or confirmed for long is believed too little to be recalled, on the real stores."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure.memory.retention import RetentionRules
from perdure.stores.journal.lines import Changed, Settled
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Entry, Memory, MemoryType
from perdure.values.filters import Omission
from perdure.values.strategies import Strategy
from tests.integration.conftest import Stores
from tests.integration.memory.recall.test_strategies import DAY, NOW, ask, put, recall_of, texts

QUESTION = "Which train goes to Bruges?"


def train(number: int, *, seen: timedelta = 200 * DAY, **more: Any) -> Memory:
    at = NOW - seen
    fields = {"confidence": 0.9, "first_seen": at, "last_seen": at, "names": ("Bruges",)}
    return Memory.model_validate({"id": f"mem_{number}", "text": f"Train {number} goes to Bruges.", **fields, **more})


@pytest.mark.parametrize("strategy", Strategy)
async def test_what_has_faded_is_left_out_and_told(
    stores: Stores, tenant: str, tmp_path: Path, strategy: Strategy
) -> None:
    faded, fresh = train(1), train(2, seen=DAY)
    used = train(3, last_accessed=NOW - DAY)
    rule = train(4, memory_type=MemoryType.CONSTRAINT)
    await put(stores, tenant, [faded, fresh, used, rule])
    found = await ask(recall_of(stores, tmp_path), tenant, QUESTION, strategy=strategy, explain=True)
    assert sorted(texts(found)) == [one.text for one in (fresh, used, rule)]
    told = [(one.text, one.reason, one.confidence) for one in found.left_out]
    assert told == [(faded.text, Omission.CONFIDENCE, pytest.approx(0.9 * 2 ** (-170 / 180), abs=1e-5))]
    assert (await stores.longterm.get(tenant, [faded.id]))[faded.id] == faded, "nothing is rewritten for it"
    for lasting in (
        recall_of(stores, tmp_path, rules=RetentionRules(half_life_days=None)),
        recall_of(stores, tmp_path, min_confidence=0.4),
    ):
        assert faded.text in texts(await ask(lasting, tenant, QUESTION, strategy=strategy))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [Strategy.BALANCED, Strategy.SIMILARITY, Strategy.STRUCTURED])
async def test_many_that_have_faded_do_not_hide_what_is_believed(
    stores: Stores, tenant: str, tmp_path: Path, strategy: Strategy
) -> None:
    faded: list[Entry] = [train(number, last_seen=NOW - 150 * DAY) for number in range(130)]
    used = train(500, last_accessed=NOW - DAY, text="A train may also go to Bruges, Ghent and Ostend.")
    await put(stores, tenant, [*faded, used])
    found = await ask(recall_of(stores, tmp_path), tenant, QUESTION, strategy=strategy)
    assert texts(found) == [used.text]


async def test_the_journal_leaves_it_out_too(
    stores: Stores, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_lost(_: object) -> bool:
        return True

    faded, fresh = train(1), train(2, seen=DAY)
    for one in (faded, fresh):
        changed = Changed(entry=one, operation=one.id, by=Actor(kind=ActorKind.SYSTEM), why="", at=NOW)
        await stores.journal.append(tenant, [changed, Settled(operation=one.id, versions={one.id: 1}, at=NOW)])
    monkeypatch.setattr(stores.whole, "lost", is_lost)
    found = await ask(recall_of(stores, tmp_path), tenant, QUESTION)
    assert texts(found) == [fresh.text]
