"""What is recalled counts as used: noted behind the recall, written once, and nothing planned is in its way."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue

import activities.accesses
from activities.accesses import AccessActivities, Flushed
from perdure.errors import StoreUnavailable
from perdure.memory.door import Door
from perdure.memory.forgetting.uses import Uses
from perdure.memory.recall.query import Query
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.redis.accesses import Accesses
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import State
from perdure.values.strategies import Strategy
from perdure.values.updates import Merger, UpdateRequest
from tests.conftest import Servers
from tests.deployment import Deployment, deployment

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=60)


async def written(here: Deployment, tenant: str, *contents: str, operation: str = "setup") -> list[str]:
    items: list[JsonValue] = [
        {"kind": "memory", "content": content, "occurrence": f"{operation} {content}", "occurred_at": NOW.isoformat()}
        for content in contents
    ]
    batch = read_batch(tenant=tenant, key=operation, items=items)
    plan = await here.services.writer.plan(batch, at=NOW)
    await here.services.writer.apply(batch, plan, operation=operation)
    return [item.target for item in plan.items]


async def flushed(here: Deployment) -> Flushed:
    return await here.client.execute_workflow(
        "FlushAccesses", id=f"flush-{uuid4().hex}", task_queue=here.queue, result_type=Flushed
    )


async def test_uses_of_what_was_merged_meanwhile_are_those_of_the_whole(servers: Servers, tmp_path: Path) -> None:
    tenant = f"t_{uuid4().hex}"
    async with deployment(servers, tmp_path) as here:
        services = here.services
        one, other = await written(here, tenant, "Cats rule at home.", "At home, the cats are the rulers.")
        query = Query(tenant=tenant, session="", text="who rules at home?", now=LATER, strategy=Strategy.SIMILARITY)
        assert {item.id for item in (await services.recall.recall(query)).items} == {one, other}
        await services.recall.settled()
        asked = UpdateRequest(user_id="ada", id=one, update=Merger(other=other))
        whole = (await services.updater.update(tenant, asked, operation="merge", at=NOW)).id
        assert (await flushed(here)).entries >= 1
        found = await services.longterm.get(tenant, [one, other, whole])
    assert (found[whole].access_count, found[whole].last_accessed) == (2, LATER)
    assert found[one].access_count == found[other].access_count == 0


async def test_what_is_recalled_is_used_and_what_is_not_ages(servers: Servers, tmp_path: Path) -> None:
    tenant = f"t_{uuid4().hex}"
    async with deployment(servers, tmp_path) as here:
        services = here.services
        used, other = await written(here, tenant, "Ada prefers trains.", "The printer is on the second floor.")
        before = await services.longterm.get(tenant, [used, other])
        # Planned before the use is written, and applied after it.
        batch = read_batch(
            tenant=tenant,
            key="again",
            items=[
                {
                    "kind": "memory",
                    "content": "Ada prefers trains.",
                    "occurrence": "again",
                    "occurred_at": (NOW + timedelta(days=1)).isoformat(),
                }
            ],
        )
        planned = await services.writer.plan(batch, at=NOW)
        for _ in range(3):
            query = Query(tenant=tenant, session="", text="what does Ada prefer?", now=LATER, limit=1)
            assert [item.id for item in (await services.recall.recall(query)).items] == [used]
        await services.recall.settled()
        assert (await services.longterm.get(tenant, [used]))[used] == before[used], "the recall itself writes nothing"

        assert (await flushed(here)).entries >= 1
        found = await services.longterm.get(tenant, [used, other])
        assert found[other] == before[other]
        assert (found[used].access_count, found[used].last_accessed) == (3, LATER)
        assert (found[used].version, found[used].text) == (before[used].version, before[used].text)
        aged = before[used].forget_after
        assert aged is not None
        assert found[used].forget_after == aged + timedelta(days=60)
        await flushed(here)
        assert (await services.longterm.get(tenant, [used]))[used].access_count == 3, "each use once"

        applied = await services.writer.apply(batch, planned, operation="again")
        assert applied.plan is None, "the use was in no plan's way"
        after = (await services.longterm.get(tenant, [used]))[used]
        assert (after.access_count, after.seen, after.version) == (3, 2, 2)


@pytest.mark.parametrize("written_first", [True, False], ids=["after the write", "before the write"])
async def test_a_worker_that_dies_counts_no_use_twice_and_loses_none(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written_first: bool
) -> None:
    tenant = f"t_{uuid4().hex}"
    async with deployment(servers, tmp_path, serving=False) as here:
        services = here.services
        [used] = await written(here, tenant, "Ada prefers trains.")
        accesses = Accesses(services.redis)
        await accesses.add(tenant, [used], LATER)
        pass_ = AccessActivities(accesses=accesses, uses=Uses(accesses, services.door))

        async def die(*_: object, **__: object) -> None:
            raise StoreUnavailable("redis", "the process died")

        with monkeypatch.context() as patch:
            patch.setattr(*((Accesses, "written", die) if written_first else (type(services.door), "count", die)))
            with pytest.raises(StoreUnavailable):
                await pass_.flush()
        await accesses.add(tenant, [used], LATER)
        await pass_.flush()
        await pass_.flush()
        [entry] = (await services.longterm.get(tenant, [used])).values()
        assert entry.access_count == 2
        assert tenant not in {name for name, _ in await accesses.tenants(10_000)}


async def test_a_tenant_that_fails_keeps_no_other_waiting_and_loses_nothing(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants = [f"t_{uuid4().hex}" for _ in range(3)]
    monkeypatch.setattr(activities.accesses, "_PAGE", 1)
    async with deployment(servers, tmp_path, serving=False) as here:
        services, accesses = here.services, Accesses(here.services.redis)
        used = {tenant: (await written(here, tenant, "Ada prefers trains."))[0] for tenant in tenants}
        # Before whatever other tests have left.
        for place, tenant in enumerate(tenants):
            await accesses.add(tenant, [used[tenant]], NOW.replace(year=1990) + timedelta(days=place))
        pass_, count = (
            AccessActivities(accesses=accesses, uses=Uses(accesses, services.door)),
            type(services.door).count,
        )

        async def failing(door: Door, tenant: str, *args: Any, **more: Any) -> int:
            if tenant == tenants[0]:
                raise StoreUnavailable("weaviate", "does not answer for this tenant")
            return await count(door, tenant, *args, **more)

        async def counts() -> list[int]:
            return [(await services.longterm.get(one, [used[one]]))[used[one]].access_count for one in tenants]

        with monkeypatch.context() as patch:
            patch.setattr(Door, "count", failing)
            with pytest.raises(StoreUnavailable):
                await pass_.flush()
            for _ in tenants[1:]:
                await pass_.flush()
        assert await counts() == [0, 1, 1]
        monkeypatch.setattr(activities.accesses, "_PAGE", 10_000)
        await pass_.flush()
        assert await counts() == [1, 1, 1]


async def test_a_use_brings_back_nothing_that_was_forgotten_meanwhile(servers: Servers, tmp_path: Path) -> None:
    tenant = f"t_{uuid4().hex}"
    async with deployment(servers, tmp_path, serving=False) as here:
        services = here.services
        [used] = await written(here, tenant, "Ada prefers trains.")
        accesses = Accesses(services.redis)
        await accesses.add(tenant, [used, "mem_none"], LATER)
        late = NOW + timedelta(days=9_000)
        due = await services.forgetter.plan(tenant, at=late, approved=True)
        await services.forgetter.tombstone(due, sweep="sweep", by=Actor(kind=ActorKind.SYSTEM))
        await AccessActivities(accesses=accesses, uses=Uses(accesses, services.door)).flush()
        [entry] = (await services.longterm.get(tenant, [used])).values()
        assert (entry.state, entry.access_count) == (State.FORGOTTEN, 0)
