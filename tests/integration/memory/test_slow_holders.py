"""Who reads a large journal under a lease, or waits there for a slow model, writes after all."""

import asyncio
import json
import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import pytest

from perdure.memory.consent_book import ConsentBook
from perdure.memory.membership import MemberBook
from perdure.models.embedding import Vector
from perdure.stores.journal import lines
from perdure.stores.journal.lines import Consented, Line, Settled, decode
from perdure.stores.journal.log import Journal
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.redis.consents import RedisConsents
from perdure.stores.redis.leases import SHORT_WRITE, Leases
from perdure.stores.redis.members import RedisMembers
from perdure.stores.tenant_key import TenantKey
from perdure.values.changes import Actor, ActorKind
from perdure.values.consents import Consent
from perdure.values.entries import Purpose
from tests.conftest import TENANT_KEY
from tests.integration.conftest import Stores, member_book
from tests.integration.memory.reconciliation.test_losses import fill, remembered
from tests.integration.memory.test_repair import batch_of, two_of_three_unindexed

BY = Actor(kind=ActorKind.PERSON, id="ada")
MARGIN = 6.0
"""What a write asks for of the lease: twice the time limit of the ``stores``' client."""
SPARE = 0.5
"""What the leases of these tests last beyond what a write asks for."""
SLOW = 1.0
"""How long a journal takes to be read here, or texts to be embedded."""


@pytest.fixture
def slow_journal(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> Journal:
    read = stores.journal.read

    async def slowly(tenant: str, *, naming: Collection[str] = ()) -> list[Line]:
        found = await read(tenant, naming=naming)
        await asyncio.to_thread(time.sleep, SLOW)
        return found

    monkeypatch.setattr(stores.journal, "read", slowly)
    return stores.journal


class Slow:
    """The model of the ``stores`` on a busy machine; notes during which of its calls a tenant's lease was held."""

    def __init__(self, stores: Stores, tenant: str) -> None:
        self._inner, self._leases, self._tenant = stores.embedder, stores.leases, tenant
        self.held: list[bool] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.held.append(await self._leases.writer(self._tenant) is None)
        await asyncio.to_thread(time.sleep, SLOW)
        return await self._inner.embed(texts)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["redis", pytest.param("journal", marks=pytest.mark.slow)])
async def test_what_redis_or_the_journal_lost_is_rebuilt_from_a_journal_that_is_slow_to_read(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, slow_journal: Journal, lost: str
) -> None:
    before, consents = await fill(stores, tenant), RedisConsents(stores.redis)
    said = Consent(purpose=Purpose.EXTRACTED, granted=True, at=datetime.now(UTC), by=BY, order=1, operation="o")
    if lost == "redis":
        await slow_journal.append(tenant, [Consented(consent=said)])
        await ask(stores.redis, "DEL", keys.deletions(tenant))
    else:
        async with stores.leases.hold(tenant) as lease:
            await consents.write(tenant, [said], lease)
        await slow_journal.erase(tenant)
    monkeypatch.setattr(stores.leases, "_seconds", MARGIN + SPARE)
    await stores.reconciler.reconcile(tenant, operation="reconcile:1", by=BY)
    assert await remembered(stores, tenant) == before
    assert await consents.of(tenant) == {Purpose.EXTRACTED: said}


@pytest.mark.slow
async def test_a_user_with_a_journal_that_is_slow_to_read_gives_and_withdraws_consent(
    stores: Stores, tenant: str, slow_journal: Journal
) -> None:
    leases = Leases(stores.redis, seconds=SHORT_WRITE + SPARE)
    book = ConsentBook(RedisConsents(stores.redis), slow_journal, leases, stores.whole, stores.audit)
    for operation, granted in (("one", True), ("two", False)):
        grant, withdraw = ([Purpose.EXTRACTED], []) if granted else ([], [Purpose.EXTRACTED])
        found = await book.say(tenant, grant=grant, withdraw=withdraw, operation=operation, by=BY, at=datetime.now(UTC))
        assert found[Purpose.EXTRACTED].granted is granted


async def test_of_a_large_journal_only_what_tells_of_consents_and_members_is_decoded(
    stores: Stores, tenant: str, team: str, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, now, decoded = TenantKey(TENANT_KEY), datetime.now(UTC), list[bytes]()
    book = ConsentBook(RedisConsents(stores.redis), stores.journal, stores.leases, stores.whole, stores.audit)
    members = member_book(stores.redis, stores.journal, stores.whole, stores.audit, key)
    for one in (tenant, key.tenant_of_owner(team)):
        settled = [Settled(operation=f"job {number}", at=now) for number in range(100)]
        await stores.journal.append(one, settled)

    def noted(raw: bytes) -> Line | None:
        decoded.append(raw)
        return decode(raw)

    monkeypatch.setattr(lines, "decode", noted)
    for operation in ("one", "two"):
        await book.say(tenant, grant=[Purpose.EXTRACTED], withdraw=[], operation=operation, by=BY, at=now)
        await members.say(team, user, belongs=True, operation=operation, by=BY, at=now)
    assert {json.loads(raw)["kind"] for raw in decoded} == {"consented", "enrolled"}


@pytest.mark.slow
async def test_a_team_with_a_journal_that_is_slow_to_read_gets_members_and_its_list_is_rebuilt(
    stores: Stores, team: str, user: str, slow_journal: Journal
) -> None:
    key, leases = TenantKey(TENANT_KEY), Leases(stores.redis, seconds=SHORT_WRITE + SPARE)
    book = MemberBook(
        RedisMembers(stores.redis), journal=slow_journal, leases=leases, whole=stores.whole, audit=stores.audit, key=key
    )
    owner = key.tenant_of_owner(team)
    await book.say(team, user, belongs=True, operation="o", by=BY, at=datetime.now(UTC))
    assert await book.tenant(user, team) == owner
    await ask(stores.redis, "DEL", keys.members(owner))
    await book.agree(owner, await slow_journal.read(owner))
    assert await book.tenant(user, team) == owner


@pytest.mark.slow
async def test_what_the_store_lost_is_written_with_vectors_of_a_slow_model(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(tenant, 3)
    plan = await stores.writer.plan(batch, at=datetime.now(UTC))
    versions = (await stores.writer.apply(batch, plan, operation="job")).versions
    before = await stores.longterm.everything(tenant)
    await stores.longterm.delete(tenant, sorted(versions))
    slow = Slow(stores, tenant)
    monkeypatch.setattr(stores.leases, "_seconds", MARGIN + SPARE)
    monkeypatch.setattr(stores.repair, "_embedder", slow)
    merged = await stores.reconciler.reconcile(tenant, operation="reconcile:1", by=BY)
    assert merged.found.written == 3
    assert await stores.longterm.everything(tenant) == before
    assert slow.held == [False], "nobody waits for the model"


async def test_what_no_search_finds_is_repaired_with_vectors_of_a_slow_model(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await two_of_three_unindexed(stores, tenant)
    monkeypatch.setattr(stores.leases, "_seconds", MARGIN + SPARE)
    monkeypatch.setattr(stores.repair, "_embedder", Slow(stores, tenant))
    assert await stores.repair.repair(tenant, ids) == 2
    assert await stores.longterm.unsearchable(tenant) == []
