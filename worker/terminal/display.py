"""A task followed live: a progress bar for people, and the questions that it waits on."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from perdure.durations import Wait
from perdure.errors import PerdureError
from perdure.plurals import counted
from perdure.policies.decision import SHORT
from perdure.values.changes import Actor
from perdure.values.questions import Question, QuestionKind
from perdure.values.tasks import Progress, StepStatus, TaskResult
from worker.gateway import Gateway
from worker.terminal.output import err, out, program, say

_SHOWN_ID = 17
"""Characters of an entry's id; a choice. With twelve digits no two entries of a user begin alike."""

Asks = Callable[[Question], Coroutine[Any, Any, bool]]
"""Asks a question in this terminal; returns whether more can be typed."""


async def follow(
    installation: Gateway,
    workflow_id: str,
    on_progress: Callable[[Progress], Awaitable[None]] | None = None,
    *,
    by: Actor,
    asks: Asks | None = None,
    period: float = 0.25,
) -> TaskResult:
    """Show how a task goes until it ends; waits as long as it takes.

    Args:
        installation: The gateway to ask.
        workflow_id: The task.
        on_progress: Called with each state of the task, once it is shown.
        by: Who follows it.
        asks: Asks a question in this terminal; None: how to answer it is printed.
        period: Seconds between two states.

    Raises:
        TaskFailed: It failed.
        WorkflowCancelled: It was cancelled.
    """
    result = asyncio.create_task(installation.result(workflow_id, by=by))
    questions = _Questions(workflow_id, asks)
    # In a log a bar is noise; the questions are not.
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[step]}"))
    with Bar(*columns, TimeElapsedColumn(), console=err, disable=not err.is_terminal) as bar:
        line = bar.add_task("starting", total=None, step="")
        while not result.done():
            progress = await installation.progress(workflow_id, by=by)
            if progress is not None:
                bar.update(
                    line,
                    description=progress.phase.value,
                    completed=progress.done,
                    total=progress.total or None,
                    step=progress.shown or progress.step,
                )
                questions.show(progress.questions, bar)
                if on_progress:
                    await on_progress(progress)
            await asyncio.wait([result], timeout=period)
        questions.close(bar)
        ended = await _how_it_ended(installation, workflow_id, result, by)
        if ended is not None:
            done = ended.done + ended.skipped + ended.failed
            bar.update(line, description=ended.status, completed=done, step="")
    return result.result()


class _Questions:
    """What a task asks while it is followed: one question at a time in this terminal, or how to answer it elsewhere."""

    def __init__(self, workflow_id: str, asks: Asks | None) -> None:
        self._workflow_id = workflow_id
        self._asks = asks
        self._shown: set[str] = set()
        self._current = ""
        self._asking: asyncio.Task[bool] | None = None

    def show(self, questions: Sequence[Question], bar: Bar) -> None:
        """Show those that are new; while one is asked, the others wait, unless it is answered elsewhere."""
        if self._asking is not None:
            self._settle(self._asking, {one.id for one in questions}, bar)
        if self._asking is not None:
            return
        for question in questions:
            if question.id in self._shown:
                continue
            self._shown.add(question.id)
            if self._asks is None:
                bar.console.print(how_to_answer(self._workflow_id, question), markup=False)
                continue
            # The bar would be drawn over what is typed.
            bar.stop()
            self._current, self._asking = question.id, asyncio.create_task(self._asks(question))
            return

    def close(self, bar: Bar) -> None:
        """Ask no more, as the task has ended."""
        if self._asking is not None:
            self._asking.cancel()
            bar.start()

    def _settle(self, asking: "asyncio.Task[bool]", open_: set[str], bar: Bar) -> None:
        """End the asking of a question that is answered, or open no more."""
        if not asking.done():
            if self._current in open_:
                return
            asking.cancel()
            say("\nit was answered elsewhere, or is asked no more")
        elif asking.cancelled() or asking.exception() is not None or not asking.result():
            # Nothing more is typed: whatever is open can be answered by a command.
            self._asks = None
            self._shown.discard(self._current)
        self._asking = None
        bar.start()


async def _how_it_ended(
    installation: Gateway, workflow_id: str, result: "asyncio.Task[TaskResult]", by: Actor
) -> TaskResult | None:
    try:
        return result.result()
    except PerdureError:
        return await installation.ended(workflow_id, by=by)


