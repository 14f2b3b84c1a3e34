"""The least recently used tenants are made inactive, and nothing of them is lost."""

import resource
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import weaviate.classes.config as wvc
from weaviate.classes.tenants import TenantActivityStatus

from localservers import Fleet, Server
from perdure.errors import StoreUnavailable
from perdure.stores.redis import keys, open_tenants
from perdure.stores.redis.connection import connect
from perdure.stores.redis.open_tenants import ActiveTenants
from perdure.stores.weaviate import schema
from perdure.stores.weaviate.open_tenants import most_active
from perdure.stores.weaviate.store import LongTerm
from tests.conftest import OwnServers
from tests.integration.stores.weaviate.test_store import EMBEDDER, EMBEDDING, memory, put
from tests.support.nearest import nearest

MOST = 10
TENANTS = 60


@pytest.fixture
async def fleet(own_servers: OwnServers) -> Fleet:
    return await own_servers(Server.WEAVIATE, Server.REDIS)


def open_files(fleet: Fleet) -> int:
    return sum(1 for _ in Path(f"/proc/{fleet.child(Server.WEAVIATE).pid}/fd").iterdir())


@pytest.fixture
async def redis(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Any]:
    monkeypatch.setattr(open_tenants, "IN_USE", open_tenants.IN_USE * 0)
    redis: Any = connect(fleet.addresses.redis_url)
    yield redis
    await redis.aclose()


def opened(fleet: Fleet, redis: Any, most: int) -> LongTerm:
    return LongTerm(
        fleet.addresses.weaviate_url,
        fleet.addresses.weaviate_grpc_port,
        embedding=EMBEDDING,
        api_key=fleet.addresses.weaviate_api_key,
        active=ActiveTenants(redis),
        most_active=most,
    )


async def active_of(longterm: LongTerm) -> list[str]:
    collection = await longterm._connection.collection("memory")  # pyright: ignore[reportPrivateUsage]
    found = await collection.tenants.get()
    return [name for name, one in found.items() if one.activity_status is TenantActivityStatus.ACTIVE]


@pytest.mark.slow
@pytest.mark.parametrize("most", [MOST, pytest.param(1_000, marks=pytest.mark.slow)], ids=["bounded", "control"])
async def test_many_tenants_take_no_more_files_than_some(fleet: Fleet, redis: Any, most: int) -> None:
    longterm = opened(fleet, redis, most)
    await longterm.prepare()
    before = open_files(fleet)
    tenants = [f"t_{uuid4().hex}" for _ in range(TENANTS)]
    for tenant in tenants:
        await put(longterm, tenant, memory(tenant, "The lead is Kim."))
    await longterm.close()
    taken = open_files(fleet) - before
    longterm = opened(fleet, redis, most)
    if most > MOST:
        assert taken > 14 * TENANTS
        await longterm.close()
        return
    assert taken < 15 * 2 * (MOST + 5)
    assert len(await active_of(longterm)) <= MOST
    [vector] = await EMBEDDER.embed(["The lead is Kim."])
    for tenant in tenants:
        [hit] = await nearest(longterm, tenant, vector, 2)
        assert hit.entry.id == memory(tenant, "The lead is Kim.").id
        assert await longterm.unsearchable(tenant) == []
    await longterm.close()


@pytest.mark.slow
async def test_an_inactive_tenant_that_is_dropped_is_empty_when_it_is_made_anew(fleet: Fleet, redis: Any) -> None:
    longterm = opened(fleet, redis, MOST)
    await longterm.prepare()
    tenant = f"t_{uuid4().hex}"
    await put(longterm, tenant, memory(tenant, "old"))
    collection = await longterm._connection.collection("memory")  # pyright: ignore[reportPrivateUsage]
    await collection.tenants.deactivate(tenant)
    await longterm.drop_tenant(tenant)
    await put(longterm, tenant, memory(tenant, "new"))
    assert await longterm.count(tenant) == 1
    assert await longterm.get(tenant, [memory(tenant, "old").id]) == {}
    await longterm.close()


