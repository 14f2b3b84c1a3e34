"""What can be asked about tasks."""

import asyncio
from typing import Any, cast
from uuid import uuid4

from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from perdure.changes import Actor, ActorKind
from perdure.documents import validated
from perdure.errors import InvalidInput, InvalidTask, TaskFailed
from perdure.names import AGAIN, ANSWER, PROGRESS, RESULT, STARTED_BY, Workflow
from perdure.questions import Answer
from perdure.tasks import AgentTask, Progress, TaskResult
from perdure.temporal.errors import is_cancelling, translated
from worker.gateway.base import ANSWERED_WITHIN, Base
from worker.lookup import StartedTask, asker_of, task_of
from worker.waiting import ANSWER_WITHIN, waiting

TaskHandle = WorkflowHandle[Any, TaskResult]


_NOBODY_ANSWERS = (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.CANCELLED)
"""How a query fails while no worker is there to answer it."""


_AGAIN_AFTER = 0.2
"""Seconds until an answer that Temporal gave up is delivered again; a choice."""


class TaskCalls(Base):
    """Starting tasks, following them, answering what they ask."""

    @translated
    async def start(self, task: AgentTask, *, by: Actor, again: bool = False) -> StartedTask:
        """Start a task, or attach to its run that is open or has completed.

        A new run after a failure goes on from the effects that are recorded.

        Args:
            task: The task.
            by: Who starts it.
            again: Whether to run a task that has completed once more; what must not happen twice does not.

        Raises:
            InvalidTask: The task's id is already used by another task; with the difference.
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
                static_summary=f"{task.title} for {task.agent}",
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
            return await handle.query(RESULT, result_type=kind, rpc_timeout=ANSWERED_WITHIN)
        except RPCError:
            return None

    @translated
    async def answer(self, workflow_id: str, answer: Answer, *, by: Actor) -> None:
        """Answer a question that a task, or a memory on hold, waits on.

        Raises:
            InvalidAnswer: The answer is malformed, or the question is answered already.
            InvalidInput: Somebody else than a person answers.
            InvalidTask: There is no such task or hold, or it has ended.
        """
        require_person(by)
        client = await self.client()
        if (await asker_of(client, workflow_id)).status is not WorkflowExecutionStatus.RUNNING:
            raise _ended(workflow_id, "it asks nothing")
        await self.served()
        handle = client.get_workflow_handle(workflow_id)
        given = validated(type(answer), answer.model_dump() | {"by": by.id}, "")
        afterwards = "the answer may still be taken: perdure status shows whether the question is still asked"
        try:
            async with waiting(self._notify, "take the answer", afterwards=afterwards, within=ANSWER_WITHIN):
                await _delivered(handle, given)
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
            raise _ended(workflow_id, otherwise)


async def _delivered(handle: TaskHandle, answer: Answer) -> None:
    """Deliver an answer, again where Temporal gave up a delivery that nothing came of.

    It gives one up where it throws away what a worker made of it: another event came while the worker ended the run
    with it, in order to continue as new. The run goes on without the answer then.
    """
    delivery = uuid4().hex
    while True:
        try:
            await handle.execute_update(ANSWER, answer, id=delivery)
        except RPCError as error:
            if error.status is not RPCStatusCode.FAILED_PRECONDITION:
                raise
        else:
            return
        await asyncio.sleep(_AGAIN_AFTER)


def require_person(by: Actor) -> None:
    """Check that whoever answers a question is a person, as only people are asked.

    Raises:
        InvalidInput: It is an agent or a schedule, say.
    """
    if by.kind is not ActorKind.PERSON:
        fix = "give the person who says so: Actor(kind=ActorKind.PERSON, id=…)"
        raise InvalidInput("by", f"is of the kind {by.kind.value!r}, and only people are asked", fix=fix)


def _ended(workflow_id: str, otherwise: str) -> InvalidTask:
    return InvalidTask("task", f"{workflow_id} has ended: {otherwise}", fix="perdure status shows how")
