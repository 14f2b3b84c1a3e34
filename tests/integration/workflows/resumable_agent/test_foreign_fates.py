"""Calls of others: what a person says became of them, and those that a task which ends had not taken up."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.service import RPCError

from perdure import Answer
from perdure.agent.steps import foreign
from perdure.agent.steps.foreign import ForeignSteps
from perdure.agent.steps.foreign_calls import EndCall
from perdure.errors import StoreUnavailable
from perdure.stores.redis.claims import Claims
from perdure.stores.redis.connection import ask
from tests.conftest import Servers
from tests.integration.workflows.resumable_agent.test_foreign import QUEUE, child_of, step
from tests.support.harness import Bench, bench
from tests.support.strangers import strangers
from tests.support.tools import lines_in
from tests.support.waiting import progress_of, question_of, until, until_true

pytestmark = pytest.mark.slow

BY = {"kind": "person", "id": "ada"}


@pytest.fixture(autouse=True)
async def theirs(servers: Servers) -> AsyncGenerator[None]:
    async with strangers(servers.temporal, QUEUE):
        yield


@pytest.fixture
async def agents(servers: Servers, tmp_path: Path) -> AsyncGenerator[Bench]:
    async with bench(servers, tmp_path, continue_after=40) as one:
        yield one


@pytest.mark.parametrize("kind", ["the claim is lost", "the first attempt fails"])
async def test_what_a_person_says_has_happened_is_not_called_again(
    agents: Bench, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    ledger = agents.ledger()
    called = step("ChargeBadly", f'["{ledger}"]', ", timeout: 10s")
    task = agents.task(agents.skill(f'steps: [{called}]\noutput: "${{steps.call.status}}"'))
    handle = await agents.start(task)
    await question_of(handle, "call")
    if kind == "the claim is lost":
        redis, tenant = agents.services.redis, agents.services.tenant_key.tenant_of(task.user_id)
        names: list[str] = await ask(redis, "KEYS", f"*{tenant}*:claim:*")
        assert names
        await ask(redis, "DEL", *names)
    else:
        store, tries = Claims.store, list[int]()

        async def failing(self: Claims, *given: Any) -> None:
            tries.append(1)
            if len(tries) == 1:
                raise StoreUnavailable("redis", "away for a moment")
            await store(self, *given)

        monkeypatch.setattr(Claims, "store", failing)
    await handle.execute_update("answer", Answer(question_id="call", value="done", by="anna"))
    assert (await handle.result()).output == "done"
    assert lines_in(str(ledger)) == ["charged"]


async def test_a_paused_task_that_rolled_over_has_its_workflow_cancelled_with_it(agents: Bench) -> None:
    ledger = agents.ledger()
    called = step("Ship", f'["{ledger}", wood, true]', kind="workflow")
    task = agents.task(agents.skill(f"steps: [{called}]"))
    handle = await agents.start(task)
    await until_true(lambda: lines_in(str(ledger)) == ["packed wood"])
    live = agents.client.get_workflow_handle(handle.id)
    await live.execute_update("pause", {"because": "wait", "by": BY, "id": "p"})

    async def rolled() -> bool:
        # What people say makes the history longer.
        with suppress(RPCError):
            await live.execute_update("feedback", {"passed": True, "by": BY})
        return (await live.describe()).run_id != handle.first_execution_run_id

    await until(rolled, bool, seconds=60)
    await live.cancel()
    with pytest.raises(WorkflowFailureError):
        await live.result()
    child = child_of(agents, task, str(ledger), "wood", True)

    async def status() -> WorkflowExecutionStatus | None:
        return (await child.describe()).status

    await until(status, lambda found: found is WorkflowExecutionStatus.CANCELED)


@pytest.mark.parametrize("protected", [True, False], ids=["protected", "control"])
async def test_nobody_is_asked_what_became_of_a_call_that_may_go_on(
    agents: Bench, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    if not protected:

        async def asked_at_once(*_: object) -> None:
            return

        monkeypatch.setattr(ForeignSteps, "_wait_for", asked_at_once)
    ledger = agents.ledger()
    called = step("ChargeSlowly", f'["{ledger}"]', ", timeout: 6s")
    task = agents.task(agents.skill(f'steps: [{called}]\noutput: "${{steps.call.status}}"'))
    handle = await agents.start(task)
    await until_true(lambda: lines_in(str(ledger)) == ["begun"])
    await handle.terminate()
    again = await agents.start(task)
    await question_of(again, "call", 60)
    # A person who looks now finds what became of it.
    assert ("charged" in lines_in(str(ledger))) is protected
    await again.cancel()
    with pytest.raises(WorkflowFailureError):
        await again.result()


@pytest.mark.parametrize("is_known_for_long", [True, False], ids=["its id tells", "Temporal may have forgotten it"])
async def test_a_workflow_that_was_claimed_and_never_started_is_started(
    agents: Bench, monkeypatch: pytest.MonkeyPatch, is_known_for_long: bool
) -> None:
    monkeypatch.setattr(foreign, "_UNTIL_STARTED", 1.0)
    if not is_known_for_long:
        monkeypatch.setattr(foreign, "_KNOWN_FOR", timedelta(0))
    begin, hung, forever = ForeignSteps.begin, asyncio.Event(), asyncio.Event()

    async def stuck(self: ForeignSteps, *given: Any) -> Any:
        outcome = await begin(self, *given)
        if not hung.is_set():
            hung.set()
            await forever.wait()
        return outcome

    monkeypatch.setattr(ForeignSteps, "begin", stuck)
    ledger = agents.ledger()
    called = step("Ship", f'["{ledger}", wood]', kind="workflow")
    task = agents.task(agents.skill(f"steps: [{called}]"))
    handle = await agents.start(task)
    await asyncio.wait_for(hung.wait(), 30)
    await handle.terminate()
    again = await agents.start(task)
    if not is_known_for_long:
        await question_of(again, "call", 60)
        await again.execute_update("answer", Answer(question_id="call", value="not_done", by="anna"))
    await again.result()
    assert lines_in(str(ledger))[0] == "packed wood"


async def test_what_became_of_a_call_is_noted_although_the_task_is_cancelled_meanwhile(
    agents: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    end, noting, go = ForeignSteps.end, asyncio.Event(), asyncio.Event()

    async def slow(self: ForeignSteps, call: EndCall) -> Any:
        noting.set()
        await go.wait()
        return await end(self, call)

    monkeypatch.setattr(ForeignSteps, "end", slow)
    ledger = agents.ledger()
    called = step("Charge", f'["{ledger}", {{cents: 7}}]')
    task = agents.task(agents.skill(f"steps: [{called}, {{id: later, wait: 1h}}]"))
    handle = await agents.start(task)
    await asyncio.wait_for(noting.wait(), 30)
    await handle.cancel()

    async def was_told() -> bool:
        # Temporal has handed the cancellation to the workflow, which takes it up in its next task.
        kinds = [one.event_type async for one in handle.fetch_history_events()]
        after = kinds[kinds.index(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED) :]
        return EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED in after

    await until(was_told, bool)
    go.set()
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    assert (await handle.query("result"))["unknown"] == []
    # Another run takes what was noted.
    again = await agents.start(task)
    await progress_of(again, lambda found: found.done == 1)
    assert lines_in(str(ledger)) == ["charged 7"]
    await again.cancel()
    with pytest.raises(WorkflowFailureError):
        await again.result()
