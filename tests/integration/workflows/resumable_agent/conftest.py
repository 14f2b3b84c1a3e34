"""A worker for the tests of tasks, once with and once without the cache of workflows."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.conftest import Servers
from tests.support.harness import Bench, bench


@pytest.fixture(scope="module", params=[1000, pytest.param(0, marks=pytest.mark.slow)], ids=["cached", "replayed"])
async def agents(
    servers: Servers, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> AsyncGenerator[Bench]:
    folder: Path = tmp_path_factory.mktemp("agents")
    async with bench(servers, folder, max_cached_workflows=request.param) as one:
        yield one
