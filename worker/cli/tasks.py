"""Commands about one task: run, fork, status, answer, deliver, cancel."""

import asyncio
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from perdure.documents import validated
from perdure.errors import (
    InvalidAnswer,
    InvalidEvent,
    InvalidTask,
    PerdureError,
    StoreUnavailable,
    Unconfirmed,
    WorkerUnavailable,
)
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.beginnings import ANY, BeginRequest
from perdure.values.events import Event
from perdure.values.questions import Answer, Question
from perdure.values.task_status import StartedTask
from perdure.values.tasks import AgentTask, TaskResult
from worker.cli.reach import gateway, note_other_settings, person, require_startable, started
from worker.cli.task_files import read_task, workflow_id_of
from worker.cli.values import json_or_text
from worker.gateway import Gateway
from worker.terminal import display
from worker.terminal.answers import asked
from worker.terminal.conversation import TypedLines
from worker.terminal.output import Exit, draw, fail, out, say, show_json, status_of

TaskArgument = Annotated[str, typer.Argument(help="The workflow id that 'run' printed, or the task's YAML file.")]
OfUser = Annotated[str, typer.Option("--user", help="Whose task it is, where you name it by your own task_id.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, for a script.")]


Detached = Annotated[bool, typer.Option("--detach", help="Start it and return.")]
Traced = Annotated[
    bool,
    typer.Option("--trace", help="Print the tree of the task's spans when it has ended: each step, wait and question."),
]


_GOES_ON = "effects that it recorded are not repeated"
_AGAIN = "--again goes through it again, with the effects that are recorded; for new effects, choose another task_id"

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

    If the task is open or has completed, this attaches to it. After a failure, or with --again, it continues from the
    recorded effects: nothing happens twice. Other inputs or another skill need another task_id, or --from: then the
    steps before that one are not run again, and you are asked to confirm what differs.

    Example: perdure run task.yaml --detach
    """
    if yes and not step:
        raise InvalidTask("--yes", "confirms nothing here", fix="it is for use with --from")
    asked = {"step": step, "confirmed": ANY if yes else ""}
    begin = validated(BeginRequest, asked, "", InvalidTask) if step else None
    how = _Shown(detach=detach, traced=traced, verbose=verbose, as_json=as_json)
    await _run(read_task(file), begin, how, file, again=again)


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
    task = read_task(file)
    forked = validated(AgentTask, task.model_dump() | {"task_id": task_id}, "", InvalidTask)
    begin = validated(BeginRequest, {"step": step, "of": task.task_id}, "", InvalidTask)
    await _run(forked, begin, _Shown(detach=detach, traced=traced, verbose=verbose, as_json=as_json), file)


class _Shown(NamedTuple):
    """What a person wants to see of a task that they run."""

    detach: bool
    traced: bool
    verbose: bool
    as_json: bool


async def _run(task: AgentTask, begin: BeginRequest | None, how: _Shown, file: Path, *, again: bool = False) -> None:
    # It takes .2 s to load (measured), which "status" and "answer" need not wait for.
    from worker.telemetry import Telemetry, render_tree, spans_of  # noqa: PLC0415

    settings = Settings()
    addresses = await asyncio.to_thread(started, settings)
    telemetry = Telemetry.start(settings, service="perdure-cli")
    problem, status = "", Exit.DONE
    try:
        installation = gateway(settings, addresses, telemetry.plugin)
        with telemetry.root("perdure.run") as trace:
            # What is only looked at may be of a worker with others.
            is_local = settings.configured_addresses() is None
            unchecked = file if is_local and not await installation.serving() else None
            guard = functools.partial(require_startable, settings, unchecked)
            begun = await _started(installation, task, begin, guard, again=again)
            workflow_id = begun.workflow_id
            _say_started(begun)
            if not begun.new:
                note_other_settings(settings)
            if how.detach:
                if how.as_json:
                    show_json({"workflow_id": workflow_id, "new": begun.new, "checked": begun.checked})
                return
            try:
                await _say_if_unserved(installation)
                asks = _asking(installation, workflow_id) if sys.stdin.isatty() and not how.as_json else None
                result = await display.follow(installation, workflow_id, by=person(), asks=asks)
            except asyncio.CancelledError:
                say(f"detached; the task goes on: perdure status {workflow_id}")
                raise
            except PerdureError as error:
                if isinstance(error, StoreUnavailable) and error.store == "temporal":
                    say(f"it cannot be followed any more; the task goes on: perdure status {workflow_id}")
                    raise
                problem, status = str(error), status_of(error)
                result = await installation.ended(workflow_id, by=person())
        if how.traced:
            # The task's own: this process may have attached to it.
            trace = await installation.trace(workflow_id, by=person()) or trace
    finally:
        telemetry.stop()
    if how.as_json and result is not None:
        show_json(result)
    elif result is not None:
        report(result, verbose=how.verbose)
    if how.traced:
        draw(render_tree(spans_of(settings.home / "traces", trace)))
    if status is not Exit.DONE:
        fail(problem, status)


def _asking(installation: Gateway, workflow_id: str) -> display.Asks:
    """Return what asks a task's questions in this terminal."""
    lines = TypedLines()

    async def asks(question: Question) -> bool:
        return await asked(installation, workflow_id, question, lines, by=person())

    return asks


