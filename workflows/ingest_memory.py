"""One ingest job: plan, apply, confirm, and the receipt that says what became of each item."""

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.jobs import ApplyCall, ConfirmCall, HoldCall, IngestActivities, PlanCall
from perdure.history import History
from perdure.names import STAGE, Workflow
from perdure.plurals import counted
from perdure.tolerance import changed_back
from perdure.values.holds import hold_id
from perdure.values.jobs import Applied, Batch, Decision, Fate, ItemReceipt, Receipt, UnusableItem, WritePlan
from workflows import options
from workflows.failures import is_conflict, is_erased, problem_of, required


@workflow.defn(name=Workflow.INGEST_MEMORY, sandboxed=False)
class IngestMemory:
    """Makes a batch searchable, or says why not, exactly once for each batch."""

    @workflow.init
    def __init__(self, batch: Batch | None = None) -> None:
        self._history = History()
        self._stage = "planning"

    @workflow.run
    async def run(self, batch: Batch | None = None) -> Receipt:
        """Run the job; its id is the operation's id, so that nothing is written twice."""
        batch = required(batch, "give a Batch")
        operation = workflow.info().workflow_id
        if batch.accepted_at is None:
            batch = batch.changed(accepted_at=workflow.now())
        while True:
            try:
                plan = await self._plan(batch)
                # A later plan must not take a later epoch: the user may have been erased in between.
                batch = batch.changed(epoch=plan.epoch)
                applied = await self._apply(batch, plan, operation)
                plan = applied.plan or plan
                await self._hold(batch, plan, operation)
                items = await self._confirm(batch, plan, applied.versions)
                break
            except ActivityError as error:
                if is_erased(error):
                    self._show(batch, "done")
                    return _refused(operation, batch, problem_of(error))
                if not is_conflict(error):
                    raise
                if self._history.is_due:
                    workflow.continue_as_new(batch)
        self._show(batch, "done")
        held = {item.index: hold_id(batch.tenant, operation, item.index) for item in items if item.fate is Fate.HELD}
        return Receipt(job_id=operation, items=tuple(item.changed(hold=held.get(item.index, "")) for item in items))

    @workflow.query(name=STAGE)
    def stage(self) -> str:
        """Where the job is: planning, applying, confirming or done."""
        return self._stage

    async def _plan(self, batch: Batch) -> WritePlan:
        # A batch is in the history with the calls of its plan, its writing and its confirmation.
        self._history.grow(3, 3 * len(batch.model_dump_json()))
        self._show(batch, "planning")
        call = PlanCall(batch=batch, at=workflow.now())
        return await options.change(IngestActivities.plan, call, f"Decide on {counted(len(batch.items), 'item')}")

    async def _apply(self, batch: Batch, plan: WritePlan, operation: str) -> Applied:
        self._show(batch, "applying")
        call = ApplyCall(batch=batch, plan=plan, operation=operation)
        return await options.change(IngestActivities.apply, call, f"Write {counted(len(plan.expected), 'entry')}")

    async def _hold(self, batch: Batch, plan: WritePlan, operation: str) -> None:
        """Ask a person about doubtful items; what a policy holds was put on hold before the job began."""
        held = [item for item in plan.items if item.decision is Decision.HOLD]
        doubtful = {item.index: item for item in held if not isinstance(batch.items[item.index], UnusableItem)}
        if not doubtful:
            return
        nothing = UnusableItem(reason="")
        items = tuple(item if index in doubtful else nothing for index, item in enumerate(batch.items))
        call = HoldCall(batch=changed_back(batch, items=items), held=tuple(doubtful.values()), operation=operation)
        self._history.grow(1, len(call.model_dump_json()))
        await options.change(IngestActivities.hold, call, f"Ask about {counted(len(doubtful), 'item')}")

    async def _confirm(self, batch: Batch, plan: WritePlan, versions: dict[str, int]) -> tuple[ItemReceipt, ...]:
        self._show(batch, "confirming")
        call = ConfirmCall(batch=batch, plan=plan, versions=versions)
        return await options.confirm(IngestActivities.confirm, call, f"Read back {counted(len(versions), 'entry')}")

    def _show(self, batch: Batch, stage: str) -> None:
        self._stage = stage
        asked_by = f" for `{batch.task}`" if batch.task else ""
        workflow.set_current_details(f"**{stage}** {counted(len(batch.items), 'item')}{asked_by}")


def _refused(job: str, batch: Batch, reason: str) -> Receipt:
    """Return the receipt of a job none of whose items became memory."""
    rejected = ItemReceipt(index=0, fate=Fate.REJECTED, decision=Decision.REJECT, reason=reason)
    return Receipt(job_id=job, items=tuple(rejected.changed(index=index) for index in range(len(batch.items))))
