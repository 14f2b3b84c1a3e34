"""What people, models and programs say is text on every page of the console that shows it, whatever it looks like."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from html import unescape
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx2
import pytest

from perdure.names import Workflow
from perdure.values.inbox import ASKED
from perdure.values.requests import RememberRequest
from tests.support.console_browser import Browser, browser_with
from tests.support.http_service import ADMIN, Service, memory_item, remembered
from tests.support.waiting import until

OPENING = "<script>alert(1)"
"""As much of it as can be a part of a path."""

HOSTILE = f"{OPENING}</script>"

Says = Callable[[Service, httpx2.AsyncClient, str], Awaitable[list[str]]]
"""Has somebody say it, and returns the pages that show it."""


@pytest.fixture
async def ada(service: Service, user: str) -> AsyncGenerator[Browser]:
    one = await browser_with(service, await service.token(user_id=user, person=True))
    yield one
    await one.client.aclose()


async def shows(browser: Browser, place: str) -> None:
    """Check that a page shows it as text, once it is there."""

    async def opened() -> str:
        return await browser.opens(place)

    await until(opened, lambda text: OPENING in text)
    assert OPENING not in browser.text, place


async def a_note(_: Service, client: httpx2.AsyncClient, __: str) -> list[str]:
    one = await remembered(client, "Deploys happen on Tuesdays.")
    noted = await client.post(f"/v2/control/memories/{one}/pin", json={"note": f"because {HOSTILE}"})
    assert noted.status_code == 200, noted.text
    return [f"/memories/{one}"]


async def a_payload(_: Service, client: httpx2.AsyncClient, __: str) -> list[str]:
    record = {"kind": "record", "lane": "pattern", "key": "cores", "payload": {"number": HOSTILE}}
    sent = await client.post("/v2/control/ingest", json={"items": [record]})
    job = (await client.get(sent.headers["Location"], params={"wait": 30})).json()
    return [f"/memories/{job['receipt']['items'][0]['id']}"]


async def a_forgotten_memory(_: Service, client: httpx2.AsyncClient, __: str) -> list[str]:
    one = await remembered(client, f"Ada's favourite tag is {HOSTILE}.")
    await client.post(f"/v2/control/memories/{one}/forget", json={})
    return ["/forgetting", "/memories?all=1"]


async def a_memory_on_hold(service: Service, _: httpx2.AsyncClient, user: str) -> list[str]:
    item: dict[str, Any] = memory_item(f"Ada is allergic to nuts. {HOSTILE}") | {"tags": ["health"]}
    await service.gateway.remember(RememberRequest(user_id=user, key="held", items=(item,)), by=ADMIN)
    return ["/inbox", "/memories"]


async def an_output(_: Service, client: httpx2.AsyncClient, __: str) -> list[str]:
    task = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "echo-it", "inputs": {"text": HOSTILE}}
    sent = await client.post("/v2/control/tasks", json=task)
    return [f"/tasks/{sent.json()['workflow_id']}"]


async def a_workflows_id(service: Service, client: httpx2.AsyncClient, user: str) -> list[str]:
    """Names of tasks, skills and steps have letters and digits alone; the id of a workflow is anything."""
    identifier = f"{OPENING} {uuid4()}"
    task: Any = {"task_id": "by-hand", "user_id": user, "skill": "ask-first"}
    await service.here.client.start_workflow(
        Workflow.RESUMABLE_AGENT, task, id=identifier, task_queue=service.here.queue
    )
    place = f"/tasks/{quote(identifier, safe='')}"

    async def is_theirs() -> int:
        return (await client.get(f"/v2/control{place}")).status_code

    await until(is_theirs, lambda status: status == 200)
    return ["/inbox", place]


SAYS: dict[str, Says] = {
    "a note": a_note,
    "a payload": a_payload,
    "a forgotten memory": a_forgotten_memory,
    "a memory on hold": a_memory_on_hold,
    "a task's output": an_output,
    "a workflow's id": a_workflows_id,
}


@pytest.mark.slow
@pytest.mark.parametrize("what", SAYS)
async def test_what_is_said_is_shown_as_text(ada: Browser, service: Service, user: str, what: str) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        for place in await SAYS[what](service, client, user):
            await shows(ada, place)


async def test_a_question_and_what_is_answered_are_shown_as_text(ada: Browser, service: Service, user: str) -> None:
    identifier = f"ask-{uuid4()}"
    asked: dict[str, Any] = {"user_id": user, "text": f"Ship it? {HOSTILE}", "otherwise": HOSTILE}
    asked["answer"] = {"type": "choice", "choices": [HOSTILE, "no"]}
    asking = await service.here.client.start_workflow(
        Workflow.ASK_PERSON, asked, id=identifier, task_queue=service.here.queue
    )
    await shows(ada, "/inbox")
    assert f'value="{HOSTILE}"' in unescape(ada.text), "a choice"
    answer = {"csrf": ada.proof, "question": ASKED, "value": HOSTILE, "note": HOSTILE}
    part = await ada.client.post(f"/inbox/{identifier}", data=answer, headers={"HX-Request": "true"})
    assert (part.status_code, "Answered" in part.text) == (200, True), part.text
    assert (HOSTILE in unescape(part.text), OPENING in part.text) == (True, False)
    await asking.result()


@pytest.mark.parametrize("place", ["/inbox", "/memories", "/tasks", "/forgetting", "/erase"])
async def test_a_users_id_is_shown_as_text(service: Service, place: str) -> None:
    whose = f"{HOSTILE} {uuid4().hex}"
    tokens = {f"{place}?user={quote(whose, safe='')}": service.local}
    tokens[place] = await service.token(user_id=whose, person=True)
    for address, token in tokens.items():
        browser = await browser_with(service, token)
        assert whose in await browser.opens(address)
        assert OPENING not in browser.text, address
        await browser.client.aclose()


@pytest.mark.parametrize(
    ("place", "status"),
    [
        ("/tasks/", 404),
        ("/memories/", 404),
        ("/tasks?phase=", 422),
        ("/memories?ask=", 200),
        ("/forgetting?sweep=", 200),
    ],
)
async def test_what_was_asked_for_is_repeated_as_text(ada: Browser, place: str, status: int) -> None:
    assert OPENING in await ada.opens(f"{place}{quote(OPENING, safe='')}", status=status)
    assert OPENING not in ada.text
