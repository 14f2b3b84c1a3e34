"""Tasks on a schedule: each start is a task of its own, and an erasure ends a user's schedules."""

import asyncio
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio.client import (
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleSpec,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)
from temporalio.service import RPCError

from perdure import Actor, ActorKind, AgentTask, EraseRequest, InvalidInput, InvalidTask
from perdure.errors import InvalidSkill
from perdure.names import STARTED_BY
from perdure.values.schedules import LONGEST_ID, Timing
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.waiting import until
from worker.gateway import Gateway
from worker.schedules import ensure_schedules
from workflows import resumable_agent

ADA = Actor(kind=ActorKind.PERSON, id="ada")
DAILY = Timing(every="1d")
NOTHING = "steps: [{id: nothing, tool: echo, args: {value: 1}}]"
WRITES = 'steps: [{id: write, tool: append_blindly, args: {ledger: LEDGER, line: "${task.id}"}}]'


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["its own id", "control"])
async def test_each_of_three_starts_makes_its_own_effect(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    if not protected:
        # The control: under one id, all starts are one task, whose effect happens once.
        monkeypatch.setattr(resumable_agent, "started_at", _unchanged)
    async with bench(servers, tmp_path) as agents, Gateway(agents.settings, servers) as gateway:
        ledger = agents.ledger()
        task = agents.task(agents.skill(WRITES.replace("LEDGER", str(ledger))))
        made = await gateway.schedule(task, Timing(every="1s"), by=ADA)
        ended = await until(lambda: _ended(agents, made.id), lambda found: len(found) >= 3, seconds=30)
        await gateway.unschedule(made.id, by=ADA)
        lines = ledger.read_text().splitlines()
        if protected:
            assert len(set(lines)) == len(lines) >= len(ended) >= 3
            assert all(line.startswith(f"{task.task_id}-2") for line in lines)
        else:
            assert lines == [task.task_id]
        first = await agents.client.get_workflow_handle(ended[0]).describe()
        by = await first.memo_value(STARTED_BY, None, type_hint=Actor)
        assert by == Actor(kind=ActorKind.SCHEDULE, id=made.id)


@pytest.mark.slow
async def test_a_schedule_is_listed_changed_and_deleted(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path) as agents, Gateway(agents.settings, servers) as gateway:
        skill = agents.skill(NOTHING)
        task = AgentTask(task_id=f"t{uuid4().hex[:10]}", user_id="ada", skill=skill)
        made = await gateway.schedule(task, DAILY, by=ADA)
        assert (made.id, made.task_id, made.paused) == (task.workflow_id, task.task_id, False)
        assert made.about == f"skill {skill}, every 1d"
        assert made.upcoming
        await agents.client.get_schedule_handle(made.id).pause()
        changed = await gateway.schedule(task, Timing(cron="0 6 * * MON", zone="Europe/Berlin"), by=ADA)
        assert (changed.about, changed.paused) == (f"skill {skill}, at 0 6 * * MON (Europe/Berlin)", True)
        assert [one.weekday() for one in changed.upcoming] == [0] * len(changed.upcoming)

        async def listed() -> list[str]:
            return [one.about for one in await gateway.schedules(by=ADA) if one.id == made.id]

        await until(listed, lambda found: found == [changed.about])
        await gateway.unschedule(made.id, by=ADA)
        with pytest.raises(InvalidTask, match="has no schedule"):
            await gateway.unschedule(made.id, by=ADA)


@pytest.mark.slow
async def test_what_cannot_be_scheduled_is_refused(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path) as agents, Gateway(agents.settings, servers) as gateway:
        task = agents.task(agents.skill(NOTHING))
        for timing in (
            Timing(cron="61 6 * * MON"),
            Timing(cron="never"),
            Timing(cron="0 6 * * *", zone="Mars/Olympus"),
        ):
            with pytest.raises(InvalidInput, match=r"PRD100 (cron|zone): "):
                await gateway.schedule(task, timing, by=ADA)
        with pytest.raises(InvalidTask, match="at most 60"):
            await gateway.schedule(agents.task("s", task_id="t" * (LONGEST_ID + 1)), DAILY, by=ADA)
        unknown = agents.task("weekly-audit")
        with pytest.raises(InvalidSkill, match="there is no skill 'weekly-audit'"):
            await gateway.schedule(unknown, DAILY, by=ADA)
        with pytest.raises(InvalidTask, match="has no schedule"):
            await gateway.unschedule(unknown.workflow_id, by=ADA)
        await ensure_schedules(agents.client, agents.settings)
        with pytest.raises(InvalidTask, match="has no schedule"):
            await gateway.unschedule("perdure-accesses", by=ADA)


@pytest.mark.slow
async def test_an_erasure_ends_the_schedules_of_its_user_alone(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path) as agents, Gateway(agents.settings, servers) as gateway:
        skill = agents.skill(NOTHING)
        mine, other = agents.task(skill), agents.task(skill)
        for task in (mine, other):
            await gateway.schedule(task, DAILY, by=ADA)
        assert (await gateway.erase(EraseRequest(user_id=mine.user_id), by=ADA)).proved
        with pytest.raises(RPCError, match="not found"):
            await agents.client.get_schedule_handle(mine.workflow_id).describe()
        await gateway.unschedule(other.workflow_id, by=ADA)


@pytest.mark.slow
@pytest.mark.parametrize("given", [[], [None], [{"user": "x"}], [{"user_id": 7}], ["x"]], ids=str)
async def test_a_schedule_that_starts_nobodys_task_stops_no_erasure(
    servers: Servers, tmp_path: Path, given: list[object]
) -> None:
    async with bench(servers, tmp_path) as agents, Gateway(agents.settings, servers) as gateway:
        id_ = f"odd-{uuid4().hex}"
        action = ScheduleActionStartWorkflow("ResumableAgent", args=given, id=id_, task_queue=agents.queue)
        made = await agents.client.create_schedule(id_, Schedule(action=action, spec=ScheduleSpec()))
        user = f"user {uuid4().hex}"
        assert (await gateway.erase(EraseRequest(user_id=user), by=ADA)).proved
        await made.delete()


async def test_a_start_with_too_long_an_id_is_refused_and_not_tried_for_ever(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path) as agents:
        task = agents.task("weekly-audit", task_id="t" * 70)
        action = ScheduleActionStartWorkflow("ResumableAgent", task, id=uuid4().hex, task_queue=agents.queue)
        made = await agents.client.create_schedule(uuid4().hex, Schedule(action=action, spec=ScheduleSpec()))
        await made.trigger()

        async def started() -> list[str]:
            actions = [one.action for one in (await made.describe()).info.recent_actions]
            return [one.workflow_id for one in actions if isinstance(one, ScheduleActionExecutionStartWorkflow)]

        [first] = await until(started, bool)
        async with asyncio.timeout(20):
            with pytest.raises(WorkflowFailureError) as refused:
                await agents.client.get_workflow_handle(first).result()
        assert "at most 60" in str(refused.value.cause)
        await made.delete()


def _unchanged(task: AgentTask, moment: datetime) -> AgentTask:
    del moment
    return task


async def _ended(agents: Bench, schedule: str) -> list[str]:
    """Return the workflow ids of a schedule's starts that have completed, oldest first."""
    found = await agents.client.get_schedule_handle(schedule).describe()
    started = [one.action.workflow_id for one in found.info.recent_actions]  # pyright: ignore
    status = [(await agents.client.get_workflow_handle(one).describe()).status for one in started]  # pyright: ignore
    return [one for one, how in zip(started, status, strict=True) if how is WorkflowExecutionStatus.COMPLETED]  # pyright: ignore
