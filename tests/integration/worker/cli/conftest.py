"""One installation with one worker for all tests of the command line."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.conftest import Servers
from tests.integration.worker.cli.installation import Installation, installation


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def installed(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Installation]:
    folder = tmp_path_factory.mktemp("cli")
    skills = folder / "skills"
    skills.mkdir()
    policies = folder / "policies.yaml"
    policies.write_text("default: {hold: {rules: [{tags: [health]}]}}\n")
    async with installation(servers, folder, skills=(skills,), write_policies=policies) as given:
        await given.ready_worker()
        yield given
