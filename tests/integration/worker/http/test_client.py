"""The client of a service: it waits, it understands refusals, and what was cut off has its effect once."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest

from activities.remote_memory import STORE, RemoteMemory
from perdure.client import Client
from perdure.client.answers import LIST_KEYS
from perdure.client.transport import ATTEMPTS
from perdure.errors import (
    InvalidInput,
    JobFailed,
    PerdureError,
    StoreUnavailable,
    TenantKeyMissing,
    Unavailable,
    WorkerUnavailable,
    WorkflowCancelled,
)
from perdure.memory.recall.query import Query
from perdure.refusals import AnswerUnusable, NotAuthenticated, NotPermitted, TooManyRequests, UnknownThing
from perdure.values.access_tokens import TokenScope
from perdure.values.items import MemoryItem
from perdure.values.jobs import Decision, Fate, Receipt
from perdure.values.task_status import JobState, JobStatus
from tests.support.http_service import Service
from tests.support.losing import losing
from tests.support.pages import blocks
from tests.support.waiting import until, until_true
from worker.http.problems import problem_of

FACT = "The staging database is rebuilt every Sunday."


@pytest.fixture
async def client(service: Service, user: str) -> AsyncGenerator[Client]:
    async with Client(service.url, await service.token(user_id=user, person=True)) as one:
        yield one


@pytest.mark.slow
async def test_what_is_remembered_is_recalled(client: Client) -> None:
    receipt = await client.remember([FACT, {"kind": "memory", "content": "Ada likes marzipan."}], key="k")
    assert receipt.count(Fate.SEARCHABLE) == 2
    assert await client.submit([FACT, {"kind": "memory", "content": "Ada likes marzipan."}], key="k") == receipt.job_id
    found = await client.recall("When is staging rebuilt?", limit=1)
    [item] = found.items
    assert (item.text, FACT in found.context, bool(item.parts)) == (FACT, True, True)
    now = datetime.now(UTC)
    given = MemoryItem(content="Ada's desk is by the window.", occurrence="o", occurred_at=now)
    assert (await client.remember([given], key="réunion-7")).count(Fate.SEARCHABLE) == 1
    assert (await client.recall("Where is Ada's desk?", until=now + timedelta(days=1))).items
    receipt = await client.remember([{"key": "cores", "payload": {"number": 2}}, FACT], lane="pattern")
    assert [item.decision for item in receipt.items] == [Decision.INSERT, Decision.REINFORCE], "a statement stays one"
    [exact] = (await client.activity("pattern", ["cores"])).items
    assert exact.payload == {"number": 2}


@pytest.mark.slow
async def test_a_single_text_item_or_key_is_one_and_not_its_letters(client: Client) -> None:
    for one in ("Kim likes tea.", {"kind": "memory", "content": "Lee likes coffee."}):
        assert [each.decision for each in (await client.remember(one)).items] == [Decision.INSERT]
    await client.remember({"key": "cores", "payload": {"number": 2}}, lane="pattern")
    assert [item.payload for item in (await client.activity("pattern", "cores")).items] == [{"number": 2}]


async def test_a_task_is_started_answered_and_waited_for(client: Client) -> None:
    started = await client.start(f"t-{uuid4().hex[:8]}", skill="ask-first")
    assert started.new

    async def asked() -> list[Any]:
        return await client.questions()

    [question] = await until(asked, bool)
    waiting = asyncio.create_task(client.result(started.workflow_id))
    await client.answer(started.workflow_id, question.question.id, "yes")
    assert (await waiting).output == "hello"
    assert (await client.task(started.workflow_id)).is_open is False


@pytest.mark.slow
async def test_a_task_that_fails_says_why(client: Client) -> None:
    started = await client.start(f"t-{uuid4().hex[:8]}", skill="ask-first")
    await until(client.questions, bool)
    await client.cancel(started.workflow_id)
    with pytest.raises(Exception, match="was cancelled"):
        await client.result(started.workflow_id)
    with pytest.raises(InvalidInput, match="no-such-skill"):
        await client.start(f"t-{uuid4().hex[:8]}", skill="no-such-skill")


async def test_a_refusal_is_the_error_that_it_was_there(service: Service, client: Client, user: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await client.recall("x", limit=0)
    assert refused.value.field == "limit"
    with pytest.raises(UnknownThing, match="there is no 'ingest-none'"):
        await client.receipt("ingest-none")
    with pytest.raises(UnknownThing):
        await client.recall("x", user_id="somebody else")
    async with Client(service.url, await service.token(TokenScope.READ, user_id=user)) as reader:
        with pytest.raises(NotPermitted):
            await reader.submit([FACT])
    async with Client(service.url, "nonsense") as stranger:
        with pytest.raises(NotAuthenticated):
            await stranger.recall("x")
    with pytest.raises(InvalidInput, match="write https://host:port"):
        Client("memory.example.org", "t")


@pytest.mark.slow
async def test_what_was_taken_and_not_heard_of_is_sent_again_and_has_its_effect_once(
    service: Service, user: str
) -> None:
    token = await service.token(user_id=user, person=True)
    async with losing(service.url) as way, Client(way.url, token) as client:
        way.lost = 2
        first = await client.submit([FACT])
        way.lost = 1
        started = await client.start(f"t-{uuid4().hex[:8]}", skill="echo-it", inputs={"text": "x"})
        way.lost = 1
        receipt = await client.receipt(first)
        assert receipt.count(Fate.SEARCHABLE) == 1
        assert (await client.result(started.workflow_id)).output == "x"
        [item] = (await client.recall("When is staging rebuilt?")).items
        assert item.seen == 1, "one batch, and not one with each sending"
        way.lost = 1
        gone = await client.forget(item.id)
        assert (gone.id, bool(gone.undo)) == (item.id, True)
        # The control: asked for anew, it is forgotten already.
        with pytest.raises(InvalidInput, match="it is forgotten already"):
            await client.forget(item.id)
        asking = await client.start(f"t-{uuid4().hex[:8]}", skill="ask-first")
        [question] = await until(client.questions, bool)
        way.lost = 1
        await client.answer(asking.workflow_id, question.question.id, "yes")
        assert (await client.result(asking.workflow_id)).output == "hello"
        way.lose_all = True
        with pytest.raises(StoreUnavailable, match="memory service"):
            await client.recall("x")


@pytest.mark.slow
async def test_a_run_that_was_asked_for_once_more_is_not_made_twice(service: Service, user: str) -> None:
    async with Client(service.url, await service.token(user_id=user)) as client:
        first = await client.start("again", skill="echo-it", inputs={"text": "x"})
        await client.result(first.workflow_id)
        body = {"task_id": "again", "skill": "echo-it", "inputs": {"text": "x"}, "again": True}
        async with service.client_with(await service.token(user_id=user)) as web:
            sent: list[bool] = []
            for _ in range(2):
                answer = await web.post("/v2/control/tasks", json=body, headers={"Idempotency-Key": "k"})
                sent.append(answer.json()["new"])
                await client.result(first.workflow_id)
        assert sent == [True, False]


@pytest.mark.slow
async def test_where_the_service_died_before_it_noted_a_run_a_second_sending_meets_that_run(
    service: Service, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dying(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("redis", "the service died here")

    monkeypatch.setattr(service.gateway, "carried_out", dying)
    body = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "echo-it", "inputs": {"text": "x"}, "again": True}
    first, second = uuid4().hex, uuid4().hex
    async with service.client_with(await service.token(user_id=user)) as web:
        begun: list[bool] = []
        # The control: under another key, it is a further run.
        for key in (first, first, second, second):
            answer = await web.post("/v2/control/tasks", json=body, headers={"Idempotency-Key": key})
            begun.append(answer.json()["new"])
            ended = await web.get(answer.headers["Location"], params={"wait": 30})
            assert ended.json()["is_open"] is False
    assert begun == [True, False, True, False]


@pytest.mark.slow
async def test_a_second_sending_meets_the_run_of_the_first_although_it_did_not_complete(
    service: Service, user: str
) -> None:
    body, key = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-first"}, uuid4().hex
    async with service.client_with(await service.token(user_id=user)) as web:

        async def begun(key: str) -> tuple[bool, str]:
            answer = await web.post("/v2/control/tasks", json=body, headers={"Idempotency-Key": key})
            return answer.json()["new"], answer.headers["Location"]

        is_new, place = await begun(key)
        assert is_new
        assert (await web.post(f"{place}/cancel", json={})).status_code == 200
        assert (await web.get(place, params={"wait": 30})).json()["is_open"] is False
        assert await begun(key) == (False, place)
        # The control: under another key, the task is gone on with.
        assert await begun(uuid4().hex) == (True, place)
        await web.post(f"{place}/cancel", json={})


@pytest.mark.slow
async def test_a_second_sending_begins_no_run_although_another_one_has_followed_and_did_not_complete(
    service: Service, user: str
) -> None:
    body, key = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-first", "again": True}, uuid4().hex
    async with service.client_with(await service.token(user_id=user)) as web:

        async def begun(key: str) -> tuple[bool, str]:
            answer = await web.post("/v2/control/tasks", json=body, headers={"Idempotency-Key": key})
            return answer.json()["new"], answer.headers["Location"]

        async def cancelled(place: str) -> None:
            assert (await web.post(f"{place}/cancel", json={})).status_code == 200
            assert (await web.get(place, params={"wait": 30})).json()["is_open"] is False

        is_new, place = await begun(key)
        assert is_new
        await cancelled(place)
        assert await begun(uuid4().hex) == (True, place)
        await cancelled(place)
        # The last run carries the other sending's id.
        assert await begun(key) == (False, place)
        assert (await web.get(place)).json()["is_open"] is False


async def test_of_two_sendings_at_once_of_a_request_one_begins_a_run(
    service: Service, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway, both, over = service.gateway, asyncio.Barrier(2), asyncio.Event()
    check = gateway._check_at_once  # pyright: ignore[reportPrivateUsage]

    async def slow(run: Any) -> bool:
        # One of them is still being checked when the other's run has completed.
        if await both.wait():
            await over.wait()
        return await check(run)

    monkeypatch.setattr(gateway, "_check_at_once", slow)
    body = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "echo-it", "inputs": {"text": "x"}, "again": True}
    key = {"Idempotency-Key": uuid4().hex}
    async with service.client_with(await service.token(user_id=user)) as web:
        sent = [asyncio.create_task(web.post("/v2/control/tasks", json=body, headers=key)) for _ in "12"]
        [first], [second] = await asyncio.wait(sent, return_when=asyncio.FIRST_COMPLETED)
        begun = await first
        ended = await web.get(begun.headers["Location"], params={"wait": 30})
        assert ended.json()["is_open"] is False
        over.set()
        assert (begun.json()["new"], (await second).json()["new"]) == (True, False)


@pytest.mark.slow
async def test_a_run_that_was_asked_for_and_not_started_is_started_once_it_is_asked_for_again(
    service: Service, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Client(service.url, await service.token(user_id=user)) as client:
        first = await client.start("once-more", skill="echo-it", inputs={"text": "x"})
        await client.result(first.workflow_id)
        body = {"task_id": "once-more", "skill": "echo-it", "inputs": {"text": "x"}, "again": True}

        async def dying(*_: Any, **__: Any) -> None:
            raise StoreUnavailable("temporal", "the service died here")

        async with service.client_with(await service.token(user_id=user)) as web:
            key = {"Idempotency-Key": uuid4().hex}
            with monkeypatch.context() as patched:
                patched.setattr(service.gateway, "start", dying)
                assert (await web.post("/v2/control/tasks", json=body, headers=key)).status_code == 503
            answers = [(await web.post("/v2/control/tasks", json=body, headers=key)).json() for _ in "12"]
            assert answers[0]["new"]
            assert not answers[1]["new"]
        assert (await client.result(first.workflow_id)).output == "x"


@pytest.mark.slow
async def test_waiting_goes_on_while_the_service_is_away(service: Service, user: str) -> None:
    token = await service.token(user_id=user)
    async with losing(service.url) as way, Client(way.url, token) as client:
        job = await client.submit([FACT])
        way.lose_all = True
        waiting = asyncio.create_task(client.receipt(job))
        await until_true(lambda: way.refused > ATTEMPTS or waiting.done())
        assert not waiting.done(), "the attempts of one request are over"
        way.lose_all = False
        assert (await waiting).count(Fate.SEARCHABLE) == 1


async def test_the_page_shows_the_blocking_client_at_work(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    [code] = [block.text for block in blocks(Path("docs/http.md")) if block.language == "python"]
    names: dict[str, Any] = {}
    exec(compile(code, "docs/http.md", "exec"), names)
    token = await service.token(person=True)
    assert await asyncio.to_thread(names["restocked"], service.url, token) == "bolts"
    assert FACT in capsys.readouterr().out


class Odd(BaseHTTPRequestHandler):
    """A memory service of another kind: its answers are what a test says."""

    answers: dict[str, tuple[int, str]]
    asked: list[str]
    retry_after = ""
    """Seconds after which it wants to be asked again; empty: it does not say."""

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked.append(f"{self.command} {self.path}")
        status, text = self.answers[self.path.partition("?")[0]]
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        if self.retry_after:
            self.send_header("Retry-After", self.retry_after)
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_POST = _answer

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
async def odd() -> AsyncGenerator[tuple[Client, type[Odd]]]:
    handler = type("Handler", (Odd,), {"answers": {}, "asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        async with Client(f"http://127.0.0.1:{server.server_port}", "t", user_id="ada") as client:
            yield client, handler
        server.shutdown()


async def test_another_services_answer_is_read_and_the_key_that_worked_is_kept(
    odd: tuple[Client, type[Odd]],
) -> None:
    client, service = odd
    service.answers["/v2/control/query"] = (200, json.dumps({"evidence": [{"memory": "Ada likes marzipan."}]}))
    [item] = (await client.recall("What does Ada like?")).items
    assert item.text == "Ada likes marzipan."
    # It now adds another list, which comes first in the order.
    changed = {"entries": ["not this"], "evidence": [{"memory": "Ada likes marzipan."}]}
    service.answers["/v2/control/query"] = (200, json.dumps(changed))
    assert [one.text for one in (await client.recall("x")).items] == ["Ada likes marzipan."]


async def test_the_key_that_worked_is_kept_for_each_list_apart(odd: tuple[Client, type[Odd]]) -> None:
    client, service = odd
    worked = {"memories": "evidence", "questions": "records"}
    for name, key in worked.items():
        service.answers[f"/v2/control/{name}"] = (200, f'{{"{key}": []}}')
    assert (await client.memories(), await client.questions()) == ([], [])
    # They now add all other lists, some of which come first in the order.
    for name, key in worked.items():
        changed: dict[str, list[str]] = {one: [] if one == key else ["not this"] for one in LIST_KEYS}
        service.answers[f"/v2/control/{name}"] = (200, json.dumps(changed))
    assert (await client.memories(), await client.questions()) == ([], [])


@pytest.mark.parametrize("text", ["", "<html>", "[", '"a"', "{}", "null"])
async def test_what_is_no_answer_is_refused_and_not_taken_for_nothing(odd: tuple[Client, type[Odd]], text: str) -> None:
    client, service = odd
    service.answers["/v2/control/query"] = (200, text)
    service.answers["/v2/control/ingest"] = (202, text)
    with pytest.raises((AnswerUnusable, StoreUnavailable)):
        await client.recall("x")
    with pytest.raises((AnswerUnusable, StoreUnavailable)):
        await client.submit([MemoryItem(content=FACT, occurrence="o", occurred_at=datetime.now(UTC))])


async def test_a_job_that_failed_is_an_error_with_its_reason_and_one_that_runs_is_waited_for(
    odd: tuple[Client, type[Odd]],
) -> None:
    client, service = odd
    place = "/v2/control/ingest/jobs/j"
    service.answers[place] = (200, json.dumps({"job_id": "j", "status": "queued for review"}))
    waiting = asyncio.create_task(client.receipt("j"))
    await until_asked(service, 6)
    assert not waiting.done()
    service.answers[place] = (200, json.dumps({"job_id": "j", "status": "failed", "problem": "the disk is full"}))
    with pytest.raises(JobFailed, match="j: the disk is full"):
        await waiting
    assert [one.rpartition("wait=")[2] for one in service.asked[:6]] == ["0.0", "0.0", "0.0", "0.0", "30.0", "30.0"]


async def test_a_job_that_is_done_without_a_receipt_is_not_waited_for(odd: tuple[Client, type[Odd]]) -> None:
    client, service = odd
    service.answers["/v2/control/ingest/jobs/j"] = (200, json.dumps({"job_id": "j", "status": "done"}))
    with pytest.raises(AnswerUnusable, match="what became of it"):
        await client.receipt("j")


PASSING = {
    "overloaded": Unavailable("2,000 requests are under way"),
    "too often": TooManyRequests("requests come too often", retry_after=1.0),
    "without its key": TenantKeyMissing("no tenant key can be read"),
    "without a worker": WorkerUnavailable("no worker answers"),
    "without a store": StoreUnavailable("redis", "it does not answer"),
}
"""What a service says of itself that ends without anybody's asking otherwise."""


