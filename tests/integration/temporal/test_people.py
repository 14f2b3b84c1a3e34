"""Anybody's own workflow asks a person: found in the inbox beside other questions, and answered in the same way."""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import Replayer, Worker

from perdure import (
    Actor,
    ActorKind,
    AgentTask,
    Answer,
    OpenQuestion,
    PersonAnswer,
)
from perdure.errors import InvalidAnswer, InvalidTask, WorkerUnavailable
from perdure.names import TASK_QUEUE, Workflow
from perdure.temporal import Plugin
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.support.own_question import Deploy
from tests.support.waiting import until
from worker.gateway import Gateway
from workflows.ask_person import AskPerson

ADA = Actor(kind=ActorKind.PERSON, id="ada")
PAGE = Path("docs/questions.md").read_text("utf-8")


@pytest.fixture
async def here(servers: Servers, tmp_path: Path, default_queue: str) -> AsyncGenerator[Deployment]:
    settings = {"tools": ("tests.support.tools",), "skills": (tmp_path / "skills",)}
    (tmp_path / "skills").mkdir()
    async with deployment(servers, tmp_path / "perdure", queue=default_queue, settings=settings) as one:
        yield one


async def inbox_of(gateway: Gateway, user: str | None, number: int = 1) -> list[OpenQuestion]:
    return await until(lambda: gateway.inbox(user, by=ADA), lambda found: len(found) >= number)


async def asked(client: Client, *, queue: str = TASK_QUEUE, **more: Any) -> WorkflowHandle[Any, PersonAnswer]:
    question: dict[str, Any] = {"user_id": f"user {uuid4().hex}", "text": "Ship it?", **more}
    return await client.start_workflow(
        "AskPerson", question, id=f"ask-{uuid4()}", task_queue=queue, result_type=PersonAnswer
    )


def test_the_page_on_questions_shows_the_workflow_that_runs_here() -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert code == Path("tests/support/own_question.py").read_text("utf-8")


@pytest.mark.slow
async def test_a_workflow_of_somebodys_own_asks_and_is_answered_as_tasks_are(
    here: Deployment, gateway: Gateway, user: str
) -> None:
    client = await Client.connect(here.client.service_client.config.target_host, plugins=[Plugin()])
    queue = f"q-{uuid4().hex}"
    async with Worker(client, task_queue=queue, workflows=[Deploy]):
        handle = await client.start_workflow(Deploy.run, args=[user, "1.2"], id=f"deploy-{uuid4()}", task_queue=queue)
        [found] = await inbox_of(gateway, user)
        assert (found.kind, found.asker) == (Workflow.ASK_PERSON, handle.id)
        assert (found.question.text, found.question.otherwise) == ("Deploy 1.2 to production?", "False")
        assert found.question.until is not None
        assert await gateway.inbox("somebody else", by=ADA) == []
        assert found.workflow_id in [one.workflow_id for one in await gateway.inbox(limit=1_000, by=ADA)]
        with pytest.raises(InvalidAnswer, match="neither yes nor no"):
            await gateway.answer(found.workflow_id, Answer(question_id="question", value="perhaps"), by=ADA)
        await gateway.answer(found.workflow_id, Answer(question_id="question", value="yes"), by=ADA)
        assert await handle.result() == "deployed, as ada says"
        with pytest.raises(InvalidTask, match="has ended: it asks nothing"):
            await gateway.answer(found.workflow_id, Answer(question_id="question", value="no"), by=ADA)
    await Replayer(workflows=[Deploy], plugins=[Plugin()]).replay_workflow(await handle.fetch_history())
    history = await client.get_workflow_handle(found.workflow_id).fetch_history()
    await Replayer(workflows=[AskPerson], plugins=[Plugin()]).replay_workflow(history)
    assert await gateway.inbox(user, by=ADA) == []


async def test_the_first_of_two_answers_counts_and_the_second_is_told_so(here: Deployment, gateway: Gateway) -> None:
    handle = await asked(here.client)
    await until(lambda: handle.query("questions"), bool)
    both = [gateway.answer(handle.id, Answer(question_id="question", value=value), by=ADA) for value in ("a", "b")]
    told = await asyncio.gather(*both, return_exceptions=True)
    refused = [one for one in told if isinstance(one, Exception)]
    assert len(refused) == 1
    assert isinstance(refused[0], InvalidAnswer | InvalidTask)
    assert (await handle.result()).value == ("b" if told[0] is refused[0] else "a")


