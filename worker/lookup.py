"""What an id stands for: tasks, jobs and sweeps are all workflows, and a request for one must not reach another."""

from collections.abc import Callable
from functools import partial

from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)
from temporalio.service import RPCError, RPCStatusCode

from perdure.errors import InvalidInput, InvalidTask
from perdure.names import SENDING, Workflow
from perdure.temporal.errors import perdure_error
from perdure.values.retries import Retry
from perdure.values.task_status import EarlierRun
from perdure.values.tasks import Phase

_PHASES = {
    WorkflowExecutionStatus.COMPLETED: Phase.COMPLETED,
    WorkflowExecutionStatus.FAILED: Phase.FAILED,
    WorkflowExecutionStatus.CANCELED: Phase.CANCELLED,
}

_NAMES: dict[str, str] = {
    Workflow.RESUMABLE_AGENT: "a task",
    Workflow.INGEST_MEMORY: "the job of a batch to remember",
    Workflow.HOLD_MEMORY: "a memory on hold",
    Workflow.ASK_PERSON: "a question of a workflow",
    Workflow.FORGET_MEMORY: "a sweep",
    Workflow.UNDO_FORGETTING: "the undoing of a sweep",
    Workflow.RECONCILE_MEMORY: "a reconciliation of the stores",
}


async def task_of(client: Client, workflow_id: str) -> WorkflowExecutionDescription:
    """Return what Temporal says of a task.

    Raises:
        InvalidTask: There is none with this id, or it is something else.
    """
    own = "; perdure status and tasks show take a task_id of your own with --user"
    refused = partial(InvalidTask, "task", fix=f"give the id that 'run' printed, or its YAML file{own}")
    return await _described(client, workflow_id, Workflow.RESUMABLE_AGENT, refused)


async def last_run_of(client: Client, workflow_id: str) -> WorkflowExecutionDescription | None:
    """Return what Temporal says of the last run of a task; None: it knows none."""
    try:
        return await task_of(client, workflow_id)
    except InvalidTask:
        return None


def how_it_ended(status: WorkflowExecutionStatus) -> str:
    """Return how a run ended: as its phase says it where there is one, otherwise in Temporal's word.

    >>> how_it_ended(WorkflowExecutionStatus.CANCELED)
    'cancelled'
    """
    return str(_PHASES.get(status, status.name.lower()))


async def would_run(found: WorkflowExecutionDescription, *, again: bool, sending: str, repeated: bool) -> bool:
    """Return whether starting a task would begin a run, and not attach to the one that Temporal described.

    Args:
        found: The last run of the task.
        again: Whether a task that has completed is to run once more.
        sending: An id of what asks for it, which attaches to the run that it began; empty: it has none.
        repeated: Whether that is known to have begun a run. The last run may be another's, which followed.
    """
    if repeated:
        return False
    if sending and await found.memo_value(SENDING, "") == sending:
        return False
    if found.status is WorkflowExecutionStatus.COMPLETED:
        return again
    return found.status is not WorkflowExecutionStatus.RUNNING


async def earlier_run(client: Client, found: WorkflowExecutionDescription) -> EarlierRun:
    """Return how the run that Temporal described has ended."""
    problem = ""
    if found.status is WorkflowExecutionStatus.FAILED:
        try:
            await client.get_workflow_handle(found.id, run_id=found.run_id).result(follow_runs=False)
        except WorkflowFailureError as error:
            problem = str(perdure_error(error) or error.cause)
    how = how_it_ended(found.status) if found.status else ""
    return EarlierRun(how=how, ended_at=found.close_time, problem=problem)


async def retries_of(found: WorkflowExecutionDescription) -> tuple[Retry, ...]:
    """Return the calls of a task that failed and are tried again, as Temporal described it."""
    if all(one.attempt < 2 for one in found.raw_description.pending_activities):
        return ()
    # It loads what writes logs, which looking at other tasks need not wait for.
    from worker import retries  # noqa: PLC0415

    return await retries.retries_of(found)


async def job_of(client: Client, workflow_id: str) -> WorkflowExecutionDescription:
    """Return what Temporal says of a job.

    Raises:
        InvalidInput: There is none with this id, or it is something else.
    """
    refused = partial(InvalidInput, "job", fix="give the id that 'remember' printed")
    return await _described(client, workflow_id, Workflow.INGEST_MEMORY, refused)


async def asker_of(client: Client, workflow_id: str) -> WorkflowExecutionDescription:
    """Return what Temporal says of a task, a memory on hold, or a question of a workflow: all ask people.

    Raises:
        InvalidTask: There is none with this id, or it is something else.
    """
    refused = partial(InvalidTask, "task", fix="give the id that 'run' or 'inbox' printed, or its YAML file")
    others = (Workflow.HOLD_MEMORY, Workflow.ASK_PERSON)
    return await _described(client, workflow_id, Workflow.RESUMABLE_AGENT, refused, *others)


async def _described(
    client: Client, workflow_id: str, wanted: Workflow, refused: Callable[[str], InvalidInput], *or_else: Workflow
) -> WorkflowExecutionDescription:
    if not workflow_id.strip():
        raise refused("is empty")
    try:
        found = await client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND or "workflow" not in error.message:
            raise
        raise refused(f"there is none with the id {workflow_id}") from error
    if found.workflow_type not in (wanted, *or_else):
        kind = _NAMES.get(found.workflow_type, "another workflow")
        raise refused(f"{workflow_id} is {kind} ({found.workflow_type}), and not {_NAMES[wanted]}")
    return found
