"""Tasks over HTTP: started, followed, asked, answered, steered."""

import asyncio
import json
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx2
import pytest

from perdure.client import Client
from perdure.names import Workflow
from perdure.values.access_tokens import Caller, TokenScope, acting
from tests.conftest import Servers
from tests.support.http_service import Service, answering
from tests.support.waiting import until, until_true
from worker.gateway import Gateway
from worker.http.app import make_app
from worker.http.event_stream import followed


async def started(client: httpx2.AsyncClient, skill: str = "echo-it", **more: Any) -> str:
    inputs = {"text": "hello"} if skill == "echo-it" else {}
    body = {"task_id": f"t-{uuid4().hex[:8]}", "skill": skill, "inputs": inputs} | more
    sent = await client.post("/v2/control/tasks", json=body)
    assert sent.status_code == 202, sent.text
    assert sent.headers["Location"] == f"/v2/control/tasks/{sent.json()['workflow_id']}"
    return str(sent.json()["workflow_id"])


async def asked(client: httpx2.AsyncClient, task: str) -> dict[str, Any]:
    async def questions() -> list[dict[str, Any]]:
        shown = (await client.get(f"/v2/control/tasks/{task}")).json()
        progress: dict[str, Any] = shown["progress"] or {}
        return list(progress.get("questions", []))

    return (await until(questions, bool))[0]


@pytest.mark.slow
async def test_a_task_is_started_and_its_end_waited_for(ada: httpx2.AsyncClient) -> None:
    task = await started(ada)
    shown = (await ada.get(f"/v2/control/tasks/{task}", params={"wait": 30})).json()
    assert (shown["is_open"], shown["result"]["status"], shown["result"]["output"]) == (False, "completed", "hello")
    found = await until(lambda: _listed(ada), bool)
    assert [one["workflow_id"] for one in found] == [task]
    explained = await ada.get(f"/v2/control/tasks/{task}/explanation")
    assert explained.json()["recalls"] == []


async def _listed(client: httpx2.AsyncClient) -> list[dict[str, Any]]:
    return list((await client.get("/v2/control/tasks")).json())


async def test_the_same_task_again_is_the_same_one(ada: httpx2.AsyncClient) -> None:
    one = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "echo-it", "inputs": {"text": "a"}}
    first, again = [(await ada.post("/v2/control/tasks", json=one)).json() for _ in range(2)]
    assert (first["new"], again["new"]) == (True, False)
    assert first["workflow_id"] == again["workflow_id"]
    other = await ada.post("/v2/control/tasks", json=one | {"skill": "no-such-skill", "task_id": "another"})
    assert (other.status_code, "no-such-skill" in other.json()["detail"]) == (422, True), other.text


async def test_with_a_token_for_all_users_a_task_is_where_its_start_says(service: Service, user: str) -> None:
    whose = f"{user} & co/é?#+"
    task = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "echo-it", "inputs": {"text": "a"}, "user_id": whose}
    async with await service.client() as client:
        sent = await client.post("/v2/control/tasks", json=task)
        shown = await client.get(f"{sent.headers['Location']}&wait=30")
        assert (shown.status_code, shown.json().get("workflow_id")) == (200, sent.json()["workflow_id"]), shown.text
        assert shown.json()["result"]["output"] == "a"


@pytest.mark.slow
async def test_a_task_with_a_slash_in_its_id_is_reached_by_its_user_alone(
    service: Service, ada: httpx2.AsyncClient, user: str
) -> None:
    identifier = f"run/{uuid4().hex}/100%2F/events"
    given: Any = {"task_id": "by-hand", "user_id": user, "skill": "ask-first"}
    run = await service.here.client.start_workflow(
        Workflow.RESUMABLE_AGENT, given, id=identifier, task_queue=service.here.queue
    )
    async with Client(service.url, await service.token(user_id=user, person=True)) as client:
        [question] = await until(client.questions, bool)
        assert question.workflow_id == identifier
        assert (await client.task(identifier)).is_open
        async with service.client_with(await service.token(user_id=f"kim {uuid4().hex}", person=True)) as kim:
            refused = await kim.post(f"/v2/control/tasks/{quote(identifier, safe='')}/cancel", json={})
            assert (refused.status_code, refused.json()["code"]) == (404, "PRD116")
        await client.answer(identifier, question.question.id, "yes")
        assert (await client.result(identifier)).output == "hello"
    await run.result()
    place = f"/v2/control/tasks/{quote(identifier, safe='')}"
    assert (await ada.get(place)).json()["workflow_id"] == identifier
    assert (await ada.get(f"{place}/explanation")).status_code == 200
    assert "event: end" in (await ada.get(f"{place}/events")).text
    # As parts of the path, they are those of another address.
    assert (await ada.get(f"/v2/control/tasks/{quote(identifier)}")).status_code == 404


