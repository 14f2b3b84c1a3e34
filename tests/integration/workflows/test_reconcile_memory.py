"""The whole way back: a worker notices that a store lost its data, has it rebuilt, and tells what is gone for good."""

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import WorkflowFailureError

from activities.jobs import job_id
from localservers import Server
from perdure.errors import LeaseLost
from perdure.memory.recall.query import Query
from perdure.memory.reconciliation.reconciler import Merging
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.journal import lines
from perdure.stores.journal.lines import Accepted
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.values.entries import Lane
from perdure.values.requests import ReconcileRequest, ReconcileResult
from tests.conftest import OwnServers, Servers
from tests.deployment import Deployment, deployment
from tests.integration.memory.forgetting.test_forgetter import LATER
from tests.integration.memory.reconciliation.test_losses import copied, fill, remembered
from tests.support.broken_entries import break_entry
from worker.schedules import start_reconciling
from worker.upkeep import keep_compared


async def reconciled(here: Deployment, user: str = "") -> ReconcileResult:
    request, identifier = ReconcileRequest(user_id=user), f"r-{uuid4().hex}"
    return await here.client.execute_workflow(
        "ReconcileMemory", request, id=identifier, task_queue=here.queue, result_type=ReconcileResult
    )


@pytest.mark.slow
async def test_what_was_accepted_by_a_worker_that_died_is_remembered_after_all(
    servers: Servers, tmp_path: Path
) -> None:
    user, now = f"user {uuid4().hex}", datetime.now(UTC)
    async with deployment(servers, tmp_path) as here:
        tenant = here.services.tenant_key.tenant_of(user)

        def accepted(text: str, at: datetime) -> Sequence[Accepted]:
            item: dict[str, JsonValue] = {
                "kind": "memory",
                "content": text,
                "occurrence": text,
                "occurred_at": at.isoformat(),
            }
            batch = read_batch(tenant=tenant, key=text, items=[item], accepted_at=at)
            return lines.accepted(job_id(batch), batch, at)

        old, new = "The office is in Ghent.", "The standup is at 9."
        await here.services.journal.append(tenant, accepted(old, now - timedelta(hours=2)))
        # The control: whoever accepted it may still be about to start its job.
        await here.services.journal.append(tenant, accepted(new, now))
        assert (await reconciled(here, user)).found.jobs == 1
        job = accepted(old, now - timedelta(hours=2))[0].job
        await here.client.get_workflow_handle(job).result()
        stored = await here.services.longterm.everything(tenant)
        assert [entry.text for entry in stored.values()] == [old]
        assert (await reconciled(here, user)).found.jobs == 0


