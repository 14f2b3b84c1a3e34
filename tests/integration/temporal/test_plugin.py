"""Perdure's plugin in a client and a worker that are not Perdure's."""

import dataclasses
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import pytest
import redis
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import WorkflowIDReusePolicy
from temporalio.converter import DataConverter, DefaultPayloadConverter, PayloadCodec
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.worker import Worker

from perdure import AgentTask, TaskResult
from perdure.temporal import Plugin
from tests.conftest import Servers
from tests.support.foreign import Completes, Misfed, Theirs, tomorrow


class Upside(PayloadCodec):
    """A caller's codec: it must see every payload, Perdure's too."""

    def __init__(self) -> None:
        self.seen = 0

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        self.seen += len(payloads)
        return [Payload(metadata={"encoding": b"upside"}, data=one.SerializeToString()[::-1]) for one in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [Payload.FromString(one.data[::-1]) for one in payloads]


class Dated(DefaultPayloadConverter):
    """A caller's converter, for values of theirs that Perdure knows nothing of."""

    def to_payloads(self, values: Sequence[Any]) -> list[Payload]:
        return super().to_payloads([{"day": one.isoformat()} if isinstance(one, date) else one for one in values])

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        found: list[Any] = super().from_payloads(payloads, None)
        return [one if isinstance(one, str) else date.fromisoformat(one["day"]) for one in found]


async def test_a_foreign_worker_keeps_its_converter_and_registers_nothing_of_perdures(servers: Servers) -> None:
    codec, queue = Upside(), f"q-{uuid4().hex[:12]}"
    converter = dataclasses.replace(DataConverter.default, payload_converter_class=Dated, payload_codec=codec)
    client = await Client.connect(servers.temporal, data_converter=converter, plugins=[Plugin()])
    worker = Worker(client, task_queue=queue, workflows=[Theirs], activities=[tomorrow])
    config = worker.config()
    assert config.get("workflows") == [Theirs]
    assert config.get("activities") == [tomorrow]
    task = AgentTask(task_id="t1", user_id="ada", skill="s")
    async with worker:
        result = await client.execute_workflow(
            Theirs.run, args=[date(2026, 2, 28), task], id=f"w-{uuid4().hex}", task_queue=queue
        )
    assert result == TaskResult(task_id="t1", status="completed", output="2026-03-01")
    assert codec.seen >= 5


async def test_the_sandbox_imports_no_second_redis(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis, "imported_outside", True, raising=False)
    from tests.support.finalizer import Finalizer  # noqa: PLC0415 - it looks for the mark

    Worker(await Client.connect(servers.temporal, plugins=[Plugin()]), task_queue="none", workflows=[Finalizer])
    with pytest.raises(RuntimeError, match="Failed validating workflow Finalizer"):
        Worker(await Client.connect(servers.temporal), task_queue="none", workflows=[Finalizer])


async def test_a_task_that_a_foreign_client_starts_runs_once(servers: Servers) -> None:
    client = await Client.connect(servers.temporal, plugins=[Plugin()])
    task = AgentTask(task_id=f"t{uuid4().hex[:8]}", user_id="ada", skill="s")
    start: dict[str, Any] = {"id": task.workflow_id, "task_queue": f"nobody-{uuid4().hex[:8]}"}
    handle = await client.start_workflow("ResumableAgent", task, **start)
    started = (await handle.fetch_history()).events[0].workflow_execution_started_event_attributes
    assert started.workflow_task_timeout.ToTimedelta() == timedelta(seconds=4)
    await handle.terminate()
    rejected = WorkflowIDReusePolicy.REJECT_DUPLICATE
    with pytest.raises(WorkflowAlreadyStartedError):
        await client.start_workflow("ResumableAgent", task, **start, id_reuse_policy=rejected)
    await (await client.start_workflow("ResumableAgent", task, **start)).terminate()


async def test_a_task_that_has_completed_is_run_again_only_where_that_is_said(servers: Servers) -> None:
    queue = f"q-{uuid4().hex[:12]}"
    client = await Client.connect(servers.temporal, plugins=[Plugin()])
    task = AgentTask(task_id=f"t{uuid4().hex[:8]}", user_id="ada", skill="s")
    start: dict[str, Any] = {"id": task.workflow_id, "task_queue": queue}
    async with Worker(client, task_queue=queue, workflows=[Completes]):
        await client.execute_workflow("ResumableAgent", task, **start)
        with pytest.raises(WorkflowAlreadyStartedError):
            await client.start_workflow("ResumableAgent", task, **start)
        await client.execute_workflow("ResumableAgent", task, **start, memo={"again": True})


async def test_a_malformed_value_ends_a_foreign_workflow_with_the_field(servers: Servers) -> None:
    queue = f"q-{uuid4().hex[:12]}"
    converter = dataclasses.replace(DataConverter.default, payload_converter_class=Dated)
    client = await Client.connect(servers.temporal, data_converter=converter, plugins=[Plugin()])
    async with Worker(client, task_queue=queue, workflows=[Misfed]):
        with pytest.raises(WorkflowFailureError) as failure:
            await client.execute_workflow("Misfed", {"task_id": "t"}, id=f"w-{uuid4().hex}", task_queue=queue)
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.message == "PRD101 user_id: is missing"
