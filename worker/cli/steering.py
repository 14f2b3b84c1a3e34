"""Commands that steer a running task: pause, resume."""

from typing import Annotated

import typer

from perdure.documents import validated
from perdure.errors import InvalidTask
from perdure.settings import Settings
from perdure.steering import PauseRequest
from worker.cli.reach import gateway, person
from worker.cli.tasks import AsJson, TaskArgument, workflow_id_of
from worker.terminal.output import say, show_json

Because = Annotated[str, typer.Option(help="Why; 'status' shows it.")]
By = Annotated[str, typer.Option(help="Who asks for it; your account's name if left out.")]


async def pause(task: TaskArgument, *, because: Because = "", by: By = "", as_json: AsJson = False) -> None:
    """Have a task pause: what is under way ends, and nothing new begins until 'resume'."""
    workflow_id = workflow_id_of(task)
    await gateway(Settings()).pause(workflow_id, _request(because), by=person(by))
    if as_json:
        show_json({"paused": workflow_id})
    else:
        say(f"paused {workflow_id}: perdure resume {workflow_id} has it go on")


async def resume(task: TaskArgument, *, because: Because = "", by: By = "", as_json: AsJson = False) -> None:
    """Have a paused task go on."""
    workflow_id = workflow_id_of(task)
    await gateway(Settings()).resume(workflow_id, _request(because), by=person(by))
    if as_json:
        show_json({"resumed": workflow_id})
    else:
        say(f"{workflow_id} goes on")


def _request(because: str) -> PauseRequest:
    return validated(PauseRequest, {"because": because}, "", InvalidTask)
