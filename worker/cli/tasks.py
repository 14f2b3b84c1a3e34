"""Commands about one task: run, fork, status, answer, deliver."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from perdure.documents import validated
from perdure.errors import InvalidAnswer, InvalidEvent, InvalidTask
from perdure.settings import Settings
from perdure.values.beginnings import ANY, BeginRequest
from perdure.values.events import Event
from perdure.values.questions import Answer
from perdure.values.tasks import AgentTask
from worker.cli.reach import gateway, person
from worker.cli.task_files import read_task_file, workflow_id_of
from worker.cli.task_runs import RunDisplay, follow_run, report
from worker.cli.values import json_or_text
from worker.terminal import display
from worker.terminal.output import out, say, show_json

TaskArgument = Annotated[str, typer.Argument(help="The workflow id that 'run' printed, or the task's YAML file.")]
OfUser = Annotated[str, typer.Option("--user", help="Whose task it is, where you name it by your own task_id.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, for a script.")]


Detached = Annotated[bool, typer.Option("--detach", help="Start it and return.")]
Traced = Annotated[
    bool,
    typer.Option("--trace", help="Print the tree of the task's spans when it has ended: each step, wait and question."),
]


Verbose = Annotated[
    bool, typer.Option("--verbose", help="Of an exception of a tool's, show the lines of libraries too.")
]


async def run(
    file: Annotated[
        Path, typer.Argument(help="The task: task_id, user_id; skill and inputs, or agent and goal; in YAML.")
    ],
    *,
    detach: Detached = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Go through it once more even if it has completed; no recorded effect is repeated."
        ),
    ] = False,
    step: Annotated[
        str, typer.Option("--from", help="Go on at this step of its skill, with the results of those before it.")
    ] = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask to confirm what differs; for use with --from.")
    ] = False,
    traced: Traced = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Run a task and follow it live. Ctrl-C detaches; the task goes on.

    If the task is open or has completed, this attaches to it. If it failed, was cancelled or was terminated, or with
    --again, it goes on from the recorded effects: nothing happens twice. Other inputs or another skill need another
    task_id, or --from: then the steps before that one are not run again, and you are asked to confirm what differs.

    Example: perdure run task.yaml --detach
    """
    if yes and not step:
        raise InvalidTask("--yes", "confirms nothing here", fix="it is for use with --from")
    asked = {"step": step, "confirmed": ANY if yes else ""}
    begin = validated(BeginRequest, asked, "", InvalidTask) if step else None
    how = RunDisplay(detach=detach, traced=traced, verbose=verbose, as_json=as_json)
    await follow_run(read_task_file(file), begin, how, again=again)


async def fork(
    file: Annotated[
        Path, typer.Argument(help="The task whose results are copied, with what is to change from now on; in YAML.")
    ],
    *,
    task_id: Annotated[str, typer.Option("--as", help="The id of the new task.")],
    step: Annotated[str, typer.Option("--from", help="The step of its skill at which the new task begins.")],
    detach: Detached = False,
    traced: Traced = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Run a new task from a step of one that has ended, with copies of the results of the steps before it.

    Those steps do not run again. From that step on it is independent: it performs its effects even if the first task
    already performed them.

    Example: perdure fork task.yaml --as audit-8 --from report
    """
    source = read_task_file(file)
    forked = validated(AgentTask, source.task.model_dump() | {"task_id": task_id}, "", InvalidTask)
    begin = validated(BeginRequest, {"step": step, "of": source.task.task_id}, "", InvalidTask)
    how = RunDisplay(detach=detach, traced=traced, verbose=verbose, as_json=as_json)
    await follow_run(replace(source, task=forked), begin, how)


async def status(task: TaskArgument, *, user: OfUser = "", verbose: Verbose = False, as_json: AsJson = False) -> None:
    """Show how far a task is, which steps failed or were skipped, and what it waits for; its output once it has ended.

    Example: perdure status task.yaml --json
    """
    workflow_id = workflow_id_of(task, user)
    installation = gateway(Settings())
    running = await installation.is_running(workflow_id, by=person())
    ended = None if running or as_json else await installation.ended(workflow_id, by=person())
    # Only a worker can tell, and one that took over from a killed one needs a moment.
    serving = await installation.serving()
    progress = await installation.progress(workflow_id, seconds=5, by=person()) if serving else None
    if progress is None:
        if ended is None:
            raise installation.unserved(silent=serving)
        report(ended, verbose=verbose)
        if ended.problem:
            out.print(ended.problem, markup=False)
        return
    if as_json:
        show_json(progress)
        return
    display.show(progress, verbose=verbose)
    if ended is not None and ended.output is not None:
        out.print_json(data=ended.output)
    if running:
        if progress.paused:
            out.print(display.how_to_resume(workflow_id), markup=False)
        for question in progress.questions:
            out.print(display.how_to_answer(workflow_id, question), markup=False)
        for wait in progress.waits:
            if wait.event:
                out.print(display.how_to_deliver(workflow_id, wait), markup=False)


async def answer(
    task: TaskArgument,
    question: Annotated[str, typer.Argument(help="The question's id, as 'status' shows it.")],
    value: Annotated[str, typer.Argument(help="The answer.")],
    *,
    because: Annotated[
        str, typer.Option(help="Why, or what you did about the failure; saved with the lesson learned from it.")
    ] = "",
    by: Annotated[str, typer.Option(help="Who answers, for the audit.")] = "",
    as_json: AsJson = False,
) -> None:
    """Answer a question that a task waits for.

    Example: perdure answer task.yaml pay yes --because 'checked by phone'
    """
    given = validated(Answer, {"question_id": question, "value": value, "note": because}, "", InvalidAnswer)
    await gateway(Settings()).answer(workflow_id_of(task), given, by=person(by))
    if as_json:
        show_json({"answered": question})
    else:
        say(f"answered {question}")


async def deliver(
    task: TaskArgument,
    event: Annotated[str, typer.Argument(help="The event's name, as 'status' shows it.")],
    value: Annotated[str | None, typer.Argument(help="Its value: JSON, otherwise text; null if left out.")] = None,
    *,
    identifier: Annotated[
        str, typer.Option("--id", help="Your own id for the event: delivered again under the same id, it counts once.")
    ] = "",
    by: Annotated[str, typer.Option(help="Who delivers it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Deliver an event that a step of a task waits for; one that comes early is kept until the step is reached.

    Example: perdure deliver task-audit-7-1fd90551848a payment.received '{"amount": 12}'
    """
    sent = None if value is None else json_or_text(value, "VALUE")
    given = validated(Event, {"name": event, "value": sent, "id": identifier}, "", InvalidEvent)
    await gateway(Settings()).deliver(workflow_id_of(task), given, by=person(by))
    if as_json:
        show_json({"delivered": given.name})
    else:
        say(f"delivered {given.name}")
