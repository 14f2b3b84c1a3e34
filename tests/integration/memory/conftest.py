"""Stores of a single test, for what takes their data away."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest_asyncio

from localservers import Fleet, Server
from tests.conftest import OwnServers
from tests.integration.conftest import Stores, open_stores


@pytest_asyncio.fixture(loop_scope="session")
async def fleet(own_servers: OwnServers) -> Fleet:
    return await own_servers(Server.REDIS, Server.WEAVIATE)


@pytest_asyncio.fixture(loop_scope="session")
async def own(fleet: Fleet, tmp_path: Path) -> AsyncGenerator[Stores]:
    async with open_stores(fleet.addresses, tmp_path) as opened:
        yield opened
