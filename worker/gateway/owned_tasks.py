"""What a service asks of tasks and jobs by their ids: whose they are, and where a job is."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

from temporalio.client import (
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowQueryFailedError,
)
from temporalio.service import RPCError, RPCStatusCode

from perdure.errors import InvalidInput, PerdureError, WorkflowFailed
from perdure.identity import workflow_id as workflow_id_of
from perdure.names import STAGE, Workflow
from perdure.refusals import UnknownThing
from perdure.temporal.attributes import TENANT
from perdure.temporal.errors import perdure_error
from perdure.values.changes import Actor
from perdure.values.jobs import Receipt
from perdure.values.task_status import JobState, JobStatus, TaskStanding
from worker.gateway.base import call
from worker.gateway.explanations import ExplanationCalls
from worker.gateway.task_list import TaskListCalls

_DIGITS = 12
"""Of the digest behind a task's id in its workflow's (``perdure.identity.workflow_id``)."""

_LONGEST_ID = 1_000
"""Characters that Temporal takes for an id. With a much longer one its client cannot even send the request, tries it
again for seconds, and may lose the connection that all requests share."""

_TOLD_WITHIN = timedelta(seconds=1)
"""How long a worker may take to say what a job does: the answer is complete without it."""

_PROGRESS_WITHIN = 5.0
"""Seconds within which a worker has to say where a task is; one that took over from a killed one needs some."""


class OwnedTaskCalls(ExplanationCalls, TaskListCalls):
    """Looking at one user's tasks and jobs by their ids."""

    @call
    async def require_task_of(self, user_id: str | None, workflow_id: str, *, by: Actor) -> None:
        """Check that a task, or a workflow that asks people a question, is a user's; None: that there is one.

        Raises:
            UnknownThing: There is none with this id, or it is somebody else's.
            TenantKeyMissing: Its id is not that of the user's task, and this process has no tenant key to look further.
        """
        unknown = UnknownThing("task", f"there is no {workflow_id[:_LONGEST_ID]!r} of this user")
        found = await self._described(workflow_id, unknown)
        if found.workflow_type not in (Workflow.RESUMABLE_AGENT, Workflow.ASK_PERSON):
            raise unknown
        if user_id is None:
            return
        task_id = workflow_id.removeprefix("task-")[: -_DIGITS - 1]
        if workflow_id == workflow_id_of(user_id, task_id):
            return
        # It was started under an id of its own, by a schedule say.
        tenant = found.typed_search_attributes.get(TENANT)
        if tenant is None or tenant != await (await self._keyed_reader()).tenant(user_id, None):
            raise unknown

    @call
    async def task_state(self, workflow_id: str, *, wait: timedelta = timedelta(), by: Actor) -> TaskStanding:
        """Return where a task is and how it ended, waiting a while for its end.

        Raises:
            InvalidTask: There is none with this id, or it is something else.
        """
        if wait and await self.is_running(workflow_id, by=by):
            # However it ends: the state says so.
            with suppress(TimeoutError, PerdureError):
                async with asyncio.timeout(wait.total_seconds()):
                    await self.result(workflow_id, by=by)
        told = await self.listed(workflow_id, by=by)
        progress = await self.progress(workflow_id, seconds=_PROGRESS_WITHIN, by=by)
        result = None if told.is_open else await self.ended(workflow_id, by=by)
        # What a task itself has said is not checked anew.
        return TaskStanding.model_construct(
            workflow_id=workflow_id, is_open=told.is_open, phase=told.phase, progress=progress, result=result
        )

    @call
    async def job(
        self, user_id: str, job: str, *, of: str | None = None, wait: timedelta = timedelta(), by: Actor
    ) -> JobState:
        """Return where a job is, waiting a while for its end.

        Args:
            user_id: Whose; another user's job counts as nonexistent.
            job: Its id.
            of: The team or agent whose memory it is for; None: the user's own.
            wait: How long to wait for its end.
            by: Who asks.

        Raises:
            UnknownThing: There is no such job.
            UnknownOwner: The user does not belong to the owner, or there is no such owner.
            TenantKeyMissing: This process has no tenant key, without which it cannot tell whose job it is.
        """
        unknown = UnknownThing("job", f"there is no {job!r} of this user")
        tenant = await (await self._keyed_reader()).tenant(user_id, of)
        found = await self._described(job, unknown)
        if found.workflow_type != Workflow.INGEST_MEMORY or found.typed_search_attributes.get(TENANT) != tenant:
            raise unknown
        handle = (await self.client()).get_workflow_handle(job, result_type=Receipt)
        # A job that has ended answers at once.
        ended = found.status is not WorkflowExecutionStatus.RUNNING
        try:
            async with asyncio.timeout(None if ended else wait.total_seconds()):
                return JobState(job_id=job, status=JobStatus.DONE, receipt=await handle.result())
        except TimeoutError:
            return JobState(job_id=job, status=JobStatus.RUNNING, stage=await self._stage(handle))
        except WorkflowFailureError as error:
            # After any other error nobody knows how the job has ended, or whether it has.
            failure = perdure_error(error) or WorkflowFailed(str(error))
            problem = failure.message
            return JobState(job_id=job, status=JobStatus.FAILED, code=failure.code, problem=problem)

    async def _stage(self, handle: Any) -> str:
        try:
            return str(await handle.query(STAGE, rpc_timeout=_TOLD_WITHIN))
        except (RPCError, WorkflowQueryFailedError):
            return ""

    async def _described(self, workflow_id: str, unknown: InvalidInput) -> WorkflowExecutionDescription:
        if len(workflow_id) > _LONGEST_ID:
            raise unknown
        try:
            return await (await self.client()).get_workflow_handle(workflow_id).describe()
        except RPCError as error:
            if error.status not in (RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT):
                raise
            raise unknown from error
