"""Redis away: reading steps go on, once effects wait for it, and nothing happens twice or gets lost."""

import asyncio
import signal
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle

from activities.task_runs import TaskRuns
from localservers import Server
from perdure import Actor, ActorKind, AgentTask, Answer
from perdure.agent.state import TaskState
from perdure.errors import InvalidInput, JournalMismatch, StoreUnavailable
from perdure.stores.redis import keys
from perdure.stores.redis.bindings import TaskBindings
from perdure.stores.redis.connection import ask
from perdure.values.bindings import TaskBinding
from perdure.values.tasks import TaskResult
from tests.conftest import OwnServers
from tests.support.harness import bench
from tests.support.waiting import progress_of, question_of, until, until_true
from worker.gateway import Gateway
from workflows.claim_renewal import keeping_id
from workflows.keep_claims import KeepClaims

ME = Actor(kind=ActorKind.PERSON, id="me")


async def refused_before(handle: WorkflowHandle[Any, Any], tool: str = "append") -> bool:
    """Return whether the once effect was tried and given up at least once."""
    pending = (await handle.describe()).raw_description.pending_activities
    return any(one.activity_type.name == tool and one.attempt >= 2 for one in pending)


async def asks_nobody(*_: object, **__: object) -> list[object]:
    """List no runs of a task: a control."""
    return []


@pytest.mark.slow
async def test_a_task_starts_while_redis_hangs(own_servers: OwnServers, tmp_path: Path) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents:
        skill = agents.skill("inputs: {a: string, b: string}\nsteps: [{id: s, tool: echo, args: {value: 1}}]")
        fleet.child(Server.REDIS).signal(signal.SIGSTOP)
        # Each waits for Redis for 4 s, which is how long a silent attempt lives, and then travels in the history.
        handle = await agents.start(agents.task(skill, inputs={"a": "a" * 5_000, "b": "b" * 5_000}))
        async with asyncio.timeout(60):
            assert (await handle.result()).done == 1


