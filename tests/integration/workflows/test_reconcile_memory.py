"""The whole way back: a worker notices that a store lost its data, has it rebuilt, and tells what is gone for good."""

import shutil
from pathlib import Path

import pytest
from temporalio.client import WorkflowFailureError

from localservers import Server
from perdure.entries import Lane
from perdure.memory.recall.query import Query
from perdure.requests import ReconcileRequest, ReconcileResult
from perdure.stores.redis.connection import ask
from tests.conftest import OwnServers
from tests.deployment import Deployment, deployment
from tests.integration.memory.forgetting.test_forgetter import LATER
from tests.integration.memory.reconciling.test_losses import copied, fill, remembered
from worker.schedules import start_reconciling
from worker.upkeep import keep_compared


async def reconciled(here: Deployment) -> ReconcileResult:
    return await here.client.execute_workflow(
        "ReconcileMemory", ReconcileRequest(), id="r-1", task_queue=here.queue, result_type=ReconcileResult
    )


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
