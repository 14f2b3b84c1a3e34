"""How a task used memory, for a person."""

from collections.abc import Sequence

from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError

from perdure.errors import InvalidInput
from perdure.names import MEMORY
from perdure.temporal.errors import perdure_error
from perdure.values.changes import Actor
from perdure.values.explanations import TaskExplanation, TaskMemory
from perdure.values.jobs import ELSEWHERE, Receipt, SettledJob
from worker.gateway.base import ANSWERED_WITHIN, call
from worker.gateway.memories import MemoriesCalls
from worker.gateway.tasks import TaskCalls
from worker.lookup import job_of


class ExplanationCalls(TaskCalls, MemoriesCalls):
    """Explaining tasks."""

    @call
    async def explain(self, workflow_id: str, *, by: Actor) -> TaskExplanation:
        """Return what a task recalled and why, what it wrote, and what was ignored and why.

        Raises:
            InvalidTask: There is no such task.
            WorkerUnavailable: No worker serves the task queue, and only a worker knows.
        """
        handle = await self.task(workflow_id, by=by)
        await self.served()
        told = await handle.query(MEMORY, result_type=TaskMemory, rpc_timeout=ANSWERED_WITHIN)
        receipts: list[Receipt] = []
        running: list[str] = []
        failed: dict[str, str] = {}
        missing: list[str] = []
        client = await self.client()
        here = [job for job in told.jobs if not job.startswith(ELSEWHERE)]
        for job in here:
            try:
                if (await job_of(client, job)).status is WorkflowExecutionStatus.RUNNING:
                    running.append(job)
                else:
                    receipts.append(await client.get_workflow_handle(job, result_type=Receipt).result())
            except InvalidInput:
                # Temporal removes jobs before a task that waits for weeks has ended.
                missing.append(job)
            except WorkflowFailureError as error:
                failed[job] = str(perdure_error(error))
        settled = await self._settled(told, missing)
        known = {one.job for one in settled}
        ids = {identifier for recall in told.recalls for identifier in recall.ids}
        ids |= {item.id for receipt in receipts for item in receipt.items if item.id}
        ids |= {identifier for one in settled for identifier in one.ids}
        reader = await self._own_reader()
        return TaskExplanation(
            recalls=told.recalls,
            receipts=tuple(receipts),
            running=tuple(running),
            failed=failed,
            settled=settled,
            elsewhere=tuple(job.removeprefix(ELSEWHERE) for job in told.jobs if job not in here),
            gone=tuple(job for job in missing if job not in known),
            refused=told.refused,
            not_listed=told.not_listed,
            versions=told.versions,
            texts=await reader.texts(told.tenant, ids, told.owners, by=by) if reader and ids else {},
        )

    async def _settled(self, told: TaskMemory, jobs: Sequence[str]) -> tuple[SettledJob, ...]:
        reader = await self._own_reader() if jobs else None
        return tuple(await reader.settled(told.tenant, jobs, told.owners)) if reader else ()
