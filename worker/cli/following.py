"""Following a task live: a progress bar for people, and the questions it waits on."""

import asyncio

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from perdure.tasks import Phase, Progress, Question, TaskResult
from worker.cli.output import err, say

_PERIOD = 0.25
_ENDED = (Phase.COMPLETED, Phase.FAILED, Phase.CANCELLED)


async def follow(handle: WorkflowHandle[object, TaskResult]) -> TaskResult:
    """Show how a task goes until it ends; waits as long as it takes.

    Raises:
        WorkflowFailureError: The task failed.
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
    with Bar(*columns, console=err, transient=False) as bar:
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
    return result.result()


def how_to_answer(workflow_id: str, question: Question) -> str:
    """Word a question together with the command that answers it."""
    choices = f" [{' | '.join(question.choices)}]" if question.choices else ""
    return f"? {question.text}{choices}\n  perdure answer {workflow_id} {question.id} ANSWER"


def show(progress: Progress) -> None:
    """Print where a task is, for a person."""
    say(f"{progress.task_id}  {progress.skill}  {progress.phase.value}  {progress.step}")
    say(
        f"steps {progress.done}/{progress.total} ({progress.skipped} skipped, {progress.failed} failed), "
        f"{progress.recalled} recalled, {progress.remembered} remembered"
    )
    if progress.problem:
        say(progress.problem)


async def progress_of(handle: WorkflowHandle[object, TaskResult]) -> Progress | None:
    """Ask where the task is; None while no worker can say (it may just have been killed)."""
    try:
        return await asyncio.wait_for(handle.query("progress", result_type=Progress), 2.0)
    except TimeoutError:
        return None
    except RPCError as error:
        if error.status in (
            RPCStatusCode.DEADLINE_EXCEEDED,
            RPCStatusCode.FAILED_PRECONDITION,
            RPCStatusCode.CANCELLED,
        ):
            return None
        raise
