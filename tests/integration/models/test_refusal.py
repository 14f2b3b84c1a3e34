"""What becomes of a job whose embedding model refuses: it waits for a worker with another key, or ends and says so."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ActivityError, ApplicationError

from perdure.memory.writing.batch_checks import read_batch
from perdure.models.embedding import Vector
from perdure.models.embedding.minilm import MiniLMEmbedder
from perdure.models.errors import ModelKeyRefused, ModelRefused
from perdure.values.jobs import Fate, Receipt, SubmitCall
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from worker.wiring import parts


class Refusing(MiniLMEmbedder):
    def __init__(self, error: ModelRefused) -> None:
        super().__init__()
        self._error = error
        self.calls = 0
        self.asked = asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.calls += 1
        self.asked.set()
        raise self._error


@pytest.fixture
def refusing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Refusing:
    """Return the model that the test's first worker gets, and no other."""
    model, opened = Refusing(request.param), parts.open_embedder

    def open_embedder(*given: object, **named: object) -> object:
        monkeypatch.setattr(parts, "open_embedder", opened)
        return model

    monkeypatch.setattr(parts, "open_embedder", open_embedder)
    return model


async def submitted(here: Deployment, tenant: str) -> str:
    item: JsonValue = {
        "kind": "memory",
        "content": "Deployments happen on Tuesdays",
        "occurrence": "o",
        "occurred_at": datetime.now(UTC).isoformat(),
    }
    return await here.client.execute_activity(
        "submit_ingest",
        SubmitCall(batch=read_batch(tenant=tenant, key="k", items=[item])),
        id=uuid4().hex,
        task_queue=here.queue,
        result_type=str,
        start_to_close_timeout=timedelta(seconds=30),
    )


async def receipt_of(here: Deployment, job: str) -> Receipt:
    return await here.client.get_workflow_handle(job, result_type=Receipt).result()


@pytest.mark.slow
@pytest.mark.parametrize("refusing", [ModelKeyRefused("openai", "HTTP 401")], indirect=True)
async def test_a_job_waits_for_a_worker_whose_key_is_not_refused(
    servers: Servers, tmp_path: Path, tenant: str, refusing: Refusing
) -> None:
    async with deployment(servers, tmp_path) as here:
        job = await submitted(here, tenant)
        await asyncio.wait_for(refusing.asked.wait(), 30)
    assert (await here.client.get_workflow_handle(job).describe()).status is WorkflowExecutionStatus.RUNNING

    async with deployment(servers, tmp_path, queue=here.queue) as other:
        assert (await receipt_of(other, job)).count(Fate.SEARCHABLE) == 1


@pytest.mark.slow
@pytest.mark.parametrize("refusing", [ModelRefused("openai", "BadRequestError, HTTP 400")], indirect=True)
async def test_a_refused_request_ends_the_job_and_the_same_batch_can_be_submitted_again(
    servers: Servers, tmp_path: Path, tenant: str, refusing: Refusing
) -> None:
    async with deployment(servers, tmp_path) as here:
        with pytest.raises(WorkflowFailureError) as failure:
            await receipt_of(here, await submitted(here, tenant))
    cause = failure.value.cause
    assert isinstance(cause, ActivityError)
    assert isinstance(cause.cause, ApplicationError)
    assert (cause.cause.type, refusing.calls) == ("ModelRefused", 1)
    assert "check the key" in cause.cause.message

    async with deployment(servers, tmp_path) as here:
        assert (await receipt_of(here, await submitted(here, tenant))).count(Fate.SEARCHABLE) == 1
