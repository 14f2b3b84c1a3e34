"""The gateway: everything that an installation can be asked, for every face alike. Each change names its actor."""

import asyncio
import datetime
import secrets
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from temporalio.client import Client, Plugin, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from perdure.changes import Actor
from perdure.documents import validated
from perdure.errors import InvalidTask, TaskFailed, WorkerUnavailable
from perdure.jobs import Receipt
from perdure.memory.recall.query import RecallResult
from perdure.names import AGAIN, ANSWER, PROGRESS, RESULT, STARTED_BY, Workflow
from perdure.questions import Answer
from perdure.requests import (
    ForgetRequest,
    ForgetResult,
    RecallRequest,
    ReconcileRequest,
    ReconcileResult,
    Reference,
    RememberRequest,
    UndoRequest,
    UndoResult,
)
from perdure.settings import Addresses, Settings
from perdure.tasks import AgentTask, Progress, TaskResult
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.temporal.connection import connected, pollers
from perdure.temporal.errors import is_cancelling, translated
from worker import local_worker
from worker.lookup import StartedTask, job_of, task_of
from worker.waiting import ANSWER_WITHIN, waiting

if TYPE_CHECKING:
    from worker.doctor import Finding
    from worker.reader import Reader

TaskHandle = WorkflowHandle[Any, TaskResult]

R = TypeVar("R")

_NOBODY_ANSWERS = (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.CANCELLED)
"""How a query fails while no worker is there to answer it."""


