"""Memory in anybody's own workflow, on a worker of their own that registers nothing of Perdure's."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import ActivityFailureError, Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Replayer, Worker

from perdure import Actor, ActorKind, RecallRequest, RememberRequest
from perdure.names import TASK_QUEUE, Activity
from perdure.stores.journal.lines import Changed
from perdure.temporal import Plugin
from perdure.values.entries import Purpose
from perdure.values.requests import ConsentRequest, HandleItem, RecallHandle, Submitted
from perdure.values.updates import Correction, Merger, UpdateRequest
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.support.own_workflow import Greet, Greetings
from worker.gateway import Gateway

WISH = "I want to be greeted in Latin."
TURN: dict[str, JsonValue] = {"text": "Hello.", "at": "2026-05-01T12:00:00Z", "occurrence": "o"}
TESTER = Actor(kind=ActorKind.PERSON, id="tester")


@pytest.fixture
async def here(servers: Servers, tmp_path: Path, default_queue: str) -> AsyncGenerator[Deployment]:
    async with deployment(servers, tmp_path / "perdure", queue=default_queue) as one:
        yield one


@pytest.mark.slow
async def test_a_workflow_of_somebodys_own_remembers_and_recalls(here: Deployment, gateway: Gateway) -> None:
    client = await Client.connect(here.client.service_client.config.target_host, plugins=[Plugin()])
    queue, user = f"q-{uuid4().hex}", f"user {uuid4().hex}"
    theirs = Greetings(gateway)
    async with Worker(client, task_queue=queue, workflows=[Greet], activities=[theirs.write_greeting]):
        handle = await client.start_workflow(Greet.run, args=[user, WISH], id=f"greet-{uuid4().hex}", task_queue=queue)
        assert await handle.result() == f"Hello! I remember: {WISH}"
    history = await handle.fetch_history()
    returned = [event.activity_task_completed_event_attributes.result for event in history.events]
    answers = [payload.data.decode() for one in returned for payload in one.payloads]
    [recalled] = [answer for answer in answers if '"degraded"' in answer]
    assert "mem_" in recalled
    assert "Latin" not in recalled, "no recalled text crosses the history"
    tenant = here.services.tenant_key.tenant_of(user)
    written = [line for line in await here.services.journal.read(tenant) if isinstance(line, Changed)]
    assert [line.by for line in written] == [Actor(kind=ActorKind.AGENT, id=handle.id)], "no person has said it"
    await Replayer(workflows=[Greet], plugins=[Plugin()]).replay_workflow(history)


async def remembered(gateway: Gateway, user: str) -> RecallHandle:
    item: JsonValue = {"kind": "memory", "content": WISH, "occurrence": "o", "occurred_at": "2026-05-01T12:00:00Z"}
    job = await gateway.remember(RememberRequest(user_id=user, key="k", items=(item,)), by=TESTER)
    await gateway.receipt(job, by=TESTER)
    found = await gateway.recall(RecallRequest(user_id=user, text=WISH), by=TESTER)
    return RecallHandle(items=tuple(HandleItem(id=one.id, version=one.version, score=one.score) for one in found.items))


@pytest.mark.slow
async def test_a_recall_says_what_the_user_does_not_consent_to(here: Deployment, gateway: Gateway) -> None:
    user = f"user {uuid4().hex}"
    await remembered(gateway, user)

    async def recalled() -> RecallHandle:
        return await here.client.execute_activity(
            Activity.RECALL_HANDLE,
            RecallRequest(user_id=user, text=WISH),
            id=uuid4().hex,
            task_queue=TASK_QUEUE,
            result_type=RecallHandle,
            start_to_close_timeout=timedelta(seconds=30),
        )

    assert (await recalled()).withheld == ()
    await gateway.consent(ConsentRequest(user_id=user, withdraw=(Purpose.GIVEN,)), by=TESTER)
    withheld = await recalled()
    assert (withheld.items, withheld.withheld) == ((), (Purpose.GIVEN,))


async def test_what_was_forgotten_or_is_another_users_is_not_read(here: Deployment, gateway: Gateway) -> None:
    user = f"user {uuid4().hex}"
    handle = await remembered(gateway, user)
    assert [item.text for item in await gateway.read(user, handle, by=TESTER)] == [WISH], "the control"
    assert await gateway.read("somebody else", handle, by=TESTER) == []
    tenant = here.services.tenant_key.tenant_of(user)
    [entry] = (await here.services.longterm.get(tenant, [handle.items[0].id])).values()
    await here.services.longterm.put(tenant, [entry.forgotten("the test")], {})
    assert await gateway.read(user, handle, by=TESTER) == []


@pytest.mark.slow
async def test_what_was_merged_is_read_as_a_whole_and_what_was_contradicted_is_not(
    here: Deployment, gateway: Gateway
) -> None:
    user = f"user {uuid4().hex}"
    handle = await remembered(gateway, user)
    [one] = [item.id for item in handle.items]

    async def told(content: str, at: str) -> str:
        item: JsonValue = {"kind": "memory", "content": content, "occurrence": content, "occurred_at": at}
        job = await gateway.remember(RememberRequest(user_id=user, key=content, items=(item,)), by=TESTER)
        return (await gateway.receipt(job, by=TESTER)).items[0].id

    async def read() -> list[str]:
        return [item.id for item in await gateway.read(user, both, by=TESTER)]

    other = await told("Latin is what the greeting is to be written in.", "2026-05-01T12:00:00Z")
    both = RecallHandle(items=(*handle.items, HandleItem(id=other, version=1, score=0.5)))
    assert await read() == [one, other], "the control"
    whole = (await gateway.update(UpdateRequest(user_id=user, id=one, update=Merger(other=other)), by=TESTER)).id
    assert whole not in (one, other)
    assert await read() == [whole], "once, for both"
    left = Correction(content="Greet me in Greek.")
    await gateway.update(UpdateRequest(user_id=user, id=whole, update=left), by=TESTER)
    assert await read() == [], "what replaced it says something else"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mistake", "complaint"),
    [
        ({"off": "team:ops"}, "off: is not a field here (did you mean 'of'?)"),
        (
            {"turns": [{"text": "t", "at": "2026-05-01T12:00:00Z", "occurrence": "o", "speker": "Kim"}]},
            "turns[0].speker",
        ),
    ],
)
async def test_a_field_that_remember_does_not_know_is_refused(
    here: Deployment, mistake: dict[str, JsonValue], complaint: str
) -> None:
    user = f"user {uuid4().hex}"
    item: JsonValue = {"kind": "memory", "content": WISH, "occurrence": "o"}
    given: dict[str, JsonValue] = {"user_id": user, "key": "k", "items": [item]}

    async def remembered(request: dict[str, JsonValue]) -> Submitted:
        return await here.client.execute_activity(
            Activity.REMEMBER,
            RememberRequest.model_validate(request),
            id=uuid4().hex,
            task_queue=TASK_QUEUE,
            result_type=Submitted,
            start_to_close_timeout=timedelta(seconds=30),
        )

    with pytest.raises(ActivityFailureError) as refused:
        await remembered(given | mistake)
    assert isinstance(refused.value.cause, ApplicationError)
    assert (refused.value.cause.type, refused.value.cause.non_retryable) == ("InvalidInput", True)
    assert complaint in refused.value.cause.message
    assert (await remembered(given)).job, "the control"
