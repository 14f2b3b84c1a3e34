"""An answer that the gateway took is given, also where Temporal throws away what a worker made of it at first."""

import asyncio
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.client import Client
from temporalio.service import RPCStatusCode

from perdure import Actor, ActorKind, Answer
from perdure.agent.questions import Questions
from perdure.errors import StoreUnavailable
from perdure.model import Instant
from tests.conftest import Servers
from tests.support.harness import bench
from tests.support.waiting import question_of
from worker.gateway import Gateway, tasks
from workflows.history import History

ADA = Actor(kind=ActorKind.PERSON, id="ada")

ASKING = """
steps:
  - {id: a, tool: look, args: {name: x, known: false}, expect: "${false}", ask: "Which?"}
  - {id: b, tool: echo, args: {value: "${steps.a.answer}"}}
output: "${steps.b.output}"
"""


@pytest.mark.parametrize("again", [True, False], ids=["delivered again", "control"])
async def test_an_answer_that_came_while_the_history_was_rolled_over_is_taken(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    if not again:
        # The control: a delivery that Temporal gives up is an error, as it is of Temporal's own client.
        monkeypatch.setattr(tasks, "RPCStatusCode", _Other)
    async with bench(servers, tmp_path) as agents, Gateway(agents.settings, servers) as gateway:
        handle = await agents.start(agents.task(agents.skill(ASKING)))
        await question_of(handle)
        _roll_over_beside_another_event(monkeypatch, agents.client, handle.id)
        answering = gateway.answer(handle.id, Answer(question_id="a", value="MIT"), by=ADA)
        if not again:
            with pytest.raises(StoreUnavailable, match="workflow task failure"):
                await answering
            await handle.terminate()
            return
        await answering
        assert (await handle.result()).output == "MIT"
        first = agents.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)
        failed = [
            event.workflow_task_failed_event_attributes.cause
            async for event in first.fetch_history_events()
            if event.HasField("workflow_task_failed_event_attributes")
        ]
        assert failed == [WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND]


class _Other:
    FAILED_PRECONDITION, NOT_FOUND = RPCStatusCode.UNKNOWN, RPCStatusCode.NOT_FOUND


def _roll_over_beside_another_event(monkeypatch: pytest.MonkeyPatch, client: Client, workflow_id: str) -> None:
    """Have the run continue as new with its next answer, and a signal come while its worker decides so."""
    loop, due, answer = asyncio.get_running_loop(), [False, True], Questions.answer

    def interrupted(questions: Questions, given: Answer, at: Instant) -> None:
        answer(questions, given, at)
        if due[1]:
            due[:] = [True, False]
            signal = client.get_workflow_handle(workflow_id).signal("nobody-listens")
            asyncio.run_coroutine_threadsafe(signal, loop).result(1.5)

    def once(_: History) -> bool:
        found, due[0] = due[0], False
        return found

    monkeypatch.setattr(Questions, "answer", interrupted)
    monkeypatch.setattr(History, "is_due", property(once))