class Gateway:
    """One installation, as its callers see it.

    Args:
        settings: The task queue, and where the tenant key is.
        addresses: Where the servers are.
        notify: Called with a sentence for a person when something takes a moment.
        plugins: More plugins for Temporal's client.

    Every method raises errors of Perdure's and none of Temporal's: StoreUnavailable where a server that it needs does
    not answer, InvalidInput for what it or a worker refuses, with the field and the fix, WorkflowCancelled for what was
    cancelled, and what a worker raised under the same class and code.
    """

    def __init__(
        self,
        settings: Settings,
        addresses: Addresses,
        *,
        notify: Callable[[str], None] = lambda _: None,
        plugins: Sequence[Plugin] = (),
    ) -> None:
        self._settings = settings
        self._addresses = addresses
        self._notify = notify
        self._plugins = plugins
        self._connected: Client | None = None
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._reader: Reader | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Close what reading memory opened."""
        await self._stack.aclose()

    @translated
    async def client(self) -> Client:
        """Return Temporal's client, connecting when it is first needed: reading memory may not need it at all."""
        if self._connected is None:
            self._connected = await connected(self._addresses.temporal, plugins=self._plugins)
        return self._connected

    # Tasks

    @translated
    async def start(self, task: AgentTask, *, by: Actor, again: bool = False) -> StartedTask:
        """Start a task, or attach to its run that is open or has completed.

        A new run after a failure goes on from the effects that are recorded.

        Args:
            task: The task.
            by: Who starts it.
            again: Whether to run a task that has completed once more; what must not happen twice does not.

        Raises:
            InvalidTask: The task's id stands for another task; with the difference.
        """
        client = await self.client()
        try:
            started = await client.start_workflow(
                Workflow.RESUMABLE_AGENT,
                task,
                id=task.workflow_id,
                task_queue=self._settings.task_queue,
                result_type=TaskResult,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                static_summary=f"{task.skill} for {task.agent}",
                memo={STARTED_BY: by.model_dump(mode="json"), AGAIN: again},
            )
        except WorkflowAlreadyStartedError:
            handle = await self.task(task.workflow_id)
            found = await handle.describe()
            from worker.attaching import require_same  # noqa: PLC0415  it takes a second

            await require_same(self._settings, task, handle, found)
            return StartedTask(task.workflow_id, new=False, ended_at=found.close_time)
        return StartedTask(started.id, new=True, ended_at=None)

    @translated
    async def task(self, workflow_id: str) -> TaskHandle:
        """Return Temporal's own handle of a task, whose errors are not translated.

        Raises:
            InvalidTask: There is none with this id, or it is something else.
        """
        client = await self.client()
        await task_of(client, workflow_id)
        return client.get_workflow_handle(workflow_id, result_type=TaskResult)

    @translated
    async def is_running(self, workflow_id: str) -> bool:
        """Return whether a task is still open.

        Raises:
            InvalidTask: There is none with this id, or it is something else.
        """
        found = await task_of(await self.client(), workflow_id)
        return found.status is WorkflowExecutionStatus.RUNNING

    @translated
    async def progress(self, workflow_id: str, *, seconds: float = 2) -> Progress | None:
        """Return where a task is; None while no worker can say (it may just have been killed)."""
        try:
            # Not wait_for, which in Python 3.11 loses a Ctrl-C that comes together with the answer.
            async with asyncio.timeout(seconds):
                return await (await self.task(workflow_id)).query(PROGRESS, result_type=Progress)
        except TimeoutError:
            return None
        except RPCError as error:
            if error.status in _NOBODY_ANSWERS and not is_cancelling():
                return None
            raise

    @translated
    async def result(self, workflow_id: str) -> TaskResult:
        """Wait for a task's end, however long it takes.

        Raises:
            TaskFailed: It failed; ``ended`` returns what it left.
            WorkflowCancelled: It was cancelled.
        """
        return await (await self.task(workflow_id)).result()

    @translated
    async def ended(self, workflow_id: str) -> TaskResult | None:
        """Return how a task ended, also one that failed or was cancelled.

        Returns:
            None while it is open, where it did not get far enough to leave a result, and where no worker can say.
        """
        handle, kind = await self.task(workflow_id), cast("type[TaskResult]", TaskResult | None)
        if await self.is_running(workflow_id):
            return None
        try:
            return await handle.result()
        except WorkflowFailureError as error:
            cause = error.cause
            if isinstance(cause, ApplicationError) and cause.type == TaskFailed.__name__ and cause.details:
                return TaskResult.model_validate(cause.details[0])
        try:
            return await handle.query(RESULT, result_type=kind, rpc_timeout=datetime.timedelta(seconds=5))
        except RPCError:
            return None

    @translated
    async def answer(self, workflow_id: str, answer: Answer, *, by: Actor) -> None:
        """Answer a question that a task waits on.

        Raises:
            InvalidTask: There is no such task, or it has ended.
        """
        await self._require_open(workflow_id, "it asks nothing")
        await self.served()
        handle = await self.task(workflow_id)
        given = validated(Answer, answer.model_dump() | {"by": by.id}, "")
        afterwards = "the answer may still be taken: perdure status shows whether the question is still asked"
        try:
            async with waiting(self._notify, "take the answer", afterwards=afterwards, within=ANSWER_WITHIN):
                await handle.execute_update(ANSWER, given)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND and "completed" in error.message:
                raise InvalidTask("task", f"{workflow_id} has ended: it asks nothing") from error
            raise

    @translated
    async def cancel(self, workflow_id: str, *, by: Actor) -> None:
        """Ask a task to stop; it finishes what it must not leave half done.

        Raises:
            InvalidTask: There is no such task, or it has ended.
        """
        await self._require_open(workflow_id, "there is nothing to cancel")
        await (await self.task(workflow_id)).cancel(reason=f"asked by {by.kind} {by.id}".strip())

    async def _require_open(self, workflow_id: str, otherwise: str) -> None:
        if not await self.is_running(workflow_id):
            raise InvalidTask("task", f"{workflow_id} has ended: {otherwise}", fix="perdure status shows how")

    # Memory

    @translated
    async def recall(self, request: RecallRequest) -> RecallResult:
        """Recall from every tier of memory.

        Where this process has the tenant key, it asks the stores itself and leaves nothing in a history. Otherwise a
        worker recalls, and the result is fetched by a reference that expires within minutes.
        """
        # The stores' clients take a second to import, which the other calls need not wait for.
        from worker import reader  # noqa: PLC0415

        async with self._opening:
            if self._reader is None:
                opened = reader.open_reader(self._settings, self._addresses)
                self._reader = await self._stack.enter_async_context(opened)
        if self._reader is not None:
            return await self._reader.recall(request)
        reference = await self._execute(Workflow.RECALL_MEMORY, request, Reference, name="recall", within=ANSWER_WITHIN)
        return await reader.fetch(self._addresses, reference)

    @translated
    async def remember(self, request: RememberRequest, *, by: Actor) -> str:
        """Submit items to be remembered; returns the id of their job."""
        given = request.changed(by=by)
        return await self._execute(Workflow.REMEMBER_ITEMS, given, str, name="remember", within=ANSWER_WITHIN)

    @translated
    async def receipt(self, job: str) -> Receipt:
        """Wait for a job's receipt: what became of each item. Raises InvalidInput where there is no such job."""
        client = await self.client()
        await job_of(client, job)
        async with waiting(self._notify, f"end {job}", afterwards="the job goes on", within=None):
            return await client.get_workflow_handle(job, result_type=Receipt).result()

    @translated
    async def forget(self, request: ForgetRequest, *, by: Actor) -> ForgetResult:
        """Run a sweep: forget what the rules no longer keep."""
        return await self._execute(Workflow.FORGET_MEMORY, request.changed(by=by), ForgetResult, name="forget-memory")

    @translated
    async def undo(self, request: UndoRequest, *, by: Actor) -> UndoResult:
        """Bring back what a sweep forgot."""
        return await self._execute(Workflow.UNDO_FORGETTING, request.changed(by=by), UndoResult, name="undo-forgetting")

    @translated
    async def reconcile(self, request: ReconcileRequest, *, by: Actor) -> ReconcileResult:
        """Reconcile the stores with each other: what one of them lost is there again."""
        return await self._execute(Workflow.RECONCILE_MEMORY, request.changed(by=by), ReconcileResult, name="reconcile")

    # Status

    @translated
    async def status(self, *, quick: bool = False, deep: bool = False) -> "list[Finding]":
        """Return what every check of servers, durability, keys, models and skills finds.

        Args:
            quick: Only what a container's health depends on: Temporal and a worker.
            deep: Also compare what is stored of every user with what is found by meaning.
        """
        from worker import doctor  # noqa: PLC0415

        patient = doctor.Patient(settings=self._settings, addresses=self._addresses)
        return await doctor.examine(patient, quick=quick, deep=deep)

    @translated
    async def workers(self, *, pid: int | None = None) -> int:
        """Return how many workers serve the task queue: all, or the local one with a process id.

        One that was killed still counts for up to five minutes.
        """
        return await pollers(await self.client(), self._settings.task_queue, pid=pid)

    @translated
    async def served(self) -> None:
        """Check that a worker serves the task queue, and wait a moment for one that is just starting.

        Raises:
            StoreUnavailable: No worker serves the task queue.
        """
        for attempt in range(1 + int(local_worker.WITHIN / local_worker.LOOK_AGAIN)):
            if await self.workers():
                return
            if attempt == 0:
                self._notify(f"waiting {local_worker.WITHIN:.0f} s for a worker to serve {self._settings.task_queue!r}")
            await asyncio.sleep(local_worker.LOOK_AGAIN)
        raise self.unserved()

    def unserved(self, *, silent: int = 0) -> WorkerUnavailable:
        """Return the error that no worker answers, although ``silent`` of them serve; with the reason where known."""
        queue = self._settings.task_queue
        if silent:
            return WorkerUnavailable(f"the one that serves {queue!r} did not answer: it is busy, hangs or was killed")
        missing = f"none serves the task queue {queue!r}: start one with 'perdure worker'"
        return WorkerUnavailable(local_worker.problem(self._settings) or missing)

    async def _execute(
        self, workflow: str, argument: Any, result_type: type[R], *, name: str, within: float | None = None
    ) -> R:
        await self.served()
        id_ = f"{name}-{secrets.token_hex(6)}"
        afterwards = f"it is done once one answers: {id_} stays in Temporal"
        async with waiting(self._notify, f"answer ({name})", afterwards=afterwards, within=within):
            return await (await self.client()).execute_workflow(
                workflow,
                argument,
                id=id_,
                task_queue=self._settings.task_queue,
                task_timeout=TASK_TIMEOUT,
                result_type=result_type,
                static_summary="Asked for from outside a task",
            )
