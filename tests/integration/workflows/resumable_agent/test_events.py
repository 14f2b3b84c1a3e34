"""Steps that wait for an event: each that is delivered ends one of them, whatever becomes of worker and history."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from perdure import Actor, ActorKind, Event, Progress
from perdure.agent.events import MOST_KEPT
from perdure.names import Activity
from perdure.temporal.connection import connected
from perdure.temporal.plugin import Plugin
from perdure.values.tasks import Phase
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.waiting import progress_of, question_of, update_arrived

SHOP = Actor(kind=ActorKind.SYSTEM, id="shop")


async def deliver(
    handle: WorkflowHandle[Any, Any], name: str, value: JsonValue = None, id_: str = "", *, update: str | None = None
) -> Progress:
    event = Event(name=name, value=value, id=id_, by=SHOP)
    return await handle.execute_update("deliver", event, id=update, result_type=Progress)


async def refused(handle: WorkflowHandle[Any, Any], name: str, value: JsonValue = None) -> str:
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await deliver(handle, name, value)
    assert isinstance(caught.value.cause, ApplicationError)
    assert caught.value.cause.type == "InvalidEvent"
    return caught.value.cause.message


ORDER = """
inputs: {order: string}
steps:
  - {id: before, tool: echo, args: {value: 1}, approve: "Go on?"}
  - {id: paid, wait: {event: "paid ${inputs.order}", deadline: 2d}}
  - {id: sent, wait: {event: "sent ${inputs.order}"}}
  - {id: none, wait: {event: "none"}, when: "${inputs.order == ''}"}
  - {id: say, tool: echo, args: {value: "${steps.paid.output.amount} ${steps.sent.output} ${steps.none.status}"}}
output: "${steps.say.output}"
"""


@pytest.mark.slow
async def test_a_step_takes_an_event_that_comes_before_it_or_while_it_waits(agents: Bench) -> None:
    handle = await agents.start(agents.task(agents.skill(ORDER), inputs={"order": "7"}))
    await question_of(handle)
    early = await deliver(handle, "sent 7", "by train")
    assert (early.kept, early.waits) == (1, ())
    await handle.execute_update("answer", {"question_id": "before", "value": "yes"})
    waiting = await progress_of(handle, lambda one: bool(one.waits) and one.phase is Phase.PAUSED)
    [wait] = waiting.waits
    assert (wait.step, wait.event, wait.until is not None) == ("paid", "paid 7", True)
    assert "waits for the event" in str(await handle.query("__temporal_workflow_metadata"))
    await deliver(handle, "paid 7", {"amount": 20})
    result = await handle.result()
    assert (result.output, result.done, result.skipped) == ("20 by train skipped", 4, 1)
    assert (await progress_of(handle, bool)).kept == 0
    await agents.replay(handle)
    events = [event async for event in handle.fetch_history_events()]
    summaries = [event.user_metadata.summary.data for event in events]
    assert b'"paid waits"' in summaries
    assert not any(b"paid 7" in summary for summary in summaries), "the name of an event is content"
    ran = [event.activity_task_scheduled_event_attributes.activity_type.name for event in events]
    assert (ran.count(Activity.EXPECT_EVENT), ran.count(Activity.TAKE_EVENT)) == (3, 2)


@pytest.mark.slow
async def test_each_event_ends_one_step_in_the_order_in_which_they_began_to_wait(agents: Bench) -> None:
    skill = agents.skill(
        """
steps:
  - for_each: "${[1, 2, 3]}"
    as: n
    at_once: 3
    steps:
      - {id: tick, wait: {event: tick}}
      - {id: say, tool: echo, args: {value: "${n} ${steps.tick.output}"}}
  - for_each: "${[1, 2]}"
    as: m
    steps:
      - {id: tock, wait: {event: tock}}
      - {id: told, tool: append, args: {ledger: LEDGER, line: "${m} ${steps.tock.output}"}}
output: "${steps.n.done + steps.m.done}"
""".replace("LEDGER", f'"{(ledger := agents.ledger())}"')
    )
    handle = await agents.start(agents.task(skill))
    await progress_of(handle, lambda one: len(one.waits) == 3)
    for number in (1, 2):
        assert (await deliver(handle, "tock", number)).kept == number
    for value in ("x", "y"):
        await deliver(handle, "tick", value)
    now = await progress_of(handle, lambda one: [wait.event for wait in one.waits] == ["tick"])
    assert (now.waiting, now.kept) == (1, 2)
    await deliver(handle, "tick", "z")
    assert (await handle.result()).output == 10
    assert ledger.read_text().splitlines() == ["1 1", "2 2"]
    await agents.replay(handle)


@pytest.mark.slow
async def test_where_the_deadline_passes_its_default_is_taken_or_the_step_fails(agents: Bench) -> None:
    skill = agents.skill(
        """
