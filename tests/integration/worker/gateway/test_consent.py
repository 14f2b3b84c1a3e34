"""Nothing is extracted without consent; what is withdrawn is neither written nor recalled, whatever Redis lost."""

import contextlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue, SecretStr
from pytest_httpserver import HTTPServer

from perdure import Actor, ActorKind, RecallRequest, RememberRequest
from perdure.errors import InvalidInput, StoreUnavailable
from perdure.memory.consent_book import ConsentBook, consents_of
from perdure.memory.recall.query import RecallResult
from perdure.memory.wholeness import Wholeness
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.journal.lines import Consented
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.consents import RedisConsents
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.marks import RedisMarks
from perdure.values.consents import Consent
from perdure.values.entries import Memory, Purpose
from perdure.values.jobs import Fate
from perdure.values.requests import ConsentRequest, ObserveRequest
from perdure.values.statements import Said, Voice
from perdure.values.strategies import Strategy
from perdure.values.updates import Correction, Merger, Pinning, Reversion, UpdateRequest
from tests.conftest import Servers, clean_settings
from tests.deployment import Deployment
from tests.support.model_server import serve_model
from worker.gateway import Gateway
from worker.reader import open_reader

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
GIVEN, EXTRACTED = Purpose.GIVEN, Purpose.EXTRACTED


async def said(gateway: Gateway, user: str, text: str = "I always travel by train.") -> list[Fate]:
    one = Said(text=text, by=Voice.USER, at=datetime.now(UTC), occurrence=uuid4().hex)
    found = await gateway.observe(ObserveRequest(user_id=user, session="s", said=(one,)), by=TESTER)
    return [item.fate for item in (await gateway.receipt(found.job, by=TESTER)).items]


async def given(gateway: Gateway, user: str, text: str) -> list[tuple[Fate, str]]:
    item: JsonValue = {"kind": "memory", "content": text, "occurrence": uuid4().hex}
    job = await gateway.remember(RememberRequest(user_id=user, key=uuid4().hex, items=(item,)), by=TESTER)
    return [(item.fate, item.reason) for item in (await gateway.receipt(job, by=TESTER)).items]


async def say(gateway: Gateway, user: str, **what: Any) -> dict[str, bool]:
    return (await gateway.consent(ConsentRequest(user_id=user, **what), by=TESTER)).granted


async def recalled(gateway: Gateway, user: str, **more: Any) -> RecallResult:
    return await gateway.recall(RecallRequest(user_id=user, text="train", explain=True, **more), by=TESTER)


@pytest.mark.slow
async def test_by_default_nothing_is_extracted_and_what_is_given_is_kept(
    here: Deployment, gateway: Gateway, servers: Servers, user: str, tmp_path: Path
) -> None:
    assert await say(gateway, user) == {"given": True, "extracted": False}
    with pytest.raises(InvalidInput, match=r"has not consented to keeping what is extracted .*--grant extracted"):
        await said(gateway, user)
    # Where the caller cannot tell, the worker refuses it.
    async with Gateway(clean_settings(tmp_path / "elsewhere", task_queue=here.queue), servers) as elsewhere:
        assert await said(elsewhere, user) == [Fate.REJECTED]
    assert await here.services.longterm.everything(here.services.tenant_key.tenant_of(user)) == {}
    assert [fate for fate, _ in await given(gateway, user, "The train is late.")] == [Fate.SEARCHABLE]
    assert (await recalled(gateway, user)).withheld == ()


@pytest.mark.parametrize("consents", [False, True], ids=["none", "control"])
async def test_no_model_is_asked_about_what_may_not_be_kept(
    here: Deployment, servers: Servers, user: str, httpserver: HTTPServer, consents: bool
) -> None:
    def nothing(instructions: str, text: str) -> str:
        return '{"found": []}'

    url = serve_model(httpserver, nothing)
    models: dict[str, Any] = {"model": "openai:test", "openai_api_key": SecretStr("k"), "openai_base_url": url}
    async with Gateway(here.settings.model_copy(update=models), servers) as asking:
        if consents:
            await say(asking, user, grant=[EXTRACTED])
        one = Said(text="I always travel by train.", by=Voice.USER, at=datetime.now(UTC), occurrence="s/1")
        request = ObserveRequest(user_id=user, session="s", said=(one,))
        if consents:
            with contextlib.suppress(StoreUnavailable):
                await asking.observe(request, by=TESTER)
        else:
            with pytest.raises(InvalidInput, match="--grant extracted"):
                await asking.observe(request, by=TESTER)
    assert bool(httpserver.log) is consents


