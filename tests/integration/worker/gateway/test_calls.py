"""The gateway: memory read in this process where the key is at hand, by reference where it is not."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionDescription, WorkflowFailureError

from localservers import Server
from perdure import Actor, ActorKind, AgentTask, Event, RecallRequest, RememberRequest
from perdure.errors import (
    EmbeddingMismatch,
    InvalidAnswer,
    InvalidInput,
    InvalidTask,
    StoreUnavailable,
    TenantKeyMismatch,
    WorkerUnavailable,
    WorkflowCancelled,
)
from perdure.model import Request
from perdure.names import Workflow
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.installation import Installation
from perdure.stores.tenant_key import KEY_BYTES, TenantKey
from perdure.values.lessons import LessonRequest
from perdure.values.questions import Answer
from perdure.values.requests import UndoRequest
from perdure.values.updates import Correction, Credit, Removal, UpdateRequest
from tests.conftest import OwnServers, Servers, clean_settings, give_tenant_key
from tests.deployment import Deployment, deployment
from tests.support.hashing import HashingEmbedder
from tests.support.waiting import until
from worker.gateway import Gateway
from worker.reader import Reader, open_reader
from worker.worker_wait import ANSWER_WITHIN

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
SECRET = "Marzipan contains almonds."


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    async with deployment(servers, tmp_path / "worker", settings={"examples": True}) as here:
        await here.services.installation.check(here.services.tenant_key)
        yield here


@pytest.fixture
async def user(here: Deployment, servers: Servers) -> str:
    user = f"user {uuid4().hex}"
    async with Gateway(here.settings, servers) as gateway:
        item: JsonValue = {
            "kind": "memory",
            "content": SECRET,
            "occurrence": "o",
            "occurred_at": "2026-05-01T12:00:00Z",
        }
        request = RememberRequest(user_id=user, key="k", items=(item,))
        await gateway.receipt(await gateway.remember(request, by=TESTER), by=TESTER)
    return user


@pytest.mark.slow
async def test_with_the_key_at_hand_memory_is_read_without_temporal(
    here: Deployment, servers: Servers, user: str
) -> None:
    without_temporal = servers.changed(temporal="127.0.0.1:9")
    async with Gateway(here.settings, without_temporal) as gateway:
        for _ in range(2):
            found = await gateway.recall(RecallRequest(user_id=user, text="almonds"), by=TESTER)
            assert [item.text for item in found.items] == [SECRET]
        other = await gateway.recall(RecallRequest(user_id="somebody else", text="almonds"), by=TESTER)
        assert other.items == ()


@pytest.mark.slow
async def test_without_the_key_the_answer_comes_by_a_reference_that_expires(
    here: Deployment, servers: Servers, user: str, tmp_path: Path
) -> None:
    elsewhere = clean_settings(tmp_path / "elsewhere", task_queue=here.queue)
    async with Gateway(elsewhere, servers) as gateway:
        found = await gateway.recall(RecallRequest(user_id=user, text="which nuts are in it?"), by=TESTER)
    assert [item.text for item in found.items] == [SECRET]
    assert not (tmp_path / "elsewhere" / "tenant.key").exists()

    tenant = here.services.tenant_key.tenant_of(user)
    asked = f"WorkflowType = 'RecallMemory' AND TaskQueue = '{here.queue}'"

    async def listed() -> list[str]:
        return [one.id async for one in here.client.list_workflows(asked)]

    [workflow] = await until(listed, bool)
    history = (await here.client.get_workflow_handle(workflow).fetch_history()).to_json()
    assert tenant in str(await here.client.get_workflow_handle(workflow).result())
    assert "Marzipan" not in history
    found_keys: list[str] = await ask(here.services.redis, "KEYS", f"*{tenant}*")
    answers = [key for key in found_keys if "result" in key]
    assert answers
    for key in answers:
        assert 0 < await ask(here.services.redis, "TTL", key) <= 300


async def test_a_change_waits_for_the_stores_and_a_question_does_not(
    here: Deployment, servers: Servers, user: str, tmp_path: Path
) -> None:
    async with Gateway(clean_settings(tmp_path / "elsewhere", task_queue=here.queue), servers) as gateway:
        [item] = (await gateway.recall(RecallRequest(user_id=user, text="almonds"), by=TESTER)).items
        credit = Credit(task="a task of their own", succeeded=True)
        await gateway.update(UpdateRequest(user_id=user, id=item.id, update=credit), by=TESTER)

    async def waits(workflow: str) -> timedelta:
        asked = f"WorkflowType = '{workflow}' AND TaskQueue = '{here.queue}'"
        [found] = await until(lambda: _all(here.client.list_workflows(asked)), bool)
        history = await here.client.get_workflow_handle(found.id).fetch_history()
        events = (event.activity_task_scheduled_event_attributes for event in history.events)
        [_, scheduled] = [event for event in events if event.activity_id]  # The first finds the user's tenant.
        return scheduled.schedule_to_close_timeout.ToTimedelta()

    assert await waits("UpdateMemory") == timedelta(0), "an outage of any length ends in the change"
    assert timedelta(0) < await waits("RecallMemory") < timedelta(seconds=ANSWER_WITHIN), "the caller is told why"


async def _all(listed: AsyncIterator[WorkflowExecution]) -> list[WorkflowExecution]:
    return [one async for one in listed]


async def test_another_installations_key_is_refused_and_another_model_too(
    here: Deployment, servers: Servers, tmp_path: Path
) -> None:
    foreign = clean_settings(tmp_path / "foreign")
    foreign.home.mkdir()
    (foreign.home / "tenant.key").write_bytes(bytes(KEY_BYTES))
    async with Gateway(foreign, servers) as gateway:
        with pytest.raises(TenantKeyMismatch):
            await gateway.recall(RecallRequest(user_id="ada", text="almonds"), by=TESTER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("worker.wiring.parts.open_embedder", _other_model)
        async with Gateway(here.settings, servers) as gateway:
            with pytest.raises(EmbeddingMismatch):
                await gateway.recall(RecallRequest(user_id="ada", text="almonds"), by=TESTER)


async def test_what_needs_a_worker_says_that_there_is_none(servers: Servers, tmp_path: Path) -> None:
    said: list[str] = []
    nobody = clean_settings(tmp_path, task_queue=f"nobody-{uuid4().hex[:8]}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("worker.local_worker.WITHIN", 0.5)
        async with Gateway(nobody, servers, notify=said.append) as gateway:
            with pytest.raises(WorkerUnavailable, match="start one with 'perdure worker'"):
                await gateway.recall(RecallRequest(user_id="ada", text="almonds"), by=TESTER)
    assert "waiting" in said[0]


@pytest.mark.parametrize("again", [True, False])
async def test_a_mismatch_is_found_once_redis_is_back(
    servers: Servers, own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    fleet = await own_servers(Server.REDIS)
    redis = connect(fleet.addresses.redis_url)
    await Installation(redis).check(TenantKey(bytes(KEY_BYTES)))
    await redis.aclose()
    give_tenant_key(tmp_path / "home")
    question = RecallRequest(user_id=f"user {uuid4().hex}", text="almonds")
    async with Gateway(clean_settings(tmp_path / "home"), fleet.addresses) as gateway:
        await fleet.stop(Server.REDIS)
        assert "redis" in (await gateway.recall(question, by=TESTER)).degraded
        if not again:
            # The control: a check that is tried once only never learns of it.
            monkeypatch.setattr("worker.reader.Reader._check_all", _nothing)
        await fleet.start(Server.REDIS)
        if again:
            for _ in range(2):
                with pytest.raises(TenantKeyMismatch):
                    await gateway.recall(question, by=TESTER)
        else:
            assert not (await gateway.recall(question, by=TESTER)).items


@pytest.mark.slow
async def test_what_was_answered_is_not_checked_again(here: Deployment, servers: Servers, user: str) -> None:
    async with open_reader(here.settings, servers) as reader:
        assert reader is not None
        assert len(reader.unanswered) == 3
        await reader.recall(RecallRequest(user_id=user, text="almonds"))
        assert not reader.unanswered


async def test_what_a_worker_refuses_arrives_with_its_field_and_its_fix(here: Deployment, servers: Servers) -> None:
    async with Gateway(here.settings, servers) as gateway:
        task = AgentTask(task_id=f"t{uuid4().hex[:10]}", user_id="ada", skill="dependency-audi")
        await gateway.served()
        with pytest.raises(InvalidInput, match="no skill") as unknown:
            await gateway.start(task, by=TESTER)
        assert (unknown.value.field, "dependency-audit" in unknown.value.fix) == ("skill", True)
        with pytest.raises(InvalidTask, match="there is none with the id"):
            await gateway.ended(task.workflow_id, by=TESTER)

        with pytest.raises(InvalidInput, match="forgot nothing") as undone:
            await gateway.undo(UndoRequest(sweep="r", user_id="ada"), by=TESTER)
        assert undone.value.field == "sweep"
        with pytest.raises(InvalidInput, match="none with the id job-nothing"):
            await gateway.receipt("job-nothing", by=TESTER)


def audit_of(folder: Path, package: str) -> AgentTask:
    """Return a task that audits one package."""
    lock = folder / "a.lock"
    lock.write_text(f"{package}\n")
    inputs: dict[str, JsonValue] = {"lock": str(lock), "report": str(folder / "a.csv")}
    return AgentTask(task_id=f"t{uuid4().hex[:10]}", user_id="ada", skill="dependency-audit", inputs=inputs)


@pytest.mark.slow
async def test_a_task_that_differs_from_what_its_id_stands_for_starts_no_run_that_hides_its_end(
    here: Deployment, servers: Servers, tmp_path: Path
) -> None:
    task = audit_of(tmp_path, "rich==15.0.0")
    async with Gateway(here.settings, servers) as gateway:
        started = await gateway.start(task, by=TESTER)
        ended = await gateway.result(started.workflow_id, by=TESTER)
        other = task.changed(inputs=task.inputs | {"report": str(tmp_path / "b.csv")})
        with pytest.raises(InvalidTask, match=r"inputs\.report"):
            await gateway.start(other, by=TESTER, again=True)
        assert await gateway.ended(started.workflow_id, by=TESTER) == ended
        assert (await gateway.start(task, by=TESTER, again=True)).new
        await gateway.cancel(started.workflow_id, by=TESTER)


async def test_what_begins_is_guarded_and_what_is_there_is_attached_to(
    here: Deployment, servers: Servers, tmp_path: Path
) -> None:
    task = audit_of(tmp_path, "nodeenv==1.12.0")

    def no() -> None:
        raise InvalidInput("tools.py", "has changed")

    async with Gateway(here.settings, servers) as gateway:
        await gateway.served()
        with pytest.raises(InvalidInput, match="has changed"):
            await gateway.start(task, by=TESTER, guard=no)
        with pytest.raises(InvalidTask, match="there is none with the id"):
            await gateway.ended(task.workflow_id, by=TESTER)
        started = await gateway.start(task, by=TESTER)
        assert (started.new, started.checked) == (True, True)
        attached = await gateway.start(task, by=TESTER, guard=no)
        assert (attached.new, attached.checked) == (False, None)
        await gateway.cancel(started.workflow_id, by=TESTER)
        with pytest.raises(WorkflowCancelled):
            await gateway.result(started.workflow_id, by=TESTER)
        with pytest.raises(InvalidInput, match="has changed"):
            await gateway.start(task, by=TESTER, guard=no)


@pytest.mark.slow
@pytest.mark.parametrize("listed", [False, True])
async def test_a_task_that_no_worker_has_checked_is_checked_by_who_starts_it_and_said_to_be_so(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, listed: bool
) -> None:
    nobody = clean_settings(tmp_path, task_queue=f"nobody-{uuid4().hex[:8]}")
    task = AgentTask(task_id=f"t{uuid4().hex[:10]}", user_id="ada", skill="dependency-audit")

    def no() -> None:
        raise InvalidInput("task.yaml", "has no such tool")

    async def is_listed(_: float) -> bool:
        return listed

    monkeypatch.setattr("worker.gateway.tasks.CHECKED_AT_ONCE", 1.0)
    async with Gateway(nobody, servers) as gateway:
        # As one is that was killed a moment ago.
        monkeypatch.setattr(gateway, "served_within", is_listed)
        with pytest.raises(InvalidInput, match="has no such tool"):
            await gateway.start(task, by=TESTER, check=no)
        started = await gateway.start(task, by=TESTER)
        assert (started.new, started.checked) == (True, False)
        again = await gateway.start(task, by=TESTER)
        assert (again.new, again.checked) == (False, None)
        await gateway.cancel(started.workflow_id, by=TESTER)


@pytest.mark.slow
async def test_who_does_not_say_so_is_no_person(here: Deployment, servers: Servers) -> None:
    async def asked(workflow: str, request: Request) -> None:
        await here.client.execute_workflow(workflow, request, id=f"q{uuid4().hex}", task_queue=here.queue)

    user = f"user {uuid4().hex}"
    async with Gateway(here.settings, servers) as gateway:
        item: JsonValue = {
            "kind": "memory",
            "content": "Uploads end at nine.",
            "occurrence": "o",
            "memory_type": "constraint",
        }
        request = RememberRequest(user_id=user, key="k", items=(item,))
        receipt = await gateway.receipt(await gateway.remember(request, by=TESTER), by=TESTER)
        [identifier] = [one.id for one in receipt.items]
        for update in (Removal(), Correction(content="Uploads end at ten.")):
            with pytest.raises(WorkflowFailureError) as refused:
                await asked(Workflow.UPDATE_MEMORY, UpdateRequest(user_id=user, id=identifier, update=update))
            assert "InvalidInput" in repr(refused.value.cause.__cause__), refused.value.cause
        with pytest.raises(WorkflowFailureError) as refused:
            await asked(Workflow.SET_LESSON, LessonRequest(user_id=user, id=identifier))
        assert "only people promote" in str(refused.value.cause.__cause__)
        [entry] = await gateway.memories(user, by=TESTER)
        assert entry.text == "Uploads end at nine."


async def test_an_answer_that_nobody_asked_for_is_refused_and_a_cancelled_task_says_so(
    here: Deployment, servers: Servers, tmp_path: Path
) -> None:
    task = audit_of(tmp_path, "nodeenv==1.12.0")
    async with Gateway(here.settings, servers) as gateway:
        started = await gateway.start(task, by=TESTER)
        await until(lambda: gateway.progress(started.workflow_id, by=TESTER), lambda now: bool(now and now.questions))
        with pytest.raises(InvalidAnswer, match="there is no question 'b'") as refused:
            await gateway.answer(started.workflow_id, Answer(question_id="b", value="MIT"), by=TESTER)
        assert (refused.value.field, bool(refused.value.fix)) == ("question_id", True)
        assert await gateway.ended(started.workflow_id, by=TESTER) is None
        await gateway.cancel(started.workflow_id, by=TESTER)
        with pytest.raises(WorkflowCancelled):
            await gateway.result(started.workflow_id, by=TESTER)


@pytest.mark.parametrize("checked", [True, False])
async def test_what_is_meant_for_a_task_reaches_no_job(
    here: Deployment, servers: Servers, monkeypatch: pytest.MonkeyPatch, checked: bool
) -> None:
    if not checked:
        # The control: without the check, an accepted batch is cancelled.
        monkeypatch.setattr("worker.gateway.tasks.task_of", _anything)
    job = await here.client.start_workflow(Workflow.INGEST_MEMORY, id=f"job-{uuid4().hex}", task_queue="nobody-here")
    async with Gateway(here.settings, servers) as gateway:
        calls: list[Callable[[str], Awaitable[object]]] = [
            lambda id_: gateway.cancel(id_, by=TESTER),
            lambda id_: gateway.answer(id_, Answer(question_id="q", value="a"), by=TESTER),
            lambda id_: gateway.deliver(id_, Event(name="e"), by=TESTER),
            lambda id_: gateway.is_running(id_, by=TESTER),
            lambda id_: gateway.progress(id_, by=TESTER),
            lambda id_: gateway.result(id_, by=TESTER),
            lambda id_: gateway.ended(id_, by=TESTER),
        ]
        for call in calls if checked else calls[:1]:
            with pytest.raises(InvalidTask, match="the job of a batch to remember") if checked else nullcontext():
                await call(job.id)
            with pytest.raises(InvalidTask, match="is empty") if checked else pytest.raises(InvalidInput):
                await call("")
    asked = [event async for event in job.fetch_history_events() if "cancel_requested" in str(event)]
    assert bool(asked) is not checked


async def test_what_is_meant_for_a_job_reaches_no_task(here: Deployment, servers: Servers) -> None:
    async with Gateway(here.settings, servers) as gateway:
        id_ = f"task-{uuid4().hex[:10]}"
        started = await here.client.start_workflow(Workflow.RESUMABLE_AGENT, id=id_, task_queue="nobody-here")
        with pytest.raises(InvalidInput, match=r"is a task \(ResumableAgent\), and not the job"):
            await gateway.receipt(started.id, by=TESTER)


async def test_a_temporal_that_is_not_there_is_named(servers: Servers, tmp_path: Path) -> None:
    nowhere = servers.model_copy(update={"temporal": "127.0.0.1:9"})
    async with Gateway(clean_settings(tmp_path), nowhere) as gateway:
        for call in (
            gateway.workers,
            lambda: gateway.progress("task-x", by=TESTER),
            lambda: gateway.receipt("job-x", by=TESTER),
        ):
            with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9 does not answer"):
                await call()


async def _anything(client: Client, workflow_id: str) -> WorkflowExecutionDescription:
    return await client.get_workflow_handle(workflow_id).describe()


async def _nothing(_: Reader) -> None:
    """Check nothing."""


def _other_model(_: str, *, api_key: str | None, base_url: str | None) -> HashingEmbedder:
    return HashingEmbedder(32)
