"""What a user has over HTTP that somebody else could reach for: memories, a job, one on hold, and a task that asks."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx2
from pydantic import JsonValue

from perdure.names import Workflow
from perdure.values.requests import RememberRequest
from tests.support.console_browser import Browser, browser_with
from tests.support.http_service import ADMIN, Service, memory_item, remembered
from tests.support.waiting import until

HELD: dict[str, JsonValue] = {"tags": ["health"]}
"""What makes a memory wait for a person, by the service's write policy."""


@dataclass(frozen=True, kw_only=True)
class Belongings:
    """What a person has, with the fields of all forms and bodies that would change it."""

    user: str
    token: str
    browser: Browser
    client: httpx2.AsyncClient
    ids: dict[str, str]
    """By their names in paths."""
    fields: dict[str, str]

    def place(self, path: str) -> str:
        """Return a path with these ids in it."""
        for name, one in self.ids.items():
            path = path.replace(f"{{{name}}}", one)
        assert "{" not in path
        return path

    async def standing(self) -> tuple[Any, ...]:
        """Return what is remembered, what still waits for a person, and where the task is."""
        found = await self.client.get("/v2/control/memories", params={"everything": True})
        asked = await self.client.get("/v2/control/questions")
        task = await self.client.get(f"/v2/control/tasks/{self.ids['workflow_id']}")
        assert (found.status_code, asked.status_code, task.status_code) == (200, 200, 200)
        entries = [(one["id"], one["version"], one["state"]) for one in found.json()["memories"]]
        where = task.json()
        steered = [where["is_open"], *(where["progress"][name] for name in ("paused", "interventions", "kept"))]
        return sorted(entries), sorted(one["workflow_id"] for one in asked.json()), steered


@asynccontextmanager
async def belongings(service: Service) -> AsyncGenerator[Belongings]:
    """Create two memories of somebody, of which one is forgotten, one on hold, and a task that asks."""
    user = f"user {uuid4().hex}"
    token = await service.token(user_id=user, person=True)
    async with AsyncExitStack() as closing, service.client_with(token) as client:
        browser = await browser_with(service, token)
        closing.push_async_callback(browser.client.aclose)
        await browser.opens("/inbox")
        one, gone = await remembered(client, "Deploys happen on Tuesdays."), await remembered(client, "The lift works.")
        forgotten = await client.post(f"/v2/control/memories/{gone}/forget", json={})
        job = await hold(service, user, "Ada is allergic to nuts.")
        await client.post("/v2/control/tasks", json={"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-first"})
        waiting = await asked(client)
        task, held = waiting[Workflow.RESUMABLE_AGENT], waiting[Workflow.HOLD_MEMORY]
        yield Belongings(
            user=user,
            token=token,
            browser=browser,
            client=client,
            ids={
                "memory_id": one,
                "workflow_id": task["workflow_id"],
                "hold_id": held["workflow_id"],
                "job_id": job,
            },
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


async def hold(service: Service, user: str, text: str) -> str:
    """Have something offered to a user's memory that a person has to approve first; return its job."""
    offered: JsonValue = {**memory_item(text), **HELD}
    request = RememberRequest(user_id=user, key=uuid4().hex, items=(offered,))
    return await service.gateway.remember(request, by=ADMIN)


async def asked(client: httpx2.AsyncClient) -> dict[str, dict[str, Any]]:
    """Return what a user's task and the memory on hold ask a person, by who asks, once both do."""

    async def found() -> dict[str, Any]:
        return {one["kind"]: one for one in (await client.get("/v2/control/questions")).json()}

    return await until(found, lambda waiting: len(waiting) == 2)
