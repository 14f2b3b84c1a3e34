"""Memories on hold, on the real servers: nobody has their text but the hold, and a person's word counts once."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import (
    ActivityFailureError,
    Client,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
)
from temporalio.exceptions import ApplicationError

from activities.jobs import job_id
from localservers import Server
from perdure import Actor, ActorKind, RecallRequest, RememberRequest
from perdure.errors import InvalidInput, PerdureError, TenantErased
from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.updates.versions import versions
from perdure.memory.writing.batch_checks import read_batch
from perdure.names import ANSWER, Activity, Attribute, Workflow
from perdure.stores.audit.lines import AuditKind, AuditLine
from perdure.stores.journal.folded_state import fold
from perdure.temporal.attributes import tenant_attributes
from perdure.values.entries import MARKER, Memory, Purpose, State
from perdure.values.holds import Decided, HeldAnswer, Hold, HoldOutcome, Silence, hold_id
from perdure.values.jobs import Approved, Batch, Decision, Fate, ItemReceipt, Receipt
from perdure.values.questions import Answer
from perdure.values.requests import ConsentRequest, EraseRequest
from perdure.values.updates import MemoryUpdate, Removal
from tests.conftest import OwnServers, Servers
from tests.deployment import Deployment, deployment
from tests.support.waiting import until
from worker import audits
from worker.gateway import Gateway

ANNA = Actor(kind=ActorKind.PERSON, id="anna")
LOOKING = Actor(kind=ActorKind.PERSON, id="ben")
SECRET = "Marzipan is made of almonds."
OTHER = "Almonds grow on trees."
POLICIES = """
default:
  hold:
    rules: [{tags: [health]}]
guarded:
  minimum_confidence: 0.8
  hold:
    rules: [{by: [agent], private: [email]}, {below: 0.9}]
lenient:
  minimum_confidence: 0.5
patient:
  hold: {deadline: 1s, on_silence: approve, rules: [{tags: [health]}]}
hasty:
  hold: {deadline: 1s, rules: [{tags: [health]}]}
"""


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    (tmp_path / "policies.yaml").write_text(POLICIES)
    settings = {"write_policies": tmp_path / "policies.yaml"}
    async with deployment(servers, tmp_path / "home", settings=settings) as one:
        yield one


def item(content: str = SECRET, *tags: str, **more: JsonValue) -> JsonValue:
    return {"kind": "memory", "content": content, "occurrence": content, "tags": list(tags), **more}


async def offered(gateway: Gateway, user: str, *items: JsonValue, key: str = "", **more: Any) -> Receipt:
    request = RememberRequest(user_id=user, key=key or uuid4().hex, items=items, **more)
    return await gateway.receipt(await gateway.remember(request, by=ANNA), by=ANNA)


async def on_hold(gateway: Gateway, user: str, content: str = SECRET, **more: Any) -> str:
    """Offer a memory that the policy holds; gives its hold."""
    [receipt] = (await offered(gateway, user, item(content, "health"), **more)).items
    assert (receipt.fate, receipt.id, receipt.reason) == (Fate.HELD, "", "the write policy holds it: tag health")
    return receipt.hold


async def texts(gateway: Gateway, user: str) -> set[str]:
    return {one.text for one in (await gateway.recall(RecallRequest(user_id=user, text="almonds"), by=LOOKING)).items}


async def listed(gateway: Gateway, user: str, number: int) -> list[str]:
    """Return the ids of so many holds; Temporal's list lags behind."""
    return [one.id for one in await until(lambda: gateway.held(user, by=LOOKING), lambda found: len(found) == number)]


async def payloads(client: Client, workflow_id: str) -> str:
    """Return everything that a workflow's history says."""
    history = await client.get_workflow_handle(workflow_id).fetch_history()
    return "".join(event.SerializeToString().decode(errors="replace") for event in history.events)


