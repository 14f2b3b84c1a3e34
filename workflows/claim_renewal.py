"""The renewal of a task's claims: renewed while the task lives, and once more when it ends. Decides nothing."""

import asyncio
from contextlib import suppress
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import WorkflowAlreadyStartedError

from perdure.agent.steps.task_calls import KeepCall, Kept, SkillTrial
from perdure.names import Activity, Workflow
from perdure.temporal.attributes import TASK_TIMEOUT, tenant_attributes
from workflows import options
from workflows.running_task import RunningTask
from workflows.unknown_effects import unknown_at_end

AGAIN_AFTER = timedelta(minutes=10)
"""How long to wait at most if Redis does not answer: a choice, since claims last for weeks."""

AGAIN_SHARE = 0.1
"""The part of the interval between two renewals to wait, where that is shorter: a choice, so that Redis is asked some
twenty times before the claims run out, however short a time they are kept."""


def keeping_id(workflow_id: str, *, binds: bool) -> str:
    """Return the id of the workflow that waits for Redis after a task has ended; one that binds its id has another."""
    return f"{'bind' if binds else 'keep'}-{workflow_id}"


class ClaimRenewal:
    """Keeps the claims of one task, the large values that its steps refer to, and what its id stands for.

    Args:
        running: The task.
    """

    def __init__(self, running: RunningTask) -> None:
        self._running = running
        self._renewing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Renew the claims from time to time, also if an earlier run of the task did so last."""
        self._renewing = asyncio.create_task(self._renew())

    async def end(self, *, completed: bool, trial: SkillTrial | None) -> None:
        """Restart the claims' time, find out which effects are of unknown fate, and have the task counted."""
        if self._renewing is not None:
            self._renewing.cancel()
        kept, state = await self._keep(completed=completed, trial=trial), self._running.state
        self._running.state = state.changed(unknown=unknown_at_end(state, kept, completed=completed))
        if not kept.answered:
            await self._keep_later(completed=completed, trial=trial)

    async def _renew(self) -> None:
        every = timedelta(seconds=self._running.state.prepared.renew_after)
        again = min(AGAIN_AFTER, every * AGAIN_SHARE)
        while True:
            left = self._running.state.renewed_at + every - workflow.now()
            await workflow.sleep(max(left, timedelta()), summary="until its claims are renewed")
            while not (await self._keep()).answered:
                await workflow.sleep(again, summary="until Redis is asked again")
            self._running.state = self._running.state.changed(renewed_at=workflow.now())

    async def _keep(self, *, completed: bool = False, trial: SkillTrial | None = None) -> Kept:
        call, how = self._call(completed=completed, trial=trial), options.of_keeping()
        return await workflow.execute_activity(
            Activity.KEEP_CLAIMS, call, result_type=Kept, summary="for their full time from now", **how
        )

    async def _keep_later(self, *, completed: bool, trial: SkillTrial | None) -> None:
        """Leave it to a separate workflow, which waits for Redis, so that the task's result does not."""
        call = self._call(completed=completed, trial=trial)
        # An earlier run that ended like this one may have left such a workflow, which still waits and does the same.
        with suppress(WorkflowAlreadyStartedError):
            await workflow.start_child_workflow(
                Workflow.KEEP_CLAIMS,
                call,
                id=keeping_id(workflow.info().workflow_id, binds=call.binding is not None),
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                search_attributes=tenant_attributes(call.tenant),
                task_timeout=TASK_TIMEOUT,
                static_summary="Waits for Redis",
            )

    def _call(self, *, completed: bool, trial: SkillTrial | None) -> KeepCall:
        prepared, task_id = self._running.state.prepared, self._running.task.task_id
        binding = prepared.binding if completed else None
        return KeepCall(tenant=prepared.tenant, epoch=prepared.epoch, task_id=task_id, binding=binding, trial=trial)
