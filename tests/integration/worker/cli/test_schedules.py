"""``perdure schedule``, ``schedules`` and ``unschedule``, as a person types them."""

import json
from uuid import uuid4

from perdure.schedules import TaskSchedule
from tests.integration.worker.cli.installation import Installation
from tests.support.waiting import until


async def test_a_task_is_scheduled_listed_and_unscheduled(installed: Installation) -> None:
    name = uuid4().hex
    file = installed.write(f"{name}.yaml", f"task_id: t-{name}\nuser_id: u-{name}\nskill: weekly\n")
    made = await installed.perdure("schedule", file, "--cron", "0 6 * * MON", "--zone", "Europe/Berlin")
    assert made.status == 0, made.err
    first, coming = made.out.splitlines()
    assert first.startswith(f"task-t-{name}-")
    assert first.endswith("  skill weekly for agent, at 0 6 * * MON (Europe/Berlin)")
    assert coming.startswith("    next start 2")

    async def listed() -> list[TaskSchedule]:
        ran = await installed.perdure("schedules", "--json")
        found = [TaskSchedule.model_validate(one) for one in json.loads(ran.out)]
        return [one for one in found if one.task_id == f"t-{name}"]

    [found] = await until(listed, bool)
    assert found.id == first.split()[0]
    assert (await installed.perdure("unschedule", file)).status == 0
    gone = await installed.perdure("unschedule", file)
    assert gone.status == 2
    assert "has no schedule" in gone.complaint


async def test_bad_timings_are_refused(installed: Installation) -> None:
    file = installed.write("timed.yaml", "task_id: timed\nuser_id: ada\nskill: weekly\n")
    for options in ((), ("--every", "0s"), ("--every", "1d", "--cron", "0 6 * * *"), ("--cron", "never")):
        ran = await installed.perdure("schedule", file, *options)
        assert ran.status == 2, ran.err
