"""The scheduled sweep that lets memories go, and its undoing. Which ones is decided by pure rules, in activities."""

from typing import Annotated

from pydantic import Field
from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.forgetting import (
        DueRequest,
        ForgetRequest,
        ForgettingActivities,
        RestoreRequest,
        SelectRequest,
        UndoRun,
    )
    from activities.starting import TENANT
    from perdure.forgetting import Forgetting
    from perdure.model import Instant, Model
    from workflows import options

_KEPT = 20
"""Lines of detail in the result; the counts are whole."""


class Report(Model):
    """What a sweep did so far, without content."""

    tenants: int = 0
    forgotten: int = 0
    purged: int = 0
    held: tuple[str, ...] = ()
    """Tenants of which so much is due that a person has to look first, at most 20."""
    reasons: dict[str, int] = Field(default_factory=dict[str, int])
    """How many entries were let go for each reason."""
    examples: tuple[str, ...] = ()
    """Ids of what was let go, at most 20."""


class ForgetRun(Model):
    """A sweep: the input of ``ForgetMemory``."""

    dry_run: bool = False
    """Only say what would be let go."""
    user_id: str = ""
    """Sweep this user only, whether or not something is due."""
    approved: bool = False
    """A person has looked: the guard does not hold anything."""
    now: Instant | None = None
    """The sweep's moment, as a documented input; None: when it runs."""
    after: str = ""
    """The cursor of a sweep that continues."""
    run: str = ""
    """The first run's id, of a sweep that continues."""
    report: Report = Report()
    tenants_a_run: Annotated[int, Field(ge=1)] = 200
    """Tenants after which the sweep continues as new, to keep its history small."""


class ForgetResult(Model):
    """How a sweep ended."""

    run: str
    """The id by which it can be undone."""
    dry_run: bool
    report: Report


@workflow.defn(name="ForgetMemory")
class ForgetMemory:
    """Sweeps the tenants that have something due, one after the other."""

    @workflow.init
    def __init__(self, sweep: ForgetRun) -> None:
        self._report = sweep.report

    @workflow.run
    async def run(self, sweep: ForgetRun) -> ForgetResult:
        """Run the sweep; it waits for nobody."""
        now = sweep.now or workflow.now()
        run = sweep.run or workflow.info().run_id
        handled, after = 0, sweep.after
        while tenants := await self._tenants(sweep, now, after):
            for tenant in tenants:
                await self._sweep(tenant, sweep, now, run)
                handled, after = handled + 1, tenant
            if sweep.user_id:
                break
            if handled >= sweep.tenants_a_run:
                workflow.continue_as_new(
                    sweep.model_copy(update={"after": after, "now": now, "run": run, "report": self._report})
                )
        return ForgetResult(run=run, dry_run=sweep.dry_run, report=self._report)

    @workflow.query
    def report(self) -> Report:
        """What the sweep did so far."""
        return self._report

    async def _tenants(self, sweep: ForgetRun, now: Instant, after: str) -> list[str]:
        if sweep.user_id:
            tenant = await workflow.execute_activity_method(
                ForgettingActivities.tenant_of,
                sweep.user_id,
                **options.of_change(),
                summary="Find the user's tenant",
            )
            workflow.upsert_search_attributes([TENANT.value_set(tenant)])
            return [tenant]
        return await workflow.execute_activity_method(
            ForgettingActivities.due_tenants,
            DueRequest(now=now, after=after, limit=min(100, sweep.tenants_a_run)),
            **options.of_change(),
            summary="Find who has something due",
        )

    async def _sweep(self, tenant: str, sweep: ForgetRun, now: Instant, run: str) -> None:
        while True:
            chosen = await workflow.execute_activity_method(
                ForgettingActivities.select,
                SelectRequest(tenant=tenant, now=now, approved=sweep.approved),
                **options.of_change(),
                summary="Choose what to let go",
            )
            if sweep.dry_run:
                self._note(chosen, forgotten=len(chosen.tombstone), purged=len(chosen.purge))
                return
            try:
                forgotten, purged = await self._let_go(chosen, run)
            except ActivityError as error:
                if isinstance(error.cause, ApplicationError) and error.cause.type == "VersionConflict":
                    continue
                raise
            self._note(chosen, forgotten=forgotten, purged=purged)
            if not chosen.more or (chosen.held and not chosen.purge and not chosen.backdated):
                break
        await workflow.execute_activity_method(
            ForgettingActivities.finish,
            tenant,
            **options.of_change(),
            summary="Set the next due date",
        )

    async def _let_go(self, chosen: Forgetting, run: str) -> tuple[int, int]:
        tombstone = chosen.model_copy(update={"tombstone": ()}) if chosen.held else chosen
        forgotten = await workflow.execute_activity_method(
            ForgettingActivities.tombstone,
            ForgetRequest(forgetting=tombstone, run=run),
            **options.of_change(),
            summary=f"Forget {len(tombstone.tombstone)} entries",
        )
        purged = await workflow.execute_activity_method(
            ForgettingActivities.purge,
            ForgetRequest(forgetting=chosen, run=run),
            **options.of_change(),
            summary=f"Purge {len(chosen.purge)} entries",
        )
        return forgotten, purged

    def _note(self, chosen: Forgetting, *, forgotten: int, purged: int) -> None:
        report = self._report
        let_go = () if chosen.held else chosen.tombstone
        reasons = dict(report.reasons)
        for item in let_go:
            reasons[item.reason] = reasons.get(item.reason, 0) + 1
        self._report = Report(
            tenants=report.tenants + 1,
            forgotten=report.forgotten + (0 if chosen.held else forgotten),
            purged=report.purged + purged,
            held=(*report.held, f"{chosen.tenant}: {chosen.held}")[:_KEPT] if chosen.held else report.held,
            reasons=reasons,
            examples=(*report.examples, *(item.id for item in let_go))[:_KEPT],
        )
        workflow.set_current_details(
            f"**{self._report.tenants}** tenants swept: **{self._report.forgotten}** entries forgotten, "
            f"**{self._report.purged}** purged, **{len(self._report.held)}** tenants held for a person"
        )


class UndoResult(Model):
    """How an undoing ended."""

    run: str
    restored: int


@workflow.defn(name="UndoForgetting")
class UndoForgetting:
    """Brings back what a sweep forgot, as far as it is not purged."""

    @workflow.run
    async def run(self, undo: UndoRun) -> UndoResult:
        """Undo a run for each tenant that it touched."""
        found = await workflow.execute_activity_method(
            ForgettingActivities.find_undo,
            undo,
            **options.of_change(),
            summary="Find what was forgotten",
        )
        restored = 0
        if undo.user_id:
            workflow.upsert_search_attributes([TENANT.value_set(tenant) for tenant in found.tenants])
        for tenant in found.tenants:
            restored += await workflow.execute_activity_method(
                ForgettingActivities.restore,
                RestoreRequest(tenant=tenant, run=found.run, now=workflow.now()),
                **options.of_change(),
                summary="Restore what was forgotten",
            )
        if not restored:
            raise ApplicationError(
                f"{undo.run or 'the latest run'} forgot nothing that can still be undone",
                type="InvalidInput",
                non_retryable=True,
            )
        return UndoResult(run=found.run, restored=restored)