@pytest.fixture
def overloaded(odd: tuple[Client, type[Odd]], monkeypatch: pytest.MonkeyPatch) -> tuple[Client, type[Odd]]:
    """A service that wants to be asked again a second later, for which no single request waits."""
    monkeypatch.setattr("perdure.client.transport._LONGEST_PAUSE", 0.5)
    monkeypatch.setattr("perdure.client.client._AWAY", 0.1)
    odd[1].retry_after = "1"
    return odd


@pytest.mark.slow
@pytest.mark.parametrize("error", PASSING.values(), ids=PASSING)
async def test_what_was_accepted_is_waited_for_while_the_service_cannot_tell(
    overloaded: tuple[Client, type[Odd]], error: PerdureError
) -> None:
    client, service = overloaded
    problem, place = problem_of(error), "/v2/control/ingest/jobs/j"
    service.answers["/v2/control/ingest"] = (202, json.dumps({"job_id": "j"}))
    service.answers[place] = (problem.status, problem.model_dump_json())
    began = time.monotonic()
    waiting = asyncio.create_task(client.remember(FACT))
    await until_true(lambda: len(service.asked) > 2 or waiting.done())
    assert not waiting.done(), "the job goes on"
    assert time.monotonic() - began > 0.9, "it is asked again when it wants to be"
    done = JobState(job_id="j", status=JobStatus.DONE, receipt=Receipt(job_id="j", items=()))
    service.answers[place] = (200, done.model_dump_json())
    assert (await waiting).job_id == "j"


