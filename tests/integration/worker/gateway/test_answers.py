"""What the gateway took is given to the task, also where Temporal throws away what a worker made of it at first."""

import asyncio
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio import workflow
from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import PollWorkflowTaskQueueRequest, RespondWorkflowTaskCompletedRequest
from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCStatusCode
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from perdure import Actor, ActorKind, Answer, Event, TaskResult
from perdure.agent.events import Events
from perdure.agent.questions import Questions
from perdure.agent.reports import result_of
from perdure.errors import InvalidTask, StoreUnavailable
from perdure.history import History
from perdure.model import Instant
from perdure.temporal.plugin import Plugin
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.waiting import progress_of, question_of
from worker.gateway import Gateway, updates
from worker.gateway.updates import sent_update
from workflows import resumable_agent

ADA = Actor(kind=ActorKind.PERSON, id="ada")

ASKING = """
steps:
  - {id: a, tool: look, args: {name: x, known: false}, expect: "${false}", ask: "Which?"}
  - {id: b, tool: echo, args: {value: "${steps.a.answer}"}}
output: "${steps.b.output}"
"""

EXPECTING = """
steps:
  - {id: a, wait: {event: paid}}
  - {id: b, wait: {event: paid}}
output: ["${steps.a.output}", "${steps.b.output}"]
"""

UNHANDLED = [WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND]