steps:
  - {id: paid, wait: {event: paid, deadline: 1s, otherwise: "${[task.id, null]}"}}
  - {id: none, wait: {event: paid, deadline: 0s, otherwise: nothing}}
  - {id: past, wait: {event: paid, deadline: "2020-01-01T00:00:00Z", otherwise: "${null}"}}
  - {id: last, wait: {event: "never", deadline: 1s}}
output: 1
"""
    )
    handle = await agents.start(agents.task(skill, task_id="late"))
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert "step last: the event 'never' did not come until 20" in str(caught.value.cause)
    last = await progress_of(handle, bool)
    assert (last.done, last.failed) == (4, 1)
    await agents.replay(handle)
    text = (
        'steps: [{id: a, wait: {event: a, deadline: 1s, otherwise: "${[task.id, null]}"}}]\noutput: "${steps.a.output}"'
    )
    assert (await agents.run(text, task_id="late2")).output == ["late2", None]


async def test_what_cannot_be_an_event_or_a_deadline_fails_the_step(agents: Bench) -> None:
    for wait, problem in (
        ('{event: "${inputs.x}"}', "a.wait.event: names no event"),
        ('{event: "a${inputs.x}", deadline: "${inputs.x}"}', "a.wait.deadline: is neither a duration nor a moment"),
    ):
        with pytest.raises(WorkflowFailureError) as caught:
            await agents.run(f"inputs: {{x: string}}\nsteps: [{{id: a, wait: {wait}}}]", inputs={"x": ""})
        assert f"step a: PRD103 {problem}" in str(caught.value.cause)


@pytest.mark.slow
async def test_what_nobody_waits_for_is_refused_with_the_reason(agents: Bench) -> None:
    skill = agents.skill(
        "steps: [{parallel: [{id: a, wait: {event: paid}}, {id: b, wait: {event: 'sent ${task.id}'}}]}]"
    )
    handle = await agents.start(agents.task(skill))
    await progress_of(handle, lambda one: len(one.waits) == 2)
    assert "PRD114 name: no step of the task waits for 'payd' (did you mean 'paid'?)" in await refused(handle, "payd")
    assert "PRD114 value: has 20,003 bytes as JSON (at most 20,000" in await refused(handle, "paid", "x" * 20_001)
    for _ in range(10):
        await deliver(handle, "sent something", "x" * 19_000)
    assert "would make more than 200,000 bytes" in await refused(handle, "sent something", "x" * 19_000)
    for _ in range(10, MOST_KEPT):
        await deliver(handle, "sent something")
    assert f"the task has {MOST_KEPT} events" in await refused(handle, "sent something")
    assert (await deliver(handle, "paid")).kept == MOST_KEPT, "what a step waits for has room"
    await handle.cancel()
    nothing = await agents.start(agents.task(agents.skill("steps: [{id: a, wait: 1d}]")))
    await progress_of(nothing, lambda one: bool(one.waits))
    assert "no step of the task waits for an event" in await refused(nothing, "paid")
    await nothing.cancel()


@pytest.mark.slow
async def test_an_event_that_comes_with_the_task_is_kept_or_refused_once_its_skill_is_known(
    servers: Servers, tmp_path: Path
) -> None:
    queue = f"q{uuid4().hex}"
    (tmp_path / "skills").mkdir()
    agents = Bench(client=await connected(servers.temporal, plugins=[Plugin()]), queue=queue, folder=tmp_path)
    skill = agents.skill("steps: [{id: a, wait: {event: paid}}]\noutput: '${steps.a.output}'")
    handle = await agents.start(agents.task(skill))
    early = [asyncio.create_task(deliver(handle, name, name, update=name)) for name in ("payd", "paid")]
    for name in ("payd", "paid"):
        await update_arrived(agents.client, handle.id, name)
    async with bench(servers, tmp_path, queue=queue) as agents:
        assert (await handle.result()).output == "paid"
        told = await asyncio.gather(*early, return_exceptions=True)
        assert isinstance(told[0], WorkflowUpdateFailedError)
        assert "no step of the task waits for 'payd'" in str(told[0].cause)
        assert isinstance(told[1], Progress)
        await agents.replay(handle)


@pytest.mark.slow
@pytest.mark.parametrize("cache", [1000, 0])
async def test_events_and_waits_travel_when_the_history_is_rolled_over(
    servers: Servers, tmp_path: Path, cache: int
) -> None:
    # A moment of its own for what is looked at before it: where nothing is cached, each event is a replay.
    until = datetime.now(UTC) + timedelta(seconds=30 if cache == 0 else 15)
    async with bench(servers, tmp_path, continue_after=30, max_cached_workflows=cache) as agents:
        skill = agents.skill(
            """
