"""Commands about one task: run, status, answer, cancel."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from perdure.documents import read_document, validated
from perdure.errors import InvalidTask, StoreUnavailable
from perdure.questions import Answer
from perdure.settings import Settings
from perdure.tasks import AgentTask, TaskResult
from perdure.temporal.names import TASK_TIMEOUT
from worker.cli import following
from worker.cli.output import Exit, counted, err, explained, fail, out, reason_of, say, show_json, status_of
from worker.cli.reach import no_worker, reachable, served, started
from worker.connection import connected, pollers
from worker.telemetry import Telemetry, render_tree, spans_of

TaskArgument = Annotated[str, typer.Argument(help="The workflow id that 'run' printed, or the task's YAML file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, for a script.")]


def read_task(path: Path) -> AgentTask:
    """Read a task from YAML.

    Raises:
        InvalidTask: Naming the field and the fix.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidTask(str(path), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidTask(str(path), "is not UTF-8 text") from error
    return validated(AgentTask, read_document(text, str(path), InvalidTask), "", InvalidTask)


def workflow_id_of(task: str) -> str:
    """Give the workflow id that a person means: an id as it is, or that of the task in a YAML file."""
    return read_task(Path(task)).workflow_id if task.endswith((".yaml", ".yml")) else task


async def start(client: Client, task: AgentTask, settings: Settings) -> tuple[WorkflowHandle[Any, TaskResult], bool]:
    """Start a task, or attach to the run that there is, open or closed.

    Returns:
        The handle, and whether the task is new.
    """
    try:
        handle: WorkflowHandle[Any, TaskResult] = await client.start_workflow(
            "ResumableAgent",
            task,
            id=task.workflow_id,
            task_queue=settings.task_queue,
            task_timeout=TASK_TIMEOUT,
            result_type=TaskResult,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            static_summary=f"{task.skill} for {task.agent}",
        )
    except WorkflowAlreadyStartedError:
        return client.get_workflow_handle(task.workflow_id, result_type=TaskResult), False
    return handle, True


def run(
    file: Annotated[Path, typer.Argument(help="The task: task_id, user_id, skill and inputs, in YAML.")],
    *,
    detach: Annotated[bool, typer.Option("--detach", help="Start it and return.")] = False,
    traced: Annotated[bool, typer.Option("--trace", help="Print the span tree when it has ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a task and follow it live. Ctrl-C detaches; the task goes on."""
    with explained():
        settings = Settings()
        task = read_task(file)
        asyncio.run(_run(settings, task, detach=detach, traced=traced, as_json=as_json))


async def _run(settings: Settings, task: AgentTask, *, detach: bool, traced: bool, as_json: bool) -> None:
    addresses = await asyncio.to_thread(started, settings)
    telemetry = Telemetry.start(settings, service="perdure-cli")
    problem, status = "", Exit.DONE
    try:
        client = await connected(addresses, plugins=[telemetry.plugin])
        with telemetry.root("perdure.run") as trace:
            handle, new = await start(client, task, settings)
            say(f"{'started' if new else 'attached to'} {handle.id}")
            if detach:
                if as_json:
                    show_json({"workflow_id": handle.id, "new": new})
                return
            try:
                await _say_if_unserved(client, settings)
                result = await following.follow(handle)
            except asyncio.CancelledError:
                say(f"detached; the task goes on: perdure status {handle.id}")
                raise
            except WorkflowFailureError as error:
                result, problem, status = following.result_in(error), reason_of(error), status_of(error)
    finally:
        telemetry.stop()
    if as_json and result is not None:
        show_json(result)
    elif result is not None:
        report(result)
    if traced:
        # Wider than a narrow terminal: a line that wraps tells more than one that was cut.
        err.print(render_tree(spans_of(settings.home / "traces", trace)), width=max(err.width, 200), crop=False)
    if status is not Exit.DONE:
        fail(problem, status)


async def _say_if_unserved(client: Client, settings: Settings) -> None:
    """Tell whoever follows a task that nobody runs it; a worker that is just starting is given its moment."""
    try:
        await served(client, settings)
    except StoreUnavailable as absent:
        say(f"the task waits for a worker: {absent}")


def report(result: TaskResult) -> None:
    """Print how a task ended, for a person."""
    out.print(
        f"{result.status}: {counted(result.done, 'step')} done, {result.skipped} skipped, {result.failed} failed, "
        f"{counted(result.recalled, 'item')} recalled"
    )
    for refused in result.refused:
        out.print(f"not remembered: {refused}", markup=False)
    if result.evaluation is not None:
        verdict = "passed" if result.evaluation.passed else "not passed"
        out.print(f"evaluation {verdict}: {result.evaluation.reason}", markup=False)
    if result.output is not None:
        out.print_json(data=result.output)


def status(task: TaskArgument, *, as_json: AsJson = False) -> None:
    """Show where a task is, and what it waits on."""
    with explained():
        asyncio.run(_status(Settings(), workflow_id_of(task), as_json=as_json))


async def _status(settings: Settings, workflow_id: str, *, as_json: bool) -> None:
    client = await connected(reachable(settings))
    handle = client.get_workflow_handle(workflow_id, result_type=TaskResult)
    with about(workflow_id):
        closed = (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING
        # Only a worker can tell, and one that took over from a killed one needs a moment.
        served_now = await pollers(client, settings.task_queue) > 0
        progress = await following.progress_of(handle, seconds=5) if served_now else None
    if progress is None:
        raise StoreUnavailable("worker", no_worker(settings))
    if as_json:
        show_json(progress)
        return
    following.show(progress)
    if not closed:
        for question in progress.questions:
            out.print(following.how_to_answer(workflow_id, question), markup=False)


def answer(
    task: TaskArgument,
    question: Annotated[str, typer.Argument(help="The question's id, as 'status' shows it.")],
    value: Annotated[str, typer.Argument(help="The answer.")],
    *,
    by: Annotated[str, typer.Option(help="Who answers, for the audit.")] = "",
    as_json: AsJson = False,
) -> None:
    """Answer a question that a task waits on."""
    with explained():
        given = validated(Answer, {"question_id": question, "value": value, "by": by}, "")
        asyncio.run(_answer(Settings(), workflow_id_of(task), given))
        if as_json:
            show_json({"answered": question})
        else:
            say(f"answered {question}")


async def _answer(settings: Settings, workflow_id: str, given: Answer) -> None:
    client = await connected(reachable(settings))
    with about(workflow_id):
        handle = client.get_workflow_handle(workflow_id)
        if (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING:
            raise InvalidTask("task", f"{workflow_id} has ended: it asks nothing", fix="perdure status shows how")
        await served(client, settings)
        await handle.execute_update("answer", given)


def cancel(task: TaskArgument, *, as_json: AsJson = False) -> None:
    """Ask a task to stop; it finishes what it must not leave half done."""
    with explained():
        workflow_id = workflow_id_of(task)
        asyncio.run(_cancel(Settings(), workflow_id))
        if as_json:
            show_json({"cancelled": workflow_id})
        else:
            say(f"asked {workflow_id} to stop: perdure status {workflow_id}")


async def _cancel(settings: Settings, workflow_id: str) -> None:
    client = await connected(reachable(settings))
    handle = client.get_workflow_handle(workflow_id)
    with about(workflow_id):
        if (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING:
            raise InvalidTask("task", f"{workflow_id} has ended already", fix="perdure status shows how")
        await handle.cancel()


@contextmanager
def about(workflow_id: str) -> Generator[None]:
    """Turn what Temporal says of a workflow that is not there into what a person can do about it."""
    try:
        yield
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND or "workflow" not in error.message:
            raise
        if "completed" in error.message:
            raise InvalidTask("task", f"{workflow_id} has ended: it asks nothing") from error
        raise InvalidTask(
            "task", f"there is none with the id {workflow_id}", fix="give the id that 'run' printed, or its YAML file"
        ) from error
