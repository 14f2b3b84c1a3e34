"""Redis loses its claims: an effect that may have happened is found out or asked about, and a new one simply made."""

import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import WorkflowFailureError, WorkflowHandle

from localservers import Fleet, Server
from perdure import Answer, Limits
from perdure.agent.steps.once import OnceRunner
from perdure.errors import ClaimLost
from perdure.stores.redis.claims import Claims
from perdure.stores.redis.connection import ask, connect
from perdure.values.chats import ChatEnding
from perdure.values.questions import QuestionKind
from tests.conftest import OwnServers
from tests.crash.test_tool_steps import lines, reset
from tests.integration.memory.reconciliation.test_losses import copied
from tests.integration.workflows.resumable_agent.test_conversations import ADA, SOON, chat, say
from tests.integration.workflows.resumable_agent.test_without_redis import refused_before
from tests.support.goals import agents_on
from tests.support.harness import Bench, bench
from tests.support.processes import processes
from tests.support.turn_server import Asked, Call, Says
from tests.support.waiting import question_of, until, until_true
from workflows import rollover

pytestmark = pytest.mark.slow

LOST = "Redis lost its claims since an earlier attempt at {}, or run of this task. Did its effect happen?"

BROKEN = """
steps:
  - {{id: send, tool: {tool}, args: {{ledger: "{ledger}", line: x}}}}
  - {{id: fail, tool: flaky, args: {{ledger: "{tries}", fails: 3}}}}
  - {{id: more, tool: append, args: {{ledger: "{ledger}", line: y}}}}
"""


def trust_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a claim that is not there for an effect that was never tried: the control."""

    async def lost_nothing(*_: object, **__: object) -> bool:
        return False

    monkeypatch.setattr(OnceRunner, "_may_be_lost", lost_nothing)


@pytest.mark.parametrize(
    ("tool", "guarded", "effects"),
    [
        pytest.param("append_blindly", True, 1),
        pytest.param("append", True, 1),
        pytest.param("append", False, 2),
    ],
    ids=["person", "check", "control"],
)
async def test_an_attempt_died_behind_its_effect(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, guarded: bool, effects: int
) -> None:
    if not guarded:
        trust_what_is_there(monkeypatch)
    fleet, ledger = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "ledger"
    async with processes(fleet.addresses, tmp_path) as (workers, agents):
        doomed = await workers.start("tool.acted")
        text = f"steps: [{{id: s, tool: {tool}, args: {{ledger: '{ledger}', line: x}}}}]"
        handle = await agents.start(agents.task(agents.skill(text)))
        assert await doomed.wait() == -signal.SIGKILL
        redis = connect(fleet.addresses.redis_url)
        await ask(redis, "FLUSHALL")
        await redis.aclose()
        async with bench(fleet.addresses, tmp_path, queue=agents.queue):
            if tool == "append_blindly":
                question = await question_of(handle)
                assert question.text == LOST.format(tool)
                assert question.about is not None
                assert question.about.deadline is not None
                assert question.about.deadline <= datetime.now(UTC)
                await handle.execute_update("answer", Answer(question_id=question.id, value="done"))
            assert (await handle.result()).done == 1
    assert lines(ledger) == ["x"] * effects


def knows_nothing(*_: object) -> bool:
    return False


@pytest.mark.parametrize("known", [True, False], ids=["known", "control"])
async def test_what_was_not_tried_before_the_loss_is_simply_done(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    fleet, ledger = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "ledger"
    async with bench(fleet.addresses, tmp_path) as agents:
        text = f"""
steps:
  - {{id: a, tool: append_blindly, args: {{ledger: "{ledger}", line: a}}}}
  - {{id: b, tool: echo, args: {{value: 1}}, approve: "Go on?"}}
  - {{id: c, tool: append_blindly, args: {{ledger: "{ledger}", line: c}}}}
  - {{id: d, tool: echo, args: {{value: 1}}, approve: "Go on?"}}
  - {{id: e, tool: append_blindly, args: {{ledger: "{ledger}", line: e}}}}
