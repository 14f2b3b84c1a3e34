"""The webhook is told of each question: at least once, always the same, signed, and nothing waits for it."""

import asyncio
import json
import signal
import threading
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pytest_httpserver import HTTPServer
from temporalio.client import Client, WorkflowHandle
from werkzeug import Request, Response

from activities import notifications
from perdure.names import Workflow
from perdure.values.questions import Answer
from perdure.values.webhooks import NoticeFate, is_signed
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.support.harness import Bench, bench
from tests.support.processes import start_mortal
from tests.support.waiting import progress_of, question_of, until, until_true

SECRET = "a secret of the tests"

ASKING = """
steps:
  - {id: a, tool: echo, args: {value: 1}, approve: "Pay Kim?"}
  - {id: b, tool: echo, args: {value: 2}, approve: "Pay Ada?"}
output: 1
"""


@dataclass
class Hook:
    """A webhook on a real port, which answers as a function of how often it was asked says."""

    url: str
    answer: Callable[[int], Response]
    got: list[tuple[str, str, str, bytes, bool]] = field(default_factory=list[tuple[str, str, str, bytes, bool]])
    """Event id, idempotency key and body of each delivery, and whether its signature held."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    hangs: threading.Event = field(default_factory=threading.Event)

    def handle(self, request: Request) -> Response:
        body = request.get_data()
        named = (request.headers["Perdure-Event-Id"], request.headers["Idempotency-Key"])
        is_ours = is_signed(body, request.headers["Perdure-Signature"], SECRET, at=datetime.now(UTC))
        with self.lock:
            self.got.append((*named, request.path, body, is_ours))
            number = len(self.got)
        return self.answer(number)

    @property
    def events(self) -> Counter[tuple[str, bytes]]:
        """How often each event came with each body."""
        with self.lock:
            return Counter((event, body) for event, _, _, body, _ in self.got)

    @property
    def settings(self) -> dict[str, Any]:
        return {"webhook_url": self.url, "webhook_secret": SECRET}


@pytest.fixture
def hook() -> Generator[Hook]:
    # One that hangs must not keep others from being seen.
    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:
        one = Hook(server.url_for("/hook?token=hidden"), lambda _: Response(status=204))
        server.expect_request("/hook").respond_with_handler(one.handle)
        server.expect_request("/elsewhere").respond_with_handler(one.handle)
        yield one
        one.hangs.set()


def agents_on(servers: Servers, folder: Path, hook: Hook, **more: Any) -> Any:
    return bench(servers, folder, more={**hook.settings, **more})


async def notices_of(client: Client, tenant: str) -> list[WorkflowHandle[Any, NoticeFate]]:
    query = f"WorkflowType = '{Workflow.DELIVER_NOTICE}' AND PerdureTenant = '{tenant}'"
    found = [run async for run in client.list_workflows(query)]
    return [client.get_workflow_handle(run.id, result_type=NoticeFate) for run in found]


async def fate_of(agents: Bench, hook: Hook, place: int = 0) -> NoticeFate:
    event = hook.got[place][0]
    return await agents.client.get_workflow_handle(f"notice-{event}", result_type=NoticeFate).result()


async def answered(handle: WorkflowHandle[Any, Any], question: str) -> None:
    await question_of(handle, question)
    await handle.execute_update("answer", Answer(question_id=question, value="yes", by="ada"))


@pytest.mark.slow
async def test_each_question_is_one_event_signed_and_without_its_text(
    servers: Servers, tmp_path: Path, hook: Hook
) -> None:
    async with agents_on(servers, tmp_path, hook) as agents:
        handle = await agents.start(agents.task(agents.skill(ASKING)))
        await answered(handle, "a")
        await answered(handle, "b")
        assert (await handle.result()).output == 1
        await until_true(lambda: len(hook.events) == 2)
        assert await fate_of(agents, hook) is NoticeFate.DELIVERED
        await agents.replay(handle)
    assert [(event == key, is_ours) for event, key, _, _, is_ours in hook.got] == [(True, True)] * 2
    told = [json.loads(body) for _, _, _, body, _ in hook.got]
    assert sorted(one["question"]["id"] for one in told) == ["a", "b"]
    assert {one["workflow_id"] for one in told} == {handle.id}
    assert not any(b"Pay" in body for *_, body, _ in hook.got)


async def test_the_text_is_delivered_where_the_installation_says_so(
    servers: Servers, tmp_path: Path, hook: Hook
) -> None:
    async with agents_on(servers, tmp_path, hook, webhook_content=True) as agents:
        handle = await agents.start(agents.task(agents.skill(ASKING)))
        await until_true(lambda: bool(hook.got))
        question = json.loads(hook.got[0][3])["question"]
        assert (question["text"], question["about"]["tool"]) == ("Pay Kim?", "echo")
        await handle.cancel()


@pytest.mark.slow
async def test_it_is_delivered_until_it_is_accepted_and_always_the_same(
    servers: Servers, tmp_path: Path, hook: Hook
) -> None:
    answers = {1: Response(status=500), 2: Response(status=302, headers={"Location": "/elsewhere"})}
    hook.answer = lambda number: answers.get(number, Response(status=200))
    async with agents_on(servers, tmp_path, hook) as agents:
        handle = await agents.start(agents.task(agents.skill(ASKING)))
        await until_true(lambda: len(hook.got) == 3)
        assert await fate_of(agents, hook) is NoticeFate.DELIVERED
        await handle.cancel()
    assert list(hook.events.values()) == [3]
    assert {path for _, _, path, _, _ in hook.got} == {"/hook"}, "a redirect is not followed"


@pytest.mark.slow
async def test_a_webhook_that_never_answers_delays_nothing(
    servers: Servers, tmp_path: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "WITHIN", 1.0)

    def hang(_: int) -> Response:
        hook.hangs.wait(30)
        return Response(status=200)

    hook.answer = hang
    async with agents_on(servers, tmp_path, hook) as agents:
        handle = await agents.start(agents.task(agents.skill(ASKING)))
        async with asyncio.timeout(10):
            await answered(handle, "a")
            await answered(handle, "b")
            assert (await handle.result()).output == 1
        await until_true(lambda: bool(hook.got))
        assert await fate_of(agents, hook) is NoticeFate.ANSWERED, "it is not told of what nobody asks any more"


@pytest.mark.slow
async def test_nobody_is_told_of_a_question_whose_task_was_terminated(
    servers: Servers, tmp_path: Path, hook: Hook
) -> None:
    refusing = threading.Event()
    refusing.set()
    hook.answer = lambda _: Response(status=503 if refusing.is_set() else 200)
    async with agents_on(servers, tmp_path, hook) as agents:
        handle = await agents.start(agents.task(agents.skill(ASKING)))
        await until_true(lambda: bool(hook.got))
        await handle.terminate()
        refusing.clear()
        assert await fate_of(agents, hook) is NoticeFate.ANSWERED


@pytest.mark.slow
async def test_one_that_refuses_is_given_up_at_the_questions_deadline(
    servers: Servers, tmp_path: Path, hook: Hook
) -> None:
    hook.answer = lambda _: Response(status=503)
    async with agents_on(servers, tmp_path, hook) as agents:
        task = agents.task(agents.skill(ASKING), limits={"answer_hours": 2 / 3_600})
        handle = await agents.start(task)
        await until_true(lambda: bool(hook.got))
        assert await fate_of(agents, hook) in (NoticeFate.EXPIRED, NoticeFate.ANSWERED)
        with pytest.raises(Exception, match="Workflow execution failed"):
            await handle.result()


@pytest.mark.slow
async def test_where_there_is_no_webhook_nothing_is_started(servers: Servers, tmp_path: Path, hook: Hook) -> None:
    async with bench(servers, tmp_path) as agents:
        task = agents.task(agents.skill(ASKING))
        handle = await agents.start(task)
        await answered(handle, "a")
        await answered(handle, "b")
        await handle.result()
        assert await notices_of(agents.client, agents.services.tenant_key.tenant_of(task.user_id)) == []
    assert hook.got == []


async def test_questions_of_holds_and_of_other_workflows_are_told_as_well(
    servers: Servers, tmp_path: Path, hook: Hook, user: str
) -> None:
    async with deployment(servers, tmp_path, settings=hook.settings) as here:
        asked = await here.client.start_workflow(
            Workflow.ASK_PERSON, {"user_id": user, "text": "Ship?"}, id=f"ask-{uuid4()}", task_queue=here.queue
        )
        await until_true(lambda: bool(hook.got))
        [(event, *_)] = hook.got
        described = await here.client.get_workflow_handle(f"notice-{event}").describe()
        tenant = here.services.tenant_key.tenant_of(user)
        assert tenant in str(described.typed_search_attributes), "an erasure finds it"
        await asked.execute_update("answer", {"question_id": "question", "value": "yes"})


async def killed_at(here: Deployment, servers: Servers, point: str) -> Any:
    return await start_mortal(here.settings, servers, here.settings.home / "worker.log", crash_at=point)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["notice.started", "notice.delivered"])
async def test_a_worker_that_is_killed_around_a_delivery_leaves_one_event(
    servers: Servers, tmp_path: Path, hook: Hook, user: str, point: str
) -> None:
    async with deployment(servers, tmp_path, serving=False, settings=hook.settings) as here:
        doomed = await killed_at(here, servers, point)
        asked = await here.client.start_workflow(
            Workflow.ASK_PERSON, {"user_id": user, "text": "Ship?"}, id=f"ask-{uuid4()}", task_queue=here.queue
        )
        assert await doomed.wait() == -signal.SIGKILL
        second = await killed_at(here, servers, "")
        try:
            await until_true(lambda: bool(hook.got), 60)
            event = hook.got[0][0]
            delivery = here.client.get_workflow_handle(f"notice-{event}", result_type=NoticeFate)
            assert await delivery.result() is NoticeFate.DELIVERED
            await asked.execute_update("answer", {"question_id": "question", "value": "yes"})
            await asked.result()
        finally:
            await second.stop(15)
    assert len(hook.events) == 1, "one event for each question, with one body"
    assert sum(hook.events.values()) == (2 if point == "notice.delivered" else 1)


@pytest.mark.slow
async def test_many_questions_and_a_dead_webhook_leave_places_to_the_tasks(
    servers: Servers, tmp_path: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "MOST_AT_ONCE", 2)

    def hang(_: int) -> Response:
        hook.hangs.wait(60)
        return Response(status=200)

    hook.answer = hang
    async with agents_on(servers, tmp_path, hook) as agents:
        skill = agents.skill(ASKING)
        handles = [await agents.start(agents.task(skill)) for _ in range(6)]
        for handle in handles:
            await progress_of(handle, lambda one: bool(one.questions))
        await until_true(lambda: len(hook.got) == 2)
        quick = agents.skill("steps: [{id: a, tool: echo, args: {value: 1}}]\noutput: 1")
        async with asyncio.timeout(10):
            assert (await (await agents.start(agents.task(quick))).result()).output == 1
        assert len(hook.got) == 2, "no more are under way"
        hook.hangs.set()
        hook.answer = lambda _: Response(status=200)
        await until(lambda: asyncio.sleep(0, len(hook.events)), lambda number: number == 6, 60)
        for handle in handles:
            await handle.cancel()
