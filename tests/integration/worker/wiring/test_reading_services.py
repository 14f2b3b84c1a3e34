"""What an operator chooses reaches the services that read memory."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import JsonValue

from perdure.memory.recall.query import Query
from perdure.memory.writing.batch_checks import read_batch
from perdure.values.requests import RecallRequest
from tests.conftest import Servers
from tests.deployment import deployment
from worker.reader import open_reader

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.slow
@pytest.mark.parametrize(("least", "found"), [(0.95, 0), (0.5, 1)])
async def test_the_least_confidence_that_is_recalled_is_the_operators(
    servers: Servers, tmp_path: Path, tenant: str, least: float, found: int
) -> None:
    async with deployment(servers, tmp_path, serving=False, settings={"min_confidence": least}) as here:
        item: dict[str, JsonValue] = {
            "kind": "memory",
            "content": "Ada prefers trains.",
            "confidence": 0.9,
            "occurrence": "o",
            "occurred_at": NOW.isoformat(),
        }
        batch = read_batch(tenant=tenant, key="k", items=[item])
        await here.services.writer.apply(batch, await here.services.writer.plan(batch, at=NOW), operation="o")
        query = Query(tenant=tenant, session="", text="what does Ada prefer?", now=NOW)
        assert len((await here.services.recall.recall(query)).items) == found


async def test_the_first_recall_of_a_process_waits_for_its_model(servers: Servers, tmp_path: Path) -> None:
    # Loading the model takes longer than this, however quick the machine is.
    async with deployment(servers, tmp_path, serving=False, settings={"recall_seconds": 0.05}) as here:
        await here.services.belongs()
        async with open_reader(here.settings, servers) as reader:
            found = await reader.recall(RecallRequest(user_id="ada", text="what does Ada prefer?"))
    assert "embedding" not in found.degraded
