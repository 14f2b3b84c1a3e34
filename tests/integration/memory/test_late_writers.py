"""What a process that slept past its lease writes crosses no erasure: entries, deletions, members and consents."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from perdure.errors import LeaseLost, TenantErased
from perdure.identity import object_uuid
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.members import RedisMembers
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Purpose
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.integration.memory.forgetting.test_forgetter import LATER, passing, write
from tests.integration.memory.test_membership import ADMIN, names_left, say
from tests.support.cutting import collection_of
from worker.wiring.services import Services


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    async with deployment(servers, tmp_path / "home", serving=False) as one:
        yield one


class Asleep:
    """Has a process sleep at a call that names a tenant, once: before it does what it does, or after that."""

    def __init__(self, call: Callable[..., Awaitable[Any]], tenant: str, *, nth: int = 1, after: bool = False) -> None:
        self._call, self._tenant, self._left, self._after = call, tenant, nth, after
        self.sleeps, self.wakes = asyncio.Event(), asyncio.Event()

    async def __call__(self, tenant: str, *args: Any, **kwargs: Any) -> Any:
        self._left -= tenant == self._tenant
        here = tenant == self._tenant and self._left == 0
        if here and not self._after:
            await self._sleep()
        found = await self._call(tenant, *args, **kwargs)
        if here and self._after:
            await self._sleep()
        return found

    async def _sleep(self) -> None:
        self.sleeps.set()
        await self.wakes.wait()


async def erase(here: Deployment, *tenants: str, while_asleep: tuple[str, ...]) -> None:
    """Erase users while somebody sleeps whose leases on these tenants run out."""
    for tenant in while_asleep:
        await ask(here.services.redis, "DEL", keys.lease(tenant))
    for tenant in tenants:
        await here.services.eraser.begin(tenant, operation="erase", by=ADMIN, at=datetime.now(UTC))
        await here.services.eraser.remove(tenant, "erase")
        assert await here.services.eraser.left(tenant) == ()


async def remember(services: Services, tenant: str) -> None:
    await write(services, tenant, passing("late", "o9"), operation="late")


async def refuse(services: Services, tenant: str) -> None:
    await forget(services, tenant)
    await write(services, tenant, passing("first", "o0"), operation="late")


async def forget(services: Services, tenant: str) -> None:
    plan = await services.forgetter.plan(tenant, at=LATER, approved=True)
    assert len(plan.tombstone) == 1
    await services.forgetter.tombstone(plan, sweep="late", by=ADMIN)


async def repair(services: Services, tenant: str) -> None:
    """Write to an entry that a filter no longer finds."""
    [identifier] = await write(services, tenant, passing("early", "o1"))
    collection = await collection_of(services.longterm, tenant, "record")
    found = await collection.query.fetch_object_by_id(object_uuid(tenant, identifier), include_vector=True)
    kept: dict[str, Any] = {name: value for name, value in found.properties.items() if name != "state"}
    await collection.data.replace(uuid=object_uuid(tenant, identifier), properties=kept, vector=found.vector)
    await write(services, tenant, passing("early", "o2"), operation="late")


async def reconcile(services: Services, tenant: str) -> None:
    await services.journal.erase(tenant)
    await services.reconciler.reconcile(tenant, operation="late", by=ADMIN)


async def reconcile_deletions(services: Services, tenant: str) -> None:
    await forget(services, tenant)
    await reconcile(services, tenant)


async def reconcile_consents(services: Services, tenant: str) -> None:
    now = datetime.now(UTC)
    await services.consents.say(tenant, grant=[Purpose.EXTRACTED], withdraw=[], operation="o", by=ADMIN, at=now)
    await reconcile(services, tenant)


LATE: dict[str, tuple[Callable[[Services, str], Coroutine[Any, Any, None]], int]] = {
    "what is remembered": (remember, 1),
    "that it was written": (remember, 2),
    "what is refused": (refuse, 3),
    "what is forgotten": (forget, 1),
    "what is written anew": (repair, 3),
    "what the journal lost": (reconcile, 1),
    "that it lost it": (reconcile, 2),
    "deletions that it lost": (reconcile_deletions, 3),
    "consents that it lost": (reconcile_consents, 2),
}
"""What is written to the journal, and by which of its writers' lines."""


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["before the line is written", "after it"])
@pytest.mark.parametrize(
    "begun", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["erased later", "being erased already"]
)
@pytest.mark.parametrize("what", LATE)
async def test_nothing_comes_back_of_who_was_erased_while_the_writer_slept(
    here: Deployment, tenant: str, monkeypatch: pytest.MonkeyPatch, what: str, begun: bool, after: bool
) -> None:
    services, (late, nth) = here.services, LATE[what]
    if begun:
        await services.eraser.begin(tenant, operation="erase", by=ADMIN, at=datetime.now(UTC))
    await write(services, tenant, passing("first", "o0"), operation="first")
    asleep = Asleep(services.journal.append, tenant, nth=nth, after=after)
    monkeypatch.setattr(services.journal, "append", asleep)
    writing = asyncio.create_task(late(services, tenant))
    async with asyncio.timeout(30):
        await asleep.sleeps.wait()
    await erase(here, tenant, while_asleep=(tenant,))
    asleep.wakes.set()
    with suppress(LeaseLost, TenantErased):
        await writing
    assert await services.eraser.left(tenant) == ()