"""
        handle = await agents.start(agents.task(agents.skill(text)))
        question = await question_of(handle)
        await ask(agents.services.redis, "FLUSHALL")
        await handle.execute_update("answer", Answer(question_id=question.id, value="yes"))
        question = await question_of(handle, "d")
        # The last one is first tried while Redis is away, which then comes back empty.
        if not known:
            monkeypatch.setattr("perdure.temporal.heartbeats.nothing_done_before", knows_nothing)
        await ask(agents.services.redis, "FLUSHALL")
        await fleet.stop(Server.REDIS)
        await handle.execute_update("answer", Answer(question_id=question.id, value="yes"))
        await until(lambda: refused_before(handle, "append_blindly"), bool, 60)
        await fleet.start(Server.REDIS)
        if not known:
            question = await question_of(handle, "e")
            assert question.text == LOST.format("append_blindly")
            await handle.execute_update("answer", Answer(question_id=question.id, value="not_done"))
        assert (await handle.result()).done == 5
    assert lines(ledger) == ["a", "c", "e"]


@pytest.mark.parametrize("guarded", [True, False], ids=["asks", "control"])
@pytest.mark.parametrize("continue_after", [0, 1], ids=["one run", "rolled over"])
async def test_a_task_is_reset_behind_its_effect(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool, continue_after: int
) -> None:
    if not guarded:
        trust_what_is_there(monkeypatch)
    fleet, ledger = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "ledger"
    async with bench(fleet.addresses, tmp_path, continue_after=continue_after) as agents:
        args = f"{{ledger: '{ledger}', line: x}}"
        first = "{id: first, tool: echo, args: {value: 1}}"
        text = f"steps: [{first}, {{id: s, tool: append_blindly, args: {args}}}]"
        handle = await agents.start(agents.task(agents.skill(text)))
        await handle.result()
        await ask(agents.services.redis, "FLUSHALL")
        again = await reset(agents, agents.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id))
        if guarded:
            question = await question_of(again)
            assert question.text == LOST.format("append_blindly")
            await again.execute_update("answer", Answer(question_id=question.id, value="done"))
        await again.result()
    assert lines(ledger) == ["x"] * (1 if guarded else 2)


@pytest.mark.parametrize("guarded", [True, False], ids=["asks", "control"])
@pytest.mark.parametrize("name", ["", "another"], ids=["derived", "other id"])
async def test_a_task_that_failed_is_run_again(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool, name: str
) -> None:
    if not guarded:
        trust_what_is_there(monkeypatch)
    fleet, ledger = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "ledger"
    async with bench(fleet.addresses, tmp_path) as agents:
        text = BROKEN.format(tool="append_blindly", ledger=ledger, tries=tmp_path / "tries")
        task = agents.task(agents.skill(text))
        first = await agents.start(task)
        with pytest.raises(WorkflowFailureError):
            await first.result()
        tenant = agents.services.tenant_key.tenant_of(task.user_id)

        async def listed() -> int:
            return (await agents.client.count_workflows(f"PerdureTenant = '{tenant}'")).count

        await until(listed, bool)
        await ask(agents.services.redis, "FLUSHALL")
        again = await agents.start(task, id_=name and f"{name}-{task.workflow_id}")
        if guarded:
            question = await question_of(again)
            assert (question.id, question.text) == ("send", LOST.format("append_blindly"))
            await again.execute_update("answer", Answer(question_id=question.id, value="done"))
        assert (await again.result()).done == 3
    assert lines(ledger) == (["x", "y"] if guarded else ["x", "x", "y"])


@pytest.mark.parametrize("carried", [True, False], ids=["asks", "control"])
@pytest.mark.timeout(200)
async def test_a_task_that_was_rolled_over_and_failed_is_run_again_when_its_first_run_is_no_longer_listed(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, carried: bool
) -> None:
    if not carried:
        monkeypatch.setattr(rollover, "unread_memo", dict)
    fleet, ledger = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "ledger"
    async with bench(fleet.addresses, tmp_path, continue_after=1) as agents:
        text = BROKEN.format(tool="append_blindly", ledger=ledger, tries=tmp_path / "tries")
        task = agents.task(agents.skill(text))
        first = await agents.start(task)
        with pytest.raises(WorkflowFailureError):
            await first.result()
        tenant = agents.services.tenant_key.tenant_of(task.user_id)

        async def listed() -> set[str]:
            query = f"PerdureTenant = '{tenant}' AND WorkflowType = 'ResumableAgent'"
            return {found.run_id async for found in agents.client.list_workflows(query)}

        begun = first.result_run_id
        assert begun
        await until(listed, lambda runs: begun in runs and len(runs) > 1)
        # What the end of its retention does; its later runs close, and expire, later.
        execution = WorkflowExecution(workflow_id=first.id, run_id=begun)
        request = DeleteWorkflowExecutionRequest(namespace="default", workflow_execution=execution)
        await agents.client.workflow_service.delete_workflow_execution(request)
        await until(listed, lambda runs: begun not in runs, 90)
        await ask(agents.services.redis, "FLUSHALL")
        again = agents.client.get_workflow_handle((await agents.start(task)).id)
        if carried:
            question = await question_of(again)
            assert (question.id, question.text) == ("send", LOST.format("append_blindly"))
            await again.execute_update("answer", Answer(question_id=question.id, value="done"))
        await again.result()
    assert lines(ledger) == (["x", "y"] if carried else ["x", "x", "y"])


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "control"])
async def test_a_second_open_workflow_is_refused_where_the_first_was_rolled_over_behind_the_loss(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    if not listed:
        monkeypatch.setattr(rollover, "unread_memo", dict)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with bench(fleet.addresses, tmp_path, continue_after=1) as agents:
        steps = ", ".join(f"{{id: {id_}, tool: echo, args: {{value: 1}}, approve: 'Go on?'}}" for id_ in "ab")
        task = agents.task(agents.skill(f"steps: [{steps}]"))
        first = agents.client.get_workflow_handle((await agents.start(task)).id)
        await question_of(first)
        await ask(agents.services.redis, "FLUSHALL")
        await approve(first)
        await question_of(first, "b")
        run = (await first.describe()).run_id
        query = f"RunId = '{run}' AND PerdurePhase = 'waiting'"
        await until(lambda: agents.client.count_workflows(query), lambda found: found.count == 1)
        second = await agents.start(task, id_=f"another-{task.workflow_id}")
        if listed:
            with pytest.raises(WorkflowFailureError) as caught:
                await second.result()
            assert f"{task.task_id!r} is run by the workflow {first.id}" in str(caught.value.cause)
        else:
            await question_of(second)
            await second.terminate()
        await first.terminate()


@pytest.mark.parametrize("carried", [True, False], ids=["asks", "control"])
async def test_the_claims_of_an_earlier_run_are_lost_while_the_next_one_is_open(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, carried: bool
) -> None:
    if not carried:
        trust_what_is_there(monkeypatch)
    fleet, ledger = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "ledger"
    async with bench(fleet.addresses, tmp_path) as agents:
        text = BROKEN.format(tool="append_blindly", ledger=ledger, tries=tmp_path / "tries")
        wait = "steps:\n  - {id: wait, tool: echo, args: {value: 1}, approve: 'Go on?'}"
        task = agents.task(agents.skill(text.replace("steps:", wait)))
        first = await agents.start(task)
        await approve(first)
        with pytest.raises(WorkflowFailureError):
            await first.result()
        again = await agents.start(task)
        await question_of(again)
        await ask(agents.services.redis, "FLUSHALL")
        await approve(again)
        if carried:
            question = await question_of(again, "send")
            assert question.text == LOST.format("append_blindly")
            await again.execute_update("answer", Answer(question_id=question.id, value="done"))
        assert (await again.result()).done == 4
    assert lines(ledger) == (["x", "y"] if carried else ["x", "x", "y"])


@pytest.mark.parametrize("taken", [True, False], ids=["stored", "control"])
async def test_a_call_that_outlives_the_loss_of_its_claim_stores_its_result(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    if not taken:

        async def lost(*_: object, **__: object) -> None:
            raise ClaimLost("there is no claim")

        monkeypatch.setattr(Claims, "store", lost)
    fleet, ledger = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "ledger"
    async with bench(fleet.addresses, tmp_path) as agents:
        text = f"steps: [{{id: s, tool: take_time, args: {{ledger: '{ledger}', seconds: 1.0}}}}]"
        handle = await agents.start(agents.task(agents.skill(text)))
        await until_true(ledger.exists)
        await ask(agents.services.redis, "FLUSHALL")
        if taken:
            assert (await handle.result()).done == 1
        else:
            assert (await question_of(handle)).kind is QuestionKind.UNKNOWN_EFFECT
            await handle.terminate()
    assert lines(ledger) == ["begun", "ended"]


async def approve(handle: WorkflowHandle[Any, Any]) -> None:
    question = await question_of(handle)
    await handle.execute_update("answer", Answer(question_id=question.id, value="yes"))


@pytest.mark.parametrize("loss", ["emptied", "rebuilt", "an older copy"])
@pytest.mark.parametrize("carried", [True, False], ids=["asks", "control"])
async def test_a_person_has_a_failed_step_tried_again(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, carried: bool, loss: str
) -> None:
    if not carried:
        trust_what_is_there(monkeypatch)
    fleet, ledger = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "ledger"
    async with bench(fleet.addresses, tmp_path) as agents:
        args = f"{{ledger: '{ledger}', line: x}}"
        wait = "{id: wait, tool: echo, args: {value: 1}, approve: 'Go on?'}"
        more = f"{{id: more, tool: append_blindly, args: {{ledger: '{ledger}', line: y}}}}"
        failing = f"{{id: s, tool: append_too_much, args: {args}, on_failure: ask}}"
        handle = await agents.start(agents.task(agents.skill(f"steps: [{wait}, {failing}, {more}]")))
        await question_of(handle)
        restore = await copied(fleet, Server.REDIS, tmp_path / "copy")
        await approve(handle)
        failed = await question_of(handle, "s")
        assert failed.kind is QuestionKind.FAILURE
        await lose(fleet, agents, loss, restore)
        await handle.execute_update("answer", Answer(question_id=failed.id, value="retry"))
        question = await until(lambda: question_of(handle), lambda one: one != failed)
        assert (question.text == LOST.format("append_too_much")) == carried
        if carried:
            await handle.execute_update("answer", Answer(question_id=question.id, value="done"))
            # What is first tried after the loss is simply done.
            assert (await handle.result()).done == 3
        else:
            await handle.terminate()
    assert lines(ledger) == (["x", "y"] if carried else ["x", "x"])


async def lose(fleet: Fleet, agents: Bench, loss: str, restore: Callable[[], None]) -> None:
    """Lose Redis's claims, and rebuild what can be, or replace it by an older copy."""
    if loss == "an older copy":
        await fleet.stop(Server.REDIS)
        restore()
        await fleet.start(Server.REDIS)
        return
    await ask(agents.services.redis, "FLUSHALL")
    if loss == "rebuilt":
        whole = agents.services.whole
        found = await whole.compare()
        assert await whole.rebuilt(found, await whole.rebuilding(found))
        assert await whole.compare() == ()