async def journaled(here: Deployment, user: str) -> str:
    """Return the journal's files of a user."""
    folder = here.settings.journal_folder / here.services.tenant_key.tenant_of(user)
    return "".join(path.read_text() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.slow
async def test_what_a_policy_holds_stands_in_no_journal_job_or_batch_and_holds_up_nothing(
    here: Deployment, gateway: Gateway, user: str
) -> None:
    receipt = await offered(gateway, user, item(SECRET, "health"), item(OTHER))
    assert [(one.fate, one.decision, bool(one.hold)) for one in receipt.items] == [
        (Fate.HELD, Decision.HOLD, True),
        (Fate.SEARCHABLE, Decision.INSERT, False),
    ]
    hold = receipt.items[0].hold
    assert "Marzipan" not in await payloads(here.client, receipt.job_id)
    assert "Marzipan" not in await journaled(here, user)
    assert OTHER in await payloads(here.client, receipt.job_id), "the control"
    assert OTHER in await journaled(here, user), "the control"
    assert "Marzipan" in await payloads(here.client, hold), "the hold alone has it"
    assert await texts(gateway, user) == {OTHER}
    history = await here.client.get_workflow_handle(hold).fetch_history()
    started = history.events[0].workflow_execution_started_event_attributes
    assert Attribute.TENANT in started.search_attributes.indexed_fields
    assert await listed(gateway, user, 1) == [hold]
    [held] = await gateway.held(user, by=ANNA)
    assert SECRET in held.question.text

    async def read() -> list[AuditLine]:
        found = await audits.show(here.settings, user, None, None, ANNA)
        return [one for one in found if one.kind is AuditKind.READ and one.by == ANNA]

    [line] = await until(read, bool)
    assert line.ids == {"held": (hold,)}
    assert held.question.otherwise == "no"
    assert await gateway.rejected(user, by=ANNA) == []


@pytest.mark.parametrize("kind", [ActorKind.AGENT, ActorKind.SCHEDULE])
async def test_only_a_person_is_taken_at_their_word(
    here: Deployment, gateway: Gateway, user: str, kind: ActorKind
) -> None:
    hold, by = await on_hold(gateway, user), Actor(kind=kind, id="ben")
    for call in (
        gateway.decide(user, hold, approve=True, by=by),
        gateway.answer(hold, Answer(question_id="approval", value="yes"), by=by),
    ):
        with pytest.raises(InvalidInput, match=f"by: is of the kind '{kind}', and only people are asked"):
            await call
    assert [one.id for one in await gateway.held(user, by=ANNA)] == [hold], "it is still asked"


@pytest.mark.slow
async def test_approved_it_is_believed_by_that_person_and_no_more_than_it_was_offered(
    here: Deployment, gateway: Gateway, user: str
) -> None:
    hold = await on_hold(gateway, user)
    decided = await gateway.decide(user, hold, approve=True, note="ask lena@example.com", by=ANNA)
    assert (decided.outcome, decided.by) == (HoldOutcome.APPROVED, ANNA)
    assert decided.receipt is not None
    [line] = decided.receipt.items
    assert (line.fate, line.decision) == (Fate.SEARCHABLE, Decision.INSERT)
    assert await texts(gateway, user) == {SECRET}
    [entry] = await gateway.memories(user, by=ANNA)
    assert (entry.id, entry.confidence, entry.seen) == (line.id, 0.9, 1)
    tenant = here.services.tenant_key.tenant_of(user)
    [version] = versions(await here.services.journal.read(tenant), entry.id)
    assert (version.by, version.why, version.note) == (ANNA, "approve", "ask [email]")
    again = await gateway.decide(user, hold, approve=True, by=Actor(kind=ActorKind.PERSON, id="ben"))
    assert again == decided, "the same receipt, and still by who approved it"
    [entry] = await gateway.memories(user, by=ANNA)
    assert (entry.version, entry.seen) == (1, 1)
    with pytest.raises(InvalidInput, match=r"it was approved on .* anna approved it"):
        await gateway.decide(user, hold, approve=False, by=ANNA)
    assert await listed(gateway, user, 0) == []


@pytest.mark.slow
async def test_it_is_approved_in_the_words_of_whoever_approves(here: Deployment, gateway: Gateway, user: str) -> None:
    hold = await on_hold(gateway, user)
    for bad in ("   ", "\x00\x01", "x" * 9_000, "ada@example.com", f"{MARKER}1"):
        with pytest.raises(InvalidInput, match="text"):
            await gateway.decide(user, hold, approve=True, text=bad, by=ANNA)
    with pytest.raises(InvalidInput, match="cannot be given when rejecting"):
        await gateway.decide(user, hold, approve=False, text=OTHER, by=ANNA)
    answer = HeldAnswer(question_id="approval", value="no", text=OTHER)
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await here.client.get_workflow_handle(hold).execute_update(ANSWER, answer)
    assert "cannot be given when rejecting" in str(refused.value.cause)
    told = "Marzipan from ada@example.com is made of pistachios."
    decided = await gateway.decide(user, hold, approve=True, text=told, by=ANNA)
    assert await gateway.decide(user, hold, approve=True, text=told, by=ANNA) == decided
    with pytest.raises(InvalidInput, match="approved in other words already"):
        await gateway.decide(user, hold, approve=True, text="Marzipan is at 10.", by=ANNA)
    [entry] = await gateway.memories(user, by=ANNA)
    assert isinstance(entry, Memory)
    assert (entry.text, entry.confidence) == ("Marzipan from [email] is made of pistachios.", 0.9)
    assert entry.assertion is not None
    assert entry.assertion.value == "of pistachios"
    tenant = here.services.tenant_key.tenant_of(user)
    [version] = versions(await here.services.journal.read(tenant), entry.id)
    assert (version.by, version.why) == (ANNA, "approve reworded")
    assert "ada@" not in await payloads(here.client, hold)


@pytest.mark.slow
async def test_rejected_it_is_recorded_without_its_text(here: Deployment, gateway: Gateway, user: str) -> None:
    hold = await on_hold(gateway, user)
    decided = await gateway.decide(user, hold, approve=False, note="not theirs", by=ANNA)
    reason = "anna rejected it (the write policy holds it: tag health): not theirs"
    assert (decided.outcome, decided.reason, decided.receipt) == (HoldOutcome.REJECTED, reason, None)
    assert [(one.job, one.reason) for one in await gateway.rejected(user, by=ANNA)] == [(hold, reason)]
    assert "Marzipan" not in await journaled(here, user)
    assert await texts(gateway, user) == set()
    assert await gateway.decide(user, hold, approve=False, by=ANNA) == decided
    with pytest.raises(InvalidInput, match=r"id: it was rejected on .* anna rejected it"):
        await gateway.decide(user, hold, approve=True, by=ANNA)
    assert await texts(gateway, user) == set()


@pytest.mark.parametrize(
    ("policy", "confidence", "fate"),
    [("guarded", 0.75, Fate.REJECTED), ("default", 0.75, Fate.SEARCHABLE), ("lenient", 0.6, Fate.SEARCHABLE)],
)
async def test_the_policy_that_is_named_says_how_much_must_be_believed(
    gateway: Gateway, user: str, policy: str, confidence: float, fate: Fate
) -> None:
    [line] = (await offered(gateway, user, item(confidence=confidence), policy=policy)).items
    assert line.fate is fate
    assert ("is below 0.8" in line.reason) is (fate is Fate.REJECTED)


@pytest.mark.slow
async def test_no_more_holds_are_asked_than_are_shown(
    here: Deployment, gateway: Gateway, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.gateway.holds.ANSWERED_WITHIN", timedelta(seconds=1))
    first, second = [await on_hold(gateway, user, text) for text in (SECRET, OTHER)]
    tenant, now = here.services.tenant_key.tenant_of(user), datetime.now(UTC)
    batch = read_batch(tenant=tenant, key="k", items=[item(occurred_at=now.isoformat())])
    await here.client.start_workflow(
        Workflow.HOLD_MEMORY,
        Hold(batch=batch, reason="nobody serves it", until=now + timedelta(days=1)),
        id=hold_id(tenant, "unserved", 0),
        task_queue=f"unserved-{uuid4().hex}",
        search_attributes=tenant_attributes(tenant),
    )
    query = f"WorkflowType = '{Workflow.HOLD_MEMORY.value}' AND {Attribute.TENANT.value} = '{tenant}'"
    await until(lambda: here.client.count_workflows(query), lambda counted: counted.count == 3)
    assert [one.id for one in await gateway.held(user, limit=1, by=ANNA)] == [first]
    assert [one.id for one in await gateway.held(user, limit=2, by=ANNA)] == [first, second]
    with pytest.raises(PerdureError):  # The control: the third one is asked, and nobody answers.
        await gateway.held(user, limit=3, by=ANNA)


@pytest.mark.parametrize("number", [1, 2])
async def test_a_hold_of_other_than_one_memory_ends_with_what_is_wrong(here: Deployment, number: int) -> None:
    tenant, now = f"t_{uuid4().hex}", datetime.now(UTC)
    batch = read_batch(
        tenant=tenant, key="k", items=[item(one, occurred_at=now.isoformat()) for one in (SECRET, OTHER)]
    )
    written: dict[str, Any] = {
        "batch": batch.changed(items=batch.items[:number]).model_dump(mode="json"),
        "reason": "asked for by hand",
        "until": now.isoformat(),
    }
    handle = await here.client.start_workflow(
        Workflow.HOLD_MEMORY, written, id=hold_id(tenant, "by hand", 0), task_queue=here.queue
    )
    if number == 1:
        await handle.result()
        return
    with pytest.raises(WorkflowFailureError) as failed:
        async with asyncio.timeout(10):
            await handle.result()
    assert isinstance(failed.value.cause, ApplicationError)
    assert failed.value.cause.type == InvalidInput.__name__
    assert "batch: a hold is of one memory" in failed.value.cause.message


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "believed"), [("hasty", set[str]()), ("patient", {SECRET})])
async def test_silence_decides_at_the_deadline(
    here: Deployment, gateway: Gateway, user: str, policy: str, believed: set[str]
) -> None:
    hold = await on_hold(gateway, user, policy=policy)
    decided = await here.client.get_workflow_handle(hold, result_type=Decided).result()
    assert decided.by == Actor(kind=ActorKind.SYSTEM, id="deadline")
    assert await texts(gateway, user) == believed
    if believed:
        return
    with pytest.raises(InvalidInput, match="nobody answered by the deadline"):
        await gateway.decide(user, hold, approve=True, by=ANNA)
    assert [one.job for one in await gateway.rejected(user, by=ANNA)] == [hold]