@pytest.mark.parametrize("after", [False, True], ids=["before the line is written", "after it"])
@pytest.mark.slow
async def test_who_was_erased_while_the_writer_slept_is_named_in_no_list(
    here: Deployment, team: str, user: str, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    key, journal, asked = here.services.tenant_key, here.services.journal, datetime.now(UTC)
    owner, member = key.tenant_of_owner(team), key.tenant_of(user)
    asleep = Asleep(journal.append, owner, after=after)
    monkeypatch.setattr(journal, "append", asleep)
    saying = asyncio.create_task(here.services.members.say(team, user, belongs=True, operation="o", by=ADMIN, at=asked))
    await asleep.sleeps.wait()
    await erase(here, member, while_asleep=(owner, member))
    asleep.wakes.set()
    with pytest.raises(LeaseLost if after else TenantErased):
        await saying
    assert await names_left(here, team, user) == set()
    assert await here.services.eraser.left(member) == ()


@pytest.mark.parametrize("after", [False, True], ids=["before the line is written", "after it"])
async def test_a_consent_is_not_kept_of_who_was_erased_while_the_writer_slept(
    here: Deployment, user: str, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    tenant, journal = here.services.tenant_key.tenant_of(user), here.services.journal
    asleep = Asleep(journal.append, tenant, after=after)
    monkeypatch.setattr(journal, "append", asleep)
    saying = asyncio.create_task(
        here.services.consents.say(
            tenant, grant=[Purpose.EXTRACTED], withdraw=[], operation="o", by=ADMIN, at=datetime.now(UTC)
        )
    )
    await asleep.sleeps.wait()
    await erase(here, tenant, while_asleep=(tenant,))
    asleep.wakes.set()
    with pytest.raises(LeaseLost if after else TenantErased):
        await saying
    assert await here.services.eraser.left(tenant) == ()


@pytest.mark.parametrize("what", ["agreeing", "striking another"])
async def test_a_list_is_not_written_as_it_was_before_the_writer_slept(
    here: Deployment, team: str, user: str, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    services, key, other = here.services, here.services.tenant_key, f"other {uuid4().hex}"
    owner, member = key.tenant_of_owner(team), key.tenant_of(user)
    await say(here, team, user, by=Actor(kind=ActorKind.PERSON, id=other))
    lines = await services.journal.read(owner)
    if what == "agreeing":
        await ask(services.redis, "DEL", keys.members(owner))
    asleep = Asleep(services.journal.read, owner, after=True)
    monkeypatch.setattr(services.journal, "read", asleep)
    writes = (
        services.members.agree(owner, lines) if what == "agreeing" else services.members.strike(key.tenant_of(other))
    )
    writing = asyncio.create_task(writes)
    await asleep.sleeps.wait()
    await erase(here, member, while_asleep=(owner,))
    asleep.wakes.set()
    with pytest.raises(LeaseLost):
        await writing
    assert await names_left(here, team, user) == set()


async def test_who_was_struck_since_the_lines_were_read_is_not_written_back(
    here: Deployment, team: str, user: str
) -> None:
    services, key = here.services, here.services.tenant_key
    await say(here, team, user)
    lines = await services.journal.read(key.tenant_of_owner(team))
    await erase(here, key.tenant_of(user), while_asleep=())
    await services.members.agree(key.tenant_of_owner(team), lines)
    assert await names_left(here, team, user) == set()


async def test_redis_refuses_what_is_written_under_a_lease_that_has_run_out(here: Deployment, tenant: str) -> None:
    leases, members = Leases(here.services.redis), RedisMembers(here.services.redis)
    async with leases.hold(tenant) as lease:
        await members.name(tenant, map(str, range(2500)), lease)
        await ask(here.services.redis, "DEL", keys.lease(tenant))
        async with leases.hold(tenant):
            with pytest.raises(LeaseLost):
                await members.name(tenant, ["late"], lease)
    assert await members.named(tenant) == {str(number) for number in range(2500)}
