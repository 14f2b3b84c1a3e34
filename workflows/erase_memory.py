"""Erasing a user: the epoch first, then what is under way, the stores, the histories, and the proof.

It carries no tenant attribute, since it would delete itself.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from temporalio import workflow

from activities.erasure import (
    BeginErasureCall,
    CountStoredCall,
    EndRunsCall,
    ErasureActivities,
    StoredCounts,
    TenantCall,
)
from perdure.history import History
from perdure.names import Workflow
from perdure.values.erasures import TAKEN_OVER, UNREACHABLE, Erasure, ErasureReceipt
from perdure.values.requests import EraseRequest
from workflows import options
from workflows.carried import Carried, chain
from workflows.failures import asked

_STOPS_WITHIN = 10
"""Seconds that tasks and jobs have to stop on their own, before they are terminated."""

_PAUSE = timedelta(seconds=1)

_LOOKS = 600
"""How often the list of runs is looked at, a second apart, before what is left is named in the receipt."""

_EMPTY = 2
"""Empty lists in a row after which no run is left."""

_PROOFS = 3
"""How often the stores are emptied again if the proof finds something that was written meanwhile."""


class Erasing(Carried):
    """How far an erasure has come when its history is rolled over."""

    erasure: Erasure
    entries: int
    keys: int
    executions: int
    listed: int = 0
    looks: int = 0
    proofs: int = 0


class ErasingRun(EraseRequest):
    """The input of one run of ``EraseMemory``: what was asked, and what a rolled over run carries."""

    carried: Erasing | None = None


@workflow.defn(name=Workflow.ERASE_MEMORY, sandboxed=False)
class EraseMemory:
    """Removes everything of a user, and says what it cannot reach."""

    @workflow.init
    def __init__(self, request: ErasingRun | None = None) -> None:
        carried = request.carried if request else None
        self._entries = carried.entries if carried else 0
        self._keys = carried.keys if carried else 0
        self._executions = carried.executions if carried else 0
        self._listed = carried.listed if carried else 0
        """Runs when it began. An attempt that is cut off does not say how many it has deleted."""
        self._looks = carried.looks if carried else 0
        """How often the list of runs was looked at, over all rounds."""
        self._proofs = carried.proofs if carried else 0
        self._history = History(0)

    @workflow.run
    async def run(self, request: ErasingRun | None = None) -> ErasureReceipt:
        """Erase a user."""
        request = asked(request, "give an EraseRequest")
        operation = f"erase:{chain()}"
        if request.carried:
            erasure = request.carried.erasure
        else:
            # Once an erasure has begun, any worker that starts also removes the user's data: counting before includes
            # what those remove, and counting after what was written meanwhile.
            await self._count(request, options.if_soon)
            beginning = BeginErasureCall(
                user_id=request.user_id,
                of=request.of,
                operation=operation,
                by=request.by,
                asked_at=workflow.info().workflow_start_time,
                at=workflow.now(),
            )
            erasure = await options.change(ErasureActivities.begin, beginning, "Refuse what was accepted before")
            if erasure.operation != operation:
                return self._receipt(erasure, (TAKEN_OVER,))
            await self._delete_schedules(erasure)
            await self._end_runs(erasure)
            await self._count(request, options.change, erasure.tenant)
        left: tuple[str, ...] = ()
        ending = EndRunsCall(tenant=erasure.tenant, operation=erasure.operation, terminate=True)
        while self._proofs < _PROOFS:
            # In each round: what has just been scheduled or started is listed late.
            await self._delete_schedules(erasure)
            await options.change(ErasureActivities.end_runs, ending, "End tasks and jobs")
            await self._empty(erasure)
            await self._delete_runs(request, erasure)
            proof = await options.long(ErasureActivities.prove, _of(erasure), "Look whether anything is left")
            left = proof.left
            self._proofs += 1
            if not left or proof.superseded:
                break
        return self._receipt(erasure, left)

    def _receipt(self, erasure: Erasure, left: tuple[str, ...]) -> ErasureReceipt:
        return ErasureReceipt(
            tenant=erasure.tenant,
            epoch=erasure.epoch,
            at=erasure.at,
            entries=self._entries,
            keys=self._keys,
            executions=max(self._executions, self._listed),
            proved=not left,
            unreachable=(*left, *UNREACHABLE),
        )

    async def _count(
        self, request: ErasingRun, how: Callable[..., Awaitable[StoredCounts | None]], tenant: str = ""
    ) -> None:
        """Count what is stored before it is removed: an attempt that is cut off leaves nothing to count."""
        call = CountStoredCall(user_id=request.user_id, of=request.of, tenant=tenant)
        if counts := await how(ErasureActivities.count_stored, call, "Count what there is"):
            self._entries = max(self._entries, counts.entries)
            self._keys = max(self._keys, counts.keys)
            self._listed = max(self._listed, counts.executions)

    async def _delete_schedules(self, erasure: Erasure) -> None:
        # Each schedule of the namespace is looked at.
        await options.long(ErasureActivities.delete_schedules, _of(erasure), "Delete schedules")

    async def _end_runs(self, erasure: Erasure) -> None:
        call = EndRunsCall(tenant=erasure.tenant, operation=erasure.operation, terminate=False)
        for _ in range(_STOPS_WITHIN):
            if not await options.change(ErasureActivities.end_runs, call, "Stop tasks and jobs"):
                return
            await workflow.sleep(_PAUSE, summary="tasks and jobs stop")

    async def _empty(self, erasure: Erasure) -> None:
        await options.long(ErasureActivities.erase_stores, _of(erasure), "Empty the stores")
        workflow.set_current_details(f"**{self._entries}** entries and **{self._keys}** keys erased")

    async def _delete_runs(self, request: ErasingRun, erasure: Erasure) -> None:
        """Delete runs until none is listed twice in a row: the list lags behind, and a task may appear late."""
        empty, call = 0, _of(erasure)
        while self._looks < _LOOKS:
            self._looks += 1
            deleted = await options.long(ErasureActivities.delete_runs, call, "Delete histories")
            self._history.grow()
            self._executions += deleted
            empty = 0 if deleted else empty + 1
            if empty == _EMPTY:
                return
            if self._history.is_due:
                carried = Erasing(
                    chain=chain(),
                    erasure=erasure,
                    entries=self._entries,
                    keys=self._keys,
                    executions=self._executions,
                    listed=self._listed,
                    looks=self._looks,
                    proofs=self._proofs,
                )
                workflow.continue_as_new(request.changed(carried=carried))
            await workflow.sleep(_PAUSE, summary="histories are deleted")


def _of(erasure: Erasure) -> TenantCall:
    return TenantCall(tenant=erasure.tenant, operation=erasure.operation)
