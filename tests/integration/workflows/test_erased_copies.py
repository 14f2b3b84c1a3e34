"""An older copy of a store does not bring back who was erased. A worker that starts beside these applies erasures."""

import shutil
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from perdure.stores.journal.erasures import ErasureLog
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.weaviate.erasures import WeaviateErasures
from perdure.values.erasures import Erasure
from perdure.values.losses import Store
from perdure.values.requests import EraseRequest, ReconcileRequest
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.integration.workflows.test_erase_memory import TESTER, remembered
from worker.gateway import Gateway


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    async with deployment(servers, tmp_path / "home") as one:
        yield one


@pytest.mark.slow
@pytest.mark.parametrize("store", [Store.WEAVIATE, Store.JOURNAL, Store.REDIS])
@pytest.mark.parametrize("begun", [True, False], ids=["copied while it went on", "copied before"])
@pytest.mark.parametrize("applied", [True, False], ids=["applied", "control"])
async def test_an_older_copy_of_a_store_does_not_bring_back_who_was_erased(
    here: Deployment, gateway: Gateway, store: Store, begun: bool, applied: bool
) -> None:
    user, services = f"user {uuid4().hex}", here.services
    tenant = services.tenant_key.tenant_of(user)
    await remembered(gateway, user)
    entries = await services.longterm.everything(tenant)
    vectors = await services.embedder.embed([entry.text for entry in entries.values()])
    journal, copy = here.settings.journal_folder / tenant, here.settings.home / "copy"
    shutil.copytree(journal, copy)
    await gateway.erase(EraseRequest(user_id=user), by=TESTER)
    # As an older copy would: what was there, and no word of the erasure, or of nothing but its beginning.
    match store:
        case Store.WEAVIATE:
            await services.longterm.put(tenant, list(entries.values()), dict(zip(entries, vectors, strict=True)))
        case Store.JOURNAL:
            shutil.copytree(copy, journal)
        case Store.REDIS:
            await ask(services.redis, "HSET", keys.consents(tenant), "given", "{}")
    erased = (await ErasureLog(here.settings.journal_folder).all())[tenant]
    await _forget_erasure(here, store, tenant)
    if begun:
        await services.eraser._logs[store].add(erased.changed(removed=False))  # pyright: ignore[reportPrivateUsage]
    if applied:
        assert await services.eraser.apply() >= 1
    left = await services.eraser.left(tenant)
    epoch = await services.leases.epoch(tenant)
    assert (left == () and epoch >= 1) is applied


@pytest.mark.parametrize("how", ["a worker that starts", "a reconciliation"])
async def test_what_an_older_copy_brings_back_is_removed_by(here: Deployment, gateway: Gateway, how: str) -> None:
    services, tenant = here.services, f"t_{uuid4().hex}"
    await services.eraser.begin(tenant, operation="erase", by=TESTER, at=datetime.now(UTC))
    await services.eraser.remove(tenant, "erase")
    await ask(services.redis, "HSET", keys.consents(tenant), "given", "{}")
    await _forget_erasure(here, Store.REDIS, tenant)
    assert await services.eraser.left(tenant) == ("keys in Redis",), "the control"
    if how == "a reconciliation":
        await gateway.reconcile(ReconcileRequest(user_id=f"user {uuid4().hex}"), by=TESTER)
    else:
        await services.belongs()
    assert await services.eraser.left(tenant) == ()
    assert await services.leases.epoch(tenant) >= 1


async def _forget_erasure(here: Deployment, store: Store, tenant: str) -> None:
    services = here.services
    match store:
        case Store.WEAVIATE:
            collection = services.longterm.erasures
            older = Erasure(tenant=tenant, epoch=0, at=datetime.now(UTC), operation="older")
            await _overwrite(collection, older)
        case Store.JOURNAL:
            log = here.settings.journal_folder / "erasures.jsonl"
            lines = [line for line in log.read_text().splitlines() if tenant not in line]
            log.write_text("".join(f"{line}\n" for line in lines))
            assert tenant not in await ErasureLog(here.settings.journal_folder).all()
        case Store.REDIS:
            await services.redis.hdel("perdure:erasures", tenant)
            await services.redis.delete(f"perdure:{{{tenant}}}:epoch")


async def _overwrite(erasures: object, one: Erasure) -> None:
    assert isinstance(erasures, WeaviateErasures)
    known, erasures.of = erasures.of, _nothing
    try:
        await erasures.add(one)
    finally:
        erasures.of = known


async def _nothing(tenant: str) -> None:
    del tenant
