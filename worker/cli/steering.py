"""Commands that steer a running task: pause, resume, cancel, message, redirect; feedback, also once it has ended."""

from enum import StrEnum
from typing import Annotated

import typer

from perdure.documents import validated
from perdure.errors import InvalidTask
from perdure.settings import Settings
from perdure.values.steering import PauseRequest, Redirection, TaskFeedback, TaskMessage
from worker.cli.reach import gateway, person
from worker.cli.task_files import workflow_id_of
from worker.cli.tasks import AsJson, TaskArgument
from worker.terminal.output import say, show_json


class FeedbackVerdict(StrEnum):
    """Whether something did what it should."""

    PASSED = "passed"
    FAILED = "failed"


Because = Annotated[str, typer.Option(help="Why; 'status' shows it.")]
By = Annotated[str, typer.Option(help="Who asks for it; your account's name if left out.")]


async def pause(task: TaskArgument, *, because: Because = "", by: By = "", as_json: AsJson = False) -> None:
    """Pause a task: what is under way ends, and nothing new begins until 'resume'.

    Example: perdure pause task-audit-7-1fd90551848a --because 'the service is down'
    """
    workflow_id = workflow_id_of(task)
    await gateway(Settings()).pause(workflow_id, _request(because), by=person(by))
    if as_json:
        show_json({"paused": workflow_id})
    else:
        say(f"paused {workflow_id}: perdure resume {workflow_id} has it go on")


async def resume(task: TaskArgument, *, because: Because = "", by: By = "", as_json: AsJson = False) -> None:
    """Let a paused task go on.

    Example: perdure resume task-audit-7-1fd90551848a
    """
    workflow_id = workflow_id_of(task)
    await gateway(Settings()).resume(workflow_id, _request(because), by=person(by))
    if as_json:
        show_json({"resumed": workflow_id})
    else:
        say(f"{workflow_id} goes on")


async def cancel(task: TaskArgument, *, because: Because = "", by: By = "", as_json: AsJson = False) -> None:
    """Ask a task to stop; it first finishes what it must not leave half done.

    Example: perdure cancel task.yaml --because 'the shop is closed'
    """
    workflow_id = workflow_id_of(task)
    await gateway(Settings()).cancel(workflow_id, because=because, by=person(by))
    if as_json:
        show_json({"cancelled": workflow_id})
    else:
        say(f"asked {workflow_id} to stop: perdure status {workflow_id}")


async def message(
    task: TaskArgument,
    text: Annotated[str, typer.Argument(help="What to tell the model; it sees it before its next turn.")],
    *,
    by: Annotated[str, typer.Option(help="Who tells it; your account's name if left out.")] = "",
    as_json: AsJson = False,
) -> None:
    """Send a message to the model of a task with a goal while it works.

    Example: perdure message task-audit-7-1fd90551848a 'Use the staging server.'
    """
    workflow_id = workflow_id_of(task)
    given = validated(TaskMessage, {"text": text}, "", InvalidTask)
    await gateway(Settings()).message(workflow_id, given, by=person(by))
    if as_json:
        show_json({"told": workflow_id})
    else:
        say(f"told {workflow_id}: its model sees it before its next turn")


async def redirect(
    task: TaskArgument,
    *,
    goal: Annotated[str, typer.Option(help="What it should achieve from now on, instead of its goal so far.")] = "",
    constraint: Annotated[
        list[str] | None, typer.Option(help="What has to hold in addition; can be given several times.")
    ] = None,
    because: Because = "",
    by: By = "",
    as_json: AsJson = False,
) -> None:
    """Redirect a task with a goal while it works: to another goal, or with further constraints.

    Example: perdure redirect task-audit-7-1fd90551848a --constraint 'no more than 10 calls'
    """
    workflow_id = workflow_id_of(task)
    asked = {"goal": goal, "constraints": constraint or [], "because": because}
    given = validated(Redirection, asked, "", InvalidTask)
    await gateway(Settings()).redirect(workflow_id, given, by=person(by))
    if as_json:
        show_json({"redirected": workflow_id})
    else:
        say(f"redirected {workflow_id}: its model sees it before its next turn")


async def feedback(
    task: TaskArgument,
    verdict: Annotated[FeedbackVerdict, typer.Argument(help="Whether it did what it should.")],
    *,
    step: Annotated[str, typer.Option(help="The step's path, as 'status' shows it; the whole task if left out.")] = "",
    because: Because = "",
    by: By = "",
    as_json: AsJson = False,
) -> None:
    """Record whether a task, or a step of it, did what it should.

    While the task runs, it counts in its evaluation. After its end it counts instead of how the task ended: in the
    success rate of its skill's version, and in the trials of the memories that it recalled. The last word wins.

    Example: perdure feedback task-audit-7-1fd90551848a failed --because 'two packages are missing'
    """
    workflow_id = workflow_id_of(task)
    asked = {"passed": verdict is FeedbackVerdict.PASSED, "step": step, "text": because}
    given = validated(TaskFeedback, asked, "", InvalidTask)
    found = await gateway(Settings()).feedback(workflow_id, given, by=person(by))
    if as_json:
        counted = found.model_dump(mode="json", include={"succeeded", "credited", "feedback"}) if found else {}
        show_json({"judged": workflow_id, **counted})
    elif found is not None:
        how = "a success" if found.succeeded else "a failure"
        say(f"{workflow_id} counts as {how} from now on, also for the memories that it recalled ({found.credited})")
    else:
        say(f"noted for the evaluation of {workflow_id}")


def _request(because: str) -> PauseRequest:
    return validated(PauseRequest, {"because": because}, "", InvalidTask)
