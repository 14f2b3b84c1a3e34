"""What is asked of a worker from outside a task is a workflow: a Temporal without any switch runs nothing else."""

from collections.abc import AsyncGenerator
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from temporalio.client import Client

from perdure import Actor, ActorKind, RecallRequest
from perdure.errors import StoreUnavailable
from perdure.names import Activity
from perdure.temporal.namespace import prepare
from tests.conftest import Servers, clean_settings
from tests.deployment import deployment
from tests.support.plain_temporal import plain_temporal
from worker.gateway import Gateway

pytestmark = pytest.mark.slow

TESTER = Actor(kind=ActorKind.PERSON, id="tester")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def plain(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Servers]:
    async with plain_temporal(tmp_path_factory.mktemp("plain")) as temporal:
        yield servers.changed(temporal=temporal.address)


async def by_an_activity(self: Client, _: str, argument: Any, *, result_type: type, **how: Any) -> Any:
    """Ask a worker to recall without a workflow, which the development server alone lets a client do unasked."""
    return await self.execute_activity(
        Activity.RECALL_MEMORY.value,
        argument,
        id=how["id"],
        task_queue=how["task_queue"],
        result_type=result_type,
        start_to_close_timeout=timedelta(seconds=20),
    )


@pytest.mark.parametrize(
    ("switched", "by_workflow"),
    [(False, True), (False, False), (True, False)],
    ids=["by a workflow", "control: by an activity", "control: by an activity where that is switched on"],
)
async def test_a_question_to_memory_is_answered_without_any_switch(
    plain: Servers,
    servers: Servers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    switched: bool,
    by_workflow: bool,
) -> None:
    addresses = servers if switched else plain
    await prepare(await Client.connect(addresses.temporal))
    if not by_workflow:
        monkeypatch.setattr(Client, "execute_workflow", by_an_activity)
    answered = nullcontext() if by_workflow or switched else pytest.raises(StoreUnavailable, match="disabled")
    async with deployment(addresses, tmp_path / "home") as here:
        # Who has the tenant key asks the stores, and no worker.
        elsewhere = clean_settings(tmp_path / "elsewhere", task_queue=here.queue)
        async with Gateway(elsewhere, addresses) as gateway:
            request = RecallRequest(user_id=f"user {uuid4().hex}", text="Who leads?")
            with answered:
                assert (await gateway.recall(request, by=TESTER)).items == ()
