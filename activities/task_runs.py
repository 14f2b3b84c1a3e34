"""The runs of a task that Temporal knows, and the workflow that runs one now."""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from temporalio import activity
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from perdure.errors import InvalidTask
from perdure.names import TASK, Attribute, Workflow
from perdure.temporal.errors import of_call

LISTED_WITHIN = 5
"""Attempts, some 15 s, until a run is taken for gone because Temporal does not list it; a choice."""


@dataclass(frozen=True)
class Holder:
    """A workflow that runs a task, identified by its first run: rolling over, resetting and retrying keep that."""

    run_id: str
    workflow_id: str

    def __str__(self) -> str:
        return f"{self.run_id} {self.workflow_id}"

    @classmethod
    def read(cls, text: str) -> "Holder":
        """Read what was written."""
        run_id, _, workflow_id = text.partition(" ")
        return cls(run_id, workflow_id)


@dataclass(frozen=True)
class TaskRuns:
    """Finds the runs of tasks.

    Args:
        client: Knows which workflows run a task, or did.
    """

    client: Client

    async def earlier(
        self, tenant: str, task_id: str, since: datetime | None, *, own: str = ""
    ) -> list[WorkflowExecution]:
        """Return the runs of a task, without the run that asks, that Redis may not know about, oldest first.

        Only runs that Temporal lists, which it does a moment after they were prepared. If Redis lost nothing, this
        takes 1.6 ms (p95 4.1), and learning since when takes as long.

        Args:
            tenant: Whose task it is.
            task_id: The task.
            since: Only runs that began before this moment are returned; None: all.
            own: The workflow id of the task that the run that asks is about, if that is another workflow.

        Raises:
            InvalidTask: One is still open, under another workflow id.
        """
        mine, earlier = activity.info(), list[WorkflowExecution]()
        query = f"WorkflowType = '{Workflow.RESUMABLE_AGENT}' AND {Attribute.TENANT} = '{tenant}'"
        if since is not None:
            # Redis knows nothing either of an open one that was prepared while it was away.
            query += f" AND (StartTime < '{since.isoformat()}' OR ExecutionStatus = 'Running')"
        try:
            async for found in self.client.list_workflows(query):
                if found.run_id == mine.workflow_run_id or await found.memo_value(TASK, "", type_hint=str) != task_id:
                    continue
                if found.id not in (mine.workflow_id, own) and found.status is WorkflowExecutionStatus.RUNNING:
                    now = await self.client.get_workflow_handle(found.id).describe()
                    if now.status is WorkflowExecutionStatus.RUNNING:
                        raise run_by(task_id, found.id)
                if since is None or found.start_time < since:
                    earlier.append(found)
        except RPCError as error:
            raise of_call(error) from error
        return sorted(earlier, key=attrgetter("start_time"))

    async def is_open(self, holder: Holder) -> bool:
        """Return whether a workflow still runs its task."""
        try:
            found = await self.client.get_workflow_handle(holder.workflow_id).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return False
            raise of_call(error) from error
        # Another task may have been started under the same workflow id since.
        same = found.raw_info.first_run_id == holder.run_id
        return same and found.status is WorkflowExecutionStatus.RUNNING


def run_by(task_id: str, workflow_id: str) -> InvalidTask:
    """Return the error that refuses a task that another workflow runs."""
    problem = f"{task_id!r} is run by the workflow {workflow_id}"
    return InvalidTask("task_id", problem, fix="wait for it, cancel it, or choose a new task_id")