@pytest.mark.slow
async def test_what_was_withdrawn_is_not_recalled_and_the_result_says_so(
    here: Deployment, gateway: Gateway, user: str
) -> None:
    assert await say(gateway, user, grant=[EXTRACTED]) == {"given": True, "extracted": True}
    assert await said(gateway, user) == [Fate.SEARCHABLE]
    await given(gateway, user, "The train station is in the north.")
    tenant = here.services.tenant_key.tenant_of(user)
    for entry in (await here.services.longterm.everything(tenant)).values():
        assert isinstance(entry, Memory)
        named = entry.changed(names=("train",), version=entry.version)
        await here.services.longterm.put(tenant, [named], {})
    for strategy in Strategy:
        assert len((await recalled(gateway, user, strategy=strategy)).items) == 2, f"the control: {strategy}"
    await say(gateway, user, withdraw=[EXTRACTED])
    for strategy in Strategy:
        found = await recalled(gateway, user, strategy=strategy)
        assert [item.text for item in found.items] == ["The train station is in the north."], strategy
        assert found.withheld == (EXTRACTED,)
        assert "always travel" not in found.model_dump_json()
    await say(gateway, user, grant=[EXTRACTED], withdraw=[GIVEN])
    for strategy in Strategy:
        found = await recalled(gateway, user, strategy=strategy)
        assert [item.text for item in found.items] == ["I always travel by train."], strategy
        assert found.withheld == (GIVEN,)


@pytest.mark.slow
async def test_what_was_withdrawn_is_not_read_by_its_id(
    here: Deployment, gateway: Gateway, servers: Servers, user: str
) -> None:
    await say(gateway, user, grant=[EXTRACTED])
    await said(gateway, user)
    await given(gateway, user, "The train station is in the north.")
    tenant = here.services.tenant_key.tenant_of(user)
    ids = list(await here.services.longterm.everything(tenant))
    async with open_reader(here.settings, servers) as reader:
        assert reader is not None
        assert len(await reader.texts(tenant, ids, by=TESTER)) == 2, "the control"
        await say(gateway, user, withdraw=[EXTRACTED])
        found = await reader.texts(tenant, ids, by=TESTER)
    assert list(found.values()) == ["The train station is in the north."]


@pytest.mark.slow
async def test_nothing_is_given_or_corrected_once_that_is_withdrawn(gateway: Gateway, user: str) -> None:
    await given(gateway, user, "The train is late.")
    [entry] = await gateway.memories(user, by=TESTER)
    await say(gateway, user, withdraw=[GIVEN])
    [(fate, reason)] = await given(gateway, user, "The bus is late.")
    assert (fate, "--grant given" in reason) == (Fate.REJECTED, True)
    request = UpdateRequest(user_id=user, id=entry.id, update=Correction(content="The train is early."))
    with pytest.raises(InvalidInput, match="--grant given"):
        await gateway.update(request, by=TESTER)
    assert [one.text for one in await gateway.memories(user, by=TESTER)] == ["The train is late."]


