"""What comes after an erasure's receipt goes with the next reconciliation of everybody.

It looks through every user of an installation, of which the other tests make thousands: these have stores of their own.
"""

import operator
from collections.abc import AsyncGenerator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from activities.unlabelled_runs import unlabelled_runs
from localservers import Server
from perdure.names import Attribute, Workflow
from perdure.values.requests import EraseRequest, ReconcileRequest
from tests.conftest import OwnServers, Servers
from tests.deployment import Deployment
from tests.integration.workflows.test_erased_meanwhile import TESTER, serving, task_of
from tests.support.harness import Bench
from tests.support.waiting import until
from worker.gateway import Gateway


@pytest.fixture
async def addresses(own_servers: OwnServers) -> Servers:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    return Servers.model_validate(fleet.addresses.model_dump())


@pytest.fixture
async def here(addresses: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    (tmp_path / "skills").mkdir()
    async with serving(addresses, tmp_path) as one:
        yield one


@pytest.fixture
async def gateway(here: Deployment, addresses: Servers) -> AsyncGenerator[Gateway]:
    async with Gateway(here.settings, addresses) as one:
        yield one


async def is_there(run: WorkflowHandle[Any, Any]) -> bool:
    try:
        await run.describe()
    except RPCError as error:
        return error.status is not RPCStatusCode.NOT_FOUND
    return True


@pytest.mark.slow
async def test_the_next_reconciliation_deletes_the_history_of_a_task_that_ended_unbegun_after_the_receipt(
    here: Deployment, gateway: Gateway, user: str
) -> None:
    task = {"user_id": user, "task_id": "t", "inputs": {"word": "Marzipan"}}

    async def unbegun() -> WorkflowHandle[Any, Any]:
        given: dict[str, Any] = {"id": f"unbegun-{uuid4().hex}", "task_queue": here.queue}
        return await here.client.start_workflow(Workflow.RESUMABLE_AGENT, task, start_delay=timedelta(hours=1), **given)

    before = await unbegun()
    assert (await gateway.erase(EraseRequest(user_id=user), by=TESTER)).proved
    after = await unbegun()
    for one in (before, after):
        await one.terminate()

    async def listed() -> set[str]:
        return {run.workflow_id async for run in unlabelled_runs(here.client, here.queue) if run.user_id == user}

    await until(listed, lambda found: found == {before.id, after.id})
    assert (await gateway.reconcile(ReconcileRequest(), by=TESTER)).late >= 1
    assert not await until(partial(is_there, before), operator.not_)
    assert await is_there(after), "the user came back"


@pytest.mark.slow
async def test_the_next_reconciliation_deletes_the_history_of_a_task_that_began_after_the_receipt(
    addresses: Servers, here: Deployment, gateway: Gateway, user: str, tmp_path: Path
) -> None:
    agents = Bench(client=here.client, queue=here.queue, folder=tmp_path, deployed=here)
    unserved = Bench(client=here.client, queue=f"q-{uuid4().hex}", folder=tmp_path, deployed=here)
    late = await unserved.start(task_of(agents, user))
    assert (await gateway.erase(EraseRequest(user_id=user), by=TESTER)).proved
    back = await agents.start(task_of(agents, user))
    assert (await back.result()).output == "Marzipan", "the user came back"
    async with serving(addresses, tmp_path, queue=unserved.queue):
        with pytest.raises(WorkflowFailureError):
            await late.result()
    query = f"WorkflowId = '{late.id}' AND {Attribute.TENANT} = '{here.services.tenant_key.tenant_of(user)}'"

    async def listed() -> bool:
        return bool([one async for one in here.client.list_workflows(query)])

    await until(listed, bool)
    assert (await gateway.reconcile(ReconcileRequest(), by=TESTER)).late >= 1
    assert not await until(partial(is_there, late), operator.not_)
    assert (await back.describe()).status is WorkflowExecutionStatus.COMPLETED