@pytest.mark.slow
async def test_the_same_batch_again_asks_nobody_twice(here: Deployment, gateway: Gateway, user: str) -> None:
    first = await on_hold(gateway, user, key="k")
    assert await on_hold(gateway, user, key="k") == first
    await gateway.decide(user, first, approve=True, by=ANNA)
    assert await on_hold(gateway, user, key="k") == first
    found = await here.client.get_workflow_handle(first).describe()
    assert found.status is WorkflowExecutionStatus.COMPLETED
    [entry] = await gateway.memories(user, by=ANNA)
    assert entry.seen == 1


@pytest.mark.slow
async def test_two_who_approve_at_once_make_one_memory(gateway: Gateway, user: str) -> None:
    hold = await on_hold(gateway, user)
    first, second = await asyncio.gather(*(gateway.decide(user, hold, approve=True, by=ANNA) for _ in range(2)))
    assert first == second
    [entry] = await gateway.memories(user, by=ANNA)
    assert entry.version == 1


async def test_what_is_offered_with_an_email_by_an_agent_or_with_little_confidence_waits(
    here: Deployment, user: str
) -> None:
    items: list[JsonValue] = [
        item("Almonds are sold by Lena, lena@example.com.", confidence=0.95),
        item("Almonds are sweet.", confidence=0.85),
        item("Almonds are bitter.", confidence=0.7),
        item("Almonds are nuts.", confidence=0.95),
    ]
    dated: list[JsonValue] = [one | {"occurred_at": "2026-05-01T12:00:00Z"} for one in items if isinstance(one, dict)]
    tenant = here.services.tenant_key.tenant_of(user)
    batch = read_batch(tenant=tenant, key="k", items=dated, task="task-1", policy="guarded")
    job = job_id(batch)
    taken, holds = await here.services.intake.taken(batch, job=job, at=datetime.now(UTC))
    assert [(one.batch.key, one.reason) for one in holds] == [
        (hold_id(tenant, job, 0), "the write policy holds it: offered by agent, private data email"),
        (hold_id(tenant, job, 1), "the write policy holds it: confidence below 0.9"),
    ], "what the policy refuses anyway troubles nobody"
    assert [one.kind for one in taken.items] == ["unusable", "unusable", "memory", "memory"]
    assert "lena@" not in str([one.question for one in holds])