inputs: {until: {type: string}}
steps:
  - parallel:
      - {id: first, wait: {event: paid}}
      - [{id: soon, wait: 1s}, {id: second, wait: {event: paid}}]
      - {id: third, wait: {event: sent, deadline: "${inputs.until}", otherwise: "${task.id}"}}
      - - for_each: "${[1, 2, 3, 4, 5, 6, 7, 8, 9]}"
          as: n
          steps: [{id: say, tool: echo, args: {value: "${n}"}}]
  - {id: large, wait: {event: later}}
  - {id: once, wait: {event: later}}
output: ["${steps.first.output}", "${steps.second.output}", "${steps.third.output}", "${steps.large.output.size()}"]
"""
        )
        handle = await agents.start(agents.task(skill, task_id="rolled", inputs={"until": until.isoformat()}))
        latest = agents.client.get_workflow_handle(handle.id)
        await deliver(latest, "later", "x" * 15_000, "one")
        told = await progress_of(latest, lambda one: len(one.waits) == 3 and one.done == 10)
        assert (await latest.describe()).run_id != handle.first_execution_run_id, "it was rolled over"
        assert {wait.step: wait.event for wait in told.waits} == {"first": "paid", "second": "paid", "third": "sent"}
        before = (await latest.describe()).run_id
        for _ in range(6):
            assert (await deliver(latest, "later", "again", "one")).kept == 1
        await progress_of(latest, lambda one: one.kept == 1)
        assert (await latest.describe()).run_id != before, "events that change nothing roll it over as well"
        await deliver(latest, "paid", 1)
        await deliver(latest, "paid", 2)
        last = await progress_of(latest, lambda one: one.done == 14, seconds=60)
        assert [(wait.step, wait.until) for wait in last.waits] == [("once", None)]
        await deliver(latest, "later", "again", "one")
        await deliver(latest, "later", "two", "two")
        assert (await handle.result()).output == [1, 2, "rolled", 15_000]


@pytest.mark.slow
async def test_an_event_is_taken_although_no_worker_was_there_when_the_step_began_to_wait(
    servers: Servers, tmp_path: Path
) -> None:
    queue = f"q{uuid4().hex}"
    async with bench(servers, tmp_path, queue=queue) as agents:
        skill = agents.skill(
            "steps: [{id: paid, wait: {event: paid, deadline: 1d}}, {id: kept, wait: {event: kept}}]\n"
            "output: '${steps.paid.output} ${steps.kept.output}'"
        )
        handle = await agents.start(agents.task(skill))
        [wait] = (await progress_of(handle, lambda one: bool(one.waits))).waits
        await deliver(handle, "kept", 1)
    async with bench(servers, tmp_path, queue=queue) as agents:
        told = await progress_of(handle, lambda one: one.kept == 1)
        assert told.waits == (wait,)
        await deliver(handle, "paid", 2)
        assert (await handle.result()).output == "2 1"
        await agents.replay(handle)


async def test_a_task_that_is_cancelled_leaves_an_event_at_once_and_a_finished_one_takes_none(agents: Bench) -> None:
    handle = await agents.start(agents.task(agents.skill("steps: [{id: a, wait: {event: paid}}]")))
    await progress_of(handle, lambda one: bool(one.waits))
    await handle.cancel()
    async with asyncio.timeout(10):
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    assert (await progress_of(handle, lambda one: one.phase is Phase.CANCELLED)).waits == ()
    with pytest.raises(Exception, match="completed"):
        await deliver(handle, "paid")
    await agents.replay(handle)


async def test_who_delivered_and_when_is_in_the_session_without_the_value(agents: Bench) -> None:
    task = agents.task(agents.skill("steps: [{id: a, wait: {event: paid}}]"))
    handle = await agents.start(task)
    await deliver(handle, "paid", "a secret")
    await handle.result()
    tenant = agents.services.tenant_key.tenant_of(task.user_id)
    texts = [one.text for one in await agents.services.episodes.told(tenant, task.session, recent=20)]
    today = datetime.now(UTC)
    assert any(text.startswith(f"a: paid (delivered by system shop at {today:%Y-%m-}") for text in texts)
    assert not any("a secret" in text for text in texts)
