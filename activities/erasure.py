"""Erasing a user as activities: the epoch, the stores, the workflows' histories, the proof."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from temporalio import activity
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from activities.clocks import temporal_clock
from activities.unlabelled_runs import unlabelled_runs
from perdure.errors import StoreUnavailable
from perdure.identity import OwnerId
from perdure.memory.erasure.eraser import Eraser, Standing
from perdure.memory.membership import MemberBook
from perdure.model import Instant, Passed
from perdure.names import Activity, Attribute
from perdure.stores.redis.access_tokens import AccessTokens
from perdure.stores.tenant_key import TenantKey
from perdure.temporal import schedules
from perdure.temporal.errors import of_call
from perdure.values.changes import PROGRAM, Actor
from perdure.values.erasures import TAKEN_OVER, Erasure

_PAGE = 200
"""Runs that one call of ``end_runs`` or ``delete_runs`` deals with, so that a retry repeats little."""

_ERASED = 50
"""Erased users that one query asks for; a choice: it has some 5 kB."""

_LOOK_AGAIN = 0.1
_LOOKS = 600
"""Seconds between two checks whether a run is gone, and their number: the local server takes some 0.1 s."""


class BeginErasureCall(Passed):
    """The input of ``begin_erasure``."""

    user_id: str
    of: OwnerId | None = None
    operation: str
    by: Actor = PROGRAM
    asked_at: Instant
    at: Instant
    """When it begins."""


class CountStoredCall(Passed):
    """The input of ``count_stored``."""

    user_id: str
    of: OwnerId | None = None
    tenant: str = ""
    """Whose stores are counted, once the erasure has begun: who may ask for it is not asked again."""


class StoredCounts(Passed):
    """The result of ``count_stored``."""

    entries: int
    keys: int
    executions: int
    """Runs of workflows, as far as Temporal lists them: it lags behind."""


class EndRunsCall(Passed):
    """The input of ``end_runs``."""

    tenant: str
    operation: str
    terminate: bool
    """Whether to end them at once; otherwise they are asked to stop."""


class TenantCall(Passed):
    """The input of ``delete_schedules``, ``erase_stores``, ``delete_runs`` and ``prove_erasure``."""

    tenant: str
    operation: str
    """The erasure: once it has ended, or a later one of the user has begun, it removes nothing more."""


class ErasureProof(Passed):
    """The result of ``prove_erasure``."""

    left: tuple[str, ...]
    """What is left of the user, in words; empty: the erasure is over."""
    superseded: bool = False
    """Whether a later erasure has begun, and removes what is left."""


@dataclass(frozen=True, kw_only=True)
class ErasureActivities:
    """The activities of an erasure and what they need."""

    client: Client
    key: TenantKey
    eraser: Eraser
    members: MemberBook
    tokens: AccessTokens

    @activity.defn(name=Activity.BEGIN_ERASURE)
    async def begin(self, call: BeginErasureCall) -> Erasure:
        """Raise the user's or owner's epoch in every store; a user's own tokens, which name the user, are revoked.

        Nothing is done where another erasure has begun since this one was asked for, which is returned.

        Raises:
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
        """
        now = temporal_clock()
        tenant = await self.members.erasable(call.user_id, call.of)
        erasure = await self.eraser.begin(
            tenant, operation=call.operation, by=call.by, at=call.at, asked_at=call.asked_at, now=now
        )
        if call.of is None and erasure.operation == call.operation and not erasure.ended:
            await self.tokens.remove_of(call.user_id)
        return erasure

    @activity.defn(name=Activity.DELETE_SCHEDULES)
    async def delete_schedules(self, call: TenantCall) -> None:
        """Delete the schedules that start tasks of the user."""
        if not await self._goes_on(call):
            return
        for schedule in (await self._schedules(call.tenant))[0]:
            try:
                await self.client.get_schedule_handle(schedule).delete()
            except RPCError as error:
                _unless_gone(error)

    @activity.defn(name=Activity.END_RUNS)
    async def end_runs(self, call: EndRunsCall) -> int:
        """Stop the user's open workflows; returns how many there were."""
        if not await self._goes_on(call):
            return 0
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

    @activity.defn(name=Activity.COUNT_STORED)
    async def count_stored(self, call: CountStoredCall) -> StoredCounts:
        """Return how much the stores, and Temporal, have of the user or owner.

        Raises:
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
        """
        tenant = call.tenant or await self.members.erasable(call.user_id, call.of)
        counts = await self.eraser.count(tenant)
        try:
            runs = await self.client.count_workflows(f"{Attribute.TENANT} = '{tenant}'")
        except RPCError as error:
            raise of_call(error) from error
        return StoredCounts(entries=counts.entries, keys=counts.keys, executions=runs.count)

    @activity.defn(name=Activity.ERASE_STORES)
    async def erase_stores(self, call: TenantCall) -> None:
        """Remove everything that the stores have of the user."""
        await self.eraser.remove(call.tenant, call.operation)

    @activity.defn(name=Activity.DELETE_RUNS)
    async def delete_runs(self, call: TenantCall) -> int:
        """Delete runs of the user's workflows with their histories, and wait until they are gone; returns how many.

        A list may lag behind, so ask until there are none twice in a row.
        """
        if not await self._goes_on(call):
            return 0
        found = await self._runs(call.tenant)
        await self._delete(found)
        for workflow_id, run_id in found:
            await self._until_gone(workflow_id, run_id)
        return len(found)

    @activity.defn(name=Activity.DELETE_LATE_RUNS)
    async def delete_late(self) -> int:
        """Delete what Temporal has begun of erased users after the receipt, though it was started before the erasure.

        It was refused or has nobody to ask for, but its history has what was given to it. Returns how many runs of it
        are listed, which lags behind.
        """
        erased, deleted = await self.eraser.ended(), 0
        for some in (erased[first : first + _ERASED] for first in range(0, len(erased), _ERASED)):
            query = " OR ".join(
                f"({Attribute.TENANT} = '{one.tenant}' AND StartTime <= '{one.at.isoformat()}')" for one in some
            )
            try:
                late = [(run.id, run.run_id) async for run in self.client.list_workflows(query)]
            except RPCError as error:
                raise of_call(error) from error
            await self._delete(late)
            deleted += len(late)
        if not erased:
            return deleted
        until = {one.tenant: one.at for one in erased}
        unlabelled = [
            (run.workflow_id, run.run_id)
            async for run in unlabelled_runs(self.client, activity.info().task_queue)
            if (at := until.get(self.key.tenant_of(run.user_id))) and run.started_at <= at
        ]
        await self._delete(unlabelled)
        return deleted + len(unlabelled)

    @activity.defn(name=Activity.PROVE_ERASURE)
    async def prove(self, call: TenantCall) -> ErasureProof:
        """Return what is left of the user in the stores and in Temporal, read again; nothing: the erasure is over."""
        standing = await self.eraser.standing(call.tenant, call.operation)
        if standing is Standing.TAKEN_OVER:
            return ErasureProof(left=(TAKEN_OVER,), superseded=True)
        if standing is Standing.ENDED:
            return ErasureProof(left=())
        left = list(await self.eraser.left(call.tenant))
        if await self._runs(call.tenant):
            left.append("workflows in Temporal")
        found, unreadable = await self._schedules(call.tenant)
        if found:
            left.append("schedules in Temporal")
        left.extend(f"perhaps the schedule {one} in Temporal, whose input cannot be read here" for one in unreadable)
        if not left:
            await self.eraser.end(call.tenant, call.operation)
        return ErasureProof(left=tuple(left))

    async def _delete(self, runs: Sequence[tuple[str, str]]) -> None:
        for workflow_id, run_id in runs:
            request = DeleteWorkflowExecutionRequest(
                namespace=self.client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
            )
            try:
                await self.client.workflow_service.delete_workflow_execution(request)
            except RPCError as error:
                _unless_gone(error)

    async def _goes_on(self, call: TenantCall | EndRunsCall) -> bool:
        return await self.eraser.standing(call.tenant, call.operation) is Standing.GOES_ON

    async def _schedules(self, tenant: str) -> tuple[list[str], list[str]]:
        """Return the ids of the schedules that start tasks of the user here, and of those that cannot be read.

        Nothing but their input says whose they are.
        """
        found: list[str] = []
        unreadable: list[str] = []
        try:
            async for one in await self.client.list_schedules():
                if not schedules.is_listed_for_task(one):
                    continue
                try:
                    described = await self.client.get_schedule_handle(one.id).describe()
                    user = await schedules.user_of(self.client, described, activity.info().task_queue)
                except ValueError:
                    unreadable.append(one.id)
                    continue
                except RPCError as error:
                    _unless_gone(error)
                    continue
                if user is not None and self.key.tenant_of(user) == tenant:
                    found.append(one.id)
        except RPCError as error:
            raise of_call(error) from error
        return found, unreadable

    async def _runs(self, tenant: str, condition: str = "") -> list[tuple[str, str]]:
        """Return workflow and run ids of the user's workflows, as far as they still exist.

        Of all of them, also those that ended before they were labelled; where there is a condition, only labelled ones.
        """
        query = f"{Attribute.TENANT} = '{tenant}' {condition}".strip()
        found: list[tuple[str, str]] = []
        try:
            # The list lags behind, so a page of it may have nothing but runs that are gone.
            async for run in self.client.list_workflows(query):
                if await self._is_there(run.id, run.run_id, running=bool(condition)):
                    found.append((run.id, run.run_id))
                    if len(found) == _PAGE:
                        return found
            if condition:
                return found
            async for run in unlabelled_runs(self.client, activity.info().task_queue):
                if self.key.tenant_of(run.user_id) == tenant and await self._is_there(run.workflow_id, run.run_id):
                    found.append((run.workflow_id, run.run_id))
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
