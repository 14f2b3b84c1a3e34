"""Steps that wait: until their moment and no longer, whatever becomes of the worker and of the history meanwhile."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import CancelledError

from perdure.names import Activity
from perdure.values.changes import Actor, ActorKind
from perdure.values.events import Event
from perdure.values.tasks import Phase, TaskResult
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.waiting import progress_of, until

SHOP = Actor(kind=ActorKind.SYSTEM, id="shop")


@pytest.mark.slow
async def test_a_task_goes_on_when_the_moment_has_come_and_says_until_when_it_waits(agents: Bench) -> None:
    skill = agents.skill(
        """
inputs: {past: string}
steps:
  - {id: gone, wait: "${inputs.past}"}
  - {id: go, wait: {event: go}}
  - {id: no, wait: 366d, when: "${steps.go.output.at == ''}"}
  - {id: moment, wait: "${steps.go.output.at}"}
  - {id: pause, wait: 1s}
  - {id: no_time, wait: 0s}
  - {id: say, tool: echo, args: {value: "${steps.moment.status}"}}
output: "${steps.say.output} ${steps.no.status}"
"""
    )
    handle = await agents.start(agents.task(skill, inputs={"past": "2020-01-01T00:00:00+02:00"}))
    await progress_of(handle, lambda one: [wait.event for wait in one.waits] == ["go"])
    # Chosen once the task is under way, so that the moment is still ahead when it is asked what it waits for.
    at = datetime.now(UTC) + timedelta(seconds=4)
    await handle.execute_update("deliver", Event(name="go", value={"at": at.astimezone().isoformat()}, by=SHOP))
    waiting = await progress_of(handle, lambda one: [wait.step for wait in one.waits] == ["moment"])
    assert ([wait.until for wait in waiting.waits], waiting.phase) == ([at], Phase.PAUSED)
    result = await handle.result()
    ended = datetime.now(UTC)
    await agents.replay(handle)
    assert (result.output, result.done, result.skipped) == ("done skipped", 6, 1)
    assert ended >= at + timedelta(seconds=1)
    assert (await progress_of(handle, bool)).waits == ()
    events = [event async for event in handle.fetch_history_events()]
    timers = [event for event in events if event.HasField("timer_started_event_attributes")]
    assert [b"moment waits" in timer.user_metadata.summary.data for timer in timers][-2:] == [True, False]
    ran = [event.activity_task_scheduled_event_attributes.activity_type.name for event in events]
    assert ran.count(Activity.WAIT_STEP) == 3, "a time that is written down needs no activity"


@pytest.mark.parametrize(
    ("at", "problem"),
    [("soon", "is neither a duration nor a moment"), ("2999-01-01T00:00:00Z", "is further away than 366 days")],
)
async def test_a_moment_that_is_none_fails_the_task(agents: Bench, at: str, problem: str) -> None:
    with pytest.raises(WorkflowFailureError) as caught:
        await agents.run('inputs: {at: string}\nsteps: [{id: a, wait: "${inputs.at}"}]', inputs={"at": at})
    assert f"step a: PRD103 a.wait: {problem}" in str(caught.value.cause)


@pytest.mark.slow
@pytest.mark.parametrize(("at_once", "wait", "least", "most"), [(1, 1, 4, 60), (4, 5, 5, 20)])
async def test_a_wait_holds_up_its_own_element_and_counts_at_once(
    agents: Bench, at_once: int, wait: int, least: int, most: int
) -> None:
    began = datetime.now(UTC)
    result = await agents.run(
        f"""
steps:
  - for_each: "${{[1, 2, 3, 4]}}"
    as: n
    at_once: {at_once}
    steps: [{{id: pause, wait: {wait}s}}, {{id: say, tool: echo, args: {{value: "${{n}}"}}}}]
output: "${{steps.n.done}}"
"""
    )
    took = (datetime.now(UTC) - began).total_seconds()
    assert result.output == 8
    assert least <= took < most


async def test_a_cancelled_task_leaves_a_wait_at_once(agents: Bench) -> None:
    skill = agents.skill("steps: [{parallel: [{id: long, wait: 30d}, {id: longer, wait: \"${'300d'}\"}]}]")
    handle = await agents.start(agents.task(skill))
    told = await progress_of(handle, lambda one: len(one.waits) == 2)
    assert [wait.step for wait in told.waits] == ["long", "longer"]
    await handle.cancel()
    async with asyncio.timeout(10):
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
    assert isinstance(caught.value.cause, CancelledError)
    ended = await progress_of(handle, lambda one: one.phase is Phase.CANCELLED)
    assert ended.waits == ()
    assert (await handle.query("result", result_type=TaskResult)).status is Phase.CANCELLED
    await agents.replay(handle)


async def timers(handle: WorkflowHandle[Any, Any]) -> int:
    """Return how many timers of a task's present run were started."""
    events = (await handle.fetch_history()).events
    return sum(event.event_type == EventType.EVENT_TYPE_TIMER_STARTED for event in events)


@pytest.mark.slow
@pytest.mark.parametrize("cache", [1000, 0])
async def test_a_moment_stays_what_it_is_while_the_history_is_rolled_over(
    servers: Servers, tmp_path: Path, cache: int
) -> None:
    ledger = tmp_path / "ledger"
    async with bench(servers, tmp_path, continue_after=30, max_cached_workflows=cache) as agents:
        skill = agents.skill(
            f"""
steps:
  - parallel:
      - - for_each: "${{[1, 2, 3, 4, 5, 6]}}"
          as: n
          at_once: 6
          steps: [{{id: pause, wait: 30s}}, {{id: after, tool: append, args: {{ledger: "{ledger}", line: "a${{n}}"}}}}]
      - - for_each: "${{[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]}}"
          as: m
          steps: [{{id: write, tool: append, args: {{ledger: "{ledger}", line: "b${{m}}"}}}}]
output: "${{steps.n.done + steps.m.done}}"
"""
        )
        handle = await agents.start(agents.task(skill))
        latest = agents.client.get_workflow_handle(handle.id)
        # Only what is recorded stays: a worker that answers a query can be ahead of it, by the time of its own clock.
        await until(lambda: timers(latest), lambda number: number >= 6)
        first = await progress_of(latest, lambda one: len(one.waits) == 6)
        # A run that goes on from another one prepares for a moment.
        later = await progress_of(latest, lambda one: one.done == 15 and one.phase is Phase.PAUSED)
        run = (await latest.describe()).run_id
        assert run != handle.first_execution_run_id, "it was rolled over"
        assert later.waits == first.waits, "and every wait is as it was"
        assert (await handle.result()).output == 12 + 15
        assert datetime.now(UTC) >= max(wait.until for wait in first.waits if wait.until)
    lines = ledger.read_text().splitlines()
    assert sorted(lines) == sorted([*(f"a{n}" for n in range(1, 7)), *(f"b{m}" for m in range(1, 16))])


@pytest.mark.slow
async def test_a_wait_ends_when_it_was_to_although_no_worker_was_there(servers: Servers, tmp_path: Path) -> None:
    queue = f"q{uuid4().hex}"
    async with bench(servers, tmp_path, queue=queue) as agents:
        skill = agents.skill("steps: [{id: pause, wait: 3s}, {id: say, tool: echo, args: {value: 1}}]")
        handle = await agents.start(agents.task(skill))
        [wait] = (await progress_of(handle, lambda one: bool(one.waits))).waits
    async with bench(servers, tmp_path, queue=queue) as agents:
        assert (await handle.result()).done == 2
        assert wait.until
        assert datetime.now(UTC) >= wait.until
        await agents.replay(handle)
