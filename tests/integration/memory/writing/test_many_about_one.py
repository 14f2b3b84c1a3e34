"""A statement is compared with what is believed about the same also where that is more than one search returns."""

from datetime import timedelta

import pytest

from perdure.stores.weaviate import store
from perdure.values.assertions import Assertion
from perdure.values.entries import Memory
from perdure.values.items import MemoryItem
from perdure.values.jobs import Batch, Decision
from tests.integration.conftest import Stores
from tests.integration.memory.recall.test_strategies import DAY, NOW, put

MANY = 60


def due(number: int, week: int) -> tuple[str, Assertion]:
    assertion = Assertion(subject=f"project p{number}", attribute="be due", value=f"week {week}")
    return f"Project P{number} is due in week {week}.", assertion


def known(number: int) -> Memory:
    text, assertion = due(number, number % 50)
    seen = NOW - DAY + timedelta(seconds=number)
    return Memory(id=f"mem_{number:064x}", text=text, assertion=assertion, first_seen=seen, last_seen=seen)


def told(number: int) -> MemoryItem:
    text, assertion = due(number, 77)
    return MemoryItem(content=text, assertion=assertion, occurrence=f"o{number}", occurred_at=NOW)


@pytest.mark.slow
async def test_the_oldest_of_many_about_the_same_is_replaced_too_and_the_receipt_says_how_far_it_looked(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories = [known(number) for number in range(MANY)]
    await put(stores, tenant, memories)
    batch = Batch(tenant=tenant, key="k", items=(told(0), told(MANY - 1), told(MANY)), accepted_at=NOW)
    whole = await stores.writer.plan(batch, at=NOW)
    monkeypatch.setattr(store, "ABOUT_AT_MOST", 20)
    monkeypatch.setattr("perdure.memory.writing.writer.ABOUT_AT_MOST", 20)
    part = await stores.writer.plan(batch, at=NOW)
    for decided in (whole, part):
        assert [one.decision for one in decided.items] == [Decision.SUPERSEDE, Decision.SUPERSEDE, Decision.INSERT]
        assert [one.over for one in decided.items] == [(memories[0].id,), (memories[-1].id,), ()]
    assert {one.reason for one in whole.items} == {""}
    note = "of the 40 oldest memories about the same, compared with those that share its rarest words"
    assert {one.reason for one in part.items} == {note}
