"""Erasing a user on the real servers: nothing is left, nobody else is touched, and nothing older comes back."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import ActivityEnvironment

from activities import erasure
from activities.episodes import PATIENCE
from activities.erasure import BeginErasureCall, EndRunsCall, ErasureActivities, TenantCall
from activities.jobs import job_id
from activities.unlabelled_runs import unlabelled_runs
from localservers import Server
from perdure import Actor, ActorKind, AgentTask, MemberRequest, RecallRequest, RememberRequest, history
from perdure.errors import InvalidTask, LeaseLost, TaskFailed, TenantErased, UnknownOwner
from perdure.memory.membership import MemberBook
from perdure.memory.writing.batch_checks import read_batch
from perdure.names import Attribute, Workflow
from perdure.stores.journal.values import ValueFiles
from perdure.stores.redis.access_tokens import AccessTokens
from perdure.stores.redis.accesses import Accesses
from perdure.stores.redis.claims import OnceEffect
from perdure.stores.redis.feedback import RedisFeedback
from perdure.stores.redis.observations import Observations
from perdure.stores.redis.outputs import Outputs
from perdure.stores.redis.recalls import TaskRecalls
from perdure.stores.redis.sessions import SessionWrites
from perdure.stores.redis.tenant_inventory import holdings
from perdure.temporal.attributes import tenant_attributes
from perdure.values.access_tokens import TokenRequest, TokenScope
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.erasures import TAKEN_OVER, ErasureReceipt
from perdure.values.feedback import LateFeedback
from perdure.values.jobs import Fate, Receipt
from perdure.values.requests import EraseRequest
from perdure.values.steering import GivenFeedback
from tests.conftest import OwnServers, Servers
from tests.deployment import Deployment, deployment
from tests.support.harness import Bench
from tests.support.processes import start_mortal
from tests.support.standing_still import stand_still_before
from tests.support.waiting import until, until_true
from worker.gateway import Gateway
from worker.gateway.task_list import TaskFilter
from worker.wiring.services import Services
from workflows import erase_memory

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
SECRET = "Marzipan is made of almonds."
WAITS = 'steps: [{id: ask, tool: echo, args: {value: "${inputs.word}"}, approve: "Say it?"}]\ninputs: {word: string}'


WAITS_IN_A_THREAD = """
steps: [{id: a, tool: wait_in_a_thread, args: {word: "${inputs.word}", begun: "${inputs.begun}", go: "${inputs.go}"}}]
inputs: {word: string, begun: string, go: string}
"""
HOUR = timedelta(hours=1)


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    (tmp_path / "skills").mkdir()
    settings = {"tools": ("tests.support.tools",), "skills": (tmp_path / "skills",)}
    async with deployment(servers, tmp_path / "home", settings=settings) as one:
        yield one


def item(content: str = SECRET) -> dict[str, JsonValue]:
    return {"kind": "memory", "content": content, "occurrence": "o", "occurred_at": "2026-05-01T12:00:00Z"}


async def remembered(gateway: Gateway, user: str, content: str = SECRET) -> None:
    request = RememberRequest(user_id=user, key=uuid4().hex, items=(item(content),))
    receipt = await gateway.receipt(await gateway.remember(request, by=TESTER), by=TESTER)
    assert receipt.count(Fate.SEARCHABLE) == 1


def activities_of(here: Deployment) -> ErasureActivities:
    """Return the activities of an erasure, to be called one by one."""
    services = here.services
    return ErasureActivities(
        client=here.client,
        key=services.tenant_key,
        eraser=services.eraser,
        members=services.members,
        tokens=AccessTokens(services.redis),
    )


async def texts(gateway: Gateway, user: str) -> list[str]:
    return [one.text for one in (await gateway.recall(RecallRequest(user_id=user, text="almonds"), by=TESTER)).items]


@pytest.mark.slow
async def test_a_users_tokens_end_with_their_erasure_whoever_starts_its_workflow(
    here: Deployment, gateway: Gateway
) -> None:
    user, other = f"user {uuid4().hex}", f"user {uuid4().hex}"
    for one in (user, other):
        await gateway.create_token(TokenRequest(name="t", scopes=(TokenScope.READ,), user_id=one), by=TESTER)
    await here.client.execute_workflow(
        Workflow.ERASE_MEMORY, EraseRequest(user_id=user), id=f"erase-{uuid4().hex}", task_queue=here.queue
    )
    left = {one.user_id for one in await gateway.tokens(by=TESTER)}
    assert (user in left, other in left) == (False, True)


@pytest.mark.slow
async def test_nothing_of_a_user_is_left_anywhere_and_nobody_else_is_touched(
    here: Deployment, gateway: Gateway, tmp_path: Path
) -> None:
    user, other = f"user {uuid4().hex}", f"user {uuid4().hex}"
    agents = Bench(client=here.client, queue=here.queue, folder=tmp_path, deployed=here)
    for one in (user, other):
        await remembered(gateway, one)
    waiting = AgentTask(task_id=uuid4().hex, user_id=user, skill=agents.skill(WAITS), inputs={"word": "secret"})
    await gateway.start(waiting, by=TESTER)

    async def asked() -> bool:
        progress = await gateway.progress(waiting.workflow_id, by=TESTER)
        return bool(progress and progress.questions)

    await until(asked, bool)
    raising = agents.skill('steps: [{id: a, tool: raises, args: {text: "Almonds"}, retry: 1}]')
    failing = AgentTask(task_id=uuid4().hex, user_id=user, skill=raising)
    await gateway.start(failing, by=TESTER)
    with pytest.raises(TaskFailed, match="Almonds"):
        await gateway.result(failing.workflow_id, by=TESTER)
    tenant = here.services.tenant_key.tenant_of(user)
    query = f"{Attribute.TENANT} = '{tenant}'"

    async def listed() -> int:
        return len([one async for one in here.client.list_workflows(query)])

    await until(listed, (4).__le__)
    receipt = await gateway.erase(EraseRequest(user_id=user), by=TESTER)
    assert (receipt.proved, receipt.epoch) == (True, 1)
    # What was learned from the failure may be stored by then.
    assert receipt.entries in (1, 2)
    assert receipt.executions >= 4
    assert receipt.keys > 0
    assert await listed() == 0
    assert tenant not in await here.services.longterm.tenants()
    assert not (here.settings.journal_folder / tenant).exists()
    held = await holdings(here.services.redis, tenant)
    assert [key for key in held.keys if not key.endswith(":epoch")] == []
    assert held.shared == ()
    assert await texts(gateway, user) == []
    for task in (waiting, failing):
        with pytest.raises(InvalidTask, match="none with the id"):
            await gateway.ended(task.workflow_id, by=TESTER)
    assert SECRET not in receipt.model_dump_json()
    assert user not in receipt.model_dump_json()
    assert await texts(gateway, other) == [SECRET]

    again = await gateway.erase(EraseRequest(user_id=user), by=TESTER)
    assert (again.proved, again.epoch > receipt.epoch, again.entries) == (True, True, 0), "erased twice"
    await remembered(gateway, user, "Nougat is made of nuts.")
    assert await texts(gateway, user) == ["Nougat is made of nuts."], "the user begins anew"


@pytest.mark.parametrize("known", [True, False], ids=["under its epoch", "accepted while Redis was away"])
async def test_what_was_accepted_before_is_not_written_after(here: Deployment, known: bool) -> None:
    tenant, services = f"t_{uuid4().hex}", here.services
    accepted = datetime.now(UTC)
    batch = read_batch(tenant=tenant, key="k", items=[item()], accepted_at=accepted)
    batch = batch.changed(epoch=0 if known else None)
    begun = await services.eraser.begin(tenant, operation="erase", by=TESTER, at=accepted + timedelta(seconds=1))
    assert begun.epoch == 1
    job = await here.client.start_workflow(
        Workflow.INGEST_MEMORY,
        batch,
        id=job_id(batch),
        task_queue=here.queue,
        result_type=Receipt,
        search_attributes=tenant_attributes(tenant),
    )
    [line] = (await job.result()).items
    assert (line.fate, "erased after this was accepted" in line.reason) == (Fate.REJECTED, True)
    assert await services.longterm.everything(tenant) == {}
    assert await services.eraser.left(tenant) == (), "nor that it was refused"
    later = batch.changed(accepted_at=datetime.now(UTC) + timedelta(minutes=1), epoch=None, key="later")
    job = await here.client.start_workflow(
        Workflow.INGEST_MEMORY, later, id=job_id(later), task_queue=here.queue, result_type=Receipt
    )
    assert (await job.result()).count(Fate.SEARCHABLE) == 1, "the control: accepted afterwards"


async def test_a_task_that_was_started_before_is_refused(here: Deployment, gateway: Gateway, tmp_path: Path) -> None:
    agents = Bench(client=here.client, queue=here.queue, folder=tmp_path, deployed=here)
    task = agents.task(agents.skill("steps: [{id: a, tool: echo, args: {value: 1}}]"))
    tenant = here.services.tenant_key.tenant_of(task.user_id)
    await here.services.eraser.begin(tenant, operation="erase", by=TESTER, at=datetime.now(UTC) + timedelta(minutes=1))
    with pytest.raises(WorkflowFailureError) as caught:
        await (await agents.start(task)).result()
    cause = caught.value.cause
    while cause is not None and not (isinstance(cause, ApplicationError) and cause.type == TenantErased.__name__):
        cause = cause.__cause__
    assert cause is not None


REFUSED: dict[Workflow, dict[str, JsonValue]] = {
    Workflow.REMEMBER_ITEMS: {"key": "k", "items": [item() | {"occurred_at": "2999-01-01T00:00:00Z"}]},
    Workflow.UPDATE_MEMORY: {"id": "mem_1", "update": {"kind": "correct", "content": SECRET}},
    Workflow.RECALL_MEMORY: {"text": SECRET, "of": "team:nobody"},
    Workflow.SET_CONSENT: {"grant": ["extracted"], "of": "team:nobody"},
    Workflow.SET_MEMBER: {"of": "team:nobody", "belongs": True, "note": SECRET},
    Workflow.RESUMABLE_AGENT: {"task_id": "t", "skill": "nobody-has-it", "inputs": {"word": SECRET}},
}
"""What each workflow of a user refuses."""


@pytest.mark.slow
async def test_the_histories_of_what_was_refused_go_with_their_user(here: Deployment, gateway: Gateway) -> None:
    user = f"user {uuid4().hex}"
    for kind, request in REFUSED.items():
        # As a client without the tenant key starts it: under no attribute.
        id_, whole = f"{kind}-{user}", {"user_id": user, **request}
        started = await here.client.start_workflow(kind, whole, id=id_, task_queue=here.queue)
        with pytest.raises(WorkflowFailureError):
            await started.result()
    assert (await gateway.erase(EraseRequest(user_id=user), by=TESTER)).executions == len(REFUSED)
    for kind in REFUSED:
        with pytest.raises(RPCError) as gone:
            await here.client.get_workflow_handle(f"{kind}-{user}").describe()
        assert gone.value.status is RPCStatusCode.NOT_FOUND, kind


MALFORMED: dict[Workflow, dict[str, JsonValue]] = {
    Workflow.RESUMABLE_AGENT: {"task_id": "t", "skill": "s", "inputs": {"word": SECRET}, "limits": {"steps": -1}},
    Workflow.CHECK_TASK: {"task_id": "t", "skill": "s", "inputs": {"word": SECRET}, "limits": {"steps": -1}},
    Workflow.REMEMBER_ITEMS: {"key": SECRET, "items": "none"},
    Workflow.RECALL_MEMORY: {"text": [SECRET]},
}
"""What each refuses before any of its code runs."""


@pytest.mark.slow
async def test_what_is_refused_as_it_is_read_goes_with_the_user_whom_it_names(
    here: Deployment, gateway: Gateway
) -> None:
    user, other = f"user {uuid4().hex}", f"user {uuid4().hex}"
    for one in (user, other):
        for kind, request in MALFORMED.items():
            whole = {"user_id": one, **request}
            started = await here.client.start_workflow(kind, whole, id=f"{kind}-{one}", task_queue=here.queue)
            with pytest.raises(WorkflowFailureError):
                await started.result()
    # What is no user's id keeps nobody's erasure from its end.
    for number, nobody in enumerate(("team:ops", "a\nb", "", 7)):
        started = await here.client.start_workflow(
            Workflow.RECALL_MEMORY, {"user_id": nobody, "text": []}, id=f"n{number}-{user}", task_queue=here.queue
        )
        with pytest.raises(WorkflowFailureError):
            await started.result()
    # Nobody ever began it, and it was ended.
    await here.client.start_workflow(
        Workflow.RESUMABLE_AGENT,
        {"user_id": user, "task_id": "t", "inputs": {"word": SECRET}},
        id=f"waits-{user}",
        task_queue=here.queue,
        start_delay=HOUR,
    )
    await here.client.get_workflow_handle(f"waits-{user}").terminate()

    async def unlabelled() -> set[str]:
        found = unlabelled_runs(here.client, here.queue)
        return {run.workflow_id async for run in found if run.user_id == user}

    refused = {f"{kind}-{user}" for kind in MALFORMED} | {f"waits-{user}"}
    await until(unlabelled, lambda ids: ids == refused)
    assert (await gateway.erase(EraseRequest(user_id=user), by=TESTER)).executions == len(refused)
    for id_ in refused:
        with pytest.raises(RPCError) as gone:
            await here.client.get_workflow_handle(id_).describe()
        assert gone.value.status is RPCStatusCode.NOT_FOUND, id_
    for kind in MALFORMED:
        assert await here.client.get_workflow_handle(f"{kind}-{other}").describe()


LATE: dict[str, Callable[[Services, str, int], Awaitable[object]]] = {
    "a claim": lambda services, tenant, epoch: services.claims.claim(effect(tenant, epoch), "me", 1),
    "a result": lambda services, tenant, epoch: services.claims.store(effect(tenant, epoch), "me", SECRET),
    "an output": lambda services, tenant, epoch: services.outputs.keep(tenant, f'"{SECRET}"', "t", epoch=epoch),
    "a value": lambda services, tenant, epoch: Outputs(services.redis, HOUR).keep(tenant, f'"{SECRET}"', epoch=epoch),
    "a file": lambda services, tenant, epoch: ValueFiles(services.journal.folder).keep(tenant, "a.b", b"", epoch=epoch),
    "an episode": lambda services, tenant, epoch: services.episodes.append(tenant, "s", episode(), epoch=epoch),
    "a holder": lambda services, tenant, epoch: services.bindings.open(tenant, "t", "me", epoch=epoch),
    "a task": lambda services, tenant, epoch: services.bindings.keep(tenant, "t", epoch=epoch),
    "a recall": lambda services, tenant, epoch: TaskRecalls(services.redis, HOUR).add(tenant, "t", ["m"], epoch=epoch),
    "feedback": lambda services, tenant, epoch: RedisFeedback(services.redis, HOUR).add(
        tenant, "t", LateFeedback(id="f", first_run="r", given=judged()), epoch=epoch
    ),
    "a use": lambda services, tenant, epoch: Accesses(services.redis).add(
        tenant, ["m"], datetime.now(UTC), epoch=epoch
    ),
    "a habit": lambda services, tenant, epoch: Observations(services.redis).seen(tenant, ["b"], "p", epoch=epoch),
    "an addition": lambda services, tenant, epoch: SessionWrites(services.redis).admit(
        tenant, "s", ["o"], most=1, epoch=epoch
    ),
}
"""What is stored for a task, a recall or a batch."""


def effect(tenant: str, epoch: int) -> OnceEffect:
    return OnceEffect(tenant=tenant, task_id="t", step="s", epoch=epoch)


def episode() -> Episode:
    return Episode(id="e", kind=EpisodeKind.TURN, text=SECRET, importance=0.5, at=datetime.now(UTC))


def judged() -> GivenFeedback:
    return GivenFeedback(passed=False, text=SECRET, by=TESTER, at=datetime.now(UTC))


@pytest.mark.parametrize("what", LATE)
async def test_nothing_is_stored_late_for_a_user_who_was_erased(here: Deployment, what: str) -> None:
    tenant, services = f"t_{uuid4().hex}", here.services
    await services.eraser.begin(tenant, operation="erase", by=TESTER, at=datetime.now(UTC))
    with pytest.raises(TenantErased):
        await LATE[what](services, tenant, 0)
    assert await services.eraser.left(tenant) == ()
    assert not (here.settings.journal_folder / tenant).exists()
    await LATE[what](services, tenant, 1)
    assert await services.eraser.left(tenant) != (), "the control: begun afterwards"


@pytest.mark.slow
async def test_a_tool_that_is_under_way_leaves_nothing_after_the_erasure(
    here: Deployment, gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents, user = Bench(client=here.client, queue=here.queue, folder=tmp_path, deployed=here), f"user {uuid4().hex}"
    begun, go, noted = tmp_path / "begun", tmp_path / "go", asyncio.Event()
    inputs: dict[str, JsonValue] = {"word": SECRET, "begun": str(begun), "go": str(go)}
    task = AgentTask(task_id=uuid4().hex, user_id=user, skill=agents.skill(WAITS_IN_A_THREAD), inputs=inputs)
    services, tenant = here.services, here.services.tenant_key.tenant_of(user)
    write = services.session.write

    async def told(
        of: str, session: str, episodes: Sequence[Episode], *, epoch: int | None = None, patience: float = PATIENCE
    ) -> None:
        await write(of, session, episodes, epoch=epoch, patience=patience)
        noted.set()

    monkeypatch.setattr(services.session, "write", told)
    await gateway.start(task, by=TESTER)
    await until_true(begun.exists)
    assert (await gateway.erase(EraseRequest(user_id=user), by=TESTER)).proved
    assert not noted.is_set(), "it is still under way"
    go.touch()
    # What became of the step is noted last.
    async with asyncio.timeout(30):
        await noted.wait()
    assert await services.eraser.left(tenant) == ()
    assert not (here.settings.journal_folder / tenant).exists()


@pytest.mark.slow
async def test_who_leaves_a_team_while_it_is_erased_does_not_stop_the_erasure(
    here: Deployment, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, team, erasable, asked = f"user {uuid4().hex}", f"team:{uuid4().hex}", MemberBook.erasable, list[str]()
    await gateway.set_member(MemberRequest(of=team, user_id=user, belongs=True), by=TESTER)

    async def once_more(self: MemberBook, user_id: str, of: str | None) -> str:
        asked.append(user_id)
        if len(asked) > 2:
            raise UnknownOwner("of", "the user has left it")
        return await erasable(self, user_id, of)

    monkeypatch.setattr(MemberBook, "erasable", once_more)
    assert (await gateway.erase(EraseRequest(user_id=user, of=team), by=TESTER)).proved


@pytest.mark.slow
async def test_an_erasure_that_was_held_up_removes_nothing_of_who_came_back(
    here: Deployment, gateway: Gateway, servers: Servers, tmp_path: Path
) -> None:
    user, queue = f"user {uuid4().hex}", f"late-{uuid4().hex[:8]}"
    await remembered(gateway, user)
    await gateway.create_token(TokenRequest(name="t", scopes=(TokenScope.READ,), user_id=user), by=TESTER)
    held_up = await here.client.start_workflow(
        Workflow.ERASE_MEMORY,
        EraseRequest(user_id=user),
        id=f"erase-{uuid4().hex}",
        task_queue=queue,
        result_type=ErasureReceipt,
    )
    assert (await gateway.erase(EraseRequest(user_id=user), by=TESTER)).proved
    back = "Nougat is made of almonds too."
    await remembered(gateway, user, back)
    await gateway.create_token(TokenRequest(name="t", scopes=(TokenScope.READ,), user_id=user), by=TESTER)
    async with deployment(servers, tmp_path / "home", queue=queue):
        late = await held_up.result()
    assert (late.proved, late.unreachable[0]) == (False, TAKEN_OVER)
    assert await texts(gateway, user) == [back]
    assert len([one for one in await gateway.tokens(by=TESTER) if one.user_id == user]) == 1


@pytest.mark.parametrize("over", ["a later one began", "it has ended", ""], ids=lambda over: over or "control")
@pytest.mark.slow
async def test_an_erasure_removes_nothing_more_once_it_is_over_or_a_later_one_has_begun(
    here: Deployment, gateway: Gateway, tmp_path: Path, over: str
) -> None:
    user = f"user {uuid4().hex}"
    services, tenant, now = here.services, here.services.tenant_key.tenant_of(user), datetime.now(UTC)
    await services.eraser.begin(tenant, operation="first", by=TESTER, at=now)
    if over == "a later one began":
        await services.eraser.begin(tenant, operation="later", by=TESTER, at=datetime.now(UTC))
        await services.eraser.remove(tenant, "later")
    elif over:
        await services.eraser.remove(tenant, "first")
        await services.eraser.end(tenant, "first")
    await remembered(gateway, user)
    await gateway.create_token(TokenRequest(name="t", scopes=(TokenScope.READ,), user_id=user), by=TESTER)
    agents = Bench(client=here.client, queue=here.queue, folder=tmp_path, deployed=here)
    waiting = AgentTask(task_id=uuid4().hex, user_id=user, skill=agents.skill(WAITS), inputs={"word": "secret"})
    await gateway.start(waiting, by=TESTER)

    async def listed() -> bool:
        return bool(await gateway.tasks(TaskFilter(), user, by=TESTER))

    await until(listed, bool)
    activities = activities_of(here)
    ending = EndRunsCall(tenant=tenant, operation="first", terminate=True)
    call = TenantCall(tenant=tenant, operation="first")
    beginning = BeginErasureCall(user_id=user, operation="first", by=TESTER, asked_at=now, at=now)
    within = ActivityEnvironment()
    await within.run(activities.begin, beginning)
    ended = await activities.end_runs(ending) + await within.run(activities.delete_runs, call)
    await activities.erase_stores(call)
    token = bool([one for one in await gateway.tokens(by=TESTER) if one.user_id == user])
    assert (ended == 0, await texts(gateway, user) == [SECRET], token) == (bool(over),) * 3
    proof = await within.run(activities.prove, call)
    assert (proof.superseded, proof.left) == (over == "a later one began", (TAKEN_OVER,) if proof.superseded else ())


@pytest.mark.parametrize("protected", [True, False], ids=["fence", "control"])
async def test_an_erasure_that_sleeps_between_its_last_look_at_the_lease_and_removing_removes_nothing(
    here: Deployment, gateway: Gateway, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    eraser, tenant, stored = here.services.eraser, "", 0
    while not stored:
        user = f"user {uuid4().hex}"
        tenant = here.services.tenant_key.tenant_of(user)
        await eraser.begin(tenant, operation="first", by=TESTER, at=datetime.now(UTC))
        # Only then: a worker of another test that starts meanwhile removes what is there from a store that does not
        # know of the erasure yet.
        await remembered(gateway, user)
        stored = await here.services.longterm.total(tenant)
    stand_still_before(monkeypatch, "drop_tenant", fenced=protected)
    with pytest.raises(LeaseLost) if protected else contextlib.nullcontext():
        await eraser.remove(tenant, "first")
    assert bool(await here.services.longterm.total(tenant)) is protected


async def test_an_erasure_that_is_repeated_raises_the_epoch_once(here: Deployment) -> None:
    tenant, eraser, now = f"t_{uuid4().hex}", here.services.eraser, datetime.now(UTC)
    first = await eraser.begin(tenant, operation="one", by=TESTER, at=now)
    assert await eraser.begin(tenant, operation="one", by=TESTER, at=now + timedelta(hours=1)) == first
    assert (await eraser.begin(tenant, operation="two", by=TESTER, at=now)).epoch == 2
    ahead = await eraser.begin(tenant, operation="by a clock that is ahead", by=TESTER, at=now + timedelta(hours=1))
    assert (await eraser.begin(tenant, operation="three", by=TESTER, at=now)).epoch == ahead.epoch + 1
    assert await here.services.leases.epoch(tenant) == ahead.epoch + 1


@pytest.mark.slow
@pytest.mark.parametrize("point", ["erase.raised", "erase.raised:2", "erase.dropped", "erase.journal"])
async def test_an_erasure_that_is_killed_goes_on(own_servers: OwnServers, tmp_path: Path, point: str) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    servers = Servers.model_validate(fleet.addresses.model_dump())
    user = f"user {uuid4().hex}"
    async with deployment(servers, tmp_path / "home") as writing, Gateway(writing.settings, servers) as gateway:
        await remembered(gateway, user)
    async with deployment(servers, tmp_path / "home", serving=False, queue=writing.queue) as here:
        settings = here.settings
        doomed = await start_mortal(settings, servers, tmp_path / "worker.log", crash_at=point)
        handle = await here.client.start_workflow(
            Workflow.ERASE_MEMORY, EraseRequest(user_id=user), id=f"erase-{uuid4().hex}", task_queue=here.queue
        )
        assert await doomed.wait() == -signal.SIGKILL
        after = await start_mortal(settings, servers, tmp_path / "worker.log")
        try:
            receipt = await handle.result()
        finally:
            after.signal(signal.SIGKILL)
            await after.wait()
        assert (receipt["proved"], receipt["epoch"], receipt["entries"]) == (True, 1, 1)
        assert await here.services.eraser.left(here.services.tenant_key.tenant_of(user)) == ()


@pytest.mark.slow
async def test_an_erasure_ends_and_says_so_although_new_runs_keep_coming(
    here: Deployment, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erase_memory, "_LOOKS", 8)
    monkeypatch.setattr(erase_memory, "_PAUSE", timedelta(seconds=0.05))
    monkeypatch.setattr(history, "EVENTS", 40)
    user = f"user {uuid4().hex}"
    tenant = here.services.tenant_key.tenant_of(user)
    listing = here.client.list_workflows

    async def growing(query: str, **more: Any) -> AsyncGenerator[Any]:
        """List runs, one of which was started since the last look: with runs at intervals a busy server may be late."""
        run = await here.client.start_workflow(
            "Unserved", id=uuid4().hex, task_queue="nobody's", search_attributes=tenant_attributes(tenant)
        )

        async def is_listed() -> bool:
            return run.id in [one.id async for one in listing(f"{Attribute.TENANT} = '{tenant}'")]

        await until(is_listed, bool)
        async for one in listing(query, **more):
            yield one

    monkeypatch.setattr(here.client, "list_workflows", growing)
    receipt = await gateway.erase(EraseRequest(user_id=user), by=TESTER)
    assert not receipt.proved
    assert "workflows in Temporal" in receipt.unreachable


async def test_what_is_listed_behind_a_page_of_runs_that_are_gone_is_deleted(
    here: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "_PAGE", 2)
    tenant = f"t_{uuid4().hex}"
    listing = here.client.list_workflows

    async def lagging(query: str, **more: Any) -> AsyncGenerator[Any]:
        for _ in range(5):
            yield SimpleNamespace(id=uuid4().hex, run_id=str(uuid4()))
        async for one in listing(query, **more):
            yield one

    for _ in range(3):
        await here.client.start_workflow(
            "Unserved", id=uuid4().hex, task_queue="nobody's", search_attributes=tenant_attributes(tenant)
        )

    async def listed() -> int:
        return len([one async for one in listing(f"{Attribute.TENANT} = '{tenant}'")])

    await until(listed, (3).__eq__)
    monkeypatch.setattr(here.client, "list_workflows", lagging)
    services = here.services
    activities = activities_of(here)
    await services.eraser.begin(tenant, operation="erase", by=TESTER, at=datetime.now(UTC))
    call = TenantCall(tenant=tenant, operation="erase")
    within = ActivityEnvironment()
    assert [await within.run(activities.delete_runs, call) for _ in range(2)] == [2, 1]