@pytest.mark.parametrize("value", ["done", "not_done"])
async def test_what_a_person_found_out_counts_also_where_the_claim_that_it_is_about_was_lost(
    own_servers: OwnServers, tmp_path: Path, value: str
) -> None:
    fleet, ledger = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "ledger"
    async with bench(fleet.addresses, tmp_path) as agents:
        text = f"steps: [{{id: s, tool: breaks, args: {{ledger: '{ledger}', line: x}}}}]"
        handle = await agents.start(agents.task(agents.skill(text)))
        question = await question_of(handle)
        await ask(agents.services.redis, "FLUSHALL")
        await handle.execute_update("answer", Answer(question_id=question.id, value=value))
        assert (await handle.result()).done == 1
    assert lines(ledger) == ["x"] * (1 if value == "done" else 2)


async def test_an_effect_that_nobody_told_of_in_time_is_named_also_where_its_claim_was_lost(
    own_servers: OwnServers, tmp_path: Path, httpserver: HTTPServer
) -> None:
    fleet, ledger = await own_servers(Server.REDIS, Server.WEAVIATE), tmp_path / "ledger"
    writes = Call("breaks", {"ledger": str(ledger), "line": "x"})

    def script(asked: Asked) -> Says:
        return Says(asked.outputs[-1]) if asked.outputs else Says(calls=(writes,))

    agent = "name: worker\nmodel: openai:test\ntools: [breaks]\n"
    async with agents_on(fleet.addresses, tmp_path, httpserver)(script, agent) as (one, _):
        handle = await one.start(chat(limits=Limits(answer_hours=SOON)))
        assert "its effect may have happened" in (await say(handle, "Write it down")).text
        await ask(one.services.redis, "FLUSHALL")
        await handle.execute_update("end", ChatEnding(by=ADA))
        assert (await handle.result()).unknown == ("turn[1].call[0]",)
