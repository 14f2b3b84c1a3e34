"""Tasks that are steered over HTTP while they run: messages, redirections, events, and what an earlier run left."""

import asyncio
import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from pytest_httpserver import HTTPServer

from tests.conftest import Servers
from tests.support.goals import settings_of
from tests.support.http_service import Service, http_service
from tests.support.turn_server import Asked, Call, Says, TurnServer
from tests.support.waiting import until

AGENT = "name: worker\ninstructions: Be brief.\nmodel: openai:test\ntools: [echo]\n"

WAITS = """
name: wait-for
steps:
  - {id: paid, wait: {event: paid}}
output: "${steps.paid.output}"
"""


async def started(client: httpx2.AsyncClient, **task: Any) -> str:
    sent = await client.post("/v2/control/tasks", json={"task_id": f"t-{uuid4().hex[:8]}", **task})
    assert sent.status_code == 202, sent.text
    return str(sent.json()["workflow_id"])


async def ended(client: httpx2.AsyncClient, task: str) -> dict[str, Any]:
    shown = (await client.get(f"/v2/control/tasks/{task}", params={"wait": 30})).json()
    assert shown["is_open"] is False, shown
    return dict(shown["result"])


@pytest.mark.slow
async def test_the_model_reads_a_message_and_a_redirection_once_each(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer, user: str
) -> None:
    asked, told = threading.Event(), threading.Event()

    def script(given: Asked) -> Says:
        if given.outputs:
            return Says(" | ".join([given.first.partition("\n\n")[0], *given.told]))
        asked.set()
        assert told.wait(60)
        return Says(calls=(Call("echo", {"value": 1}),))

    settings = {"tools": ("tests.support.tools",)} | settings_of(tmp_path, TurnServer(httpserver, script), AGENT)
    async with (
        http_service(servers, tmp_path / "home", settings=settings) as service,
        await service.client(user_id=user, person=True) as ada,
    ):
        task = await started(ada, goal="Find this.", agent="worker")
        place = f"/v2/control/tasks/{task}"
        await asyncio.to_thread(asked.wait, 60)
        for name, body in {
            "message": {"text": "Look in the cellar."},
            "redirect": {"goal": "Find that.", "constraints": ["Touch no docs."]},
        }.items():
            key = {"Idempotency-Key": uuid4().hex}
            sent = [await ada.post(f"{place}/{name}", json=body, headers=key) for _ in range(2)]
            assert [one.status_code for one in sent] == [200, 200], sent[0].text
        told.set()
        result = await ended(ada, task)
        late = await ada.post(f"{place}/message", json={"text": "Too late."})
        assert (late.status_code, late.json()["code"]) == (409, "PRD117"), late.text
    output = result["output"]
    assert result["status"] == "completed", result
    assert "Find that." in output
    assert output.count("Look in the cellar.") == 1
    assert output.count("Touch no docs.") == 1


async def test_an_event_is_delivered_once_and_one_that_no_step_waits_for_is_refused(
    service: Service, ada: httpx2.AsyncClient, tmp_path: Path
) -> None:
    [skills] = service.here.settings.skills
    (skills / "wait-for.yaml").write_text(WAITS, encoding="utf-8")

    async def known() -> bool:
        return "wait-for" in {one["name"] for one in (await ada.get("/v2/control/skills")).json()}

    await until(known, bool)
    task = await started(ada, skill="wait-for")
    place = f"/v2/control/tasks/{task}/deliver"
    unwanted = await ada.post(place, json={"name": "shipped", "value": 1})
    assert (unwanted.status_code, "shipped" in unwanted.json()["detail"]) == (409, True), unwanted.text
    key = {"Idempotency-Key": uuid4().hex}
    sent = [await ada.post(place, json={"name": "paid", "value": {"sum": 12}}, headers=key) for _ in range(2)]
    assert [one.status_code for one in sent] == [200, 200], sent[0].text
    assert (await ended(ada, task))["output"] == {"sum": 12}
    refused = await ada.post(place, json={"name": ""})
    assert (refused.status_code, "name" in refused.json()["detail"]) == (422, True), refused.text


@pytest.mark.slow
async def test_a_task_that_runs_again_says_with_what_it_failed_before(ada: httpx2.AsyncClient) -> None:
    one = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-first", "limits": {"answer_hours": 1}}
    task = await started(ada, **one)

    async def questions() -> list[dict[str, Any]]:
        progress: dict[str, Any] = (await ada.get(f"/v2/control/tasks/{task}")).json()["progress"] or {}
        return list(progress.get("questions", []))

    await until(questions, bool)
    assert (await ada.post(f"/v2/control/tasks/{task}/cancel", json={})).status_code == 200
    assert (await ended(ada, task))["status"] == "cancelled"
    again = await ada.post("/v2/control/tasks", json=one)
    assert again.status_code == 202, again.text
    assert again.json()["earlier"]["how"] == "cancelled", again.json()
    await ada.post(f"/v2/control/tasks/{task}/cancel", json={})
