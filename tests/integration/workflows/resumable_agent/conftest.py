"""A worker for the tests of tasks, once with and once without the cache of workflows."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.conftest import Servers
from tests.support.guarding import Policies
from tests.support.harness import Bench, bench


@pytest.fixture(scope="module", params=[1000, pytest.param(0, marks=pytest.mark.slow)], ids=["cached", "replayed"])
async def agents(
    servers: Servers, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> AsyncGenerator[Bench]:
    folder: Path = tmp_path_factory.mktemp("agents")
    async with bench(servers, folder, max_cached_workflows=request.param) as one:
        yield one


@pytest.fixture(scope="module")
async def guarded(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Bench]:
    """A worker with a folder for policies, which ``policies`` writes."""
    folder = tmp_path_factory.mktemp("agents")
    Policies(folder / "policies").clear()
    async with bench(servers, folder, more={"policies": (folder / "policies",)}) as one:
        yield one


@pytest.fixture
def policies(agents: Bench) -> Policies:
    """The policies of a guarded worker: none, at first."""
    found = Policies(agents.folder / "policies")
    found.clear()
    return found
