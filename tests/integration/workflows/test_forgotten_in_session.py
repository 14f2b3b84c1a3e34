"""What a session has learned is forgotten with the memory that it became."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from perdure import Actor, ActorKind, RecallRequest, RememberRequest
from perdure.entries import Purpose
from perdure.requests import ConsentRequest
from perdure.updates import Removal, UpdateRequest
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from worker.gateway import Gateway

ADA = Actor(kind=ActorKind.PERSON, id="ada")
TRAIN = "I always travel by train."


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    async with deployment(servers, tmp_path / "home") as one:
        yield one


async def test_a_forgotten_memory_is_no_longer_in_the_context_of_its_session(gateway: Gateway, user: str) -> None:
    await gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)), by=ADA)
    offered = RememberRequest(
        user_id=user, key="k", items=({"kind": "memory", "content": TRAIN, "occurrence": "o"},), session="s"
    )
    [told] = (await gateway.receipt(await gateway.remember(offered, by=ADA), by=ADA)).items

    async def context() -> str:
        asked = RecallRequest(user_id=user, text="How do I travel?", session="s")
        return (await gateway.recall(asked, by=ADA)).context

    assert f"insight: {TRAIN}" in await context(), "the control"
    await gateway.update(UpdateRequest(user_id=user, id=told.id, update=Removal()), by=ADA)
    assert TRAIN not in await context()
