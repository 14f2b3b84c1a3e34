"""Crediting memories as an activity: how the task ended that recalled them."""

from dataclasses import dataclass

from temporalio import activity

from perdure.agent.steps.calls import CreditCall
from perdure.changes import Actor, ActorKind
from perdure.crashpoints import CrashPoint, reached
from perdure.memory.updating.updater import Updater
from perdure.names import Activity
from perdure.stores.redis.recalls import TaskRecalls

_AT_ONCE = 50
"""Memories that are credited under one lease: as many as one write to Weaviate takes."""


@dataclass(frozen=True, kw_only=True)
class CreditingActivities:
    """The activity that credits, and what it needs."""

    updater: Updater
    recalls: TaskRecalls

    @activity.defn(name=Activity.CREDIT_MEMORIES)
    async def credit(self, call: CreditCall) -> int:
        """Count a task as a trial of each memory that it recalled, once however often it runs; returns of how many."""
        recalled = await self.recalls.of(call.tenant, call.task_id)
        for start in range(0, len(recalled), _AT_ONCE):
            ids = recalled[start : start + _AT_ONCE]
            await self.updater.credit(
                call.tenant,
                ids,
                task=call.task,
                succeeded=call.succeeded,
                by=Actor(kind=ActorKind.AGENT, id=call.task),
                operation=f"credit:{activity.info().workflow_run_id}",
            )
            reached(CrashPoint.CREDIT_WRITTEN)
            await self.recalls.credited(call.tenant, call.task_id, ids)
        return len(recalled)