@pytest.mark.slow
async def test_a_person_answers_and_a_program_does_not(service: Service, ada: httpx2.AsyncClient, user: str) -> None:
    task = await started(ada, "ask-first")
    question = await asked(ada, task)
    [waiting] = (await ada.get("/v2/control/questions")).json()
    assert (waiting["workflow_id"], waiting["question"]["text"]) == (task, "Say it?")
    said = {"question_id": question["id"], "value": "yes"}
    async with await service.client(TokenScope.TASKS, user_id=user) as program:
        refused = await program.post(f"/v2/control/tasks/{task}/answer", json=said)
        assert (refused.status_code, refused.json()["code"]) == (403, "PRD501")
    assert (await ada.post(f"/v2/control/tasks/{task}/answer", json=said)).status_code == 200
    ended = (await ada.get(f"/v2/control/tasks/{task}", params={"wait": 30})).json()
    assert ended["result"]["output"] == "hello"
    again = await ada.post(f"/v2/control/tasks/{task}/answer", json=said)
    assert (again.status_code, again.json()["code"]) == (409, "PRD117")


async def test_anothers_task_does_not_exist(service: Service, ada: httpx2.AsyncClient) -> None:
    task = await started(ada, "ask-first")
    await asked(ada, task)
    async with await service.client(user_id=f"kim {uuid4().hex}", person=True) as kim:
        for other in (task, "task-none-000000000000", "perdure-forgetting"):
            answers = [await kim.get(f"/v2/control/tasks/{other}{end}") for end in ("", "/events", "/explanation")]
            answers += [
                await kim.post(f"/v2/control/tasks/{other}/{end}", json=body)
                for end, body in {
                    "answer": {"question_id": "say", "value": "yes"},
                    "cancel": {},
                    "pause": {},
                    "resume": {},
                    "message": {"text": "x"},
                    "redirect": {"goal": "x"},
                    "deliver": {"name": "x"},
                }.items()
            ]
            assert {(one.status_code, one.json()["code"]) for one in answers} == {(404, "PRD116")}
            assert {one.json()["detail"] for one in answers} == {f"task: there is no {other!r} of this user"}
    assert (await ada.post(f"/v2/control/tasks/{task}/cancel", json={})).status_code == 200
    ended = (await ada.get(f"/v2/control/tasks/{task}", params={"wait": 30})).json()
    assert ended["result"]["status"] == "cancelled"