async def lifting(gateway: Gateway, user: str) -> tuple[str, ItemReceipt]:
    """Have a statement contradict a constraint; gives the constraint's id and the statement's receipt."""
    constraint = await gateway.remember(
        RememberRequest(user_id=user, key="a", items=(stated("Monday", memory_type="constraint"),)), by=ANNA
    )
    [first] = (await gateway.receipt(constraint, by=ANNA)).items
    receipt = await offered(gateway, user, stated("Tuesday"), item(OTHER))
    assert [one.fate for one in receipt.items] == [Fate.HELD, Fate.SEARCHABLE]
    assert receipt.items[0].reason.startswith("it would lift a constraint")
    return first.id, receipt.items[0]


def stated(day: str, **more: JsonValue) -> JsonValue:
    text = f"The deploy window is on {day}."
    assertion = assertion_of(text, datetime.now(UTC)).assertion
    assert assertion is not None
    return item(text, assertion=assertion.model_dump(mode="json"), **more)


@pytest.mark.slow
async def test_a_constraint_is_lifted_by_a_persons_word_alone(here: Deployment, gateway: Gateway, user: str) -> None:
    constraint, held = await lifting(gateway, user)
    assert [one.id for one in await gateway.held(user, by=ANNA)] == await listed(gateway, user, 1) == [held.hold]
    assert "Tuesday" not in await journaled(here, user)
    assert {one.text for one in await gateway.memories(user, by=ANNA)} == {"The deploy window is on Monday.", OTHER}
    decided = await gateway.decide(user, held.hold, approve=True, by=ANNA)
    assert decided.receipt is not None
    [line] = decided.receipt.items
    assert (line.fate, line.decision) == (Fate.SEARCHABLE, Decision.SUPERSEDE)
    stored = {entry.id: entry for entry in await gateway.memories(user, everything=True, by=ANNA)}
    old, new = stored[constraint], stored[line.id]
    assert isinstance(old, Memory)
    assert isinstance(new, Memory)
    assert (old.state, old.superseded_by, new.supersedes, new.confidence) == (State.SUPERSEDED, new.id, old.id, 0.9)
    assert await gateway.decide(user, held.hold, approve=True, by=ANNA) == decided


