"""Bringing back what a sweep forgot. What can still come back is decided in activities."""

from typing import Annotated

from pydantic import Field
from temporalio import workflow

from activities.forgetting import FindUndoCall, ForgettingActivities, RestoreCall
from perdure.errors import InvalidInput
from perdure.history import History
from perdure.model import Instant
from perdure.names import Workflow
from perdure.temporal.attributes import TENANT
from perdure.temporal.errors import failure_of
from perdure.values.changes import Actor
from perdure.values.requests import UndoRequest, UndoResult
from workflows import options
from workflows.carried import Carried, chain
from workflows.failures import asked


class Undoing(Carried):
    """How far an undoing has come when its history is rolled over."""

    sweep: str
    now: Instant
    after: str
    """The cursor: the last tenant that is whole again."""
    restored: int


class UndoRun(UndoRequest):
    """The input of one run of ``UndoForgetting``: what was asked, and what a rolled over undoing carries."""

    carried: Undoing | None = None
    continue_after: Annotated[int, Field(ge=0)] = 0
    """Events after which it continues as new; 0: after about 1,000."""


@workflow.defn(name=Workflow.UNDO_FORGETTING, sandboxed=False)
class UndoForgetting:
    """Brings back what a sweep forgot, as far as it is not purged."""

    @workflow.init
    def __init__(self, undo: UndoRun | None = None) -> None:
        carried = undo.carried if undo else None
        self._history = History(undo.continue_after if undo else 0)
        self._now = carried.now if carried else workflow.now()
        self._restored = carried.restored if carried else 0

    @workflow.run
    async def run(self, undo: UndoRun | None = None) -> UndoResult:
        """Undo a sweep for each tenant that it touched."""
        undo = asked(undo, "give an UndoRequest")
        sweep, after = (undo.carried.sweep, undo.carried.after) if undo.carried else (undo.sweep, "")
        while True:
            call = FindUndoCall(sweep=sweep, user_id=undo.user_id, of=undo.of, after=after)
            found = await options.change(ForgettingActivities.find_undo, call, "Find what was forgotten")
            if not found.tenants:
                break
            sweep = found.sweep
            for tenant in found.tenants:
                if undo.user_id or undo.of:
                    workflow.upsert_search_attributes([TENANT.value_set(tenant)])
                await self._restore(tenant, sweep, undo.by)
                after = tenant
                if self._history.is_due:
                    carried = Undoing(chain=chain(), sweep=sweep, now=self._now, after=after, restored=self._restored)
                    workflow.continue_as_new(undo.changed(carried=carried))
        if not self._restored:
            raise failure_of(
                InvalidInput("sweep", f"{sweep or 'the latest one'} forgot nothing that can still be undone")
            )
        return UndoResult(sweep=sweep, restored=self._restored)

    async def _restore(self, tenant: str, sweep: str, by: Actor) -> None:
        before, more = self._restored, True
        call = RestoreCall(tenant=tenant, sweep=sweep, now=self._now, by=by)
        while more:
            self._history.grow()
            restored = await options.change(ForgettingActivities.restore, call, "Restore what was forgotten")
            self._restored, more = before + restored.restored, restored.more
