"""What is on hold, was withdrawn, or was offered before an erasure shows nowhere: in no session, and in no history."""

from collections.abc import AsyncGenerator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import ActivityFailureError, WorkflowFailureError, WorkflowHandle

from perdure import Actor, ActorKind, RecallRequest, RememberRequest
from perdure.errors import InvalidInput, TenantErased
from perdure.memory.writing.batch_checks import read_batch
from perdure.names import Workflow
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.values.entries import Purpose
from perdure.values.jobs import Fate, Receipt, SessionNote, SubmitCall
from perdure.values.memberships import MemberRequest
from perdure.values.requests import ConsentRequest, EraseRequest, ObserveRequest
from perdure.values.statements import Said, Voice
from perdure.values.updates import Pinning, UpdateRequest
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.integration.memory.forgetting.test_forgetter import write
from worker.gateway import Gateway

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
HOLDING = "careful:\n  hold:\n    deadline: 1d\n    rules: [{sources: [explicit]}]\n"
TEXT = "I always travel by train."


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    policies = tmp_path / "policies.yaml"
    policies.write_text(HOLDING)
    async with deployment(servers, tmp_path / "home", settings={"write_policies": policies}) as one:
        yield one


@pytest.fixture
async def user(gateway: Gateway) -> str:
    user = f"user {uuid4().hex}"
    await gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)), by=TESTER)
    return user


async def observed(gateway: Gateway, user: str, policy: str) -> list[Fate]:
    one = Said(text=TEXT, by=Voice.USER, at=datetime.now(UTC), occurrence=uuid4().hex)
    request = ObserveRequest(user_id=user, session="s", said=(one,), policy=policy)
    found = await gateway.observe(request, by=TESTER)
    return [item.fate for item in (await gateway.receipt(found.job, by=TESTER)).items]


async def told(gateway: Gateway, user: str) -> str:
    """Return the context of a recall in the session."""
    return (await gateway.recall(RecallRequest(user_id=user, session="s", text="train"), by=TESTER)).context


@pytest.mark.slow
async def test_what_is_on_hold_is_told_in_no_session(gateway: Gateway, user: str) -> None:
    assert await observed(gateway, user, "careful") == [Fate.HELD]
    assert "train" not in await told(gateway, user)
    assert await observed(gateway, user, "default") == [Fate.SEARCHABLE]
    assert "train" in await told(gateway, user), "the control"


SAID_AT = datetime(2026, 5, 4, 9, tzinfo=UTC)


@pytest.mark.slow
@pytest.mark.parametrize("minutes", [0, 1], ids=["at the same moment", "control"])
async def test_what_is_in_doubt_is_told_in_no_session_until_a_person_has_decided(
    gateway: Gateway, user: str, minutes: int
) -> None:
    async def says(text: str, at: datetime, place: str) -> Fate:
        turn = Said(text=text, by=Voice.USER, at=at, occurrence=f"s/{place}")
        offered: JsonValue = {
            "kind": "memory",
            "content": text,
            "occurrence": f"s/{place}#0",
            "occurred_at": at.isoformat(),
        }
        request = RememberRequest(user_id=user, key=place, items=(offered,), turns=(turn,), session="s")
        [item] = (await gateway.receipt(await gateway.remember(request, by=TESTER), by=TESTER)).items
        return item.fate

    assert await says("The standup is at nine.", SAID_AT, "1") is Fate.SEARCHABLE
    fate = await says("The standup is at ten.", SAID_AT + timedelta(minutes=minutes), "2")
    assert fate is (Fate.SEARCHABLE if minutes else Fate.HELD)
    asked = RecallRequest(user_id=user, session="s", text="When is the standup?")
    assert ("ten" in (await gateway.recall(asked, by=TESTER)).context) is bool(minutes)


@pytest.mark.slow
async def test_what_was_said_is_told_no_more_once_consent_is_withdrawn(gateway: Gateway, user: str) -> None:
    await observed(gateway, user, "default")
    assert "train" in await told(gateway, user), "the control"
    await gateway.consent(ConsentRequest(user_id=user, withdraw=(Purpose.EXTRACTED,)), by=TESTER)
    assert "train" not in await told(gateway, user)


async def test_what_was_offered_before_an_erasure_is_not_kept_after_it(
    here: Deployment, gateway: Gateway, user: str
) -> None:
    tenant, asked = here.services.tenant_key.tenant_of(user), datetime.now(UTC)
    item: JsonValue = {"kind": "memory", "content": TEXT, "occurrence": "o"}
    request = RememberRequest(user_id=user, key="k", items=(item,), asked_at=asked)
    await here.services.eraser.begin(tenant, operation="erase", at=datetime.now(UTC), by=TESTER)
    with pytest.raises(ActivityFailureError) as refused:
        await here.client.execute_activity(
            "remember", request, id=uuid4().hex, task_queue=here.queue, start_to_close_timeout=TASK_TIMEOUT * 5
        )
    assert "erased after this was asked" in str(refused.value.cause)
    assert await here.services.longterm.everything(tenant) == {}
    later = request.changed(asked_at=None)
    assert (await gateway.receipt(await gateway.remember(later, by=TESTER), by=TESTER)).items[0].fate is Fate.SEARCHABLE


