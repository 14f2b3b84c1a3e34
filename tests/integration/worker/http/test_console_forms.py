"""Forms of the console: what no page of ours sent changes nothing, whichever route it is for."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx2
import pytest
import pytest_asyncio

from perdure.names import Workflow
from perdure.values.requests import RememberRequest
from tests.support.console_browser import Browser, browser_with
from tests.support.http_service import ADMIN, Service, memory_item, remembered
from tests.support.waiting import until
from worker.http.app import ROUTES
from worker.http.console.session import LOGIN

PLACES = sorted(
    one.path for room in ROUTES for one in room.endpoints if one.browser and one.method != "GET" and one.path != LOGIN
)
"""Where forms are sent, as the table of routes says. Whoever logs in has no page of ours yet."""


@dataclass(frozen=True, kw_only=True)
class Belongings:
    """What a person has that forms change, and the fields of all forms that would."""

    browser: Browser
    client: httpx2.AsyncClient
    ids: dict[str, str]
    """By their names in paths."""
    fields: dict[str, str]

    def place(self, path: str) -> str:
        for name, one in self.ids.items():
            path = path.replace(f"{{{name}}}", one)
        assert "{" not in path
        return path

    async def standing(self) -> tuple[list[Any], list[Any]]:
        """Return what is remembered, and what still waits for a person."""
        found = await self.client.get("/v2/control/memories", params={"everything": True})
        asked = await self.client.get("/v2/control/questions")
        assert (found.status_code, asked.status_code) == (200, 200)
        entries = [(one["id"], one["version"], one["state"]) for one in found.json()["memories"]]
        return sorted(entries), sorted(one["workflow_id"] for one in asked.json())


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def theirs(service: Service) -> AsyncGenerator[Belongings]:
    """What somebody has: two memories, of which one is forgotten, one on hold, and a task that asks."""
    user = f"user {uuid4().hex}"
    token = await service.token(user_id=user, person=True)
    browser = await browser_with(service, token)
    await browser.opens("/inbox")
    async with service.client_with(token) as client:
        one, gone = await remembered(client, "Deploys happen on Tuesdays."), await remembered(client, "The lift works.")
        forgotten = await client.post(f"/v2/control/memories/{gone}/forget", json={})
        held: dict[str, Any] = memory_item("Ada is allergic to nuts.") | {"tags": ["health"]}
        await service.gateway.remember(RememberRequest(user_id=user, key="held", items=(held,)), by=ADMIN)
        await client.post("/v2/control/tasks", json={"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-first"})

        async def asked() -> dict[str, Any]:
            return {one["kind"]: one for one in (await client.get("/v2/control/questions")).json()}

        waiting = await until(asked, lambda found: len(found) == 2)
        task, hold = waiting[Workflow.RESUMABLE_AGENT], waiting[Workflow.HOLD_MEMORY]
        yield Belongings(
            browser=browser,
            client=client,
            ids={"memory_id": one, "workflow_id": task["workflow_id"], "hold_id": hold["workflow_id"]},
            fields={
                "content": "Deploys never happen.",
                "pinned": "yes",
                "decision": "approve",
                "question": task["question"]["id"],
                "value": "yes",
                "typed": user,
                "forget": "yes",
                "approved": "yes",
                "sweep": forgotten.json()["undo"],
            },
        )
        await client.post(f"/v2/control/tasks/{task['workflow_id']}/cancel", json={})
    await browser.client.aclose()


def test_all_that_changes_something_is_tried() -> None:
    assert {"/logout", "/inbox/{workflow_id}", "/memories/{memory_id}/forget", "/holds/{hold_id}", "/erase"} < {*PLACES}


@pytest.mark.parametrize("path", PLACES)
async def test_a_form_that_no_page_of_ours_sent_changes_nothing(
    theirs: Belongings, service: Service, path: str
) -> None:
    browser, before = theirs.browser, await theirs.standing()
    other = await browser_with(service, service.local)
    await other.opens("/inbox")
    unproved: list[dict[str, str]] = [{}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": "é"}, {"csrf": other.proof}]
    await other.client.aclose()
    for proof in unproved:
        answer = await browser.client.post(theirs.place(path), data=theirs.fields | proof)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False), proof
        assert "was not sent from this page" in answer.text
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example.org"}):
        proved = theirs.fields | {"csrf": browser.proof}
        answer = await browser.client.post(theirs.place(path), data=proved, headers=headers)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False), headers
        assert "comes from another site" in answer.text
    assert await theirs.standing() == before
