"""How ``run`` and ``fork`` start a task, follow it, and report its end. What is wrong with it is told with its line."""

import asyncio
import functools
import sys
from collections.abc import Callable
from typing import NamedTuple, NoReturn

import typer

from perdure.errors import InvalidInput, PerdureError, StoreUnavailable, Unconfirmed, WorkerUnavailable
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.values.beginnings import BeginRequest
from perdure.values.questions import Question
from perdure.values.task_status import StartedTask
from perdure.values.tasks import AgentTask, TaskResult
from worker.cli.reach import check_here, gateway, note_other_settings, person, require_same_settings, started
from worker.cli.task_files import TaskFile
from worker.exit_status import status_of
from worker.gateway import Gateway
from worker.terminal import display
from worker.terminal.answers import asked
from worker.terminal.conversation import TypedLines
from worker.terminal.output import draw, fail, out, say, show_json

_GOES_ON = "effects that it recorded are not repeated"
_AGAIN = "--again goes through it again, with the effects that are recorded; for new effects, choose another task_id"


class RunDisplay(NamedTuple):
    """What a person wants to see of a task that they run."""

    detach: bool
    traced: bool
    verbose: bool
    as_json: bool


async def follow_run(source: TaskFile, begin: BeginRequest | None, how: RunDisplay, *, again: bool = False) -> None:
    """Run a task and follow it to its end.

    Args:
        source: The task, with its file.
        begin: The step at which it begins, if that is not the first.
        how: What is shown of it.
        again: Whether it is run once more although it has completed.

    Raises:
        InvalidInput: It cannot start; with the line, if that is about a field of its file.
    """
    # It takes .2 s to load (measured), which "status" and "answer" need not wait for.
    from worker.telemetry import Telemetry, render_tree, spans_of  # noqa: PLC0415

    settings = Settings()
    addresses = await asyncio.to_thread(started, settings)
    telemetry = Telemetry.start(settings, service="perdure-cli")
    failure: PerdureError | None = None
    try:
        installation = gateway(settings, addresses, telemetry.plugin)
        with telemetry.root("perdure.run") as trace:
            # What is only looked at may be of a worker with others.
            guard = functools.partial(require_same_settings, settings)
            check = functools.partial(check_here, settings, source.path)
            with source.placing():
                begun = await _started(installation, source.task, begin, guard, check, again=again)
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
                failure = source.placed(error) if isinstance(error, InvalidInput) else error
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
    if failure is not None:
        _end(failure, as_value=how.as_json and result is None)


def _end(failure: PerdureError, *, as_value: bool) -> NoReturn:
    if as_value:
        # A task that left no result: its error is the one value that a script gets.
        raise failure
    fail(str(failure), status_of(failure))


def _asking(installation: Gateway, workflow_id: str) -> display.Asks:
    """Return what asks a task's questions in this terminal."""
    lines = TypedLines()

    async def asks(question: Question) -> bool:
        return await asked(installation, workflow_id, question, lines, by=person())

    return asks


async def _started(
    installation: Gateway,
    task: AgentTask,
    begin: BeginRequest | None,
    guard: Callable[[], None],
    check: Callable[[], None],
    *,
    again: bool,
) -> StartedTask:
    """Start a task; where a person has to confirm what differs, ask first.

    Raises:
        Unconfirmed: What differs is not confirmed.
    """
    while True:
        try:
            return await installation.start(task, by=person(), again=again, begin=begin, guard=guard, check=check)
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