@pytest.mark.parametrize("withdrawn", [True, False], ids=["withdrawn", "control"])
@pytest.mark.parametrize("when", ["before it is planned", "before it is applied"])
async def test_what_is_withdrawn_while_a_job_waits_is_not_written(
    here: Deployment, user: str, when: str, withdrawn: bool
) -> None:
    services, now = here.services, datetime.now(UTC)
    tenant = services.tenant_key.tenant_of(user)

    async def say(*, grant: bool) -> None:
        granting, withdrawing = ([EXTRACTED], []) if grant else ([], [EXTRACTED])
        await services.consents.say(
            tenant, grant=granting, withdraw=withdrawing, operation=uuid4().hex, by=TESTER, at=now
        )

    await say(grant=True)
    item: JsonValue = {"kind": "memory", "content": "Trains it is.", "occurrence": "o", "occurred_at": now.isoformat()}
    offered = read_batch(tenant=tenant, key="k", items=[item], accepted_at=now, session="s")
    batch, _ = await services.intake.taken(offered, job="job", at=now)
    assert [one.kind for one in batch.items] == ["memory"], "the control: it was accepted"
    planned = await services.writer.plan(batch, at=now) if when == "before it is applied" else None
    if withdrawn:
        await say(grant=False)
    planned = planned or await services.writer.plan(batch, at=now)
    applied = await services.writer.apply(batch, planned, operation="job")
    receipts = await services.writer.confirm(batch, applied.plan or planned, applied.versions)
    assert receipts is not None
    assert len(await services.longterm.everything(tenant)) == (0 if withdrawn else 1)
    assert [("--grant extracted" in one.reason, one.fate) for one in receipts] == [
        (True, Fate.REJECTED) if withdrawn else (False, Fate.SEARCHABLE)
    ]


async def test_what_an_attempt_wrote_before_it_was_withdrawn_is_settled(here: Deployment, user: str) -> None:
    services, now = here.services, datetime.now(UTC)
    tenant = services.tenant_key.tenant_of(user)
    item: JsonValue = {"kind": "memory", "content": "Trains it is.", "occurrence": "o", "occurred_at": now.isoformat()}
    batch = read_batch(tenant=tenant, key="k", items=[item], accepted_at=now)
    planned = await services.writer.plan(batch, at=now)
    first = await services.writer.apply(batch, planned, operation="job")
    await services.consents.say(tenant, grant=[], withdraw=[GIVEN], operation="w", by=TESTER, at=now)
    again = await services.writer.apply(batch, planned, operation="job")
    assert again.versions == first.versions


@pytest.mark.slow
@pytest.mark.parametrize("update", ["revert", "merge"])
async def test_what_a_withdrawn_memory_says_is_not_written_by_its_id(
    here: Deployment, gateway: Gateway, user: str, update: str
) -> None:
    await say(gateway, user, grant=[EXTRACTED])
    await said(gateway, user)
    [one] = await gateway.memories(user, by=TESTER)
    await said(gateway, user, "The train station is in the north.")
    other = next(entry.id for entry in await gateway.memories(user, by=TESTER) if entry.id != one.id)
    pinning = UpdateRequest(user_id=user, id=one.id, update=Pinning(pinned=True))
    await gateway.update(pinning, by=TESTER)
    change = Reversion(version=1) if update == "revert" else Merger(other=one.id)
    asked = UpdateRequest(user_id=user, id=one.id if update == "revert" else other, update=change)
    before = await here.services.longterm.everything(here.services.tenant_key.tenant_of(user))
    await say(gateway, user, withdraw=[EXTRACTED])
    with pytest.raises(InvalidInput, match="--grant extracted"):
        await gateway.update(asked, by=TESTER)
    assert await here.services.longterm.everything(here.services.tenant_key.tenant_of(user)) == before
    await gateway.update(pinning.changed(update=Pinning(pinned=False)), by=TESTER)
    await say(gateway, user, grant=[EXTRACTED])
    await gateway.update(asked, by=TESTER)


@pytest.mark.slow
async def test_what_is_also_given_is_kept_without_the_other_consent(gateway: Gateway, user: str) -> None:
    await say(gateway, user, grant=[EXTRACTED])
    await said(gateway, user)
    await given(gateway, user, "I always travel by train.")
    await say(gateway, user, withdraw=[EXTRACTED])
    assert [item.text for item in (await recalled(gateway, user)).items] == ["I always travel by train."]


