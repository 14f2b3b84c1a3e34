"""Nothing that a reconciliation has read comes back after an erasure that it did not see."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.values.changes import Actor, ActorKind, Deletion
from perdure.values.entries import Purpose
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.integration.memory.forgetting.test_forgetter import passing, write
from tests.integration.memory.reconciliation.test_losses import fill

BY = Actor(kind=ActorKind.PERSON, id="ada")


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    async with deployment(servers, tmp_path / "home", serving=False) as one:
        yield one


async def lose(here: Deployment, tenant: str, what: str) -> None:
    """Have one store lack what the journal knows of a tenant."""
    services = here.services
    match what:
        case "entries":
            await services.longterm.delete(tenant, await write(services, tenant, passing("a", "o1")))
        case "consents":
            now = datetime.now(UTC)
            await services.consents.say(
                tenant, grant=[Purpose.EXTRACTED], withdraw=[], operation="grant", by=BY, at=now
            )
            await ask(services.redis, "DEL", keys.consents(tenant))
        case _:
            await fill(services, tenant)
            await ask(services.redis, "DEL", keys.deletions(tenant))


@pytest.mark.parametrize("begun", [False, True], ids=["erased later", "being erased already"])
@pytest.mark.parametrize("what", ["entries", "consents", "deletions"])
async def test_a_reconciliation_brings_nothing_back_of_who_was_erased_meanwhile(
    here: Deployment, tenant: str, monkeypatch: pytest.MonkeyPatch, what: str, begun: bool
) -> None:
    services = here.services
    await lose(here, tenant, what)
    read, go, all_of = asyncio.Event(), asyncio.Event(), services.deletions.all

    async def read_and_wait(whose: str) -> list[Deletion]:
        found = await all_of(whose)
        read.set()
        await go.wait()
        return found

    async def begin() -> None:
        await services.eraser.begin(tenant, operation="erase", by=BY, at=datetime.now(UTC))

    if begun:
        await begin()
    monkeypatch.setattr(services.deletions, "all", read_and_wait)
    reconciling = asyncio.create_task(services.reconciler.reconcile(tenant, operation="reconcile", by=BY))
    await read.wait()
    if not begun:
        await begin()
    await services.eraser.remove(tenant, "erase")
    assert await services.eraser.left(tenant) == ()
    go.set()
    await reconciling
    assert await services.eraser.left(tenant) == ()