async def test_a_service_that_stays_overloaded_is_not_waited_for_without_end(
    overloaded: tuple[Client, type[Odd]], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, service = overloaded
    monkeypatch.setattr("perdure.client.client._AWAY_AT_MOST", 0.5)
    problem = problem_of(PASSING["overloaded"])
    service.answers["/v2/control/ingest/jobs/j"] = (problem.status, problem.model_dump_json())
    with pytest.raises(Unavailable, match="requests are under way"):
        await client.receipt("j")


@pytest.mark.parametrize("error", PASSING.values(), ids=PASSING)
async def test_a_task_recalls_without_an_overloaded_memory_elsewhere(
    overloaded: tuple[Client, type[Odd]], error: PerdureError
) -> None:
    client, service = overloaded
    problem = problem_of(error)
    service.answers["/v2/control/query"] = (problem.status, problem.model_dump_json())
    query = Query(tenant="t_" + "0" * 32, session="", text="who?", now=datetime.now(UTC))
    assert (await RemoteMemory(client, 5.0).recall(query, user_id="ada", of=None)).degraded == (STORE,)


async def test_a_task_that_was_cancelled_and_left_no_result_is_no_failed_one(odd: tuple[Client, type[Odd]]) -> None:
    client, service = odd
    told = {"workflow_id": "w", "is_open": False, "phase": "cancelled"}
    service.answers["/v2/control/tasks/w"] = (200, json.dumps(told))
    with pytest.raises(WorkflowCancelled):
        await client.result("w")


def test_what_is_no_token_is_refused_at_once() -> None:
    for text in ("é", "a\nb"):
        with pytest.raises(InvalidInput, match="token"):
            Client("http://127.0.0.1:1", text)
    Client("http://127.0.0.1:1", "a\n")


async def until_asked(service: type[Odd], times: int) -> None:
    async def asked() -> int:
        return len(service.asked)

    await until(asked, lambda number: number >= times)


@pytest.mark.slow
async def test_what_is_refused_for_good_is_asked_once(odd: tuple[Client, type[Odd]]) -> None:
    client, service = odd
    service.answers["/v2/control/query"] = (422, json.dumps({"detail": "no"}))
    with pytest.raises(InvalidInput, match="no"):
        await client.recall("x")
    assert len(service.asked) == 1
    service.answers["/v2/control/query"] = (503, json.dumps({"detail": "busy"}))
    with pytest.raises(StoreUnavailable, match="busy"):
        await client.recall("x")
    assert len(service.asked) == 5
