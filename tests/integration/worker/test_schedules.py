"""The forgetting schedule on a real Temporal: there once, as defined, and a person's pause is respected."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, ScheduleActionStartWorkflow, ScheduleDescription, ScheduleOverlapPolicy
from temporalio.service import RPCError

from perdure.errors import InvalidInput
from perdure.names import ScheduleId
from perdure.settings import Settings
from perdure.values.requests import ForgetResult
from tests.conftest import Servers, clean_settings
from tests.integration.worker.cli.installation import installation
from tests.support.waiting import until
from worker.schedules import ensure_schedules

DAILY, OTHER = "0 3 * * *", "30 4 * * 0"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return clean_settings(
        tmp_path,
        task_queue="one-queue",
        forgetting_cron=DAILY,
        redating_cron="off",
        accesses_cron="off",
        promotion_cron="off",
        consolidation_cron="off",
        reconciling_cron="off",
    )


@pytest.fixture(autouse=True)
async def none_left(namespaced: Client) -> Any:
    yield
    with suppress(RPCError):
        await namespaced.get_schedule_handle(ScheduleId.FORGETTING).delete()


async def ids(client: Client) -> list[str]:
    return [schedule.id async for schedule in await client.list_schedules()]


async def described(client: Client) -> ScheduleDescription:
    return await client.get_schedule_handle(ScheduleId.FORGETTING).describe()


def times(found: ScheduleDescription) -> list[tuple[int, int]]:
    """Return hour and minute of each calendar that the server made of the cron expressions."""
    calendars = found.schedule.spec.calendars
    return [(calendar.hour[0].start, calendar.minute[0].start) for calendar in calendars]


async def test_it_is_as_defined(namespaced: Client, settings: Settings) -> None:
    await ensure_schedules(namespaced, settings)

    found = await described(namespaced)
    assert times(found) == [(3, 0)]
    assert found.schedule.policy.overlap is ScheduleOverlapPolicy.SKIP
    assert found.schedule.policy.catchup_window == timedelta(days=1)
    assert not found.schedule.policy.pause_on_failure
    action = found.schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow)
    assert (action.workflow, action.task_queue) == ("ForgetMemory", "one-queue")


async def test_another_definition_replaces_it(namespaced: Client, settings: Settings) -> None:
    await ensure_schedules(namespaced, settings)
    await ensure_schedules(namespaced, settings)
    await ensure_schedules(namespaced, settings.changed(forgetting_cron=OTHER, task_queue="another-queue"))

    found = await described(namespaced)
    assert times(found) == [(4, 30)]
    assert isinstance(found.schedule.action, ScheduleActionStartWorkflow)
    assert found.schedule.action.task_queue == "another-queue"
    await until(lambda: ids(namespaced), lambda there: there == [ScheduleId.FORGETTING])


async def test_a_pause_by_a_person_stays(namespaced: Client, settings: Settings) -> None:
    await ensure_schedules(namespaced, settings)
    await namespaced.get_schedule_handle(ScheduleId.FORGETTING).pause(note="an investigation goes on")

    await ensure_schedules(namespaced, settings.changed(forgetting_cron=OTHER))

    found = await described(namespaced)
    assert times(found) == [(4, 30)]
    assert (found.schedule.state.paused, found.schedule.state.note) == (True, "an investigation goes on")


@pytest.mark.parametrize(
    ("schedule", "setting", "workflow"),
    [
        (ScheduleId.RECONCILIATION, "reconciling_cron", "ReconcileMemory"),
        (ScheduleId.REDATING, "redating_cron", "RedateMemory"),
        (ScheduleId.ACCESSES, "accesses_cron", "FlushAccesses"),
        (ScheduleId.PROMOTION, "promotion_cron", "PromoteEpisodes"),
        (ScheduleId.CONSOLIDATION, "consolidation_cron", "ConsolidateMemory"),
    ],
)
async def test_others_are_scheduled_beside_it(
    namespaced: Client, settings: Settings, schedule: str, setting: str, workflow: str
) -> None:
    await ensure_schedules(namespaced, settings.changed(**{setting: OTHER}))

    found = await namespaced.get_schedule_handle(schedule).describe()
    assert times(found) == [(4, 30)]
    assert isinstance(found.schedule.action, ScheduleActionStartWorkflow)
    assert found.schedule.action.workflow == workflow
    await ensure_schedules(namespaced, settings)
    await until(lambda: ids(namespaced), lambda there: there == [ScheduleId.FORGETTING])


async def test_a_time_that_temporal_refuses_is_refused_naming_its_setting(
    namespaced: Client, settings: Settings
) -> None:
    for there in (False, True):
        with pytest.raises(InvalidInput, match=r"forgetting_cron: Temporal refuses '0 3 .*set PERDURE_FORGETTING_CRON"):
            await ensure_schedules(namespaced, settings.changed(forgetting_cron="0 3 * * NODAY"))
        if not there:
            await ensure_schedules(namespaced, settings)


async def test_off_makes_none(namespaced: Client, settings: Settings) -> None:
    await ensure_schedules(namespaced, settings.changed(forgetting_cron="off"))

    # A list may still have one that an earlier test deleted.
    with pytest.raises(RPCError, match="not found"):
        await described(namespaced)


async def test_off_ends_the_one_of_this_queue_only(namespaced: Client, settings: Settings) -> None:
    await ensure_schedules(namespaced, settings)

    await ensure_schedules(namespaced, settings.changed(forgetting_cron="off", task_queue="another-queue"))
    assert (await described(namespaced)).schedule.action

    await ensure_schedules(namespaced, settings.changed(forgetting_cron="off"))
    await until(lambda: ids(namespaced), lambda there: there == [])


async def test_a_worker_makes_it_and_serves_it(namespaced: Client, servers: Servers, tmp_path: Path) -> None:
    async with installation(servers, tmp_path, forgetting_cron=DAILY) as given:
        await given.ready_worker(TEMPORAL_NAMESPACE=namespaced.namespace)
        schedule = namespaced.get_schedule_handle(ScheduleId.FORGETTING)

        await schedule.trigger()

        found = await until(schedule.describe, lambda one: bool(one.info.recent_actions))
        action: Any = found.info.recent_actions[0].action
        sweep = namespaced.get_workflow_handle(action.workflow_id, result_type=ForgetResult)
        result = await sweep.result()
        assert result.sweep == action.first_execution_run_id
        assert not result.dry_run
