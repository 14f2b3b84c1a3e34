"""Requests about tasks."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, cast
from uuid import uuid4

from temporalio.client import (
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.converter import PayloadConverter
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from perdure.documents import validated
from perdure.errors import (
    InvalidAnswer,
    InvalidEvent,
    InvalidTask,
    TaskConflict,
    TaskFailed,
    WorkerUnavailable,
)
from perdure.names import AGAIN, ANSWER, DELIVER, PROGRESS, RESULT, SENDING, STARTED_BY, Workflow
from perdure.temporal.errors import is_cancelling
from perdure.tolerance import taken_back
from perdure.values.beginnings import BeginRequest
from perdure.values.changes import Actor
from perdure.values.events import Event, require_small
from perdure.values.questions import Answer
from perdure.values.task_status import StartedTask
from perdure.values.tasks import AgentTask, Progress, TaskResult
from worker.gateway.base import ANSWERED_WITHIN, Base, call, require_person
from worker.gateway.updates import has_ended, sent_update
from worker.lookup import asker_of, earlier_run, last_run_of, retries_of, task_of, would_run
from worker.worker_wait import ANSWER_WITHIN, waiting

TaskHandle = WorkflowHandle[Any, TaskResult]


NOBODY_ANSWERS = (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.CANCELLED)
"""How a query fails while no worker is there to answer it."""

CHECKED_WITHIN = 600.0
"""Seconds within which a worker has to say whether a task can begin at a step; a choice. What thousands of steps left
takes minutes to gather."""

CHECKED_AT_ONCE = 10.0
"""Seconds within which a worker says whether a task can start; a choice. Without an answer it starts, and is checked
then."""

_BEGUN_WITHIN = 1.0
"""Seconds that a worker which has just begun takes until Temporal knows of it; without one for longer, a task starts
unchecked, and waits for one. A choice."""

_TRACE_HEADER = "_tracer-data"
"""Under which Temporal's plugin for OpenTelemetry (SDK 1.35) hands the trace on."""

_WAITS_NO_MORE = "it waits for no event any more"