async def test_consent_is_rebuilt_where_redis_lost_it(here: Deployment, gateway: Gateway, user: str) -> None:
    await say(gateway, user, grant=[EXTRACTED], withdraw=[GIVEN])
    tenant, redis = here.services.tenant_key.tenant_of(user), here.services.redis
    before = await here.services.consents.of(tenant)
    await ask(redis, "DEL", keys.consents(tenant))
    assert await here.services.consents.of(tenant) == {}, "the control"
    await here.services.reconciler.reconcile(tenant, operation="reconcile", by=TESTER)
    assert await here.services.consents.of(tenant) == before
    # And the other way round.
    await here.services.journal.erase(tenant)
    await here.services.reconciler.reconcile(tenant, operation="again", by=TESTER)
    assert consents_of(await here.services.journal.read(tenant)) == before


async def test_what_was_said_last_counts_unless_it_was_held_up(here: Deployment, user: str) -> None:
    services, now = here.services, datetime.now(UTC)
    tenant = services.tenant_key.tenant_of(user)

    async def granted(operation: str, *, grant: bool, at: datetime) -> bool:
        granting = [EXTRACTED] if grant else list[Purpose]()
        withdrawing = list[Purpose]() if grant else [EXTRACTED]
        await services.consents.say(tenant, grant=granting, withdraw=withdrawing, operation=operation, by=TESTER, at=at)
        await services.reconciler.reconcile(tenant, operation=f"reconcile {operation}", by=TESTER)
        read = consents_of(await services.journal.read(tenant))
        assert read == await services.consents.of(tenant)
        return read[EXTRACTED].granted

    assert await granted("one", grant=True, at=now + timedelta(hours=1))
    assert not await granted("two", grant=False, at=now), "a clock that was ahead overtakes nothing"
    assert not await granted("three", grant=True, at=now - timedelta(hours=1)), "it was asked for before that"
    assert await granted("four", grant=True, at=now), "the control"


async def test_a_late_attempt_revives_no_consent_that_was_withdrawn_meanwhile(here: Deployment, user: str) -> None:
    consents, tenant = here.services.consents, here.services.tenant_key.tenant_of(user)
    now = datetime.now(UTC)
    # What an attempt leaves that is killed before it comes to Redis.
    killed = Consent(purpose=EXTRACTED, granted=True, at=now, by=TESTER, order=1, operation="one")
    await here.services.journal.append(tenant, [Consented(consent=killed)])

    async def say_again(operation: str, *, grant: Sequence[Purpose] = (), withdraw: Sequence[Purpose] = ()) -> bool:
        found = await consents.say(tenant, grant=grant, withdraw=withdraw, operation=operation, by=TESTER, at=now)
        return found[EXTRACTED].granted

    assert not await say_again("two", withdraw=[EXTRACTED])
    assert not await say_again("one", grant=[EXTRACTED])
    assert await say_again("three", grant=[EXTRACTED]), "the control"


@pytest.mark.parametrize("journal", [True, False], ids=["the journal tells", "nothing tells"])
async def test_without_redis_the_journal_tells_and_without_both_it_is_unknown(
    here: Deployment, user: str, journal: bool, tmp_path: Path
) -> None:
    services, tenant = here.services, here.services.tenant_key.tenant_of(user)
    now = datetime.now(UTC)
    await services.consents.say(tenant, grant=(), withdraw=[GIVEN], operation="o", by=TESTER, at=now)
    folder = services.journal.folder if journal else tmp_path / "not mounted"
    away = connect("redis://127.0.0.1:1")
    whole = Wholeness(JournalMarks(folder), RedisMarks(away), services.longterm.marks)
    book = ConsentBook(RedisConsents(away), Journal(folder), Leases(away), whole, services.audit)
    if journal:
        assert not (await book.of(tenant))[GIVEN].granted
    else:
        with pytest.raises(StoreUnavailable, match="cannot tell what the user consents to"):
            await book.of(tenant)
    await away.aclose()


async def test_both_at_once_and_an_unknown_purpose_are_refused(gateway: Gateway, user: str) -> None:
    with pytest.raises(InvalidInput, match="is also withdrawn"):
        await say(gateway, user, grant=[GIVEN], withdraw=[GIVEN])
    with pytest.raises(InvalidInput, match="gven"):
        await say(gateway, user, grant=["gven"])