@pytest.mark.slow
async def test_a_constraint_stays_where_a_person_rejects_what_contradicts_it(
    here: Deployment, gateway: Gateway, user: str
) -> None:
    constraint, held = await lifting(gateway, user)
    await gateway.decide(user, held.hold, approve=False, by=ANNA)
    [found] = [one for one in await gateway.memories(user, by=ANNA) if one.id == constraint]
    assert (found.state, found.version) == (State.CURRENT, 1)
    assert [one.job for one in await gateway.rejected(user, by=ANNA)] == [held.hold]
    with pytest.raises(InvalidInput, match="it was rejected"):
        await gateway.decide(user, held.hold, approve=True, by=ANNA)
    lines = await here.services.journal.read(here.services.tenant_key.tenant_of(user))
    assert fold(lines).pending == (), "it is settled"


@pytest.mark.slow
async def test_consent_is_looked_at_again_when_it_is_approved(gateway: Gateway, user: str) -> None:
    hold = await on_hold(gateway, user)
    await gateway.consent(ConsentRequest(user_id=user, withdraw=(Purpose.GIVEN,)), by=ANNA)
    decided = await gateway.decide(user, hold, approve=True, by=ANNA)
    assert decided.receipt is not None
    [line] = decided.receipt.items
    assert (line.fate, "--grant given" in line.reason) == (Fate.REJECTED, True)
    await gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.GIVEN,)), by=ANNA)
    assert await gateway.memories(user, by=ANNA) == []


