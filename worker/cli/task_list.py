"""``perdure tasks``: which tasks there are, as Temporal lists them."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from perdure.documents import validated
from perdure.errors import InvalidInput
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.tasks import Phase
from worker.cli.reach import gateway, person
from worker.cli.task_files import workflow_id_of
from worker.cli.tasks import AsJson, OfUser, TaskArgument
from worker.gateway.task_list import ListedTask, TaskFilter
from worker.terminal.output import out, say, show_json


async def list_(
    *,
    phase: Annotated[str | None, typer.Option(help=f"Only those in this phase: {', '.join(Phase)}.")] = None,
    skill: Annotated[str | None, typer.Option(help="Only those that run this skill.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only those of this agent.")] = None,
    newer: Annotated[str | None, typer.Option(help="Only those that began within this time: 2h, say.")] = None,
    older: Annotated[str | None, typer.Option(help="Only those that began longer ago: 7d, say.")] = None,
    user: Annotated[str | None, typer.Option(help="Only this user's; everybody's by default.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000)] = 50,
    as_json: AsJson = False,
) -> None:
    """Show the tasks, open ones first, the newest first.

    Example: perdure tasks list --phase waiting --older 2h
    """
    given = {"phase": phase, "skill": skill, "agent": agent, "newer": newer, "older": older, "limit": limit}
    wanted = validated(TaskFilter, given, "", InvalidInput)
    async with gateway(Settings()) as installation:
        found = await installation.tasks(wanted, user, by=person())
    if as_json:
        show_json([one.model_dump(mode="json") for one in found])
        return
    for one in found:
        out.print(_line(one), markup=False)
    more = " or more: --limit shows more" if len(found) == limit else ""
    say(counted(len(found), "task") + more)


async def show(task: TaskArgument, *, user: OfUser = "", as_json: AsJson = False) -> None:
    """Show what Temporal knows of a task, also while no worker runs; 'perdure status' asks a worker for more.

    Example: perdure tasks show task-audit-7-1fd90551848a
    """
    workflow_id = workflow_id_of(task, user)
    async with gateway(Settings()) as installation:
        found = await installation.listed(workflow_id, by=person())
    if as_json:
        show_json(found)
        return
    out.print(_line(found), markup=False)
    out.print(f"started by {found.started_by.kind} {found.started_by.id}".rstrip(), markup=False)
    for retry in found.retries:
        out.print(retry.told(datetime.now(UTC)), markup=False)
    out.print(f"more: perdure status {workflow_id}", markup=False)


def _line(one: ListedTask) -> str:
    ended = f", ended {one.ended_at:%Y-%m-%d %H:%M:%S}" if one.ended_at else ""
    what = f"skill {one.skill}" if one.skill else f"agent {one.agent}" if one.agent else "not prepared yet"
    return f"{one.phase:<12}  {one.workflow_id}  {what}, started {one.started_at:%Y-%m-%d %H:%M:%S %Z}{ended}"