async def _started(
    installation: Gateway, task: AgentTask, begin: BeginRequest | None, guard: Callable[[], None], *, again: bool
) -> StartedTask:
    """Start a task; where a person has to confirm what differs, ask first.

    Raises:
        Unconfirmed: What differs is not confirmed.
    """
    while True:
        try:
            return await installation.start(task, by=person(), again=again, begin=begin, guard=guard)
        except Unconfirmed as differs:
            if begin is None or not sys.stdin.isatty():
                raise
            say(differs.problem)
            if not typer.confirm("Is that meant?", err=True):
                raise
            # Just that: what changes in the meantime is asked about again.
            begin = begin.changed(confirmed=differs.confirmation)


def _say_started(begun: StartedTask) -> None:
    """Report to a person whether a task was started, and what was before."""
    ended, at = "", begun.ended_at
    if at:
        ended = f", which completed at {at:%Y-%m-%d %H:%M:%S %Z}; {_AGAIN}"
    if (earlier := begun.earlier) and (before := earlier.ended_at):
        how = earlier.problem or earlier.how
        ended = f", whose last run ended at {before:%Y-%m-%d %H:%M:%S %Z}: {how}; {_GOES_ON}"
    say(f"{'started' if begun.new else 'attached to'} {begun.workflow_id}{ended}")
    if begun.checked is False:
        say("no worker has said yet whether it can start: one checks it as it begins")


async def _say_if_unserved(installation: Gateway) -> None:
    """Report to a person who follows a task that no worker serves it, after giving one that is starting a moment."""
    try:
        await installation.served()
    except WorkerUnavailable as absent:
        say(f"the task waits for a worker: {absent}")


def report(result: TaskResult, *, verbose: bool = False) -> None:
    """Print how a task ended, for a person."""
    out.print(
        f"{result.status}: {counted(result.done, 'step')} done, {result.skipped} skipped, {result.failed} failed, "
        f"{counted(result.recalled, 'item')} recalled"
    )
    if result.happened_before:
        out.print(f"not repeated: {counted(result.happened_before, 'effect')} that had happened before")
    for told in display.not_as_meant(result, verbose=verbose):
        out.print(told, markup=False)
    for warning in result.warnings:
        out.print(f"warned: {warning}", markup=False)
    for refused in result.refused:
        out.print(f"not remembered: {refused}", markup=False)
    if result.evaluation is not None:
        for one in result.evaluation.judgements:
            verdict = "passed" if one.passed else "not passed"
            out.print(f"evaluation by {one.by}, {verdict}: {one.reason}", markup=False)
    if result.output is not None:
        out.print_json(data=result.output)


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


async def cancel(task: TaskArgument, *, as_json: AsJson = False) -> None:
    """Ask a task to stop; it first finishes what it must not leave half done.

    Example: perdure cancel task.yaml
    """
    workflow_id = workflow_id_of(task)
    await gateway(Settings()).cancel(workflow_id, by=person())
    if as_json:
        show_json({"cancelled": workflow_id})
    else:
        say(f"asked {workflow_id} to stop: perdure status {workflow_id}")