@pytest.mark.slow
async def test_an_erasure_cancels_what_is_on_hold(here: Deployment, gateway: Gateway, user: str) -> None:
    hold = await on_hold(gateway, user)
    other = f"{user} other"
    theirs = await on_hold(gateway, other)
    receipt = await gateway.erase(EraseRequest(user_id=user), by=ANNA)
    assert receipt.proved
    for approve in (True, False):
        with pytest.raises(InvalidInput, match="there is no 'hold-"):
            await gateway.decide(user, hold, approve=approve, by=ANNA)
    assert await gateway.held(user, by=ANNA) == []
    assert await gateway.memories(user, by=ANNA) == []
    assert not (here.settings.journal_folder / here.services.tenant_key.tenant_of(user)).exists()
    assert (await gateway.decide(other, theirs, approve=True, by=ANNA)).outcome is HoldOutcome.APPROVED


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False], ids=["under its epoch", "accepted while Redis was away"])
async def test_what_was_put_on_hold_before_an_erasure_is_not_asked_after(here: Deployment, known: bool) -> None:
    tenant, services = f"t_{uuid4().hex}", here.services
    accepted = datetime.now(UTC)
    hold = hold_of(tenant, accepted, epoch=0 if known else None)
    later = hold_of(tenant, accepted + timedelta(minutes=2), epoch=None)
    await services.eraser.begin(tenant, operation="erase", at=accepted + timedelta(seconds=1), by=ANNA)
    decided = await started(here, hold)
    assert (decided.outcome, "erased after this was accepted" in decided.reason) == (HoldOutcome.REJECTED, True)
    assert (await started(here, later)).outcome is HoldOutcome.APPROVED, "the control: accepted afterwards"


async def test_an_approval_of_what_was_offered_before_an_erasure_is_refused(here: Deployment) -> None:
    tenant, now = f"t_{uuid4().hex}", datetime.now(UTC)
    approved = hold_of(tenant, now, epoch=0).batch.changed(approved=Approved(at=now, doubt=False))
    await here.services.eraser.begin(tenant, operation="erase", at=now, by=ANNA)
    with pytest.raises(ActivityFailureError) as refused:
        await here.client.execute_activity(
            Activity.APPROVE_HELD,
            approved,
            id=uuid4().hex,
            task_queue=here.queue,
            result_type=str,
            start_to_close_timeout=timedelta(seconds=20),
        )
    assert isinstance(refused.value.cause, ApplicationError)
    assert refused.value.cause.type == TenantErased.__name__
    assert await here.services.eraser.left(tenant) == ()


def hold_of(tenant: str, accepted: datetime, *, epoch: int | None) -> Hold:
    given: JsonValue = {"kind": "memory", "content": SECRET, "occurrence": "o", "occurred_at": "2026-05-01T12:00:00Z"}
    key = hold_id(tenant, uuid4().hex, 0)
    batch = read_batch(tenant=tenant, key=key, items=[given], accepted_at=accepted).changed(epoch=epoch)
    return Hold(batch=batch, reason="tag health", until=datetime.now(UTC), silence=Silence.APPROVE)


async def started(here: Deployment, hold: Hold) -> Decided:
    return await here.client.execute_workflow(
        Workflow.HOLD_MEMORY,
        hold,
        id=hold.batch.key,
        task_queue=here.queue,
        result_type=Decided,
        search_attributes=tenant_attributes(hold.batch.tenant),
    )


@pytest.mark.slow
async def test_somebody_elses_hold_is_answered_as_unknown(gateway: Gateway, user: str) -> None:
    hold = await on_hold(gateway, user)
    complaints: set[str] = set()
    for identifier in (hold, hold_id("t_1", "x", 0), "task-x"):
        with pytest.raises(InvalidInput) as refused:
            await gateway.decide(f"not {user}", identifier, approve=True, by=ANNA)
        complaints.add(str(refused.value).replace(identifier, "ID"))
    for identifier in (hold_id("t_1", "x", 0), "task-x"):
        with pytest.raises(InvalidInput) as refused:
            await gateway.decide(None, identifier, approve=True, by=ANNA)
        complaints.add(str(refused.value).replace(identifier, "ID"))
    assert complaints == {"PRD116 id: there is no 'ID' of this user (perdure memories held shows the ids)"}
    assert await gateway.held(f"not {user}", by=ANNA) == []
    assert (await gateway.decide(user, hold, approve=True, by=ANNA)).outcome is HoldOutcome.APPROVED


MALFORMED: list[tuple[dict[str, JsonValue], str]] = [
    ({"question_id": "approval", "value": "perhaps"}, "value: 'perhaps' is not one of the choices"),
    ({"question_id": "aproval", "value": "yes"}, "question_id: there is no question 'aproval'"),
    ({"question_id": "approval", "value": "yes", "nte": "x"}, "nte: is not a field here"),
    ({"question_id": "approval", "value": ["yes"]}, "value"),
    ({"question_id": "approval", "value": ""}, "value: is empty"),
]