@pytest.mark.parametrize("again", [True, False], ids=["delivered again", "control"])
async def test_an_answer_that_came_while_the_history_was_rolled_over_is_taken(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    if not again:
        # The control: a delivery that Temporal gives up is an error, as it is of Temporal's own client.
        monkeypatch.setattr(updates, "RPCStatusCode", _Other)
    async with bench(servers, tmp_path) as agents, Gateway(agents.settings, servers) as gateway:
        handle = await agents.start(agents.task(agents.skill(ASKING)))
        await question_of(handle)
        _roll_over_beside_another_event(monkeypatch, agents.client, handle.id, Questions, "answer")
        answering = gateway.answer(handle.id, Answer(question_id="a", value="MIT"), by=ADA)
        if not again:
            with pytest.raises(StoreUnavailable, match="workflow task failure"):
                await answering
            await handle.terminate()
            return
        await answering
        assert (await handle.result()).output == "MIT"
        assert await _failed_tasks(agents, handle.id, handle.first_execution_run_id) == UNHANDLED


async def test_an_event_that_came_while_the_history_was_rolled_over_is_taken_once(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(servers, tmp_path) as agents, Gateway(agents.settings, servers) as gateway:
        handle = await agents.start(agents.task(agents.skill(EXPECTING)))
        await progress_of(handle, lambda one: bool(one.waits))
        _roll_over_beside_another_event(monkeypatch, agents.client, handle.id, Events, "deliver")
        await gateway.deliver(handle.id, Event(name="paid", value=7), by=ADA)
        latest = agents.client.get_workflow_handle(handle.id)
        await progress_of(latest, lambda one: [wait.event for wait in one.waits] == ["paid"] and one.done == 1)
        await gateway.deliver(handle.id, Event(name="paid", value=8), by=ADA)
        assert (await handle.result()).output == [7, 8]
        assert await _failed_tasks(agents, handle.id, handle.first_execution_run_id) == UNHANDLED


async def test_an_answer_that_comes_while_the_last_step_ends_is_refused_as_too_late(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(servers, tmp_path) as agents, Gateway(agents.settings, servers) as gateway:
        loop, sent, late = asyncio.get_running_loop(), Answer(question_id="a", value="MIT"), list[Future[None]]()

        def ending(*given: Any) -> TaskResult:
            if not late:
                late.append(asyncio.run_coroutine_threadsafe(gateway.answer(handle.id, sent, by=ADA), loop))
                # Temporal shows nobody an update that waits for a worker: it has this one by the time that a workflow
                # which was asked for after it is described several times.
                for _ in range(10):
                    asyncio.run_coroutine_threadsafe(handle.describe(), loop).result(1)
            return result_of(*given)

        monkeypatch.setattr(resumable_agent, "result_of", ending)
        handle = await agents.start(agents.task(agents.skill(ASKING)))
        await question_of(handle)
        await gateway.answer(handle.id, sent, by=ADA)
        assert (await handle.result()).output == "MIT"
        with pytest.raises(InvalidTask, match="has ended: it asks nothing"):
            await asyncio.wrap_future(late[0])


@pytest.mark.parametrize("again", [True, False], ids=["sent again", "control"])
async def test_an_update_of_which_a_worker_said_nothing_is_taken_by_the_next_one(servers: Servers, again: bool) -> None:
    client, queue, paid = await Client.connect(servers.temporal, plugins=[Plugin()]), uuid4().hex, Event(name="paid")
    handle = await client.start_workflow(Taking.run, id=f"w-{queue}", task_queue=queue)
    await _silently(client, queue)
    # The control: of Temporal's own client, it is an error.
    send = sent_update(handle, "take", paid, str) if again else handle.execute_update("take", paid, result_type=str)
    sending = asyncio.create_task(send)
    await _silently(client, queue)
    if not again:
        with pytest.raises(WorkflowUpdateFailedError) as caught:
            await sending
        assert isinstance(caught.value.cause, ApplicationError)
        assert caught.value.cause.type == "UnprocessedUpdate"
        await handle.terminate()
        return
    async with Worker(client, task_queue=queue, workflows=[Taking], workflow_runner=UnsandboxedWorkflowRunner()):
        assert await sending == "paid"
        assert await handle.result() == ["paid"]


async def _silently(client: Client, queue: str) -> None:
    """End a workflow task as a worker that says nothing of the updates in it."""
    service, namespace = client.workflow_service, client.namespace
    polled = PollWorkflowTaskQueueRequest(namespace=namespace, task_queue=TaskQueue(name=queue), identity="silent")
    taken = await service.poll_workflow_task_queue(polled, timeout=timedelta(seconds=20))
    said = RespondWorkflowTaskCompletedRequest(namespace=namespace, task_token=taken.task_token, identity="silent")
    await service.respond_workflow_task_completed(said)


@workflow.defn(name="Taking")
class Taking:
    """Ends with the first event that it takes."""

    def __init__(self) -> None:
        self._taken: list[str] = []

    @workflow.run
    async def run(self) -> list[str]:
        """Wait for it."""
        await workflow.wait_condition(lambda: bool(self._taken))
        return self._taken

    @workflow.update
    def take(self, event: Event) -> str:
        """Take an event."""
        self._taken.append(event.name)
        return event.name


async def _failed_tasks(agents: Bench, workflow_id: str, run: str | None) -> list[WorkflowTaskFailedCause.ValueType]:
    events = agents.client.get_workflow_handle(workflow_id, run_id=run).fetch_history_events()
    return [
        event.workflow_task_failed_event_attributes.cause
        async for event in events
        if event.HasField("workflow_task_failed_event_attributes")
    ]


class _Other:
    FAILED_PRECONDITION, NOT_FOUND = RPCStatusCode.UNKNOWN, RPCStatusCode.NOT_FOUND


def _roll_over_beside_another_event(
    monkeypatch: pytest.MonkeyPatch, client: Client, workflow_id: str, kind: type[Questions | Events], name: str
) -> None:
    """Have the run continue as new with its next answer or event, and a signal come while its worker decides so."""
    loop, due, taking = asyncio.get_running_loop(), [False, True], getattr(kind, name)

    def interrupted(taker: Questions | Events, given: Answer | Event, at: Instant) -> None:
        taking(taker, given, at)
        if due[1]:
            due[:] = [True, False]
            signal = client.get_workflow_handle(workflow_id).signal("nobody-listens")
            asyncio.run_coroutine_threadsafe(signal, loop).result(1.5)

    def once(_: History, __: int, ___: int) -> bool:
        found, due[0] = due[0], False
        return found

    monkeypatch.setattr(kind, name, interrupted)
    monkeypatch.setattr(History, "is_due_after", once)