@pytest.mark.parametrize("erased", [True, False], ids=["erased", "control"])
async def test_a_consent_from_before_an_erasure_is_refused_also_behind_what_was_said_since(
    here: Deployment, user: str, *, erased: bool
) -> None:
    tenant, asked = here.services.tenant_key.tenant_of(user), datetime.now(UTC)

    async def says(operation: str, at: datetime) -> None:
        consents = here.services.consents
        await consents.say(tenant, grant=[Purpose.GIVEN], withdraw=[], operation=operation, by=TESTER, at=at)

    if erased:
        await here.services.eraser.begin(tenant, operation="erase", at=datetime.now(UTC), by=TESTER)
    await says("later", datetime.now(UTC))
    with pytest.raises(TenantErased) if erased else nullcontext():
        await says("early", asked)


@pytest.mark.slow
@pytest.mark.parametrize("erased", [True, False], ids=["erased", "control"])
async def test_what_a_team_approves_after_its_learner_was_erased_is_noted_in_no_session(
    here: Deployment, gateway: Gateway, user: str, *, erased: bool
) -> None:
    team, kim, now = f"team:{uuid4().hex}", f"kim {uuid4().hex}", datetime.now(UTC)
    for member in (user, kim):
        await gateway.set_member(MemberRequest(of=team, user_id=member, belongs=True), by=TESTER)
    tenant = here.services.tenant_key.tenant_of(user)
    item: JsonValue = {"kind": "memory", "content": TEXT, "occurrence": "o", "occurred_at": now.isoformat()}
    batch = read_batch(tenant=tenant, key=uuid4().hex, items=[item], policy="careful")
    note = SessionNote(tenant=tenant, session="s", since=now)
    job = await here.client.execute_activity(
        "submit_ingest",
        SubmitCall(batch=batch.changed(of=team, noted_in=note, recorded=(now,)), user_id=user),
        id=uuid4().hex,
        task_queue=here.queue,
        result_type=str,
        start_to_close_timeout=TASK_TIMEOUT * 5,
    )
    [held] = (await here.client.get_workflow_handle(job, result_type=Receipt).result()).items
    assert held.fate is Fate.HELD
    if erased:
        assert (await gateway.erase(EraseRequest(user_id=user), by=TESTER)).proved
    decided = await gateway.decide(kim, held.hold, of=team, approve=True, by=TESTER)
    assert decided.receipt is not None
    noted = await here.services.episodes.told(tenant, "s", recent=10)
    assert [one.text for one in noted] == ([] if erased else [TEXT])
    if erased:
        assert await here.services.eraser.left(tenant) == ()


@pytest.mark.slow
async def test_a_refused_request_is_erased_with_its_user(here: Deployment, gateway: Gateway, user: str) -> None:
    item: JsonValue = {"kind": "memory", "content": TEXT, "occurrence": "o", "confidence": 7}
    with pytest.raises(InvalidInput, match="confidence"):
        await gateway.remember(RememberRequest(user_id=user, key="k", items=(item,)), by=TESTER)
    receipt = await gateway.erase(EraseRequest(user_id=user), by=TESTER)
    assert receipt.proved
    query = f"WorkflowType = '{Workflow.REMEMBER_ITEMS.value}' AND TaskQueue = '{here.queue}'"
    assert [run.id async for run in here.client.list_workflows(query)] == []


@pytest.mark.slow
async def test_what_was_asked_before_an_erasure_is_not_done_by_a_worker_that_starts_after_it(
    servers: Servers, user: str, tmp_path: Path
) -> None:
    queue = f"q-{uuid4().hex[:12]}"
    async with deployment(servers, tmp_path / "home", queue=queue, serving=False) as away:
        tenant = away.services.tenant_key.tenant_of(user)
        said: JsonValue = {"kind": "memory", "content": TEXT, "occurrence": "o", "occurred_at": "2026-05-01T12:00:00Z"}
        [identifier] = await write(away.services, tenant, said)
        requests = {
            Workflow.SET_CONSENT: ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)),
            Workflow.UPDATE_MEMORY: UpdateRequest(user_id=user, id=identifier, update=Pinning(pinned=True)),
        }

        async def ask(*names: Workflow) -> list[WorkflowHandle[Any, Any]]:
            return [
                await away.client.start_workflow(name, requests[name], id=uuid4().hex, task_queue=queue)
                for name in names
            ]

        early = await ask(*requests)
        await away.services.eraser.begin(tenant, operation="erase", at=datetime.now(UTC), by=TESTER)
        # Any worker that starts meanwhile may have removed the memory.
        late = await ask(Workflow.SET_CONSENT)
    async with deployment(servers, tmp_path / "home", queue=queue) as here:
        for handle in early:
            with pytest.raises(WorkflowFailureError) as refused:
                await handle.result()
            assert "erased after this was asked" in str(refused.value.cause.__cause__)
        for handle in late:
            await handle.result()
        assert len(await here.services.consents.of(tenant)) == 1, "the control"
