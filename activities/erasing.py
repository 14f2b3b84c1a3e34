"""Erasing a user as activities: the epoch, the stores, the workflows' histories, the proof."""

import asyncio
from dataclasses import dataclass

from temporalio import activity
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from perdure.changes import Actor
from perdure.erasures import Erasure
from perdure.errors import StoreUnavailable
from perdure.identity import OwnerId
from perdure.memory.erasing.eraser import Eraser
from perdure.memory.membership import MemberBook
from perdure.model import Instant, Passed
from perdure.names import Activity, Attribute
from perdure.requests import SOMEBODY
from perdure.temporal.errors import of_call

_PAGE = 200
"""Runs that one call of ``end_runs`` or ``delete_runs`` deals with, so that a retry repeats little."""

_LOOK_AGAIN = 0.1
_LOOKS = 600
"""Seconds between two looks whether a run is gone, and how many: the local server takes some 0.1 s."""


class BeginErasureCall(Passed):
    """The input of ``begin_erasure``."""

    user_id: str
    of: OwnerId | None = None
    operation: str
    by: Actor = SOMEBODY
    at: Instant


class ErasedStores(Passed):
    """The result of ``erase_stores``."""

    entries: int
    keys: int


class EndRunsCall(Passed):
    """The input of ``end_runs``."""

    tenant: str
    terminate: bool
    """Whether to end them at once; otherwise they are asked to stop."""


@dataclass(frozen=True, kw_only=True)
class ErasingActivities:
    """The activities of an erasure and what they need."""

    client: Client
    eraser: Eraser
    members: MemberBook

    @activity.defn(name=Activity.BEGIN_ERASURE)
    async def begin(self, call: BeginErasureCall) -> Erasure:
        """Raise the user's or owner's epoch in every store.

        Raises:
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
        """
        tenant = await self.members.erasable(call.user_id, call.of)
        return await self.eraser.begin(tenant, operation=call.operation, by=call.by, at=call.at)

    @activity.defn(name=Activity.END_RUNS)
    async def end_runs(self, call: EndRunsCall) -> int:
        """Have the user's open workflows stop; returns how many were open."""
        found = await self._runs(call.tenant, "AND ExecutionStatus = 'Running'")
        for workflow_id, run_id in found:
            handle = self.client.get_workflow_handle(workflow_id, run_id=run_id)
            try:
                if call.terminate:
                    await handle.terminate(reason="the user is erased")
                else:
                    await handle.cancel(reason="the user is erased")
            except RPCError as error:
                _unless_gone(error)
        return len(found)

    @activity.defn(name=Activity.ERASE_STORES)
    async def erase_stores(self, tenant: str) -> ErasedStores:
        """Remove everything that the stores have of the user."""
        removed = await self.eraser.remove(tenant)
        return ErasedStores(entries=removed.entries, keys=removed.keys)

    @activity.defn(name=Activity.DELETE_RUNS)
    async def delete_runs(self, tenant: str) -> int:
        """Delete runs of the user's workflows with their histories, and wait until they are gone; returns how many.

        A list may lag behind, so ask until there are none twice in a row.
        """
        found = await self._runs(tenant)
        for workflow_id, run_id in found:
            request = DeleteWorkflowExecutionRequest(
                namespace=self.client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
            )
            try:
                await self.client.workflow_service.delete_workflow_execution(request)
            except RPCError as error:
                _unless_gone(error)
        for workflow_id, run_id in found:
            await self._until_gone(workflow_id, run_id)
        return len(found)

    @activity.defn(name=Activity.PROVE_ERASURE)
    async def prove(self, tenant: str) -> list[str]:
        """Return what is left of the user in the stores and in Temporal, read anew; nothing: the erasure is over."""
        left = list(await self.eraser.left(tenant))
        if await self._runs(tenant):
            left.append("workflows in Temporal")
        if not left:
            await self.eraser.end(tenant)
        return left

    async def _runs(self, tenant: str, condition: str = "") -> list[tuple[str, str]]:
        """Return workflow and run ids of the user's workflows, as far as they still exist."""
        query = f"{Attribute.TENANT} = '{tenant}' {condition}".strip()
        found: list[tuple[str, str]] = []
        try:
            async for run in self.client.list_workflows(query, limit=_PAGE):
                if await self._is_there(run.id, run.run_id, running=bool(condition)):
                    found.append((run.id, run.run_id))
        except RPCError as error:
            raise of_call(error) from error
        return found

    async def _until_gone(self, workflow_id: str, run_id: str) -> None:
        for _ in range(_LOOKS):
            if not await self._is_there(workflow_id, run_id):
                return
            await asyncio.sleep(_LOOK_AGAIN)
        raise StoreUnavailable("temporal", "has not deleted a run within a minute")

    async def _is_there(self, workflow_id: str, run_id: str, *, running: bool = False) -> bool:
        """Return whether a run still exists, or is still open; what lists it may lag behind."""
        try:
            found = await self.client.get_workflow_handle(workflow_id, run_id=run_id).describe()
        except RPCError as error:
            _unless_gone(error)
            return False
        return not running or found.status is WorkflowExecutionStatus.RUNNING


def _unless_gone(error: RPCError) -> None:
    """Let a run be gone already.

    Raises:
        PerdureError: Temporal does not answer, or refuses the call.
    """
    if error.status is not RPCStatusCode.NOT_FOUND:
        raise of_call(error) from error