@pytest.mark.slow
async def test_the_default_counts_once_the_time_has_passed(here: Deployment) -> None:
    handle = await asked(here.client, within="1s", answer={"type": "integer"}, otherwise="7")
    found = await handle.result()
    assert (found.answered, found.value, found.by) == (False, 7, "")
    nothing = await (await asked(here.client, within="1s")).result()
    assert (nothing.answered, nothing.value) == (False, None)


@pytest.mark.slow
async def test_a_question_goes_with_the_workflow_that_asks_it(here: Deployment, gateway: Gateway, user: str) -> None:
    client, queue = here.client, f"q-{uuid4().hex}"
    async with Worker(client, task_queue=queue, workflows=[Deploy]):
        handle = await client.start_workflow(Deploy.run, args=[user, "1.2"], id=f"deploy-{uuid4()}", task_queue=queue)
        [found] = await inbox_of(gateway, user)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    with pytest.raises(WorkflowFailureError) as caught:
        await client.get_workflow_handle(found.workflow_id).result()
    assert isinstance(caught.value.cause, CancelledError)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"answer": {"type": "integer"}, "otherwise": "many"}, "otherwise: 'many' is not an integer"),
        ({"within": "soon"}, "within: is not a duration"),
        ({"txt": "x"}, "txt: is not a field here (did you mean 'text'?)"),
    ],
)
async def test_what_is_malformed_fails_at_once_with_its_field(
    here: Deployment, more: dict[str, Any], problem: str
) -> None:
    with pytest.raises(WorkflowFailureError) as caught:
        await (await asked(here.client, **more)).result()
    assert isinstance(caught.value.cause, ApplicationError)
    assert problem in caught.value.cause.message


BESIDE = """
name: beside
steps:
  - parallel:
      - {id: a, tool: echo, args: {value: 1}, approve: "Go on?"}
      - {id: b, tool: linger, args: {ledger: LEDGER}}
"""


@pytest.mark.slow
async def test_the_inbox_lists_a_task_that_asks_in_one_branch_while_it_works_in_another(
    here: Deployment, gateway: Gateway, user: str, tmp_path: Path
) -> None:
    text = BESIDE.replace("LEDGER", f"'{tmp_path / 'ledger'}'")
    await asyncio.to_thread((tmp_path / "skills" / "beside.yaml").write_text, text, encoding="utf-8")
    task = AgentTask(task_id=f"t{uuid4().hex[:8]}", user_id=user, skill="beside")
    started = await gateway.start(task, by=ADA)
    other = await asked(here.client, user_id=user)
    found = await inbox_of(gateway, user, 2)
    assert [(one.kind, one.workflow_id, one.question.id) for one in found] == [
        (Workflow.RESUMABLE_AGENT, started.workflow_id, "a"),
        (Workflow.ASK_PERSON, other.id, "question"),
    ]
    assert [one.workflow_id for one in await gateway.inbox(user, limit=1, by=ADA)] == [started.workflow_id]
    await gateway.answer(started.workflow_id, Answer(question_id="a", value="yes"), by=ADA)
    # Temporal lists late on a busy machine.
    await until(lambda: gateway.inbox(user, by=ADA), lambda left: [one.workflow_id for one in left] == [other.id], 60)
    await gateway.cancel(started.workflow_id, by=ADA)
    await other.cancel()


@pytest.mark.slow
async def test_the_inbox_says_that_no_worker_answers_instead_of_being_empty(
    servers: Servers, tmp_path: Path, user: str
) -> None:
    async with deployment(servers, tmp_path / "perdure") as here:
        handle = await asked(here.client, user_id=user, queue=here.queue)
        async with Gateway(here.settings, servers) as gateway:
            await inbox_of(gateway, user)
    async with Gateway(here.settings, servers) as gateway:
        with pytest.raises(WorkerUnavailable):
            await gateway.inbox(user, by=ADA)
    await handle.terminate()
