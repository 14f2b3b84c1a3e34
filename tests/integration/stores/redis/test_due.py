"""Which tenants are due: found a page at a time, at a cost that does not grow with how many there are."""

from datetime import UTC, datetime, timedelta

import pytest

from localservers import Server
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.keys import DUE, DUE_MOMENTS, due_listed
from tests.conftest import OwnServers

NOW = datetime(2026, 6, 1, 12, 0, 0, 123457, tzinfo=UTC)
PAGE = 100


@pytest.mark.parametrize("number", [1_000, 4_000])
async def test_a_sweep_reads_each_due_tenant_once_however_many_there_are(own_servers: OwnServers, number: int) -> None:
    redis = connect((await own_servers(Server.REDIS)).addresses.redis_url)
    due, names = DueIndex(redis), [f"t_{place:032x}" for place in range(number)]
    # Their due dates are not in the order of their ids.
    scores = [part for place, name in enumerate(names) for part in (place * 7_919 % number, name)]
    await ask(redis, "ZADD", DUE, *scores)
    await due.set("t_later", NOW + timedelta(microseconds=10))
    await redis.config_resetstat()

    found: list[str] = []
    while page := await due.tenants(now=NOW, after=found[-1] if found else "", limit=PAGE):
        found += page
    assert found == names

    pages = number // PAGE + 1
    sent = (await redis.info("stats"))["total_net_output_bytes"]
    assert sent < 60 * number + 10_000, "what is sent is the ids, once"
    calls = {name: stats["calls"] for name, stats in (await redis.info("commandstats")).items()}
    assert (calls["cmdstat_zrangestore"], calls["cmdstat_zscore"], calls["cmdstat_zrange"]) == (1, number, pages)
    await redis.aclose()


async def test_what_changes_while_a_sweep_is_under_way(own_servers: OwnServers) -> None:
    redis = connect((await own_servers(Server.REDIS)).addresses.redis_url)
    due = DueIndex(redis)
    for name in "abcdef":
        await due.set(name, NOW)
    assert await due.tenants(now=NOW, after="", limit=2) == ["a", "b"]
    # Whole pages of those that are no longer due are no end.
    for name in "cd":
        await due.set(name, None)
    await due.set("e", NOW + timedelta(days=1))
    assert await due.tenants(now=NOW, after="b", limit=2) == ["f"]
    assert await due.tenants(now=NOW, after="f", limit=2) == []
    # Another moment is another list, as is the next sweep, and what has expired.
    assert await due.tenants(now=NOW + timedelta(days=2), after="a", limit=9) == ["b", "e", "f"]
    await due.set("g", NOW)
    assert await due.tenants(now=NOW, after="b", limit=9) == ["f"]
    await ask(redis, "DEL", due_listed(repr(NOW.timestamp())))
    assert await due.tenants(now=NOW, after="b", limit=9) == ["f", "g"]
    await due.set("h", NOW)
    assert await due.tenants(now=NOW, after="", limit=9) == ["a", "b", "f", "g", "h"]
    await redis.aclose()


async def test_sweeps_of_two_moments_that_overlap_make_one_list_each(own_servers: OwnServers) -> None:
    redis = connect((await own_servers(Server.REDIS)).addresses.redis_url)
    due, names = DueIndex(redis), [f"t_{place:03}" for place in range(20)]
    for name in names:
        await due.set(name, NOW)
    await redis.config_resetstat()
    found: dict[datetime, list[str]] = {NOW: [], NOW + timedelta(hours=1): []}
    for _ in range(5):
        for now, tenants in found.items():
            tenants.extend(await due.tenants(now=now, after=tenants[-1] if tenants else "", limit=4))
    assert [*found.values()] == [names, names]
    assert (await redis.info("commandstats"))["cmdstat_zrangestore"]["calls"] == 2
    # What is over is listed no longer.
    moments = {repr(now.timestamp()) for now in found}
    assert await ask(redis, "SMEMBERS", DUE_MOMENTS) == moments
    for moment in moments:
        assert 0 < await ask(redis, "TTL", due_listed(moment)) <= 3_600
        await ask(redis, "DEL", due_listed(moment))
    later = NOW + timedelta(hours=2)
    await due.tenants(now=later, after="", limit=4)
    assert await ask(redis, "SMEMBERS", DUE_MOMENTS) == {repr(later.timestamp())}
    await redis.aclose()
