"""Perdure on a Temporal that nobody prepared for it: no switch of the development server, no search attribute."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import Client

from perdure.temporal.namespace import missing
from tests.conftest import Servers
from tests.integration.worker.cli.installation import STARTED_WITHIN, installation
from tests.support.plain_temporal import plain_temporal


@pytest_asyncio.fixture(loop_scope="session")
async def plain(servers: Servers, tmp_path: Path) -> AsyncGenerator[Servers]:
    """The shared stores, and a Temporal as an operator has it, whose servers read new attributes after some time."""
    async with plain_temporal(tmp_path) as temporal:
        yield servers.changed(temporal=temporal.address)


@pytest.mark.slow
async def test_a_worker_registers_what_tasks_need_and_everything_works(plain: Servers, tmp_path: Path) -> None:
    client = await Client.connect(plain.temporal)
    assert len(await missing(client)) == 4
    async with installation(plain, tmp_path) as given:
        await given.ready_worker()
        assert await missing(client) == []
        file, _ = given.audit("rich==15.0.0")
        for line in (
            f"perdure run {file}",
            "perdure remember 'The lead is Kim.' --user ada",
            "perdure recall 'who leads?' --user ada",
            "perdure forget --user ada",
        ):
            ran = await given.typed(line)
            assert ran.status == 0, ran.err


@pytest.mark.slow
async def test_a_worker_that_may_not_register_them_refuses_with_the_command(plain: Servers, tmp_path: Path) -> None:
    client = await Client.connect(plain.temporal)
    # The development server has room for ten keywords.
    others = {f"Other{number}": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD for number in range(8)}
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(namespace="default", search_attributes=others)
    )
    async with installation(plain, tmp_path) as given:
        for environment, complaint in (
            ({}, "temporal operator search-attribute create --namespace default --name PerdureTenant --type Keyword"),
            ({"TEMPORAL_NAMESPACE": "none"}, "temporal operator namespace create --namespace none"),
        ):
            process, log = await given.worker(**environment)
            assert await asyncio.wait_for(process.wait(), STARTED_WITHIN) == 2
            [line] = [line for line in log.read_text().splitlines() if line.startswith("error: ")]
            assert line.startswith("error: PRD208 ")
            assert complaint in line
