"""Who belongs to whom, whichever store is away or was lost, and after an erasure."""

import shutil
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from localservers import Server
from perdure.errors import PerdureError, StoreUnavailable, TenantErased, UnknownOwner
from perdure.memory.membership import MemberBook, members_of
from perdure.memory.wholeness import Wholeness
from perdure.stores.journal.lines import Enrolled
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.redis.members import RedisMembers
from perdure.values.changes import Actor, ActorKind
from tests.conftest import OwnServers, Servers
from tests.deployment import Deployment, deployment
from tests.integration.conftest import member_book

ADMIN = Actor(kind=ActorKind.PERSON, id="admin")


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    async with deployment(servers, tmp_path / "home", serving=False) as one:
        yield one


async def say(here: Deployment, team: str, user: str, *, by: Actor = ADMIN, belongs: bool = True) -> None:
    await here.services.members.say(team, user, belongs=belongs, operation=uuid4().hex, by=by, at=datetime.now(UTC))


async def belongs(book: MemberBook, team: str, user: str) -> bool:
    try:
        await book.tenant(user, team)
    except UnknownOwner:
        return False
    return True


async def test_what_was_said_last_counts_unless_it_was_held_up_and_however_late_an_attempt_is(
    here: Deployment, team: str, user: str
) -> None:
    members, now = here.services.members, datetime.now(UTC)

    async def said(operation: str, *, joins: bool, at: datetime) -> bool:
        await members.say(team, user, belongs=joins, operation=operation, by=ADMIN, at=at)
        return await belongs(members, team, user)

    assert await said("one", joins=True, at=now + timedelta(hours=1))
    assert not await said("two", joins=False, at=now), "a clock that was ahead overtakes nothing"
    assert not await said("one", joins=True, at=now + timedelta(hours=1)), "a late attempt"
    assert not await said("three", joins=True, at=now - timedelta(seconds=20)), "it was asked for before that"
    assert await said("four", joins=True, at=now), "the control"


