"""Which workflow runs a task: the one that Redis knows, as far as Temporal says that it is still open."""

from dataclasses import dataclass
from datetime import datetime

from activities.step_results import StepsSource
from activities.task_runs import Holder, TaskRuns, run_by
from perdure.errors import StoreUnavailable
from perdure.stores.redis.bindings import OpenedTask, TaskBindings
from perdure.values.tasks import AgentTask


@dataclass(frozen=True)
class TaskHolders:
    """Finds out who runs tasks, and notes it.

    Args:
        bindings: Knows which workflow runs a task.
        runs: Knows which are open.
    """

    bindings: TaskBindings
    runs: TaskRuns

    async def opened(self, tenant: str, task_id: str, mine: Holder, epoch: int | None) -> OpenedTask | None:
        """Note that a workflow runs the task; returns what is known of it, None without Redis.

        Raises:
            InvalidTask: Another workflow that runs it is still open.
        """
        ended = ""
        try:
            while True:
                found = await self.bindings.open(tenant, task_id, str(mine), instead_of=ended, epoch=epoch)
                holder = Holder.read(found.holder)
                if holder == mine:
                    return found
                if holder.workflow_id != mine.workflow_id and await self.runs.is_open(holder):
                    raise run_by(task_id, holder.workflow_id)
                ended = found.holder
        except StoreUnavailable as problem:
            if problem.store != "redis":
                raise
            # A task goes on without Redis: what must not happen twice waits for it, and is claimed only once.
            return None

    async def free(self, task: AgentTask, tenant: str, since: datetime | None) -> StepsSource | None:
        """Return a task that may start, as far as Redis knows it and with its runs of before a moment; None: all.

        Returns:
            None where its own workflow runs it: somebody has just started it, and whoever asks is attached to that
            run, or refused there.

        Raises:
            InvalidTask: A workflow of another id runs it.
            StoreUnavailable: Redis does not answer.
        """
        known = await self.bindings.known(tenant, task.task_id)
        if known is not None and known.holder and await self.runs.is_open(holder := Holder.read(known.holder)):
            if holder.workflow_id != task.workflow_id:
                raise run_by(task.task_id, holder.workflow_id)
            return None
        runs = await self.runs.earlier(tenant, task.task_id, since, own=task.workflow_id)
        return StepsSource(task.task_id, runs, known)

    async def ended(self, tenant: str, task_id: str) -> StepsSource:
        """Return a task that no workflow runs now.

        Raises:
            InvalidTask: One does.
        """
        known = await self.bindings.known(tenant, task_id)
        if known is not None and known.holder and await self.runs.is_open(holder := Holder.read(known.holder)):
            raise run_by(task_id, holder.workflow_id)
        return StepsSource(task_id, await self.runs.earlier(tenant, task_id, None), known)
