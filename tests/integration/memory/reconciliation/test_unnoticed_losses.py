"""A worker that starts over a store that lost data neither reads nor writes memory as if that were all there is.

Each test has a control: a worker that does not compare the stores, and believes what is left of them.
"""

import shutil
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from temporalio.client import WorkflowHandle

from localservers import Fleet, Server
from perdure.errors import StoreUnavailable
from perdure.memory import wholeness
from perdure.memory.recall.query import Query
from perdure.stores.redis.connection import ask
from perdure.values.entries import Lane, Record, State
from perdure.values.losses import Loss, Store, Told
from perdure.values.requests import ForgetResult, ReconcileRequest, ReconcileResult
from tests.conftest import OwnServers
from tests.deployment import Deployment, deployment
from tests.integration.memory.forgetting.test_forgetter import LATER, NOW, passing, write
from tests.integration.memory.reconciliation.test_losses import copied, fill
from tests.support.waiting import until
from workflows.forget_memory import ForgetRun

pytestmark = pytest.mark.slow

FORGOTTEN = (passing("purged", "o1"), passing("forgotten", "o2", at=LATER))
"""What ``fill`` remembers, and has forgotten again."""


@pytest.fixture(params=[True, False], ids=["compared", "control"])
def compared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a worker compares the stores, or, as a control, takes each for whole."""
    if not request.param:

        def none(_told: Mapping[Store, Told]) -> tuple[Loss, ...]:
            return ()

        monkeypatch.setattr(wholeness, "losses", none)
    return bool(request.param)


async def empty_redis(fleet: Fleet, home: Path, tenant: str) -> None:
    """Remember and forget, and have Redis lose all of it."""
    async with deployment(fleet.addresses, home, serving=False) as here:
        await fill(here.services, tenant)
        await ask(here.services.redis, "FLUSHALL")


async def empty_weaviate(fleet: Fleet, home: Path, tenant: str) -> None:
    """Remember and forget, and have Weaviate lose all of it."""
    async with deployment(fleet.addresses, home, serving=False) as here:
        await fill(here.services, tenant)
    await fleet.stop(Server.WEAVIATE)
    shutil.rmtree(fleet.data(Server.WEAVIATE))
    await fleet.start(Server.WEAVIATE)


async def put_back(fleet: Fleet, home: Path, tenant: str, server: Server, copy: Path) -> None:
    """Remember and forget, and replace a store by a copy from when the first was remembered."""
    async with deployment(fleet.addresses, home, serving=False) as here:
        await write(here.services, tenant, passing("purged", "o1"))
        restore = await copied(fleet, server, copy)
        await fill(here.services, tenant)
    await fleet.stop(server)
    restore()
    await fleet.start(server)


async def states(here: Deployment, tenant: str) -> set[tuple[str, State]]:
    entries = (await here.services.longterm.everything(tenant)).values()
    return {(entry.key, entry.state) for entry in entries if isinstance(entry, Record)}


async def recalled(here: Deployment, tenant: str) -> tuple[list[str], tuple[str, ...]]:
    """Return what recall gives of everything that was ever remembered here, and which stores it does without."""
    keys = ("purged", "forgotten", "kept", "new")
    query = Query(tenant=tenant, session="", lane=Lane.PATTERN, keys=keys, text="", now=NOW)
    found = await here.services.recall.recall(query)
    return sorted(item.key for item in found.items), found.degraded


@pytest.mark.parametrize("lost", ["emptied", "an older copy"])
async def test_what_was_forgotten_is_not_accepted_again_where_redis_lost_that_it_was(
    own_servers: OwnServers, tmp_path: Path, tenant: str, lost: str, compared: bool
) -> None:
    fleet, home = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "home"
    if lost == "emptied":
        await empty_redis(fleet, home, tenant)
    else:
        await put_back(fleet, home, tenant, Server.REDIS, tmp_path / "copy")
    async with deployment(fleet.addresses, home, serving=False) as here:
        if compared:
            with pytest.raises(StoreUnavailable, match="redis"):
                await write(here.services, tenant, *FORGOTTEN, operation="again")
            assert await states(here, tenant) == {("kept", State.CURRENT), ("forgotten", State.FORGOTTEN)}
        else:
            await write(here.services, tenant, *FORGOTTEN, operation="again")
            every = {(key, State.CURRENT) for key in ("kept", "forgotten", "purged")}
            assert await states(here, tenant) == every


async def test_a_sweep_waits_for_the_due_dates_that_redis_lost(
    own_servers: OwnServers, tmp_path: Path, tenant: str, compared: bool
) -> None:
    fleet, home = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "home"
    await empty_redis(fleet, home, tenant)
    async with deployment(fleet.addresses, home) as here:

        async def started(workflow: str, argument: Any, result: type[Any]) -> WorkflowHandle[Any, Any]:
            name = f"{workflow}-{uuid4().hex}"
            return await here.client.start_workflow(
                workflow, argument, id=name, task_queue=here.queue, result_type=result
            )

        sweep = await started("ForgetMemory", ForgetRun(at=LATER + timedelta(days=2)), ForgetResult)
        if compared:

            async def problems() -> list[str]:
                pending = (await sweep.describe()).raw_description.pending_activities
                return [one.last_failure.message for one in pending if one.last_failure.message]

            assert "redis" in (await until(problems, bool))[0]
            reconciling = await started("ReconcileMemory", ReconcileRequest(), ReconcileResult)
            assert (await reconciling.result()).losses == ("redis: all of it was lost",)
        found = (await sweep.result()).report
        assert (found.tenants, found.forgotten) == ((1, 1) if compared else (0, 0))


async def test_a_worker_makes_no_collections_at_its_start_where_weaviate_lost_them(
    own_servers: OwnServers, tmp_path: Path, tenant: str, compared: bool
) -> None:
    fleet, home = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "home"
    await empty_weaviate(fleet, home, tenant)
    token = fleet.addresses.weaviate_api_key
    headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    async with deployment(fleet.addresses, home, serving=False), httpx2.AsyncClient(headers=headers) as web:
        made = (await web.get(f"{fleet.addresses.weaviate_url}/v1/schema")).json()["classes"]
        assert bool(made) is not compared


@pytest.mark.parametrize("lost", ["emptied", "an older copy"])
async def test_recall_gives_what_is_remembered_although_weaviate_lost_it(
    own_servers: OwnServers, tmp_path: Path, tenant: str, lost: str, compared: bool
) -> None:
    fleet, home = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "home"
    if lost == "emptied":
        await empty_weaviate(fleet, home, tenant)
    else:
        await put_back(fleet, home, tenant, Server.WEAVIATE, tmp_path / "copy")
    async with deployment(fleet.addresses, home, serving=False) as here:
        new = passing("new", "o9", at=LATER)
        if compared:
            assert await recalled(here, tenant) == (["kept"], ("weaviate",))
            with pytest.raises(StoreUnavailable, match="weaviate"):
                await write(here.services, tenant, new, operation="new")
            assert await recalled(here, tenant) == (["kept"], ("weaviate",))
        else:
            back = [] if lost == "emptied" else ["purged"]
            assert await recalled(here, tenant) == (back, ())
            await write(here.services, tenant, new, operation="new")
            assert await recalled(here, tenant) == (["new", *back], ()), "what was kept is gone, and nobody is told"
