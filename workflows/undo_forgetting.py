"""Bringing back what a sweep forgot. What can still come back is decided in activities."""

from typing import Annotated

from pydantic import Field
from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.forgetting import FindUndo, ForgettingActivities, RestoreRequest
    from perdure.changes import Actor, ActorKind
    from perdure.errors import InvalidInput
    from perdure.model import Instant, Passed
    from perdure.temporal.names import TENANT
    from workflows import options
    from workflows import options as rolling
    from workflows.failures import is_conflict, required


class UndoRun(Passed):
    """What to undo: the input of ``UndoForgetting``."""

    run: str
    """The forgetting run to be undone; empty: the latest one of the user."""
    user_id: str = ""
    """Undo it for this user only."""
    by: Actor = Actor(kind=ActorKind.PERSON)
    """Who undoes it."""
    now: Instant | None = None
    """When the undoing began, of one that continues."""
    after: str = ""
    """The cursor of an undoing that continues: the last tenant that is whole again."""
    restored: int = 0
    """What an undoing that continues has brought back."""
    continue_after: Annotated[int, Field(ge=0)] = 0
    """Events after which it continues as new; 0: when the server suggests it."""


class UndoResult(Passed):
    """How an undoing ended."""

    run: str
    restored: int


@workflow.defn(name="UndoForgetting")
class UndoForgetting:
    """Brings back what a sweep forgot, as far as it is not purged."""

    @workflow.init
    def __init__(self, undo: UndoRun | None = None) -> None:
        self._now = (undo and undo.now) or workflow.now()
        self._restored = undo.restored if undo else 0

    @workflow.run
    async def run(self, undo: UndoRun | None = None) -> UndoResult:
        """Undo a run for each tenant that it touched."""
        undo = required(undo, InvalidInput("input", "is missing", fix="give an UndoRun"))
        run, after = undo.run, undo.after
        while True:
            found = await workflow.execute_activity_method(
                ForgettingActivities.find_undo,
                FindUndo(run=run, user_id=undo.user_id, after=after),
                **options.of_change(),
                summary="Find what was forgotten",
            )
            if not found.tenants:
                break
            run = found.run
            for tenant in found.tenants:
                if undo.user_id:
                    workflow.upsert_search_attributes([TENANT.value_set(tenant)])
                await self._restore(tenant, run, undo.by)
                after = tenant
                if rolling.is_due(undo.continue_after):
                    rest = {"run": run, "now": self._now, "after": after, "restored": self._restored}
                    workflow.continue_as_new(undo.changed(**rest))
        if not self._restored:
            raise ApplicationError(
                f"{run or 'the latest run'} forgot nothing that can still be undone",
                type="InvalidInput",
                non_retryable=True,
            )
        return UndoResult(run=run, restored=self._restored)

    async def _restore(self, tenant: str, run: str, by: Actor) -> None:
        before, more = self._restored, True
        while more:
            try:
                restored = await workflow.execute_activity_method(
                    ForgettingActivities.restore,
                    RestoreRequest(tenant=tenant, run=run, now=self._now, by=by),
                    **options.of_change(),
                    summary="Restore what was forgotten",
                )
            except ActivityError as error:
                if not is_conflict(error):
                    raise
                continue
            self._restored, more = before + restored.restored, restored.more