@pytest.mark.slow
@pytest.mark.parametrize("why", ["another writer holds it", "an entry cannot be read"])
async def test_one_tenant_that_cannot_be_reconciled_keeps_nobody_else_waiting(
    own_servers: OwnServers, tmp_path: Path, tenant: str, why: str
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with deployment(fleet.addresses, tmp_path) as here:
        before = await fill(here.services, tenant)
        if why == "an entry cannot be read":
            await fill(here.services, "a_busy")
            entry = next(iter((await here.services.longterm.everything("a_busy")).values()))
            await break_entry(here.services, "a_busy", entry)
        else:
            (here.settings.journal_folder / "a_busy").mkdir()
            # Nobody gives it back for as long as a writer waits for another.
            await here.services.redis.set(keys.lease("a_busy"), "another", px=60_000)
        result = await reconciled(here)
        assert [one.partition(":")[0] for one in result.found.failed] == ["a_busy"]
        assert (result.found.tenants, await remembered(here.services, tenant)) == (2, before)


@pytest.mark.slow
@pytest.mark.parametrize(
    "again", [pytest.param(False, marks=pytest.mark.slow), True], ids=["once", "lost again meanwhile"]
)
async def test_where_one_tenant_fails_the_others_are_not_rebuilt_again_unless_more_was_lost(
    own_servers: OwnServers, tmp_path: Path, tenant: str, monkeypatch: pytest.MonkeyPatch, *, again: bool
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with deployment(fleet.addresses, tmp_path) as here:
        before, reconcile, tried = await fill(here.services, tenant), here.services.reconciler.reconcile, list[str]()
        (here.settings.journal_folder / "z_busy").mkdir()

        async def held_once(one: str, **more: Any) -> Merging:
            tried.append(one)
            if one == "z_busy" and tried.count(one) == 1:
                if again:
                    await ask(here.services.redis, "FLUSHALL")
                raise LeaseLost("another writer has held the tenant's lease for 15 s")
            return await reconcile(one, **more)

        monkeypatch.setattr(here.services.reconciler, "reconcile", held_once)
        await ask(here.services.redis, "FLUSHALL")
        result = await reconciled(here)
        assert tried == [tenant, "z_busy", *([tenant] if again else []), "z_busy"]
        assert (result.found.tenants, result.found.failed) == (4 if again else 2, ())
        assert await remembered(here.services, tenant) == before
        assert await here.services.whole.compare() == ()


@pytest.mark.slow
async def test_a_worker_rebuilds_what_was_lost(own_servers: OwnServers, tmp_path: Path, tenant: str) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with deployment(fleet.addresses, tmp_path) as here:
        before = await fill(here.services, tenant)
        await ask(here.services.redis, "FLUSHALL")

        async def start() -> None:
            await start_reconciling(here.client, here.settings)
            raise InterruptedError

        with pytest.raises(InterruptedError):
            await keep_compared(here.services.whole, here.services.tenant_key, start)
        handle = here.client.get_workflow_handle("reconcile-memory", result_type=ReconcileResult)
        result = await handle.result()
        assert result.losses == ("redis: all of it was lost",)
        assert "claims on effects" in result.gone[0]
        assert result.found.origins == {"merged": 2}
        assert await remembered(here.services, tenant) == before


@pytest.mark.slow
async def test_while_the_store_is_lost_the_journal_answers(
    own_servers: OwnServers, tmp_path: Path, tenant: str
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with deployment(fleet.addresses, tmp_path) as here:
        query = Query(tenant=tenant, session="", lane=Lane.PATTERN, keys=("kept",), text="", now=LATER)
        restore = await copied(fleet, Server.WEAVIATE, tmp_path / "copy")
        await fill(here.services, tenant)
        whole = await here.services.recall.recall(query)
        assert ([item.key for item in whole.items], whole.degraded) == (["kept"], ())
        await fleet.stop(Server.WEAVIATE)
        assert (await here.services.recall.recall(query)).degraded
        restore()
        await fleet.start(Server.WEAVIATE)

        lost = await here.services.recall.recall(query)
        assert ([item.key for item in lost.items], lost.degraded) == (["kept"], ("weaviate",))
        assert (await reconciled(here)).found.written == 2
        again = await here.services.recall.recall(query)
        assert ([item.key for item in again.items], again.degraded) == (["kept"], ())


@pytest.mark.slow
async def test_a_lost_journal_is_begun_anew_by_a_person(own_servers: OwnServers, tmp_path: Path, tenant: str) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with deployment(fleet.addresses, tmp_path) as here:
        before = await fill(here.services, tenant)
        shutil.rmtree(here.settings.journal_folder)
        with pytest.raises(WorkflowFailureError) as refused:
            await reconciled(here)
        assert "--new-journal" in str(refused.value.cause)

        await here.services.whole.begin_journal(here.services.tenant_key)
    async with deployment(fleet.addresses, tmp_path) as here:
        result = await reconciled(here)
        assert "an older copy" in result.losses[0]
        assert "who changed what and why" in result.gone[0]
        assert result.found.journaled == 2
        assert await remembered(here.services, tenant) == before
        assert (await reconciled(here)).losses == ()
        query = Query(tenant=tenant, session="", lane=Lane.PATTERN, keys=("kept",), text="", now=LATER)
        await fleet.stop(Server.WEAVIATE)
        assert [item.key for item in (await here.services.recall.recall(query)).items] == ["kept"]
