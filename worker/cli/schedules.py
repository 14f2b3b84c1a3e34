"""Commands about tasks on a schedule: schedule, schedules, unschedule."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from perdure.documents import validated
from perdure.errors import InvalidInput
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.schedules import TaskSchedule, Timing
from worker.cli.reach import gateway, person, require_same_settings
from worker.cli.task_files import read_task, workflow_id_of
from worker.cli.tasks import AsJson, TaskArgument
from worker.terminal.output import out, program, say, show_json


async def schedule(
    file: Annotated[Path, typer.Argument(help="The task in YAML, as 'run' takes it; its id is the schedule's.")],
    *,
    cron: Annotated[str, typer.Option(help="Minute, hour, day, month, weekday: '0 6 * * MON'.")] = "",
    every: Annotated[str, typer.Option(help="The time between two starts instead: 12h, 30m, 7d.")] = "",
    zone: Annotated[str, typer.Option(help="The time zone of --cron: Europe/Berlin.")] = "UTC",
    as_json: AsJson = False,
) -> None:
    """Run a task on a schedule, each time as a new task; call it again to change when and what.

    A start is skipped while the one before it still runs. Temporal's UI shows the schedule, and can pause it.

    Example: perdure schedule task.yaml --cron '0 6 * * MON' --zone Europe/Paris
    """
    task = read_task(file)
    if bool(cron.strip()) == bool(every):
        problem = "is given together with --every" if every else "is missing, and so is --every"
        raise InvalidInput("--cron", problem, fix="give one of them: --cron '0 6 * * MON', or --every 12h")
    given = {"cron": cron, "zone": zone} | ({"every": every} if every else {})
    timing = validated(Timing, given, "", InvalidInput)
    settings = Settings()
    require_same_settings(settings)
    async with gateway(settings) as installation:
        found = await installation.schedule(task, timing, by=person())
    if as_json:
        show_json(found)
    else:
        _show(found)
        say(f"scheduled; to delete the schedule: {program()} unschedule {shlex.quote(str(file))}")


async def schedules(*, as_json: AsJson = False) -> None:
    """List the tasks that are on a schedule, with their next start.

    Example: perdure schedules --json
    """
    async with gateway(Settings()) as installation:
        found = await installation.schedules(by=person())
    if as_json:
        show_json([one.model_dump(mode="json") for one in found])
        return
    for one in found:
        _show(one)
    say(counted(len(found), "schedule"))


async def unschedule(task: TaskArgument) -> None:
    """Delete a task's schedule. Tasks that it has started go on.

    Example: perdure unschedule task-audit-7-1fd90551848a
    """
    identifier = workflow_id_of(task)
    async with gateway(Settings()) as installation:
        await installation.unschedule(identifier, by=person())
    say(f"deleted the schedule {identifier}")


def _show(found: TaskSchedule) -> None:
    out.print(f"{found.id}  {found.about}", markup=False)
    coming = f"{found.upcoming[0]:%Y-%m-%d %H:%M:%S %Z}" if found.upcoming else "never"
    out.print(f"    next start {'paused' if found.paused else coming}", markup=False)
    if found.recent:
        out.print(f"    last start {found.recent[-1]}", markup=False)