def about(question: Question) -> str:
    """Word a question, with what it is about and until when it can be answered."""
    hint = f" [{question.answer.hint}]" if question.answer.hint else ""
    lines = [f"  {line}" for line in (question.about.lines if question.about else [])]
    if question.kind is QuestionKind.UNKNOWN_EFFECT:
        lines.append("  done: the step ends, without an output; not_done: it acts again")
    lines += [f"  until {question.until:%Y-%m-%d %H:%M:%S %Z}, then: {question.otherwise}"] if question.until else []
    return "\n".join([f"? {question.text}{hint}", *lines])


def how_to_answer(workflow_id: str, question: Question) -> str:
    """Word a question together with the command that answers it."""
    # A path has brackets, which shells take for patterns.
    return f"{about(question)}\n  {program()} answer {workflow_id} {shlex.quote(question.id)} ANSWER"


def how_to_resume(workflow_id: str) -> str:
    """Word the command that has a paused task go on."""
    return f"  {program()} resume {workflow_id}"


def how_to_deliver(workflow_id: str, wait: Wait) -> str:
    """Word the command that delivers the event that a step waits for."""
    return f"  {program()} deliver {workflow_id} {shlex.quote(wait.event)} VALUE"


def shown_id(identifier: str) -> str:
    """Return the beginning of an entry's id, which commands about single entries take for it."""
    return identifier[:_SHOWN_ID]


def versions(found: Mapping[str, str]) -> Iterator[str]:
    """Word what a task is pinned to, as ``perdure skills log`` and its like name it."""
    if found:
        yield f"pinned to {', '.join(f'{name} {version[:SHORT]}'.strip() for name, version in found.items())}"


def not_as_meant(told: Progress | TaskResult, *, verbose: bool = False) -> Iterator[str]:
    """Word which steps failed or were skipped, and why; which were undone; of which nobody knows whether they acted.

    Args:
        told: How far a task is, or how it ended.
        verbose: Whether to name the lines of libraries too.
    """
    for one in told.incomplete:
        yield f"{one.status.value}: {one.shown or one.step}: {one.problem}"
        yield from (f"  at {frame.told}" for frame in one.frames if verbose or not frame.library)
    for status, number in ((StepStatus.FAILED, told.failed), (StepStatus.SKIPPED, told.skipped)):
        if (more := number - sum(one.status is status for one in told.incomplete)) > 0:
            yield f"{status.value}: {more} more"
    if told.compensated:
        yield f"undone: {', '.join(told.compensated)}"
    yield from (f"not undone: {problem}" for problem in told.uncompensated)
    yield from (f"nobody knows whether its effect happened: {step}" for step in told.unknown)


def show(progress: Progress, *, verbose: bool = False) -> None:
    """Print where a task is, for a person; with the lines of libraries in what failed, if that is wanted."""
    place = f" at {progress.shown or progress.step}" if progress.step else ""
    what = progress.skill or ("a chat" if progress.chat else "a goal")
    out.print(f"{progress.task_id}: {what}, {progress.phase.value}{place}", markup=False)
    out.print(
        f"{progress.done} of {counted(progress.total, 'step')} ({progress.skipped} skipped, {progress.failed} failed), "
        f"{counted(progress.recalled, 'item')} recalled, {progress.remembered} remembered"
    )
    if progress.until:
        out.print(f"ends by {progress.until:%Y-%m-%d %H:%M:%S %Z} at the latest")
    for intervention in progress.interventions:
        out.print(intervention.told, markup=False)
    if progress.unread:
        out.print(f"messages that its model has not seen yet: {progress.unread}")
    if progress.paused:
        out.print("it pauses: what is under way ends, and nothing new begins")
    for wait in progress.waits:
        out.print(f"{wait.shown or wait.step} {wait.told}", markup=False)
    for retry in progress.retries:
        out.print(retry.told(datetime.now(UTC)), markup=False)
    if (more := progress.waiting - len(progress.waits)) > 0:
        out.print(f"and {more} more wait")
    for told in versions(progress.versions):
        out.print(told, markup=False)
    if progress.kept:
        out.print(f"events that no step has waited for yet: {progress.kept}")
    for told in not_as_meant(progress, verbose=verbose):
        out.print(told, markup=False)
    if problem := _untold(progress):
        out.print(problem, markup=False)


def _untold(progress: Progress) -> str:
    """Return what a task's problem says beyond that of a step, which is told with the step."""
    for one in progress.incomplete:
        of_step = f"step {one.step}: {one.problem}"
        if f"{progress.problem}\n".startswith(f"{of_step}\n"):
            return progress.problem.removeprefix(of_step).lstrip("\n")
    return progress.problem
