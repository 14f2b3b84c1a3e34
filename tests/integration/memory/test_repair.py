"""What a cut off write left out of the vector index is found, repaired and never lost, on the real stores."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from perdure.errors import StoreUnavailable, VectorIndexDamaged
from perdure.identity import object_uuid
from perdure.memory import repair
from perdure.memory.repair import Repair
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.journal.folded_state import fold
from perdure.stores.redis import keys
from perdure.stores.redis.checks import CLAIMED, QUIET, Checks
from perdure.stores.redis.connection import connect
from perdure.stores.weaviate import writes
from perdure.stores.weaviate.mapping import properties_of
from perdure.stores.weaviate.store import LongTerm
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Entry, Memory
from perdure.values.jobs import Batch, Fate, WritePlan
from tests.conftest import Servers
from tests.integration.conftest import Stores
from tests.support.cutting import collection_of, cut_off, objects
from tests.support.nearest import nearest

BY = Actor(kind=ActorKind.PERSON, id="ada")
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = datetime(2100, 1, 1, tzinfo=UTC)


def batch_of(tenant: str, number: int, key: str = "k", occurrence: str = "o") -> Batch:
    items: list[JsonValue] = [
        {
            "kind": "memory",
            "content": f"Room {index} has {index * 7} windows.",
            "occurrence": f"{occurrence}{index}",
            "occurred_at": NOW.isoformat(),
        }
        for index in range(number)
    ]
    return read_batch(tenant=tenant, key=key, items=items)


async def applied_and_cut_off(
    stores: Stores, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> tuple[WritePlan, dict[str, int], list[str]]:
    """Apply a batch by a write that is cut off; return its plan, its versions, and what no search finds."""
    missing: list[str] = []

    async def put(
        self: LongTerm, tenant: str, entries: Sequence[Entry], vectors: Mapping[str, Sequence[float]], **_: object
    ) -> None:
        missing.extend(await cut_off(self, tenant, entries, vectors))

    plan = await stores.writer.plan(batch, at=NOW)
    with monkeypatch.context() as patch:
        patch.setattr(LongTerm, "put", put)
        await stores.writer.apply(batch, plan, operation="job")
    # The retry of an attempt that died finds its operation, and writes nothing.
    return plan, (await stores.writer.apply(batch, plan, operation="job")).versions, missing


async def stored(stores: Stores, tenant: str, versions: Mapping[str, int]) -> dict[str, Entry]:
    return await stores.longterm.get(tenant, sorted(versions))


@pytest.mark.slow
async def test_a_job_is_confirmed_once_the_search_by_meaning_finds_it(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(tenant, 50)
    plan, versions, missing = await applied_and_cut_off(stores, batch, monkeypatch)
    before = await stored(stores, tenant, versions)
    assert len(before) == 50, "the control: a filter finds what the search by meaning does not"
    assert sorted(await stores.longterm.unsearchable(tenant)) == missing != []
    # Nor does writing again help.
    vectors = await stores.embedder.embed([before[one].text for one in missing])
    await stores.longterm.put(tenant, [before[one] for one in missing], dict(zip(missing, vectors, strict=True)))
    assert sorted(await stores.longterm.unsearchable(tenant)) == missing

    receipts = await stores.writer.confirm(batch, plan, versions)
    assert receipts is not None
    assert {receipt.fate for receipt in receipts} == {Fate.SEARCHABLE}
    assert await stores.longterm.unsearchable(tenant) == []
    own = await stores.embedder.embed([one.text for one in before.values()])
    for entry, vector in zip(before.values(), own, strict=True):
        [found] = await nearest(stores.longterm, tenant, vector, 1)
        assert found.entry == entry, "at the same version, with the same operations"
    assert await stores.checks.unfinished(tenant) == []


def _die(_: object) -> None:
    raise StoreUnavailable("weaviate", "the process died")


@pytest.mark.slow
@pytest.mark.parametrize(
    "lost",
    [
        *("state", "confidence", "last_seen", "valid_until", "forget_after", "purge_after"),
        *("memory_type", "purpose", "valid_from"),
    ],
)
async def test_what_a_filter_does_not_find_is_written_anew(stores: Stores, tenant: str, lost: str) -> None:
    batch = batch_of(tenant, 3)
    plan = await stores.writer.plan(batch, at=NOW)
    versions = (await stores.writer.apply(batch, plan, operation="job")).versions
    collection = await collection_of(stores.longterm, tenant, "memory")
    one = sorted(versions)[0]
    found = await collection.query.fetch_object_by_id(object_uuid(tenant, one), include_vector=True)
    # As a cut off write leaves it: in all indexes but one.
    kept: dict[str, Any] = {name: value for name, value in found.properties.items() if name != lost}
    await collection.data.replace(uuid=object_uuid(tenant, one), properties=kept, vector=found.vector)
    assert await stores.longterm.get(tenant, [one]), "the control: its id finds it"
    assert await stores.longterm.unsearchable(tenant) == [one]
    receipts = await stores.writer.confirm(batch, plan, versions)
    assert receipts is not None
    assert await stores.longterm.unsearchable(tenant) == []


async def unindexed(stores: Stores, tenant: str, one: str) -> None:
    """Leave an entry as a cut off write does: stored, and in all indexes but one."""
    collection = await collection_of(stores.longterm, tenant, "memory")
    found = await collection.query.fetch_object_by_id(object_uuid(tenant, one), include_vector=True)
    kept: dict[str, Any] = {name: value for name, value in found.properties.items() if name != "state"}
    await collection.data.replace(uuid=object_uuid(tenant, one), properties=kept, vector=found.vector)


def refusing(monkeypatch: pytest.MonkeyPatch, identifier: str) -> None:
    """Have Weaviate refuse one entry from now on, as after an upgrade."""

    def properties(entry: Entry, language: str) -> dict[str, JsonValue]:
        return properties_of(entry, language) | ({"version": "x"} if entry.id == identifier else {})

    monkeypatch.setattr(writes, "properties_of", properties)


async def two_of_three_unindexed(stores: Stores, tenant: str) -> list[str]:
    """Write three entries, and take the first two out of the index; returns the ids of all."""
    batch = batch_of(tenant, 3)
    plan = await stores.writer.plan(batch, at=NOW)
    ids = sorted((await stores.writer.apply(batch, plan, operation="job")).versions)
    for identifier in ids[:2]:
        await unindexed(stores, tenant, identifier)
    return ids


async def test_what_weaviate_has_come_to_refuse_is_not_deleted_and_the_others_are_repaired(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, *_ = ids = await two_of_three_unindexed(stores, tenant)
    refusing(monkeypatch, one)
    assert await stores.repair.repair(tenant, [one, other]) == 1
    assert await stores.longterm.unsearchable(tenant) == [one]
    assert (await stores.longterm.stored(tenant, ids)).keys() == {*ids}
    assert await stores.checks.unfinished(tenant) == []


@pytest.mark.slow
async def test_what_weaviate_refuses_after_a_repair_that_died_holds_up_no_writer_and_stays_in_the_journal(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, *_ = ids = await two_of_three_unindexed(stores, tenant)
    with monkeypatch.context() as patch:
        patch.setattr(repair, "reached", _die)
        with pytest.raises(StoreUnavailable):
            await stores.repair.repair(tenant, [one, other])
    client: Any = stores.redis
    await client.delete(keys.lease(tenant))  # It has run out.
    assert len(await stores.longterm.stored(tenant, ids)) == 1, "they are deleted"
    with monkeypatch.context() as patch:
        refusing(patch, one)
        new = batch_of(tenant, 4, "new", "p").changed(items=batch_of(tenant, 4, "new", "p").items[3:])
        await stores.writer.apply(new, await stores.writer.plan(new, at=NOW), operation="new")
        stored = await stores.longterm.stored(tenant, ids)
        assert stored.keys() == {*ids} - {one}
        # Nor does it hold up a reconciliation, which counts what it has written.
        await stores.longterm.delete(tenant, [other])
        merged = await stores.reconciler.reconcile(tenant, operation="reconcile", by=BY)
        assert merged.found.written == 1
        assert (await stores.longterm.stored(tenant, ids)).keys() == {*ids} - {one}
    assert one in fold(await stores.journal.read(tenant)).entries
    # Once Weaviate takes it, a reconciliation brings it back.
    merged = await stores.reconciler.reconcile(tenant, operation="later", by=BY)
    assert merged.found.written == 1
    assert (await stores.longterm.stored(tenant, ids)).keys() == {*ids}


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["restored", "control"])
async def test_a_repair_that_died_loses_nothing_to_the_next_writer(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    batch = batch_of(tenant, 20)
    plan, versions, missing = await applied_and_cut_off(stores, batch, monkeypatch)
    before = await stored(stores, tenant, versions)
    with monkeypatch.context() as patch:
        patch.setattr(repair, "reached", _die)
        with pytest.raises(StoreUnavailable):
            await stores.writer.confirm(batch, plan, versions)
    client: Any = stores.redis
    await client.delete(keys.lease(tenant))  # It has run out.
    assert (before.keys() - (await stored(stores, tenant, versions)).keys()) == set(missing), "they are deleted"

    other = batch_of(tenant, 20, "other", "p")
    again = await stores.writer.plan(other, at=NOW + timedelta(days=1))
    if not protected:

        async def nothing(*_: object, **__: object) -> None:
            return

        monkeypatch.setattr(Repair, "resume", nothing)
        await stores.writer.apply(other, again, operation="other")
        lost = (await stored(stores, tenant, versions))[missing[0]]
        assert (lost.version, lost.seen) == (1, 1), "what was observed first is gone"
        return
    await client.zrem(keys.WRITTEN, tenant)
    found = await stores.writer.apply(other, again, operation="other")
    assert found.plan is not None, "planned again, on what was restored"
    assert await client.zscore(keys.WRITTEN, tenant), "what was restored is checked once Weaviate has flushed it"
    assert {(one.version, one.seen) for one in (await stored(stores, tenant, versions)).values()} == {(2, 2)}
    assert await stores.longterm.unsearchable(tenant) == []


@pytest.mark.slow
async def test_what_was_purged_since_is_not_restored(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(tenant, 20)
    plan, versions, missing = await applied_and_cut_off(stores, batch, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(repair, "reached", _die)
        with pytest.raises(StoreUnavailable):
            await stores.writer.confirm(batch, plan, versions)
    client: Any = stores.redis
    await client.delete(keys.lease(tenant))
    await stores.journal.drop(tenant, missing[:1], spared=lambda _: False)
    await stores.repair.repair(tenant, missing)
    assert versions.keys() - (await stored(stores, tenant, versions)).keys() == {missing[0]}


@pytest.mark.slow
async def test_a_tenant_that_was_written_is_checked_and_repaired(
    stores: Stores, servers: Servers, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await applied_and_cut_off(stores, batch_of(tenant, 20), monkeypatch)
    assert await stores.longterm.unsearchable(tenant)
    client: Any = stores.redis
    assert await client.zscore(keys.CHECKS, tenant), "whoever writes to it has it checked"
    redis = connect(f"{servers.redis_url}/2")  # Where no other test's tenants are to be checked.
    checks = Checks(redis)
    await checks.add(tenant, NOW)
    checking = Repair(
        longterm=stores.longterm,
        embedder=stores.embedder,
        journal=stores.journal,
        leases=stores.leases,
        checks=checks,
        due=stores.due,
        client_timeout=3,
    )
    assert await checking.check_next(NOW) == tenant
    assert await stores.longterm.unsearchable(tenant) == []
    assert await checking.check_next(LATER) == tenant, "what it has written is checked as well"
    assert await checking.check_next(LATER) is None
    await redis.aclose()


async def test_what_was_written_shortly_before_it_was_checked_is_checked_once_more(
    servers: Servers, tenant: str
) -> None:
    redis: Any = connect(f"{servers.redis_url}/3")
    checks = Checks(redis)
    try:
        await checks.written(tenant, NOW)
        for seconds in (5, 10):
            # Weaviate was killed, and is back: what its index has may not have been flushed.
            back = NOW + timedelta(seconds=seconds)
            await checks.hasten(back)
            assert await checks.claim(back) == tenant
            await checks.done(tenant, back)
            assert await checks.pending(back) == 0
        assert await checks.claim(NOW + QUIET - timedelta(seconds=1)) is None
        assert await checks.claim(NOW + QUIET) == tenant
        await checks.done(tenant, NOW + QUIET)
        assert await checks.claim(LATER) is None
    finally:
        await redis.aclose()


async def test_a_check_that_died_is_taken_over_and_a_write_meanwhile_is_checked_again(
    servers: Servers, tenant: str
) -> None:
    redis: Any = connect(f"{servers.redis_url}/3")  # Where no other test's tenants are to be checked.
    checks = Checks(redis)
    try:
        await checks.add(tenant, NOW)
        await checks.add(tenant, NOW + QUIET)
        assert await checks.claim(NOW - QUIET) is None
        claimed = NOW
        assert await checks.claim(claimed) == tenant
        assert await checks.claim(claimed) is None
        claimed += CLAIMED
        assert await checks.claim(claimed) == tenant
        await checks.add(tenant, claimed + QUIET)
        await checks.done(tenant, claimed)
        claimed += QUIET
        assert await checks.claim(claimed) == tenant
        await checks.done(tenant, claimed)
        assert await checks.claim(LATER) is None
    finally:
        await redis.aclose()


async def vectorless(stores: Stores, batch: Batch) -> list[str]:
    """Store memories of which no vector ever came to the index, so that every search by vector fails."""
    plan = await stores.writer.plan(batch, at=NOW)
    ids = [item.target for item in plan.items]
    entries = [
        Memory.model_validate(
            {"id": one, "text": item.content, "memory_type": "fact", "first_seen": NOW, "last_seen": NOW}
            | {"source": "explicit"}
        )
        for one, item in zip(ids, batch.items, strict=True)
        if item.kind == "memory"
    ]
    collection = await collection_of(stores.longterm, batch.tenant, "memory")
    await collection.data.insert_many(objects(batch.tenant, entries, {}))
    return ids


async def test_a_job_is_planned_and_confirmed_where_no_vector_can_be_searched(stores: Stores, tenant: str) -> None:
    ids = await vectorless(stores, batch_of(tenant, 3))
    [vector] = await stores.embedder.embed(["x"])
    with pytest.raises(VectorIndexDamaged):
        await nearest(stores.longterm, tenant, vector, 1)
    batch = batch_of(tenant, 5)
    new = batch.changed(items=batch.items[3:])
    plan = await stores.writer.plan(new, at=NOW)
    applied = await stores.writer.apply(new, plan, operation="job")
    assert await stores.writer.confirm(new, plan, applied.versions) is not None
    assert await stores.repair.repair(tenant, ids) == 3
    assert len(await nearest(stores.longterm, tenant, vector, 9)) == 5


async def test_a_tenant_without_objects_is_empty(stores: Stores, tenant: str) -> None:
    ids = await vectorless(stores, batch_of(tenant, 2))
    await stores.longterm.delete(tenant, ids)
    [vector] = await stores.embedder.embed(["x"])
    assert await nearest(stores.longterm, tenant, vector, 1) == []
    assert await stores.longterm.searchable(tenant, ids) == {}
    assert await stores.longterm.unsearchable(tenant) == []