async def test_a_task_is_followed_until_its_end(ada: httpx2.AsyncClient) -> None:
    task = await started(ada, "ask-first")
    seen: list[tuple[str, Any]] = []
    async with ada.stream("GET", f"/v2/control/tasks/{task}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                value = json.loads(line.removeprefix("data: "))
                seen.append((name, value))
                if name == "progress" and value["questions"] and len(seen) < 8:
                    said = {"question_id": value["questions"][0]["id"], "value": "yes"}
                    await ada.post(f"/v2/control/tasks/{task}/answer", json=said)
    assert [name for name, _ in seen][-1] == "end"
    assert seen[-1][1]["output"] == "hello"


async def test_a_follower_is_told_what_is_wrong_and_the_stream_ends(
    service: Service, ada: httpx2.AsyncClient, servers: Servers
) -> None:
    task = await started(ada, "ask-first")
    caller = Caller(token="t", actor=acting("an-app", None, person=False), scopes=frozenset(TokenScope))
    async with Gateway(service.here.settings, servers.changed(temporal="127.0.0.1:1")) as away:
        events = [one async for one in followed(away, task, caller, request_id="r7", ending=asyncio.Event())]
    assert events[0] == b"retry: 2000\n\n"
    name, data = events[-1].decode().strip().split("\n")
    problem = json.loads(data.removeprefix("data: "))
    assert (name, problem["code"], problem["request"]) == ("event: problem", "PRD200", "r7")
    await ada.post(f"/v2/control/tasks/{task}/cancel", json={})


@pytest.mark.slow
async def test_whoever_follows_or_waits_holds_up_no_service_that_ends(
    service: Service, ada: httpx2.AsyncClient, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await started(ada, "ask-first")
    await asked(ada, task)
    gateway, waits = Gateway(service.here.settings, servers), asyncio.Event()
    state = gateway.task_state

    def begins(*given: Any, **more: Any) -> Any:
        waits.set()
        return state(*given, **more)

    monkeypatch.setattr(gateway, "task_state", begins)
    app = make_app(service.here.settings, gateway, local=True)
    clock, headers = asyncio.get_running_loop().time, {"Authorization": ada.headers["Authorization"]}
    async with answering(app) as (host, port):
        there = httpx2.AsyncClient(base_url=f"http://{host}:{port}", headers=headers, timeout=60, trust_env=False)
        place = f"/v2/control/tasks/{task}"
        following = asyncio.create_task(there.get(f"{place}/events"))
        waiting = asyncio.create_task(there.get(place, params={"wait": 50}))
        await until_true(lambda: app.state.streams.taken == 1)
        await waits.wait()
        ended = clock()
    assert clock() - ended < 5
    stream, told = await following, await waiting
    assert (stream.status_code, stream.text[:6]) == (200, "retry:"), "it ends in order"
    assert (told.status_code, told.json()["code"]) == (503, "PRD209")
    assert "Retry-After" in told.headers
    await there.aclose()
    await ada.post(f"{place}/cancel", json={})


async def test_a_follower_who_goes_away_leaves_nothing_behind(service: Service, ada: httpx2.AsyncClient) -> None:
    task = await started(ada, "ask-first")
    await asked(ada, task)
    streams = service.app.state.streams
    async with ada.stream("GET", f"/v2/control/tasks/{task}/events") as answer:
        assert answer.status_code == 200
        assert streams.taken == 1
    await until(_now(lambda: streams.taken), lambda number: number == 0)
    await ada.post(f"/v2/control/tasks/{task}/cancel", json={})


def _now(look: Any) -> Any:
    async def looked() -> Any:
        return look()

    return looked


async def test_a_waiter_who_goes_away_is_no_longer_waited_for(service: Service, ada: httpx2.AsyncClient) -> None:
    task = await started(ada, "ask-first")
    await asked(ada, task)
    before = len(asyncio.all_tasks())
    waiting = asyncio.create_task(ada.get(f"/v2/control/tasks/{task}", params={"wait": 60}))
    # The service runs in this process: beside the client's task there is one of its own.
    await until(_now(lambda: len(asyncio.all_tasks())), lambda number: number > before + 1)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await until(_now(lambda: len(asyncio.all_tasks())), lambda number: number <= before, seconds=5)
    await ada.post(f"/v2/control/tasks/{task}/cancel", json={})


@pytest.mark.slow
async def test_a_task_is_paused_and_goes_on(ada: httpx2.AsyncClient) -> None:
    task = await started(ada, "ask-first")
    await asked(ada, task)
    key = {"Idempotency-Key": uuid4().hex}
    sent = [await ada.post(f"/v2/control/tasks/{task}/pause", json={"because": "lunch"}, headers=key) for _ in "12"]
    assert [one.status_code for one in sent] == [200, 200], "the same request again is taken as the first"
    other = await ada.post(f"/v2/control/tasks/{task}/pause", json={"because": "tea"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "PRD503")
    assert (await ada.post(f"/v2/control/tasks/{task}/resume", json={})).status_code == 200
    await ada.post(f"/v2/control/tasks/{task}/cancel", json={})


async def test_skills_are_listed_and_shown(ada: httpx2.AsyncClient) -> None:
    names = {one["name"] for one in (await ada.get("/v2/control/skills")).json()}
    assert names > {"echo-it", "ask-first"}
    shown = (await ada.get("/v2/control/skills/echo-it")).json()
    assert (list(shown["inputs"]), shown["steps"]) == (["text"], ["say"])
    assert (await ada.get("/v2/control/skills/nothing")).json()["code"] == "PRD116"
