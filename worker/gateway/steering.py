"""Requests that steer a running task, and people's feedback on it, also once it has ended."""

from contextlib import suppress
from uuid import uuid4

from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from perdure.documents import validated
from perdure.errors import InvalidTask
from perdure.identity import digest
from perdure.names import FEEDBACK, MESSAGE, PAUSE, REDIRECT, RESUME, Workflow
from perdure.temporal.attributes import TASK_TIMEOUT, TENANT, tenant_attributes
from perdure.values.changes import Actor
from perdure.values.feedback import LateFeedbackCall, LateVerdict
from perdure.values.steering import (
    Cancellation,
    PauseRequest,
    Redirection,
    SteeringRequest,
    TaskFeedback,
    TaskMessage,
    require_named,
)
from worker.gateway.base import call, require_person
from worker.gateway.tasks import TaskCalls
from worker.gateway.updates import sent_update
from worker.lookup import task_of
from worker.worker_wait import ANSWER_WITHIN, waiting


class SteeringCalls(TaskCalls):
    """Steering tasks. Each request counts once, however often it has to be sent."""

    @call
    async def pause(self, workflow_id: str, request: PauseRequest, *, by: Actor) -> None:
        """Pause a task: what is under way ends, and nothing new begins until ``resume``.

        Args:
            workflow_id: The task.
            request: Why.
            by: Who asks for it.

        Raises:
            InvalidTask: There is no such task, or it has ended, or pauses already.
        """
        await self._steer(workflow_id, PAUSE, request, by)

    @call
    async def resume(self, workflow_id: str, request: PauseRequest, *, by: Actor) -> None:
        """Let a paused task go on.

        Args:
            workflow_id: The task.
            request: Why.
            by: Who asks for it.

        Raises:
            InvalidTask: There is no such task, or it has ended, or is not paused.
        """
        await self._steer(workflow_id, RESUME, request, by)

    @call
    async def message(self, workflow_id: str, message: TaskMessage, *, by: Actor) -> None:
        """Send a message to the model of a task with a goal, which it sees before its next turn.

        Args:
            workflow_id: The task.
            message: What it is told.
            by: Who tells it.

        Raises:
            InvalidTask: There is no such task, or it runs a skill, or has ended; or its model has too much to read.
        """
        await self._steer(workflow_id, MESSAGE, message, by)

    @call
    async def redirect(self, workflow_id: str, redirection: Redirection, *, by: Actor) -> None:
        """Redirect a task with a goal to another one, or by constraints, which its model sees before its next turn.

        What the task's id stands for stays the goal that it was started with.

        Args:
            workflow_id: The task.
            redirection: What it should achieve, and what has to hold.
            by: Who redirects it.

        Raises:
            InvalidTask: There is no such task, or it runs a skill, or has ended; or it has too many constraints.
        """
        await self._steer(workflow_id, REDIRECT, redirection, by)

    @call
    async def cancel(self, workflow_id: str, *, because: str = "", by: Actor) -> None:
        """Ask a task to stop; it finishes what it must not leave half done.

        Args:
            workflow_id: The task.
            because: Why. Temporal keeps it as it is: no codec encrypts it.
            by: Who has it stop.

        Raises:
            InvalidTask: There is no such task, or it has ended; or the reason is too long.
        """
        require_named(by)
        sent = validated(Cancellation, {"because": because, "by": by.model_dump()}, "", InvalidTask)
        await self._require_open(workflow_id, "there is nothing to cancel", by)
        await (await self.task(workflow_id, by=by)).cancel(reason=sent.model_dump_json())

    @call
    async def feedback(self, workflow_id: str, feedback: TaskFeedback, *, by: Actor) -> LateVerdict | None:
        """Record a person's word on whether a task, or a step of it, did what it should.

        Of an open task it counts in its evaluation. Once the task has ended, it counts instead of how it ended: for its
        version of the skill, and for the memories that it recalled.

        Args:
            workflow_id: The task.
            feedback: What a person says.
            by: The person.

        Returns:
            How the task counts from now on; None: it is open.

        Raises:
            InvalidInput: The actor is not a person.
            InvalidTask: There is no such task, or it is just ending, or takes no more feedback.
        """
        require_person(by)
        given = feedback.changed(id=feedback.id or uuid4().hex)
        if await self.is_running(workflow_id, by=by):
            try:
                await self._steer(workflow_id, FEEDBACK, given, by)
            except InvalidTask:
                if await self.is_running(workflow_id, by=by):
                    raise
            else:
                return None
        return await self._judge(workflow_id, given, by)

    async def _judge(self, workflow_id: str, feedback: TaskFeedback, by: Actor) -> LateVerdict:
        """Record what a person says of a task that has ended."""
        given = validated(TaskFeedback, feedback.model_dump() | {"by": by.model_dump()}, "", InvalidTask)
        client = await self.client()
        found = await task_of(client, workflow_id)
        sent = LateFeedbackCall(workflow_id=workflow_id, first_run=found.raw_info.first_run_id, feedback=given)
        identifier = f"feedback-{digest('feedback/1', workflow_id, sent.first_run, given.id)[:24]}"
        tenant = found.typed_search_attributes.get(TENANT)
        await self.served()
        afterwards = f"the feedback stays queued as {identifier} and is recorded when a worker is available"
        async with waiting(self._notify, "take the feedback", afterwards=afterwards, within=ANSWER_WITHIN):
            with suppress(WorkflowAlreadyStartedError):
                await client.start_workflow(
                    Workflow.JUDGE_TASK,
                    sent,
                    id=identifier,
                    task_queue=self._settings.task_queue,
                    task_timeout=TASK_TIMEOUT,
                    id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                    static_summary="Feedback on a finished task",
                    search_attributes=tenant_attributes(tenant) if tenant else None,
                )
            return await client.get_workflow_handle(identifier, result_type=LateVerdict).result()

    async def _steer(self, workflow_id: str, update: str, request: SteeringRequest, by: Actor) -> None:
        given = request.model_dump() | {"by": by.model_dump(), "id": request.id or uuid4().hex}
        sent = validated(type(request), given, "", InvalidTask)
        otherwise = f"it takes no {update} any more"
        await self._require_open(workflow_id, otherwise, by)
        afterwards = f"the {update} may still be taken: perdure status shows whether it was"
        async with self._updating(workflow_id, f"take the {update}", otherwise, afterwards):
            await sent_update(await self.task(workflow_id, by=by), update, sent)
