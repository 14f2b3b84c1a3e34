"""Everything that Redis holds of one user can be listed without looking at anybody else's."""

import inspect
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from perdure.stores.journal.marks import JournalMarks
from perdure.stores.journal.values import ValueFiles
from perdure.stores.redis import keys
from perdure.stores.redis.accesses import Accesses
from perdure.stores.redis.bindings import TaskBindings
from perdure.stores.redis.call_slots import CallSlots
from perdure.stores.redis.changed_tenants import ChangedTenants
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.claims import Claims, OnceEffect
from perdure.stores.redis.connection import connect
from perdure.stores.redis.consents import RedisConsents
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.feedback import RedisFeedback
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.members import RedisMembers
from perdure.stores.redis.observations import Observations
from perdure.stores.redis.open_tenants import ActiveTenants
from perdure.stores.redis.outputs import Outputs
from perdure.stores.redis.promotions import Promotions
from perdure.stores.redis.recalls import TaskRecalls
from perdure.stores.redis.reply_streams import ReplyStreams
from perdure.stores.redis.session_items import SessionItemStore
from perdure.stores.redis.sessions import SessionWrites
from perdure.stores.redis.tenant_inventory import holdings, remove
from perdure.values.bindings import TaskBinding
from perdure.values.changes import Actor, ActorKind, Deletion
from perdure.values.chats import PieceKind, ReplyPiece, ReplyPlace
from perdure.values.consents import Consent
from perdure.values.entries import Purpose
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.feedback import LateFeedback
from perdure.values.memberships import Membership
from perdure.values.steering import GivenFeedback
from tests.conftest import Servers
from tests.support.waiting import until

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)


async def fill(redis: Redis, tenant: str, sweep: str) -> None:
    """Put one of every kind of value there."""
    claims = Claims(redis, HOUR)
    binding = TaskBinding(skill="s", version="1", inputs={}, day=NOW.date())
    claimed, done, released = (
        OnceEffect(tenant=tenant, task_id="a task", step=step, binding=binding)
        for step in ("claimed", "done", "released")
    )
    await claims.claim(claimed, "o", 5)
    await TaskRecalls(redis, HOUR).add(tenant, "a task", ["mem_1"])
    await TaskRecalls(redis, HOUR).add(tenant, "a task", ["mem_0"])
    await TaskRecalls(redis, HOUR).credited(tenant, "a task", ["mem_0"], of=None)
    given = GivenFeedback(passed=True, by=Actor(kind=ActorKind.PERSON, id="ada"), at=NOW)
    await RedisFeedback(redis, HOUR).add(tenant, "a task", LateFeedback(id="f", first_run="r", given=given))
    place = ReplyPlace(tenant=tenant, task_id="a task", message="m")
    await ReplyStreams(redis).add(place, ReplyPiece(turn=1, attempt="a", number=0, kind=PieceKind.TEXT, text="x"))
    await Accesses(redis).add(tenant, ["mem_1"], NOW)
    await Accesses(redis).take(tenant, "an operation")
    await Accesses(redis).add(tenant, ["mem_2"], NOW)
    for held in (False, True):
        await SessionWrites(redis).admit(tenant, "one", ["an observation"], most=1, held=held)
    await Observations(redis).seen(tenant, ["books", "window seats"], "one")
    await claims.claim(done, "o", 5)
    await claims.store(done, "o", "1")
    await claims.claim(released, "o", 5)
    await claims.release(released, "o")
    await Outputs(redis, HOUR, files=ValueFiles(Path("/nowhere"))).keep(tenant, '"large"')
    for session in ("one", "two"):
        episode = Episode(id="e", kind=EpisodeKind.TURN, text="x", importance=0.5, at=NOW)
        await Episodes(redis).append(tenant, session, episode)
        await Promotions(redis).take(tenant, session, 1)
        await Episodes(redis).append(tenant, session, episode.changed(id="e2"))
    await SessionItemStore(redis).add(tenant, "one", [{"role": "user", "content": "x"}], addition="a", epoch=None)
    async with Leases(redis).hold(tenant) as lease:
        line = Deletion(id="mem_1", at=NOW, reason="expired", sweep=sweep, wordings=("mem_2",))
        await Deletions(redis).write(tenant, [line], lease)
    await DueIndex(redis).lower(tenant, NOW + timedelta(days=3650))
    await DueIndex(redis).tenants(now=NOW + timedelta(days=3651), after="", limit=1)
    await redis.set(keys.epoch(tenant), 1)
    await ChangedTenants(redis).add(tenant, NOW + timedelta(days=3650))
    await Checks(redis).written(tenant, NOW + timedelta(days=3650))
    await CallSlots(redis).take("tool", "call", 1, 3600, tenant=tenant)
    await ActiveTenants(redis).found([tenant])
    async with Leases(redis).hold(tenant) as lease:
        await Checks(redis).begin_rewrite(tenant, ["mem_1"], lease)
    by, other = Actor(kind=ActorKind.PERSON), f"t_{uuid4().hex}"
    consent = Consent(purpose=Purpose.GIVEN, granted=True, at=NOW, by=by)
    async with Leases(redis).hold(tenant) as lease:
        await RedisConsents(redis).write(tenant, [consent], lease)
        await RedisMembers(redis).write(tenant, [Membership(member=other, belongs=True, at=NOW, by=by)], lease)
        await RedisMembers(redis).name(tenant, [other], lease)
    await RedisMembers(redis).retire(tenant)