@pytest.mark.slow
async def test_tenants_that_redis_does_not_know_are_found_and_made_inactive(fleet: Fleet, redis: Any) -> None:
    longterm = opened(fleet, redis, 1_000)
    await longterm.prepare()
    tenants = [f"t_{uuid4().hex}" for _ in range(TENANTS)]
    for tenant in tenants:
        await put(longterm, tenant, memory(tenant, "x"))
    await longterm.close()
    await redis.flushall()
    longterm = opened(fleet, redis, MOST)
    await longterm.look_for_active()
    await longterm.count(tenants[0])
    await longterm.close()
    longterm = opened(fleet, redis, MOST)
    assert len(await active_of(longterm)) <= MOST
    await longterm.close()


BY_NAME = open_tenants._USED.replace(  # pyright: ignore[reportPrivateUsage]
    "'ZREMRANGEBYRANK', KEYS[1], 0, #idle - 1", "'ZREM', KEYS[1], unpack(idle)"
)
"""Lua passes at most some 8,000 values at once."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "protected", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["any number", "control"]
)
async def test_far_more_tenants_than_may_be_open_are_made_inactive_at_once(
    redis: Any, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    if not protected:
        monkeypatch.setattr(open_tenants, "_USED", BY_NAME)
    tenants = ActiveTenants(redis)
    await tenants.found([f"t_{number:04}" for number in range(9_000)])
    if not protected:
        with pytest.raises(StoreUnavailable):
            await tenants.used("t_new", datetime.now(UTC), most=326)
        return
    idle = await tenants.used("t_new", datetime.now(UTC), most=326)
    assert idle == [f"t_{number:04}" for number in range(9_000 + 1 - 326 + 32)]
    assert await redis.zcard(keys.ACTIVE) == 326 - 32
    assert await tenants.used("t_new", datetime.now(UTC), most=326) == []
    assert await redis.zscore(keys.ACTIVE, "t_8999") == 0


def _cached(*_: object) -> Any:
    return wvc.Configure.VectorIndex.Quantizer.rq(cache=True, rescore_limit=100)


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["no cache", "control"])
async def test_few_memories_are_found_after_a_restart_and_a_rest(
    fleet: Fleet, redis: Any, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    """With a cache, Weaviate 1.35.2 finds none of them: it fills it from flushed segments alone."""
    if not protected:
        monkeypatch.setattr(schema, "_quantizer", _cached)
    tenant = f"t_{uuid4().hex}"
    [vector] = await EMBEDDER.embed(["The lead is Kim."])
    longterm = opened(fleet, redis, MOST)
    await longterm.prepare()
    for number in range(3):
        await put(longterm, tenant, memory(tenant, f"Lead {number} is Kim."))
    found = [len(await nearest(longterm, tenant, vector, 9))]
    collection = await longterm._connection.collection("memory")  # pyright: ignore[reportPrivateUsage]
    await collection.tenants.deactivate(tenant)
    found.append(len(await nearest(longterm, tenant, vector, 9)))
    await longterm.close()
    await fleet.stop(Server.WEAVIATE)
    await fleet.start(Server.WEAVIATE)
    longterm = opened(fleet, redis, MOST)
    found.append(len(await nearest(longterm, tenant, vector, 9)))
    await longterm.close()
    assert found == ([3, 3, 3] if protected else [3, 0, 0])


@pytest.mark.parametrize(("files", "users"), [(20_000, 217), (1_024, 8), (256, 8), (1_048_576, 11_646)])
def test_the_bound_follows_the_file_limit(files: int, users: int) -> None:
    assert most_active(files) == users


@pytest.mark.slow
async def test_a_store_that_has_no_files_left_is_named_so(fleet: Fleet, redis: Any) -> None:
    longterm = opened(fleet, redis, 1_000)
    await longterm.prepare()
    await put(longterm, "t_first", memory("t_first", "x"))
    limit = open_files(fleet) + 20
    resource.prlimit(fleet.child(Server.WEAVIATE).pid, resource.RLIMIT_NOFILE, (limit, limit))

    async def fill() -> None:
        for number in range(10):
            await put(longterm, f"t_{number}", memory(f"t_{number}", "x"))

    with pytest.raises(StoreUnavailable, match="too many open files: raise its limit"):
        await fill()
    await longterm.close()