@pytest.mark.slow
async def test_what_was_held_up_brings_to_redis_what_overtook_it(
    here: Deployment, team: str, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    members, now = here.services.members, datetime.now(UTC)

    async def said(operation: str, *, joins: bool, at: datetime) -> None:
        await members.say(team, user, belongs=joins, operation=operation, by=ADMIN, at=at)

    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("redis", "it went away")

    await said("one", joins=True, at=now - timedelta(seconds=30))
    with monkeypatch.context() as patched:
        patched.setattr(RedisMembers, "write", away)
        with pytest.raises(StoreUnavailable):
            await said("two", joins=False, at=now)
    assert await belongs(members, team, user), "the control"
    await said("held up", joins=True, at=now - timedelta(seconds=20))
    assert not await belongs(members, team, user)


async def test_the_list_and_the_index_are_rebuilt_where_redis_or_the_journal_lost_them(
    here: Deployment, team: str, user: str
) -> None:
    services, other = here.services, f"other {uuid4().hex}"
    await say(here, team, user)
    await say(here, team, other)
    await say(here, team, other, belongs=False)
    tenant, member = services.tenant_key.tenant_of_owner(team), services.tenant_key.tenant_of(user)
    before = await RedisMembers(services.redis).all(tenant)
    assert await RedisMembers(services.redis).named(member) == {tenant}

    async def reconciled() -> None:
        for one in (tenant, member):
            await services.reconciler.reconcile(one, operation=uuid4().hex, by=ADMIN)

    for key in (keys.members(tenant), keys.named(member)):
        await ask(services.redis, "DEL", key)
    assert not await belongs(services.members, team, user), "the control"
    await reconciled()
    assert await RedisMembers(services.redis).all(tenant) == before
    assert await RedisMembers(services.redis).named(member) == {tenant}
    assert [await belongs(services.members, team, one) for one in (user, other)] == [True, False]
    for one in (tenant, member):
        await services.journal.erase(one)
    await reconciled()
    assert members_of(await services.journal.read(tenant)) == before
    await services.members.strike(member)
    assert [one.user_id for one in await services.members.of(team)] == [], "the index was rebuilt too"


@pytest.mark.parametrize("journal", [True, False], ids=["the journal tells", "nothing tells"])
async def test_without_redis_the_journal_tells_and_without_both_it_is_unknown(
    here: Deployment, team: str, user: str, journal: bool, tmp_path: Path
) -> None:
    services = here.services
    await say(here, team, user)
    folder = services.journal.folder if journal else tmp_path / "not mounted"
    away = connect("redis://127.0.0.1:1")
    whole = Wholeness(JournalMarks(folder), RedisMarks(away), services.longterm.marks)
    book = member_book(away, Journal(folder), whole, services.audit, services.tenant_key)
    if journal:
        assert await belongs(book, team, user)
        assert not await belongs(book, team, "somebody else")
        assert [one.user_id for one in await book.of(team)] == [user]
    else:
        for one in (user, "somebody else"):
            with pytest.raises(StoreUnavailable):
                await book.tenant(one, team)
        with pytest.raises(StoreUnavailable):
            await book.of(team)
    await away.aclose()


async def names_left(here: Deployment, team: str, user: str) -> set[str]:
    """Return where a list names a user: by the id, or by the tenant."""
    services, tenant = here.services, here.services.tenant_key.tenant_of_owner(team)
    journal = "".join(path.read_text("utf-8") for path in (services.journal.folder / tenant).glob("*.jsonl"))
    listed = str(await ask(services.redis, "HGETALL", keys.members(tenant)))
    sought = (user, services.tenant_key.tenant_of(user))
    return {place for place, text in (("journal", journal), ("redis", listed)) if any(one in text for one in sought)}


async def test_an_erased_user_is_in_no_list_and_everybody_else_still_is(here: Deployment, user: str) -> None:
    services, other, teams = here.services, f"other {uuid4().hex}", [f"team:{uuid4().hex[:12]}" for _ in range(3)]
    for team in teams[:2]:
        await say(here, team, user)
    # Who said so is named too.
    for team in teams[1:]:
        await say(here, team, other, by=Actor(kind=ActorKind.PERSON, id=user))
    assert [await names_left(here, team, user) for team in teams] == [{"journal", "redis"}] * 3, "the control"
    tenant = services.tenant_key.tenant_of(user)
    for _ in range(2):
        await services.eraser.begin(tenant, operation="erase", by=ADMIN, at=datetime.now(UTC))
        await services.eraser.remove(tenant, "erase")
    assert [await names_left(here, team, user) for team in teams] == [set()] * 3
    assert await services.eraser.left(tenant) == ()
    for team, members in zip(teams, ([], [(other, "")], [(other, "")]), strict=True):
        assert [(one.user_id, one.by.id) for one in await services.members.of(team)] == members
    lines = await services.journal.read(services.tenant_key.tenant_of_owner(teams[1]))
    assert [line.membership.user_id for line in lines if isinstance(line, Enrolled)] == [other]
    assert not await belongs(services.members, teams[0], user)


async def test_an_older_copy_of_the_journal_does_not_bring_a_name_back(
    here: Deployment, team: str, user: str, tmp_path: Path
) -> None:
    services = here.services
    await say(here, team, user)
    tenants = [services.tenant_key.tenant_of(user), services.tenant_key.tenant_of_owner(team)]
    for tenant in tenants:
        shutil.copytree(services.journal.folder / tenant, tmp_path / tenant)
    await services.eraser.begin(tenants[0], operation="erase", by=ADMIN, at=datetime.now(UTC))
    await services.eraser.remove(tenants[0], "erase")
    for tenant in tenants:
        shutil.rmtree(services.journal.folder / tenant, ignore_errors=True)
        shutil.copytree(tmp_path / tenant, services.journal.folder / tenant)
    log = services.journal.folder / "erasures.jsonl"
    log.write_text("".join(f"{line}\n" for line in log.read_text().splitlines() if tenants[0] not in line))
    assert await names_left(here, team, user) == {"journal"}, "the control"
    await services.eraser.apply()
    assert await names_left(here, team, user) == set()


@pytest.mark.parametrize("whose", ["user", "team"])
async def test_who_was_erased_meanwhile_is_not_added(here: Deployment, team: str, user: str, whose: str) -> None:
    key, asked = here.services.tenant_key, datetime.now(UTC)
    tenant = key.tenant_of(user) if whose == "user" else key.tenant_of_owner(team)
    await here.services.eraser.begin(tenant, operation="erase", by=ADMIN, at=asked + timedelta(seconds=1))
    with pytest.raises(TenantErased):
        await here.services.members.say(team, user, belongs=True, operation="o", by=ADMIN, at=asked)
    assert not await belongs(here.services.members, team, user)
    later = asked + timedelta(seconds=2)
    await here.services.members.say(team, user, belongs=True, operation="o", by=ADMIN, at=later)
    assert await belongs(here.services.members, team, user), "the control"


@pytest.mark.parametrize(
    ("writer", "begun"),
    [("reconciliation", True), ("reconciliation", False), ("another erasure", False)],
    ids=["reconciliation, begun before", "reconciliation, begun meanwhile", "another erasure"],
)
async def test_a_writer_that_stalls_right_before_the_journal_names_nobody_who_was_erased_meanwhile(
    here: Deployment, team: str, user: str, monkeypatch: pytest.MonkeyPatch, *, begun: bool, writer: str
) -> None:
    services, by = here.services, f"by {uuid4().hex}"
    owner, tenant, adder = services.tenant_key.tenant_of_owner(team), *map(services.tenant_key.tenant_of, (user, by))
    await say(here, team, user, by=Actor(kind=ActorKind.PERSON, id=by))
    journal = Journal(services.journal.folder)
    book = member_book(services.redis, journal, services.whole, services.audit, services.tenant_key)
    append, stalls = journal.append, True

    async def begin() -> None:
        await services.eraser.begin(tenant, operation="erase", by=ADMIN, at=datetime.now(UTC))

    async def stalled(*given: Any, **more: Any) -> None:
        nonlocal stalls
        if given[1] and stalls:
            stalls = False
            # So long that its lease has run out.
            await ask(services.redis, "DEL", keys.lease(owner))
            if not begun:
                await begin()
            await services.eraser.remove(tenant, "erase")
            assert await names_left(here, team, user) == set()
        await append(*given, **more)

    if begun:
        await begin()
    if writer == "reconciliation":
        # Right before: another test's worker may agree the stores too, and nothing would be left to write.
        await services.journal.erase(owner)
    monkeypatch.setattr(journal, "append", stalled)
    with pytest.raises(PerdureError):
        await (book.agree(owner, await journal.read(owner)) if writer == "reconciliation" else book.strike(adder))
    assert await names_left(here, team, user) == set()
    # The next attempt has nothing to write.
    await (book.agree(owner, await journal.read(owner)) if writer == "reconciliation" else book.strike(adder))
    assert await names_left(here, team, user) == set()


async def test_two_who_have_added_each_other_are_erased_at_once(here: Deployment, team: str, user: str) -> None:
    services, other = here.services, f"other {uuid4().hex}"
    both, tenants = (user, other), [services.tenant_key.tenant_of(one) for one in (user, other)]
    for one, adder in zip(both, reversed(both), strict=True):
        await say(here, team, one, by=Actor(kind=ActorKind.PERSON, id=adder))
    for tenant in tenants:
        await services.eraser.begin(tenant, operation="erase", by=ADMIN, at=datetime.now(UTC))
    for tenant in tenants:
        await services.eraser.remove(tenant, "erase")
    assert [await names_left(here, team, one) for one in both] == [set(), set()]


@pytest.mark.slow
async def test_where_redis_lost_its_data_membership_is_what_the_journal_says(
    own_servers: OwnServers, tmp_path: Path, team: str, user: str
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with deployment(fleet.addresses, tmp_path, serving=False) as here:
        await say(here, team, user)
        await ask(here.services.redis, "FLUSHALL")
        await here.services.whole.examine()
        assert await belongs(here.services.members, team, user)
        with pytest.raises(StoreUnavailable):
            await say(here, team, user, belongs=False)
        shutil.move(here.services.journal.folder, tmp_path / "elsewhere")
        with pytest.raises(StoreUnavailable):
            await belongs(here.services.members, team, user)