NAMES_NOBODY = {
    keys.TENANT_KEY,
    keys.RULES,
    keys.DUE_MOMENTS,
    keys.CONSOLIDATED,
    keys.SWEEP,
    keys.MARKS,
    keys.AUDIT,
    keys.ACCESS_TOKENS,
}
"""Keys of the installation without a tenant in them. Tokens name users; an erasure revokes the user's own first."""

STAYS = {keys.ERASURES}
"""What tells of an erasure, and so names a tenant for good."""


def installations_keys() -> set[str]:
    """Return the keys of the installation that may name a tenant, however many the room has."""
    constants = {value for name, value in vars(keys).items() if name.isupper() and isinstance(value, str)}
    return constants - NAMES_NOBODY - STAYS


def kinds_of_keys(tenant: str) -> dict[str, str]:
    """Return a pattern of each kind of key that a tenant can have, however many the room has, by a name for it."""
    kinds: dict[str, str] = {}
    for name, function in inspect.getmembers(keys, inspect.isfunction):
        first, *others = inspect.signature(function).parameters
        if first != "tenant" or name.startswith("_"):
            continue
        # What differs where the other arguments do is no part of the kind.
        made = [function(tenant, *([text] * len(others))) for text in ("a", "b")]
        pairs = zip(*([one] if isinstance(one, str) else one for one in made), strict=True)
        for place, (one, another) in enumerate(pairs):
            parts = zip(one.split(":"), another.split(":"), strict=True)
            kinds[f"{name} {place}"] = ":".join(re.escape(part) if part == same else ".+" for part, same in parts)
    return kinds


async def whatever_names(redis: Redis, tenant: str) -> tuple[set[str], set[str]]:
    """Return every key with the tenant in its name, and every key with the tenant in its members: by reading all."""
    client: Any = redis
    names = {key async for key in client.scan_iter(count=10_000)}
    own = {key for key in names if tenant in key}
    shared: set[str] = set()
    for key in names - own:
        match await client.type(key):
            case "zset":
                members = await client.zrange(key, 0, -1)
            case "set":
                members = await client.smembers(key)
            case "hash":
                members = [text for pair in (await client.hgetall(key)).items() for text in pair]
            case "list":
                members = await client.lrange(key, 0, -1)
            case "stream":
                members = [text for _, one in await client.xrange(key) for pair in one.items() for text in pair]
            case _:
                members = [await client.get(key) or ""]
        if any(tenant in member for member in members):
            shared.add(key)
    return own, shared


