"""Steps that wait for a moment, or for an event: held up durably, without a worker. Decides nothing."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta

from temporalio import workflow

from perdure.agent.plan import Plan, waited
from perdure.history import History
from perdure.model import Instant
from perdure.values.tasks import Phase
from workflows.running_task import RunningTask
from workflows.spans import waiting


class Pauses:
    """The waits of one task's branches.

    Args:
        running: The task.
        plan: What decides about it.
        history: What each wait makes longer.
    """

    def __init__(self, running: RunningTask, plan: Plan, history: History) -> None:
        self._running = running
        self._plan = plan
        self._history = history

    @contextmanager
    def _paused(self, branch: str) -> Generator[str]:
        """Show that a branch waits, and count the wait in the history once it is over; yields its timer's summary."""
        running = self._running
        running.outbox.flush()
        running.do(branch, Phase.PAUSED)
        running.branches.awaiting.add(branch)
        paused = running.state.branches[branch]
        since = paused.paused_at or workflow.now()
        running.update(branch, paused_at=since)
        with waiting(running.branches, "perdure.wait", paused.path, since=since):
            yield f"{running.place(branch)} waits"
        running.update(branch, paused_at=None)
        running.branches.awaiting.discard(branch)
        self._history.grow()
        running.do(branch, Phase.RUNNING)

    async def pause(self, branch: str, until: Instant) -> None:
        """Wait until a moment, and have the plan go on after the step; a moment that has passed takes no timer.

        A wait that an earlier run began is counted in the history only when it ends: otherwise a run that is rolled
        over because of its waits would be rolled over again and again.
        """
        left = until - workflow.now()
        # What an earlier run began, and is over by now, was a wait all the same.
        if left > timedelta() or self._running.state.branches[branch].paused_at is not None:
            with self._paused(branch) as summary:
                if left > timedelta():
                    await workflow.sleep(left, summary=summary)
        self._running.state = waited(self._plan, self._running.state, branch)

    async def expect(self, branch: str) -> None:
        """Wait for an event until its deadline: the branch goes on with it, or the plan with its default."""
        running, awaited = self._running, self._running.state.branches[branch]
        running.events.wait(branch, awaited.event)
        left = None if awaited.until is None else max(timedelta(), awaited.until - workflow.now())
        is_over = running.events.has_come(branch) or left == timedelta()
        if not is_over or awaited.paused_at is not None:
            # An event that comes with the deadline is accepted, so it counts.
            with self._paused(branch) as summary, suppress(TimeoutError):
                if not is_over:
                    await workflow.wait_condition(
                        lambda: running.events.has_come(branch), timeout=left, timeout_summary=summary
                    )
        if (event := running.events.take(branch)) is None:
            running.state = waited(self._plan, running.state, branch)
        else:
            running.update(branch, path="", until=None, event="", otherwise=None, delivered=event)
