"""Perdure's plugin in a client and a worker that are not Perdure's."""

import dataclasses
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import redis
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WithStartWorkflowOperation, WorkflowFailureError
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import DataConverter, DefaultPayloadConverter, PayloadCodec, PayloadConverter
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.worker import Worker

from perdure import AgentTask, Model, Phase, Question, TaskResult
from perdure.temporal import Plugin
from perdure.temporal.converter import composed
from perdure.values.questions import QuestionKind
from tests.conftest import Servers
from tests.support.foreign import Completes, Misfed, Several, Theirs, ends_of, tomorrow


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
    assert result == TaskResult(task_id="t1", status=Phase.COMPLETED, output="2026-03-01")
    assert codec.seen >= 5


@pytest.mark.parametrize(
    ("theirs", "looks_inside"),
    [(Dated, True), (PydanticPayloadConverter, True), (DefaultPayloadConverter, True), (Dated, False)],
    ids=["theirs", "pydantic", "default", "control"],
)
async def test_perdures_values_travel_in_containers_beside_a_foreign_converter(
    servers: Servers, monkeypatch: pytest.MonkeyPatch, theirs: type[PayloadConverter], looks_inside: bool
) -> None:
    if not looks_inside:

        def is_ours(value: object) -> bool:
            return isinstance(value, Model)

        monkeypatch.setattr("perdure.temporal.converter.holds_ours", is_ours)
    queue = f"q-{uuid4().hex[:12]}"
    converter = dataclasses.replace(DataConverter.default, payload_converter_class=theirs)
    client = await Client.connect(servers.temporal, data_converter=converter, plugins=[Plugin()])
    tasks = [AgentTask(task_id=name, user_id="ada", skill="s", date=date(2026, 2, 28)) for name in ("one", "two")]
    at = datetime(2026, 2, 28, 12, tzinfo=UTC)
    questions = (Question(id="a", kind=QuestionKind.APPROVAL, text="?", asked_at=at),)
    how: dict[str, Any] = {"id": f"w-{uuid4().hex}", "task_queue": queue, "execution_timeout": timedelta(seconds=20)}
    async with Worker(client, task_queue=queue, workflows=[Several], activities=[ends_of]):
        if not looks_inside:
            with pytest.raises(DeprecationWarning, match="model_dump"):
                await client.start_workflow(Several.run, args=[tasks, questions], **how)
            return
        result = await client.execute_workflow(Several.run, args=[tasks, questions], **how)
    assert result == {
        **{one.task_id: TaskResult(task_id=one.task_id, status=Phase.COMPLETED) for one in tasks},
        "at": at,
    }


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


@pytest.mark.parametrize(("plugins", "seconds"), [([Plugin()], 4), ([], 10)], ids=["plugged in", "control"])
async def test_a_task_that_starts_with_an_update_is_started_as_any_other(
    servers: Servers, plugins: list[Plugin], seconds: int
) -> None:
    queue = f"q-{uuid4().hex[:12]}"
    client = await Client.connect(servers.temporal, data_converter=composed(None), plugins=plugins)
    task = AgentTask(task_id=f"t{uuid4().hex[:8]}", user_id="ada", skill="s")

    def starting() -> WithStartWorkflowOperation[Any, Any]:
        how: dict[str, Any] = {"id": task.workflow_id, "task_queue": queue}
        how["id_conflict_policy"] = WorkflowIDConflictPolicy.FAIL
        return WithStartWorkflowOperation("ResumableAgent", task, **how)

    async with Worker(client, task_queue=queue, workflows=[Completes]):
        begun = starting()
        assert await client.execute_update_with_start_workflow("answer", "x", start_workflow_operation=begun) == "x"
        handle = await begun.workflow_handle()
        await handle.result()
        started = (await handle.fetch_history()).events[0].workflow_execution_started_event_attributes
        assert started.workflow_task_timeout.ToTimedelta() == timedelta(seconds=seconds)
        with pytest.raises(WorkflowAlreadyStartedError) if plugins else nullcontext():
            await client.execute_update_with_start_workflow("answer", "x", start_workflow_operation=starting())


async def test_a_malformed_value_ends_a_foreign_workflow_with_the_field(servers: Servers) -> None:
    queue = f"q-{uuid4().hex[:12]}"
    converter = dataclasses.replace(DataConverter.default, payload_converter_class=Dated)
    client = await Client.connect(servers.temporal, data_converter=converter, plugins=[Plugin()])
    async with Worker(client, task_queue=queue, workflows=[Misfed]):
        with pytest.raises(WorkflowFailureError) as failure:
            await client.execute_workflow("Misfed", {"task_id": "t"}, id=f"w-{uuid4().hex}", task_queue=queue)
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.message == "PRD101 user_id: is missing (add it)"
