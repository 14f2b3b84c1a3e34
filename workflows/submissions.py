"""Handing what a task learned to ingest jobs, beside its steps. Never makes a step wait, or fail, for it."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from perdure.jobs import Batch, Receipt
    from workflows import options

SUBMIT = "submit_ingest"
WAIT = "wait_ingest"


class Submissions:
    """The batches that are on their way to a job.

    Args:
        accepted: Called with the id of each job, once it is accepted.
        refused: Called with a batch that no job will take, and the reason.
    """

    def __init__(self, accepted: Callable[[str], None], refused: Callable[[Batch, str], None]) -> None:
        self._accepted = accepted
        self._refused = refused
        self._waiting: dict[str, Batch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def unsent(self) -> tuple[Batch, ...]:
        """The batches whose job is not accepted yet."""
        return tuple(self._waiting.values())

    def send(self, batch: Batch) -> None:
        """Start handing a batch over; it is tried until it is accepted or refused."""
        self._waiting[batch.key] = batch
        self._tasks[batch.key] = asyncio.create_task(self._submit(batch))

    async def receipt(self, batch: Batch) -> Receipt:
        """Hand a batch over and wait until all of it is searchable, rejected or held.

        Raises:
            ActivityError: When the job failed.
        """
        job: str = await workflow.execute_activity(
            SUBMIT, batch, result_type=str, summary=_summary(batch), **options.of_ingest()
        )
        self._accepted(job)
        return await workflow.execute_activity(
            WAIT, job, result_type=Receipt, summary="until it is searchable", **options.of_ingest()
        )

    async def settle(self, limit: timedelta) -> bool:
        """Wait until every batch is accepted or refused, but not longer than the limit.

        Returns:
            Whether they are.
        """
        if self._waiting:
            try:
                await workflow.wait_condition(lambda: not self._waiting, timeout=limit)
            except TimeoutError:
                return False
        return True

    async def _submit(self, batch: Batch) -> None:
        try:
            job: str = await workflow.execute_activity(
                SUBMIT, batch, result_type=str, summary=_summary(batch), **options.of_ingest()
            )
        except ActivityError as error:
            self._refused(batch, str(error.cause or error))
        else:
            self._accepted(job)
        finally:
            self._waiting.pop(batch.key, None)
            self._tasks.pop(batch.key, None)


def _summary(batch: Batch) -> str:
    return f"{len(batch.items)} to remember"
