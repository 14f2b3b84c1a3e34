"""What people say of one task, on its way into the task's session, while the task goes on."""

import asyncio
from contextlib import suppress

from temporalio import workflow
from temporalio.exceptions import ActivityError

from perdure.names import Activity
from perdure.values.feedback import FeedbackNote
from workflows import options


class FeedbackNotes:
    """Writes each person's word by an activity of its own, for which nothing waits but the end of the run."""

    def __init__(self) -> None:
        self._open = set[asyncio.Task[None]]()

    def write(self, note: FeedbackNote, heartbeat: float) -> None:
        """Begin to write a word.

        Args:
            note: The word.
            heartbeat: Within how many seconds a worker that is gone is noticed.
        """
        writing = asyncio.create_task(_written(note, heartbeat))
        self._open.add(writing)
        writing.add_done_callback(self._open.discard)

    async def settle(self) -> None:
        """Wait until all of them are written."""
        await workflow.wait_condition(lambda: not self._open)


async def _written(note: FeedbackNote, heartbeat: float) -> None:
    # It counts in the task's evaluation all the same.
    with suppress(ActivityError):
        how = options.of_step(heartbeat)
        await workflow.execute_activity(Activity.NOTE_FEEDBACK, note, summary="a person's word", **how)