@pytest.mark.slow
async def test_a_task_is_started_at_once_while_redis_is_away(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A check that waits for Redis takes as long as it may; one that does not takes seconds on a busy machine.
    monkeypatch.setattr("worker.gateway.tasks.CHECKED_AT_ONCE", 60)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents, Gateway(agents.settings, fleet.addresses) as gateway:
        task = agents.task(agents.skill("steps: [{id: s, tool: echo, args: {value: 1}}]"))
        await fleet.stop(Server.REDIS)
        await until(gateway.serving, bool)
        async with asyncio.timeout(40):
            started = await gateway.start(task, by=ME)
        assert started.checked
        assert (await gateway.result(started.workflow_id, by=ME)).done == 1
        with pytest.raises(InvalidInput, match="no skill"):
            await gateway.start(task.changed(task_id="other", skill="nothing"), by=ME)


@pytest.mark.slow
async def test_a_cancelled_effect_is_named_although_redis_cannot_tell(own_servers: OwnServers, tmp_path: Path) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents:
        ledger = agents.ledger()
        args = f"{{ledger: '{ledger}', seconds: 60.0}}"
        handle = await agents.start(agents.task(agents.skill(f"steps: [{{id: s, tool: take_time, args: {args}}}]")))
        await until_true(ledger.exists)
        await fleet.stop(Server.REDIS)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        assert (await handle.query("result", result_type=TaskResult)).unknown == ("s",)


@pytest.mark.parametrize("lost", [True, False], ids=["lost", "away"])
@pytest.mark.parametrize("asked", [True, False], ids=["asked", "control"])
@pytest.mark.slow
async def test_an_effect_that_a_person_was_asked_about_is_named_although_redis_cannot_tell(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: bool, asked: bool
) -> None:
    if not asked:
        monkeypatch.setattr(TaskState, "unanswered", ())
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents:
        args = f"{{ledger: '{agents.ledger()}', line: x}}"
        handle = await agents.start(agents.task(agents.skill(f"steps: [{{id: s, tool: breaks, args: {args}}}]")))
        await question_of(handle)
        if lost:
            await ask(agents.services.redis, "FLUSHALL")
        else:
            await fleet.stop(Server.REDIS)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        assert (await handle.query("result", result_type=TaskResult)).unknown == ("s",) * asked


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "control"])
@pytest.mark.slow
async def test_a_second_open_workflow_for_one_task_is_refused_without_redis_too(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    if not listed:
        monkeypatch.setattr(TaskRuns, "earlier", asks_nobody)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents:
        task = agents.task(agents.skill("steps: [{id: a, tool: echo, args: {value: 1}, approve: 'Go on?'}]"))
        first = await agents.start(task)
        await question_of(first)
        tenant = agents.services.tenant_key.tenant_of(task.user_id)

        async def seen() -> int:
            return (await agents.client.count_workflows(f"PerdureTenant = '{tenant}'")).count

        await until(seen, bool)
        await fleet.stop(Server.REDIS)
        # Another task of the same user is none of its business.
        other = await agents.start(task.changed(task_id=f"t{uuid4().hex[:10]}"))
        await question_of(other)
        second = await agents.start(task, id_=f"w-{uuid4().hex}")
        if listed:
            with pytest.raises(WorkflowFailureError) as caught:
                await second.result()
            assert f"{task.task_id!r} is run by the workflow {first.id}" in str(caught.value.cause)
        else:
            await question_of(second)
        for handle in (first, other, *([] if listed else [second])):
            await handle.terminate()


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "control"])
@pytest.mark.slow
async def test_a_second_open_workflow_is_refused_where_redis_was_away_when_the_first_was_prepared(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    if not listed:
        monkeypatch.setattr(TaskRuns, "earlier", asks_nobody)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents:
        task = agents.task(agents.skill("steps: [{id: a, tool: echo, args: {value: 1}, approve: 'Go on?'}]"))
        await fleet.stop(Server.REDIS)
        first = await agents.start(task)
        await question_of(first)
        await fleet.start(Server.REDIS)
        await until(agents.services.whole.redis_since, bool)
        second = await agents.start(task, id_=f"w-{uuid4().hex}")
        if listed:
            with pytest.raises(WorkflowFailureError) as caught:
                await second.result()
            assert f"{task.task_id!r} is run by the workflow {first.id}" in str(caught.value.cause)
        else:
            await question_of(second)
            await second.terminate()
        await first.terminate()


REPORT = """
steps:
  - {{id: send, tool: append_blindly, args: {{ledger: "{ledger}", line: "report of ${{task.date}}"}}}}
  - {{id: fail, tool: flaky, args: {{ledger: "{tries}", fails: 3}}}}
  - {{id: more, tool: append_blindly, args: {{ledger: "{ledger}", line: "mail of ${{task.date}}"}}}}
"""


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "no longer listed"])
@pytest.mark.slow
async def test_a_task_that_is_run_again_without_redis_keeps_the_day_of_its_first_claim(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    fleet, ledger = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "ledger"
    async with bench(fleet.addresses, tmp_path) as agents:
        task = agents.task(agents.skill(REPORT.format(ledger=ledger, tries=tmp_path / "tries")))
        of = TaskBinding.of

        def long_ago(task: AgentTask, version: str, _: date) -> TaskBinding:
            return of(task, version, date(2020, 2, 29))

        with monkeypatch.context() as patch:
            patch.setattr(TaskBinding, "of", long_ago)
            first = await agents.start(task)
            with pytest.raises(WorkflowFailureError):
                await first.result()
        query = f"WorkflowId = '{first.id}' AND ExecutionStatus = 'Failed'"
        await until(lambda: agents.client.count_workflows(query), lambda found: found.count == 1)
        if not listed:
            monkeypatch.setattr(TaskRuns, "earlier", asks_nobody)
        await fleet.stop(Server.REDIS)
        again = await agents.start(task)
        await until(lambda: refused_before(again, "append_blindly"), bool, 60)
        await fleet.start(Server.REDIS)
        if not listed:
            with pytest.raises(WorkflowFailureError) as caught:
                await again.result()
            assert "its day (was 2020-02-29 and is now " in str(caught.value.cause)
            again = await agents.start(task)
        assert (await again.result()).done == 3
    assert ledger.read_text().splitlines() == ["report of 2020-02-29", "mail of 2020-02-29"]


@pytest.mark.parametrize("waits", [True, False], ids=["waits", "control"])
@pytest.mark.slow
async def test_a_task_waits_while_its_worker_has_not_noticed_that_the_journal_was_begun_anew(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    monkeypatch.setattr(JournalMismatch, "retryable", waits)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents:
        own = await ask(agents.services.redis, "HGET", keys.MARKS, "journal")
        await ask(agents.services.redis, "HSET", keys.MARKS, "journal", "another")
        handle = await agents.start(agents.task(agents.skill("steps: [{id: a, tool: echo, args: {value: 1}}]")))
        if not waits:
            with pytest.raises(WorkflowFailureError) as caught:
                await handle.result()
            assert "belongs to the journal another" in str(caught.value.cause)
            return
        await until(lambda: refused_before(handle, "prepare_task"), bool)
        await ask(agents.services.redis, "HSET", keys.MARKS, "journal", own)
        assert (await handle.result()).done == 1


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "control"])
@pytest.mark.slow
async def test_a_task_that_ends_without_redis_is_bound_once_redis_is_back(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    if not kept:

        async def keeps_nothing(*_: object, **__: object) -> tuple[str, ...]:
            raise StoreUnavailable("redis", "away for the keeping of claims")

        monkeypatch.setattr(TaskBindings, "keep", keeps_nothing)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents:
        skill = agents.skill(
            "inputs: {value: any}\nsteps: [{id: a, tool: echo, args: {value: '${inputs.value}'}, approve: 'Go on?'}]"
        )
        task = agents.task(skill, inputs={"value": 1})
        handle = await agents.start(task)
        question = await question_of(handle)
        await fleet.stop(Server.REDIS)
        await handle.execute_update("answer", Answer(question_id=question.id, value="yes"))
        assert (await handle.result()).done == 1
        await agents.replay(handle)
        keeping = agents.client.get_workflow_handle(keeping_id(handle.id, binds=True))
        await fleet.start(Server.REDIS)
        if kept:
            await keeping.result()
        other = await agents.start(task.changed(inputs={"value": 2}), id_=f"w-{uuid4().hex}")
        if kept:
            with pytest.raises(WorkflowFailureError) as caught:
                await other.result()
            assert "differs in inputs.value" in str(caught.value.cause)
        else:
            assert (await question_of(other)).id == "a"
            await other.terminate()
            await keeping.terminate()


@pytest.mark.slow
@pytest.mark.parametrize("apart", [True, False], ids=["apart", "control"])
async def test_a_task_that_completes_behind_a_cancelled_run_is_bound_although_both_ended_without_redis(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apart: bool
) -> None:
    if not apart:
        monkeypatch.setattr("workflows.claim_renewal.keeping_id", _keeping_id_of_any_end)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path) as agents:
        skill = agents.skill(
            "inputs: {value: any}\nsteps: [{id: a, tool: echo, args: {value: '${inputs.value}'}, approve: 'Go on?'}]"
        )
        task = agents.task(skill, inputs={"value": 1})
        cancelled = await agents.start(task)
        await question_of(cancelled)
        await fleet.stop(Server.REDIS)
        await cancelled.cancel()
        with pytest.raises(WorkflowFailureError):
            await cancelled.result()
        completed = await agents.start(task)
        question = await question_of(completed)
        await completed.execute_update("answer", Answer(question_id=question.id, value="yes"))
        assert (await completed.result()).done == 1
        await fleet.start(Server.REDIS)
        for binds in (False, True) if apart else (False,):
            keeping = agents.client.get_workflow_handle_for(KeepClaims.run, keeping_id(completed.id, binds=binds))
            await keeping.result()
        other = await agents.start(task.changed(inputs={"value": 2}), id_=f"w-{uuid4().hex}")
        if apart:
            with pytest.raises(WorkflowFailureError) as caught:
                await other.result()
            assert "differs in inputs.value" in str(caught.value.cause)
        else:
            assert (await question_of(other)).id == "a"
            await other.terminate()


def _keeping_id_of_any_end(workflow_id: str, *, binds: bool) -> str:
    return keeping_id(workflow_id, binds=False)


async def test_reading_goes_on_and_once_effects_wait(own_servers: OwnServers, tmp_path: Path) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    ledger = tmp_path / "ledger"
    async with bench(fleet.addresses, tmp_path) as agents:
        skill = agents.skill(
            f"""
steps:
  - {{id: a, tool: echo, args: {{value: 1}}}}
  - {{id: b, tool: big, args: {{size: 20000}}}}
  - {{id: c, tool: echo, args: {{value: "${{steps.b.output.size()}}"}}}}
  - {{id: d, tool: append, args: {{ledger: "{ledger}", line: x}}}}
"""
        )
        await fleet.stop(Server.REDIS)
        handle = await agents.start(agents.task(skill))
        await until(lambda: refused_before(handle), bool, 60)
        await progress_of(handle, lambda one: one.step == "d")
        assert not ledger.exists()
        await fleet.start(Server.REDIS)
        assert (await handle.result()).done == 4
    assert ledger.read_text() == "x\n"
    lines = [line for file in (tmp_path / "spool").glob("*.jsonl") for line in file.read_text().splitlines()]
    assert len(lines) >= 3
