"""Following a task live: a progress bar for people, and the questions it waits on."""

import asyncio
import shlex

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from perdure.questions import Question
from perdure.tasks import Progress, TaskResult
from worker.cli.output import counted, err, out, program

_PERIOD = 0.25


async def follow(handle: WorkflowHandle[object, TaskResult]) -> TaskResult:
    """Show how a task goes until it ends; waits as long as it takes.

    Raises:
        WorkflowFailureError: The task was cancelled, or failed.
    """
    result = asyncio.create_task(handle.result())
    asked: set[str] = set()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[step]}"),
        TimeElapsedColumn(),
    )
    # Where nobody watches, a bar is noise; the questions are not.
    with Bar(*columns, console=err, disable=not err.is_terminal) as bar:
        line = bar.add_task("starting", total=None, step="")
        while not result.done():
            progress = await progress_of(handle)
            if progress is not None:
                bar.update(
                    line,
                    description=progress.phase.value,
                    completed=progress.done,
                    total=progress.total or None,
                    step=progress.step,
                )
                for question in progress.questions:
                    if question.id not in asked:
                        asked.add(question.id)
                        bar.console.print(how_to_answer(handle.id, question), markup=False)
            await asyncio.wait([result], timeout=_PERIOD)
        ended = _how_it_ended(result)
        if ended is not None:
            done = ended.done + ended.skipped + ended.failed
            bar.update(line, description=ended.status, completed=done, step="")
    return result.result()


def result_in(error: WorkflowFailureError) -> TaskResult | None:
    """Give the result that a failed task left, if it got far enough to leave one."""
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type == "TaskFailed" and cause.details:
        return TaskResult.model_validate(cause.details[0])
    return None


def _how_it_ended(result: "asyncio.Task[TaskResult]") -> TaskResult | None:
    error = result.exception()
    if error is None:
        return result.result()
    return result_in(error) if isinstance(error, WorkflowFailureError) else None


def how_to_answer(workflow_id: str, question: Question) -> str:
    """Word a question together with the command that answers it."""
    hint = f" [{question.answer.hint}]" if question.answer.hint else ""
    # A path has brackets, which shells take for patterns.
    return f"? {question.text}{hint}\n  {program()} answer {workflow_id} {shlex.quote(question.id)} ANSWER"


def show(progress: Progress) -> None:
    """Print where a task is, for a person."""
    place = f" at {progress.step}" if progress.step else ""
    out.print(f"{progress.task_id}: {progress.skill}, {progress.phase.value}{place}", markup=False)
    out.print(
        f"{progress.done} of {counted(progress.total, 'step')} ({progress.skipped} skipped, {progress.failed} failed), "
        f"{counted(progress.recalled, 'item')} recalled, {progress.remembered} remembered"
    )
    if progress.problem:
        out.print(progress.problem, markup=False)


async def progress_of(handle: WorkflowHandle[object, TaskResult], seconds: float = 2) -> Progress | None:
    """Ask where the task is; None while no worker can say (it may just have been killed)."""
    try:
        # Not wait_for, which in Python 3.11 loses a Ctrl-C that comes together with the answer.
        async with asyncio.timeout(seconds):
            return await handle.query("progress", result_type=Progress)
    except TimeoutError:
        return None
    except RPCError as error:
        task = asyncio.current_task()
        if task and task.cancelling():
            # Whoever cancels us, Ctrl-C say, must not be taken for a worker that is away.
            raise asyncio.CancelledError from error
        if error.status in (
            RPCStatusCode.DEADLINE_EXCEEDED,
            RPCStatusCode.FAILED_PRECONDITION,
            RPCStatusCode.CANCELLED,
        ):
            return None
        raise
