"""Recording which memories were recalled, after the recalls: what is used does not age."""

from temporalio import workflow

from activities.accesses import Flushed
from perdure.history import History
from perdure.names import REPORT, Activity, Workflow
from workflows import options


@workflow.defn(name=Workflow.FLUSH_ACCESSES, sandboxed=False)
class FlushAccesses:
    """Writes the waiting uses, a page of tenants at a time."""

    def __init__(self) -> None:
        self._done = Flushed()
        self._history = History(0)

    @workflow.run
    async def run(self) -> Flushed:
        """Write until few are left; what comes later is for the next run."""
        while True:
            found: Flushed = await workflow.execute_activity(
                Activity.FLUSH_ACCESSES,
                result_type=Flushed,
                summary="Write down what was recalled",
                **options.of_ingest(),
            )
            self._history.grow()
            self._done = Flushed(tenants=self._done.tenants + found.tenants, entries=self._done.entries + found.entries)
            workflow.set_current_details(f"**{self._done.entries}** uses written of **{self._done.tenants}** tenants")
            if not found.more or self._history.is_due:
                return self._done

    @workflow.query(name=REPORT)
    def report(self) -> Flushed:
        """What was written so far."""
        return self._done
