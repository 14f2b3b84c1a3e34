"""What becomes of a job whose embedding model refuses the key: it ends and says so, and a later one succeeds."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ActivityError, ApplicationError

from perdure.errors import ModelRefused
from perdure.jobs import Fate, Receipt
from perdure.memory.writing.checking import read_batch
from perdure.models.embedding import Vector
from perdure.models.embedding.minilm import MiniLMEmbedder
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from worker.wiring import parts


class Refusing(MiniLMEmbedder):
    calls = 0

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.calls += 1
        raise ModelRefused("openai", "AuthenticationError, HTTP 401")


async def receipt_of(here: Deployment, tenant: str) -> Receipt:
    item: JsonValue = {
        "kind": "memory",
        "content": "Deployments happen on Tuesdays",
        "occurrence": "o",
        "occurred_at": datetime.now(UTC).isoformat(),
    }
    job = await here.client.execute_activity(
        "submit_ingest",
        read_batch(tenant=tenant, key="k", items=[item]),
        id=uuid4().hex,
        task_queue=here.queue,
        result_type=str,
        start_to_close_timeout=timedelta(seconds=30),
    )
    return await here.client.get_workflow_handle(job, result_type=Receipt).result()


async def test_a_refused_model_ends_the_job_and_the_same_batch_can_be_submitted_again(
    servers: Servers, tmp_path: Path, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = Refusing()

    def refused(*_: object, **_given: object) -> MiniLMEmbedder:
        return refusing

    monkeypatch.setattr(parts, "open_embedder", refused)
    async with deployment(servers, tmp_path) as here:
        monkeypatch.undo()
        with pytest.raises(WorkflowFailureError) as failure:
            await receipt_of(here, tenant)
    cause = failure.value.cause
    assert isinstance(cause, ActivityError)
    assert isinstance(cause.cause, ApplicationError)
    assert (cause.cause.type, refusing.calls) == ("ModelRefused", 1)
    assert "check the key" in cause.cause.message

    async with deployment(servers, tmp_path) as here:
        assert (await receipt_of(here, tenant)).count(Fate.SEARCHABLE) == 1
