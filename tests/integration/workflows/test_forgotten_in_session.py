"""What a session has learned is forgotten with the memory that it became."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from perdure import Actor, ActorKind, RecallRequest, RememberRequest
from perdure.values.entries import Purpose
from perdure.values.episodes import EpisodeKind
from perdure.values.requests import ConsentRequest, ObserveRequest
from perdure.values.statements import Said, Voice
from perdure.values.updates import Removal, UpdateRequest
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.support.harness import bench
from worker.gateway import Gateway

ADA = Actor(kind=ActorKind.PERSON, id="ada")
TRAIN = "I always travel by train."


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    async with deployment(servers, tmp_path / "home") as one:
        yield one


HOLDS = "default: {hold: {rules: [{tags: [health]}]}}\n"

LEARNS = """
steps:
  - id: tell
    remember:
      - {memory: "Ada is allergic to nuts.", tags: [health]}
      - {memory: "Ada likes marzipan."}
    critical: true
  - {id: ask, recall: {text: "What does Ada eat?"}}
output: "${steps.ask.context}"
"""


@pytest.mark.slow
async def test_a_session_shows_what_a_task_learned_once_it_is_believed_and_nothing_that_is_held(
    servers: Servers, tmp_path: Path
) -> None:
    (policies := tmp_path / "policies.yaml").write_text(HOLDS)
    async with bench(servers, tmp_path, more={"write_policies": policies}) as agents:
        task = agents.task(agents.skill(LEARNS))
        result = await (await agents.start(task)).result()
        assert "marzipan" in str(result.output)
        assert "nuts" not in str(result.output)
        tenant = agents.services.tenant_key.tenant_of(task.user_id)
        told = await agents.services.episodes.told(tenant, task.session, recent=100)
        assert [one.text for one in told if one.kind is EpisodeKind.INSIGHT] == ["Ada likes marzipan."]


@pytest.mark.slow
async def test_what_was_said_is_not_shown_once_the_memory_of_it_is_forgotten(gateway: Gateway, user: str) -> None:
    await gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)), by=ADA)
    said = tuple(
        Said(text=text, by=Voice.USER, at=datetime.now(UTC), occurrence=f"s/{place}")
        for place, text in enumerate((f"Hm. {TRAIN}", "I never eat fish."))
    )
    observed = await gateway.observe(ObserveRequest(user_id=user, session="s", said=said), by=ADA)
    receipt = await gateway.receipt(observed.job, by=ADA)
    asked = RecallRequest(user_id=user, text="How do I travel?", session="s")
    assert f"user: Hm. {TRAIN}" in (await gateway.recall(asked, by=ADA)).context, "the control"
    entries = {one.id: one.text for one in await gateway.memories(user, by=ADA)}
    [train] = [item.id for item in receipt.items if entries[item.id] == TRAIN]
    await gateway.update(UpdateRequest(user_id=user, id=train, update=Removal()), by=ADA)
    context = (await gateway.recall(asked, by=ADA)).context
    assert "train" not in context
    assert "user: I never eat fish." in context


@pytest.mark.slow
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