async def test_nothing_that_names_a_user_is_missing(servers: Servers) -> None:
    redis = connect(servers.redis_url)
    mine, theirs, sweep = f"t_{uuid4().hex}", f"t_{uuid4().hex}", uuid4().hex
    for tenant in (mine, theirs):
        await fill(redis, tenant, sweep)

    async def both() -> tuple[tuple[set[str], set[str]], tuple[set[str], set[str]]]:
        # The workers of other tests serve the same Redis, and strike off what they have looked at.
        await ChangedTenants(redis).add(mine, NOW + timedelta(days=3650))
        await Checks(redis).add(mine, NOW + timedelta(days=3650))
        await ActiveTenants(redis).found([mine])
        found = await holdings(redis, mine)
        return (set(found.keys), set(found.shared)), await whatever_names(redis, mine)

    async with Leases(redis).hold(mine):
        found, (own, shared) = await until(both, lambda told: told[0] == told[1], seconds=5)
    assert found == (own, shared)
    listed = keys.due_listed(repr((NOW + timedelta(days=3651)).timestamp()))
    assert shared == {*installations_keys(), keys.swept(sweep), listed}
    kinds = kinds_of_keys(mine)
    assert len(kinds) > 20
    assert {name for name, kind in kinds.items() if not any(re.fullmatch(kind, key) for key in own)} == set()
    assert not any(theirs in key for key in found[0])
    assert all(f"{{{mine}}}" in key for key in own), "the hash tag is the tenant"
    await DueIndex(redis).set(mine, None)
    await DueIndex(redis).set(theirs, None)
    await redis.aclose()


async def test_a_sweep_that_begins_while_a_user_is_removed_lists_them_no_longer(servers: Servers) -> None:
    redis, tenant = connect(f"{servers.redis_url}/4"), f"t_{uuid4().hex}"
    due = DueIndex(redis)
    await due.lower(tenant, NOW)
    held = await holdings(redis, tenant)
    for days in (0, 1):
        assert await due.tenants(now=NOW + timedelta(days=days), after="", limit=9) == [tenant]
    await ChangedTenants(redis).add(tenant, NOW)
    await remove(redis, tenant, held)
    assert await whatever_names(redis, tenant) == (set(), set())
    await redis.aclose()


async def test_the_index_forgets_what_has_expired_and_lives_as_long_as_what_it_lists(servers: Servers) -> None:
    redis = connect(servers.redis_url)
    client: Any = redis
    tenant = f"t_{uuid4().hex}"
    index = keys.index(tenant)
    await Outputs(redis, HOUR).keep(tenant, '"long"')
    await Outputs(redis, timedelta(minutes=1)).keep(tenant, '"short"')
    assert await client.pttl(index) > 3_599_000
    expired = keys.output(tenant, "output", "expired")
    await client.zadd(index, {expired: 1})
    await Outputs(redis, HOUR).keep(tenant, '"another"')
    assert expired not in await client.zrange(index, 0, -1)
    assert await client.zcard(index) == 3
    await redis.aclose()


@pytest.mark.parametrize("owned", [True, False], ids=["of its task", "control"])
@pytest.mark.parametrize("lost", ["everything", "its task's keys"])
async def test_a_value_that_redis_lost_is_renewed_with_its_task_again(
    servers: Servers, tmp_path: Path, lost: str, owned: bool
) -> None:
    redis, tenant, task_id = connect(servers.redis_url), f"t_{uuid4().hex}", "a task"
    client: Any = redis
    owner = task_id if owned else ""
    await JournalMarks(tmp_path).begin("key")
    reference = await Outputs(redis, HOUR, files=ValueFiles(tmp_path)).keep(tenant, '"x"', owner)
    place, members = keys.output(tenant, "output", reference), keys.task(tenant, task_id)[1]
    await client.delete(members, *([place, keys.index(tenant)] if lost == "everything" else []))
    short = Outputs(redis, timedelta(minutes=1), files=ValueFiles(tmp_path))
    assert await short.get(tenant, reference, owner) == "x"
    await TaskBindings(redis, HOUR).keep(tenant, task_id)
    assert (await client.pttl(place) > 3_590_000) == owned
    await redis.aclose()


@pytest.mark.parametrize("extended", [True, False], ids=["read again", "control"])
async def test_reading_an_output_prolongs_it_in_the_index_too(servers: Servers, extended: bool) -> None:
    redis = connect(servers.redis_url)
    client: Any = redis
    tenant = f"t_{uuid4().hex}"
    reference = await Outputs(redis, timedelta(minutes=1)).keep(tenant, '"x"')
    if extended:
        assert await Outputs(redis, HOUR).get(tenant, reference) == "x"
    expiry = await client.zscore(keys.index(tenant), keys.output(tenant, "output", reference))
    left = await client.pttl(keys.output(tenant, "output", reference))
    now = (await client.time())[0] * 1000
    assert (left > 3_590_000) == (expiry - now > 3_590_000) == extended
    await redis.aclose()
