"""Crediting memories with how the task that recalled them ended, as an activity."""

from dataclasses import dataclass

from temporalio import activity

from activities.outcomes import EndedTask, TaskOutcomes
from perdure.agent.steps.task_calls import CreditCall
from perdure.names import Activity
from perdure.values.changes import Actor, ActorKind


@dataclass(frozen=True, kw_only=True)
class CreditActivities:
    """The activity that credits, and what it needs."""

    outcomes: TaskOutcomes

    @activity.defn(name=Activity.CREDIT_MEMORIES)
    async def credit(self, call: CreditCall) -> int:
        """Count a task once, however often it runs, as a trial of each recalled memory; returns how many there were."""
        task = EndedTask(tenant=call.tenant, task_id=call.task_id, first_run=call.first_run, succeeded=call.succeeded)
        by = Actor(kind=ActorKind.AGENT, id=call.task)
        return await self.outcomes.credit(task, call.task, operation=f"credit:{activity.info().workflow_run_id}", by=by)
