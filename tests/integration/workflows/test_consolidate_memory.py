"""Memories that say the same become one at night: nothing is lost, nothing is merged that is only alike."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from pydantic import JsonValue

from activities import consolidation
from perdure.errors import StoreUnavailable
from perdure.memory.consolidation import consolidator
from perdure.memory.consolidation.consolidator import Consolidator, Pair
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.redis.changed_tenants import ChangedTenants
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Memory, State
from perdure.values.requests import ConsolidateRequest, ConsolidateResult
from perdure.values.updates import MemoryUpdate, Pinning
from tests.conftest import Servers
from tests.deployment import Deployment, deployment

NOW = datetime.now(UTC)
SYSTEM = Actor(kind=ActorKind.SYSTEM)
TUESDAYS = ("Deploys happen on Tuesdays.", "On Tuesdays, deploys really happen.")
ALIKE = (
    "Ada prefers Python over JavaScript.",
    "Ada prefers JavaScript over Python.",
    "The data is on db-1.",
    "The data is on db-2.",
)


@pytest.fixture(scope="module")
async def here(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Deployment]:
    async with deployment(servers, tmp_path_factory.mktemp("consolidation")) as one:
        yield one


async def told(here: Deployment, tenant: str, *contents: str, **fields: JsonValue) -> list[str]:
    """Have a job remember statements; returns the ids of the memories."""
    items: list[JsonValue] = [
        {"kind": "memory", "content": one, "occurrence": one, "occurred_at": NOW.isoformat(), **fields}
        for one in contents
    ]
    batch = read_batch(tenant=tenant, key=uuid4().hex, items=items)
    receipt = await here.client.execute_workflow("IngestMemory", batch, id=uuid4().hex, task_queue=here.queue)
    return [item["id"] for item in receipt["items"]]


async def consolidated(here: Deployment) -> ConsolidateResult:
    result = await here.client.execute_workflow(
        "ConsolidateMemory",
        ConsolidateRequest(by=SYSTEM),
        id=f"consolidate-{uuid4().hex}",
        task_queue=here.queue,
        result_type=ConsolidateResult,
    )
    assert result.failed == ()
    return result


async def memories(here: Deployment, tenant: str) -> dict[str, Memory]:
    stored = await here.services.longterm.everything(tenant)
    return {name: one for name, one in stored.items() if isinstance(one, Memory)}


async def current(here: Deployment, tenant: str) -> list[str]:
    return sorted(one.text for one in (await memories(here, tenant)).values() if one.state is State.CURRENT)


async def test_what_says_the_same_becomes_one_and_what_is_only_alike_stays(
    here: Deployment, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A call looks at two memories, so that the cursor is what makes it look at all.
    monkeypatch.setattr(consolidator, "_PAGE", 2)
    ids = await told(here, tenant, *TUESDAYS)
    await told(here, tenant, *ALIKE)
    kept = ("Use wheels.", "Please use wheels.", "Never push to main.", "Just never push to main.")
    await told(here, tenant, *kept[:2], pinned=True)
    await told(here, tenant, *kept[2:], memory_type="constraint")
    assert (await consolidated(here)).merged >= 1
    stored = await memories(here, tenant)
    [whole] = [one for one in stored.values() if one.merged_from]
    assert {*whole.merged_from} == {*ids}
    assert {stored[name].superseded_by for name in ids} == {whole.id}
    assert (whole.seen, whole.confidence, len(whole.occurrences)) == (2, 0.9, 2)
    assert await current(here, tenant) == sorted([whole.text, *ALIKE, *kept])
    # What was merged is told in its history, and what it says again counts for the whole.
    assert (await here.services.journal.history(tenant, whole.id))[-1].by == SYSTEM
    await told(here, tenant, TUESDAYS[0])
    assert await current(here, tenant) == sorted([whole.text, *ALIKE, *kept])


async def test_three_become_one(here: Deployment, tenant: str) -> None:
    texts = (*TUESDAYS, "Deploys really happen on Tuesdays.")
    await told(here, tenant, *texts)
    await consolidated(here)
    assert len(await current(here, tenant)) == 1
    [whole] = [one for one in (await memories(here, tenant)).values() if one.state is State.CURRENT]
    assert (whole.seen, len(whole.occurrences)) == (3, 3)


async def test_only_who_was_written_since_is_visited(here: Deployment, tenant: str) -> None:
    await told(here, tenant, TUESDAYS[0])
    assert (await consolidated(here)).tenants >= 1
    assert (await consolidated(here)).tenants == 0
    changed = ChangedTenants(here.services.redis)
    assert await changed.since() is not None
    await told(here, tenant, TUESDAYS[1])
    [(name, token)] = await changed.tenants(10)
    assert name == tenant
    # Written while a pass is on its way, so it is for the next one.
    await changed.add(tenant, datetime.now(UTC))
    await changed.done(tenant, token)
    found = await consolidated(here)
    assert (found.tenants, found.merged) == (1, 1)
    assert len(await current(here, tenant)) == 1


@pytest.mark.parametrize("same_operation", [True, False], ids=["retried", "control"])
async def test_an_attempt_that_died_merges_nothing_twice(
    here: Deployment, tenant: str, monkeypatch: pytest.MonkeyPatch, same_operation: bool
) -> None:
    ids = await told(here, tenant, *TUESDAYS, "In winter, it snows.", "It snows in winter.")
    services = here.services
    merging = Consolidator(longterm=services.longterm, embedder=services.embedder, updater=services.updater)
    activities = consolidation.ConsolidationActivities(
        consolidator=merging, changed=ChangedTenants(services.redis), whole=services.whole
    )
    found = await merging.find(tenant, since=None, after="", now=datetime.now(UTC))
    assert len(found.pairs) == 2

    def call(operation: str) -> consolidation.MergeCall:
        return consolidation.MergeCall(
            tenant=tenant, pairs=found.pairs, operation=operation, by=SYSTEM, at=datetime.now(UTC)
        )

    merge, begun = Consolidator.merge, list[Pair]()

    async def die(self: Consolidator, tenant: str, pair: Pair, **fields: object) -> bool:
        begun.append(pair)
        if len(begun) == 2:
            raise StoreUnavailable("weaviate", "the process died")
        return await merge(self, tenant, pair, **fields)  # pyright: ignore[reportArgumentType]

    with monkeypatch.context() as patch:
        patch.setattr(Consolidator, "merge", die)
        with pytest.raises(StoreUnavailable):
            await activities.merge(call("consolidate:one"))
    assert await activities.merge(call("consolidate:one" if same_operation else "consolidate:two")) == (
        2 if same_operation else 1
    )
    stored = await memories(here, tenant)
    assert len(await current(here, tenant)) == 2
    assert {stored[name].state for name in ids} == {State.SUPERSEDED}
    assert {one.version for one in stored.values() if one.merged_from} == {1}


async def test_what_was_changed_meanwhile_is_left(here: Deployment, tenant: str) -> None:
    ids = await told(here, tenant, *TUESDAYS)
    services = here.services
    merging = Consolidator(longterm=services.longterm, embedder=services.embedder, updater=services.updater)
    await here.services.longterm.delete(tenant, ids[1:])
    pair = Pair(first=ids[0], second=ids[1])
    assert not await merging.merge(tenant, pair, operation="o", by=SYSTEM, at=datetime.now(UTC))
    assert await current(here, tenant) == [TUESDAYS[0]]


async def test_what_was_pinned_since_it_was_found_stays_apart(here: Deployment, tenant: str) -> None:
    ids, services, now = await told(here, tenant, *TUESDAYS), here.services, datetime.now(UTC)
    merging = Consolidator(longterm=services.longterm, embedder=services.embedder, updater=services.updater)
    [pair] = (await merging.find(tenant, since=None, after="", now=now)).pairs
    pinning = MemoryUpdate(id=ids[0], update=Pinning(pinned=True), by=SYSTEM)
    await services.updater.update(tenant, pinning, operation="pin", at=now)
    assert not await merging.merge(tenant, pair, operation="merge", by=SYSTEM, at=now)
    assert await current(here, tenant) == sorted(TUESDAYS)