@pytest.mark.slow
async def test_a_malformed_answer_is_refused_and_the_question_stays_open(
    here: Deployment, gateway: Gateway, user: str
) -> None:
    hold = await on_hold(gateway, user)
    handle = here.client.get_workflow_handle(hold)
    for answer, problem in MALFORMED:
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await handle.execute_update(ANSWER, answer)
        assert isinstance(refused.value.cause, ApplicationError)
        assert problem in refused.value.cause.message
    # As any other question is answered.
    await gateway.answer(hold, Answer(question_id="approval", value="yes"), by=ANNA)
    decided = await here.client.get_workflow_handle(hold, result_type=Decided).result()
    assert (decided.outcome, decided.by) == (HoldOutcome.APPROVED, ANNA)


async def test_a_policy_that_is_gone_rejects_and_says_so(here: Deployment, user: str) -> None:
    tenant = here.services.tenant_key.tenant_of(user)
    hold = hold_of(tenant, datetime.now(UTC), epoch=0)
    gone: Batch = hold.batch.changed(policy="gone")
    decided = await started(here, hold.changed(batch=gone))
    assert (decided.outcome, "there is no 'gone'" in decided.reason) == (HoldOutcome.REJECTED, True)


@pytest.mark.slow
async def test_it_waits_while_the_stores_are_away(own_servers: OwnServers, tmp_path: Path) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    servers, tenant = Servers.model_validate(fleet.addresses.model_dump()), f"t_{uuid4().hex}"
    async with deployment(servers, tmp_path / "home") as here:
        hold = hold_of(tenant, datetime.now(UTC), epoch=0).changed(until=datetime.now(UTC) + timedelta(days=1))
        await fleet.stop(Server.REDIS)
        await fleet.stop(Server.WEAVIATE)
        handle = await here.client.start_workflow(
            Workflow.HOLD_MEMORY, hold, id=hold.batch.key, task_queue=here.queue, result_type=Decided
        )
        await handle.execute_update(ANSWER, Answer(question_id="approval", value="yes", by="anna"))

        async def attempts() -> int:
            waiting = (await handle.describe()).raw_description.pending_activities
            return max((one.attempt for one in waiting), default=0)

        await until(attempts, lambda number: number > 1)
        await fleet.start(Server.REDIS)
        await fleet.start(Server.WEAVIATE)
        decided = await handle.result()
        assert decided.receipt is not None
        assert (decided.outcome, [one.fate for one in decided.receipt.items]) == (
            HoldOutcome.APPROVED,
            [Fate.SEARCHABLE],
        )
        assert [entry.seen for entry in (await here.services.longterm.everything(tenant)).values()] == [1]


@pytest.mark.slow
@pytest.mark.parametrize("asked", [False, True], ids=["nobody answered", "a person approved"])
async def test_what_was_forgotten_meanwhile_comes_back_only_by_a_persons_word(
    here: Deployment, gateway: Gateway, user: str, asked: bool
) -> None:
    tenant = here.services.tenant_key.tenant_of(user)

    async def offered(occurrence: str, policy: str, *tags: str) -> ItemReceipt:
        item: JsonValue = {"kind": "memory", "content": SECRET, "occurrence": occurrence, "tags": [*tags]}
        request = RememberRequest(user_id=user, key=occurrence, items=(item,), policy=policy)
        [told] = (await gateway.receipt(await gateway.remember(request, by=ANNA), by=ANNA)).items
        return told

    first = await offered("o1", "default")
    held = await offered("o2", "default" if asked else "patient", "health")
    removal = MemoryUpdate(id=first.id, update=Removal(), by=ANNA)
    await here.services.updater.update(tenant, removal, operation=uuid4().hex, at=datetime.now(UTC))
    if asked:
        await gateway.decide(user, held.hold, approve=True, by=ANNA)
    decided = await here.client.get_workflow_handle(held.hold, result_type=Decided).result()
    assert decided.outcome is HoldOutcome.APPROVED
    [stored] = (await here.services.longterm.everything(tenant)).values()
    assert (stored.state is State.CURRENT) == asked
