"""Crediting memories with how the task that recalled them ended, as an activity."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from temporalio import activity

from perdure.agent.steps.task_calls import CreditCall
from perdure.changes import Actor, ActorKind
from perdure.crashpoints import CrashPoint, reached
from perdure.errors import UnknownOwner
from perdure.memory.membership import MemberBook
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
    members: MemberBook

    @activity.defn(name=Activity.CREDIT_MEMORIES)
    async def credit(self, call: CreditCall) -> int:
        """Count a task once, however often it runs, as a trial of each recalled memory; returns how many there were."""
        recalled = await self.recalls.of(call.tenant, call.task_id)
        for of, memories in recalled.items():
            for start in range(0, len(memories), _AT_ONCE):
                ids = memories[start : start + _AT_ONCE]
                # Users do not credit memories that they may no longer write.
                with suppress(UnknownOwner):
                    await self._credit(await self.members.reached(call.tenant, of), ids, call)
                await self.recalls.credited(call.tenant, call.task_id, ids, of=of)
        return sum(map(len, recalled.values()))

    async def _credit(self, tenant: str, ids: Sequence[str], call: CreditCall) -> None:
        await self.updater.credit(
            tenant,
            ids,
            task=call.task,
            succeeded=call.succeeded,
            by=Actor(kind=ActorKind.AGENT, id=call.task),
            operation=f"credit:{activity.info().workflow_run_id}",
        )
        reached(CrashPoint.CREDIT_WRITTEN)
