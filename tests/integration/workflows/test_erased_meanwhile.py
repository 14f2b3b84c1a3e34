"""Erasing a user of whom something comes late: from a worker that stood still, or with the user who comes back."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue

from activities.submissions import Submitter
from perdure import Actor, ActorKind, AgentTask, RememberRequest
from perdure.errors import TenantErased
from perdure.values.jobs import Batch
from perdure.values.lessons import LESSON, LessonRequest
from perdure.values.requests import EraseRequest
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.integration.memory.forgetting.test_forgetter import write
from tests.support.harness import Bench
from worker.gateway import Gateway

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
MARZIPAN: dict[str, JsonValue] = {"kind": "memory", "content": "Marzipan is made of almonds.", "occurrence": "o"}
SAYS = """
steps:
  - id: say
    tool: echo
    args: {value: "${inputs.word}"}
    remember: [{lane: pattern, key: k, payload: {said: "${output}"}}]
inputs: {word: string}
output: "${steps.say.output}"
"""


def serving(addresses: Servers, folder: Path, *, queue: str = "") -> AbstractAsyncContextManager[Deployment]:
    """Serve the tasks of these tests, whose skills are in the folder."""
    settings = {"tools": ("tests.support.tools",), "skills": (folder / "skills",)}
    return deployment(addresses, folder / "home", queue=queue, settings=settings)


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    (tmp_path / "skills").mkdir()
    async with serving(servers, tmp_path) as one:
        yield one


@pytest.fixture
def agents(here: Deployment, tmp_path: Path) -> Bench:
    return Bench(client=here.client, queue=here.queue, folder=tmp_path, deployed=here)


def task_of(agents: Bench, user: str) -> AgentTask:
    return AgentTask(task_id=uuid4().hex, user_id=user, skill=agents.skill(SAYS), inputs={"word": "Marzipan"})


@pytest.mark.slow
async def test_a_user_who_was_erased_comes_back_with_tasks(gateway: Gateway, agents: Bench) -> None:
    user = f"user {uuid4().hex}"
    for _ in range(2):
        assert (await gateway.erase(EraseRequest(user_id=user), by=TESTER)).proved
        result = await (await agents.start(task_of(agents, user))).result()
        assert result.output == "Marzipan"


@pytest.mark.slow
@pytest.mark.parametrize("asks", ["a person", "a task", "a promotion"])
async def test_what_a_worker_that_stood_still_submits_after_an_erasure_is_not_written(
    here: Deployment, gateway: Gateway, agents: Bench, monkeypatch: pytest.MonkeyPatch, asks: str
) -> None:
    user = f"user {uuid4().hex}"
    tenant, common = here.services.tenant_key.tenant_of(user), here.services.tenant_key.tenant_of_installation
    submit, began, erased = Submitter.submit, asyncio.Event(), asyncio.Event()
    ended: asyncio.Future[TenantErased | None] = asyncio.get_running_loop().create_future()
    under_way: list[asyncio.Task[Any]] = []

    async def stopped(submitter: Submitter, batch: Batch, job: str, **more: Any) -> Batch:
        if batch.tenant not in (tenant, common) or ended.done():
            return await submit(submitter, batch, job, **more)
        began.set()
        while not erased.is_set():
            try:
                await erased.wait()
            except asyncio.CancelledError:
                # A process that is stopped hears of nothing.
                continue
        try:
            taken = await submit(submitter, batch, job, **more)
        except TenantErased as error:
            ended.set_result(error)
            raise
        ended.set_result(None)
        return taken

    promoted: JsonValue = {
        **MARZIPAN,
        "occurred_at": "2026-01-01T00:00:00Z",
        "tags": [LESSON],
        "memory_type": "outcome",
    }
    [lesson] = await write(here.services, tenant, promoted, operation=uuid4().hex) if asks == "a promotion" else [""]
    monkeypatch.setattr(Submitter, "submit", stopped)
    if asks == "a task":
        await agents.start(task_of(agents, user))
    elif asks == "a promotion":
        promotion = LessonRequest(user_id=user, id=lesson)
        under_way.append(asyncio.create_task(gateway.set_lesson(promotion, by=TESTER)))
    else:
        request = RememberRequest(user_id=user, key="k", items=(MARZIPAN,))
        under_way.append(asyncio.create_task(gateway.remember(request, by=TESTER)))
    await began.wait()
    assert (await gateway.erase(EraseRequest(user_id=user), by=TESTER)).proved
    erased.set()
    refused = await ended
    assert await here.services.eraser.left(tenant) == ()
    assert isinstance(refused, TenantErased)
    for one in under_way:
        one.cancel()
