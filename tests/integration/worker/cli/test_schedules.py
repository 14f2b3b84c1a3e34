"""``perdure schedule``, ``schedules`` and ``unschedule``, as a person types them."""

import json
from uuid import uuid4

from perdure.values.schedules import TaskSchedule
from tests.integration.worker.cli.installation import Installation
from tests.support.waiting import until

SKILL = "dependency-audit"
INPUTS = "inputs: {lock: uv.lock, report: report.csv}\n"


async def test_a_task_is_scheduled_listed_and_unscheduled(installed: Installation) -> None:
    name = uuid4().hex
    file = installed.write(f"{name}.yaml", f"task_id: t-{name}\nuser_id: u-{name}\nskill: {SKILL}\n{INPUTS}")
    made = await installed.perdure("schedule", file, "--cron", "0 6 * * MON", "--zone", "Europe/Berlin")
    assert made.status == 0, made.err
    first, coming = made.out.splitlines()
    assert first.startswith(f"task-t-{name}-")
    assert first.endswith(f"  skill {SKILL}, at 0 6 * * MON (Europe/Berlin)")
    assert coming.startswith("    next start 2")
    assert made.err == f"scheduled; to delete the schedule: perdure unschedule {file}\n"

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
    file = installed.write("timed.yaml", f"task_id: timed\nuser_id: ada\nskill: {SKILL}\n{INPUTS}")
    for options, complaint in [
        ((), "--cron: is missing, and so is --every (give one of them: --cron '0 6 * * MON', or --every 12h)"),
        (("--every", "0s"), "every: "),
        (("--every", "1d", "--cron", "0 6 * * *"), "--cron: is given together with --every (give one of them"),
        (("--cron", "never"), "cron: 'never' is refused: CronString does not have 5-7 fields (write minute, hour, day"),
        (("--cron", "0 6 * * FOO"), "cron: '0 6 * * FOO' is refused: DayOfWeek is not in range [0-7] (write minute"),
        (("--cron", "0 6 * * 1", "--zone", "Berlin"), "zone: there is no time zone 'Berlin' (give an IANA name"),
    ]:
        ran = await installed.perdure("schedule", file, *options)
        assert (ran.status, complaint in ran.complaint) == (2, True), ran.err
    unknown = installed.write("unknown.yaml", "task_id: unknown\nuser_id: ada\nskill: weekly\n")
    ran = await installed.perdure("schedule", unknown, "--every", "1d")
    assert (ran.status, "skill: there is no skill 'weekly'" in ran.complaint) == (2, True), ran.err