class TaskCalls(Base):
    """Starting tasks, following them, answering what they ask, delivering what they wait for."""

    @call
    async def start(
        self,
        task: AgentTask,
        *,
        by: Actor,
        again: bool = False,
        begin: BeginRequest | None = None,
        guard: Callable[[], None] = lambda: None,
        check: Callable[[], None] = lambda: None,
        sending: str = "",
        repeated: bool = False,
    ) -> StartedTask:
        """Start a task, or attach to its run that is open or has completed.

        A new run after a failure goes on from the effects that are recorded.

        Args:
            task: The task.
            by: Who starts it.
            again: Whether to run a completed task once more; its recorded effects are not repeated.
            begin: The step at which it begins, with the results that those before left. A task that goes on under its
                id is run once more for that; one that copies the results of another is attached to as ever.
            guard: Called before a run begins, and not where there is one to attach to; what it raises is raised.
            check: Called before a run begins that no worker has checked; what it raises is raised.
            sending: An id of this sending: the same again begins no second run, but attaches to the one that the first
                began, however that has ended.
            repeated: Whether this sending is known to have been carried out: it attaches to the task's last run,
                whichever began that, and begins one only where Temporal knows none any more.

        Raises:
            InvalidTask: The task's id is already used by another task, with the difference; or it is open, and so
                cannot begin at a step; or the step is none at which it can.
            Unconfirmed: A task that is to begin at a step differs from what it was, and no person has confirmed just
                that.
            InvalidInput: A worker says that it cannot start, and why; nothing was started.
            WorkerUnavailable: No worker says whether it can begin at a step.
        """
        # What tasks are made of takes a tenth of a second (measured), which looking at them need not wait for.
        from perdure.agent.state import TaskRun  # noqa: PLC0415

        client = await self.client()
        goes_on = begin is not None and not begin.of
        run: AgentTask | TaskRun = task
        if begin is not None:
            run = TaskRun.model_validate({**task.model_dump(), "begin": begin.model_dump() | {"by": by.model_dump()}})
        begins = partial(would_run, again=again, sending=sending, repeated=repeated)
        found = None if goes_on else await last_run_of(client, task.workflow_id)
        if found is not None and not await begins(found):
            return await self._attached(task, found, begin, by)
        guard()
        # A run that is refused would hide how the task has ended.
        if goes_on:
            await self._check(run, CHECKED_WITHIN)
        is_checked = goes_on or await self._check_at_once(run)
        if not is_checked:
            check()
        if sending:
            # The check takes so long that the same request, sent again meanwhile, may have begun the run.
            found = await last_run_of(client, task.workflow_id)
            if found is not None and not await begins(found):
                return await self._attached(task, found, begin, by)
        earlier = await earlier_run(client, found) if found else None
        try:
            started = await client.start_workflow(
                Workflow.RESUMABLE_AGENT,
                run,
                id=task.workflow_id,
                task_queue=self._settings.task_queue,
                result_type=TaskResult,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                static_summary=task.summary,
                memo={STARTED_BY: by.model_dump(mode="json"), AGAIN: again or goes_on}
                | ({SENDING: sending} if sending else {}),
            )
        except WorkflowAlreadyStartedError:
            if goes_on:
                fix = "wait for its end, or cancel it"
                raise TaskConflict("task_id", f"{task.task_id!r} is open", fix=fix) from None
            found = await (await self.task(task.workflow_id, by=by)).describe()
            return await self._attached(task, found, begin, by)
        return StartedTask(workflow_id=started.id, new=True, checked=is_checked, earlier=earlier)

    async def _attached(
        self, task: AgentTask, found: WorkflowExecutionDescription, begin: BeginRequest | None, by: Actor
    ) -> StartedTask:
        """Return the run that is there, if it is one of the same task."""
        from worker.attachment import require_same  # noqa: PLC0415  it takes a second

        await require_same(self._settings, task, await self.task(task.workflow_id, by=by), found, begin)
        return StartedTask(workflow_id=task.workflow_id, new=False, ended_at=found.close_time)

    async def _check(self, run: AgentTask, within: float) -> None:
        """Have a worker say within so many seconds whether a task can start."""
        from perdure.agent.preparation import CheckedTask  # noqa: PLC0415  see ``start``

        await self._execute(Workflow.CHECK_TASK, run, CheckedTask, name="check", within=within)

    async def _check_at_once(self, run: AgentTask) -> bool:
        """Have a worker check a task, if one is there; returns False where whoever prepares it has to."""
        if await self.served_within(_BEGUN_WITHIN):
            # One that was killed a moment ago is still listed.
            with suppress(WorkerUnavailable):
                await self._check(run, CHECKED_AT_ONCE)
                return True
        return False

    @call
    async def task(self, workflow_id: str, *, by: Actor) -> TaskHandle:
        """Return Temporal's own handle of a task, whose errors are not translated.

        Raises:
            InvalidTask: There is none with this id, or it is something else.
        """
        client = await self.client()
        await task_of(client, workflow_id)
        return client.get_workflow_handle(workflow_id, result_type=TaskResult)

    @call
    async def is_running(self, workflow_id: str, *, by: Actor) -> bool:
        """Return whether a task is still open.

        Raises:
            InvalidTask: There is none with this id, or it is something else.
        """
        found = await task_of(await self.client(), workflow_id)
        return found.status is WorkflowExecutionStatus.RUNNING

    @call
    async def progress(self, workflow_id: str, *, seconds: float = 2, by: Actor) -> Progress | None:
        """Return where a task is; None while no worker can say (it may just have been killed)."""
        try:
            # Not wait_for, which in Python 3.11 loses a Ctrl-C that comes together with the answer.
            async with asyncio.timeout(seconds):
                client = await self.client()
                found = await task_of(client, workflow_id)
                handle = client.get_workflow_handle(workflow_id)
                progress: Progress = await handle.query(PROGRESS, result_type=Progress)
                return progress.changed(retries=await retries_of(found))
        except TimeoutError:
            return None
        except RPCError as error:
            if error.status in NOBODY_ANSWERS and not is_cancelling():
                return None
            raise
        except WorkflowQueryFailedError:
            # A worker answers, and cannot replay it, say.
            return None

    @call
    async def result(self, workflow_id: str, *, by: Actor) -> TaskResult:
        """Wait for a task's end, however long it takes.

        Raises:
            TaskFailed: It failed; ``ended`` returns what it left.
            WorkflowCancelled: It was cancelled.
        """
        return await (await self.task(workflow_id, by=by)).result()

    @call
    async def trace(self, workflow_id: str, *, by: Actor) -> str:
        """Return the id of the trace that a task's spans are in, 32 hex digits; empty: whoever started it had none.

        Raises:
            InvalidTask: There is no task with this id, or it is something else.
        """
        async for event in (await self.task(workflow_id, by=by)).fetch_history_events(page_size=1):
            header = event.workflow_execution_started_event_attributes.header.fields.get(_TRACE_HEADER)
            carrier: Any = PayloadConverter.default.from_payload(header) if header is not None else {}
            return str(carrier.get("traceparent", "--")).split("-")[1]
        return ""

    @call
    async def ended(self, workflow_id: str, *, by: Actor) -> TaskResult | None:
        """Return how a task ended, also one that failed or was cancelled.

        Returns:
            None while it is open, where it did not get far enough to leave a result, and where no worker can say.
        """
        handle, kind = await self.task(workflow_id, by=by), cast("type[TaskResult]", TaskResult | None)
        if await self.is_running(workflow_id, by=by):
            return None
        try:
            return await handle.result()
        except WorkflowFailureError as error:
            cause = error.cause
            if isinstance(cause, ApplicationError) and cause.type == TaskFailed.__name__ and cause.details:
                return taken_back(TaskResult, cause.details[0])
        try:
            return await handle.query(RESULT, result_type=kind, rpc_timeout=ANSWERED_WITHIN)
        except RPCError:
            return None

    @call
    async def answer(self, workflow_id: str, answer: Answer, *, sending: str = "", by: Actor) -> None:
        """Answer a question that a task, a memory on hold, or a workflow of somebody's own waits on.

        Args:
            workflow_id: What asks.
            answer: The answer.
            sending: An id of this sending: the same again is the same answer, whether or not it was taken before.
            by: Who answers.

        Raises:
            InvalidAnswer: The answer is malformed, or the question is answered already.
            InvalidInput: The actor who answers is not a person.
            InvalidTask: There is nothing with this id that asks, or it has ended.
        """
        require_person(by)
        client = await self.client()
        found = await asker_of(client, workflow_id)
        # Of an answer that is sent again, Temporal may know that it was taken, also after the end.
        if found.status is not WorkflowExecutionStatus.RUNNING and not sending:
            raise _ended(workflow_id, "it asks nothing")
        given = validated(type(answer), answer.model_dump() | {"by": by.id}, "", InvalidAnswer)
        afterwards = "the answer may still be taken: perdure status shows whether the question is still asked"
        async with self._updating(workflow_id, "take the answer", "it asks nothing", afterwards):
            await sent_update(client.get_workflow_handle(workflow_id), ANSWER, given, sending=sending)

    @call
    async def deliver(self, workflow_id: str, event: Event, *, by: Actor) -> None:
        """Deliver an event that a step of a task waits for, or will wait for.

        The task takes it once, however often it has to be sent; without an id, each call delivers an event of its own.

        Args:
            workflow_id: The task.
            event: The event.
            by: Who delivers it.

        Raises:
            InvalidEvent: No step of the task waits for it, or the task has no room for it.
            InvalidTask: There is no such task, or it has ended.
        """
        require_small(event)
        await self._require_open(workflow_id, _WAITS_NO_MORE, by)
        sent = event.model_dump() | {"by": by.model_dump(), "id": event.id or uuid4().hex}
        given = validated(Event, sent, "", InvalidEvent)
        afterwards = f"the event may still be taken: deliver it again with --id {given.id}, which is taken once"
        async with self._updating(workflow_id, "take the event", _WAITS_NO_MORE, afterwards):
            await sent_update(await self.task(workflow_id, by=by), DELIVER, given)

    @asynccontextmanager
    async def _updating(self, workflow_id: str, what: str, otherwise: str, afterwards: str) -> AsyncGenerator[None]:
        """Wait for a worker to take what is sent to a task, or to a memory on hold.

        Args:
            workflow_id: Its id.
            what: What is waited for.
            otherwise: What holds where it has ended.
            afterwards: Whether what is sent may still take effect when it is no longer waited for.

        Raises:
            InvalidTask: It has ended.
        """
        await self.served()
        try:
            async with waiting(self._notify, what, afterwards=afterwards, within=ANSWER_WITHIN):
                yield
        except RPCError as error:
            if has_ended(error):
                raise _ended(workflow_id, otherwise) from error
            raise

    async def _require_open(self, workflow_id: str, otherwise: str, by: Actor) -> None:
        if not await self.is_running(workflow_id, by=by):
            raise _ended(workflow_id, otherwise)


def _ended(workflow_id: str, otherwise: str) -> InvalidTask:
    return TaskConflict("task", f"{workflow_id} has ended: {otherwise}", fix="perdure status shows how")
