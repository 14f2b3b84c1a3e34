"""What a task learned, on its way to memory: gathered, and submitted to ingest jobs while the steps go on.

A step waits for it, or fails with it, only where it says that it is critical.
"""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

from perdure.agent.state import JOBS_KEPT, RECEIPTS_KEPT, REFUSED_KEPT, Learned
from perdure.names import Activity
from perdure.plurals import counted
from perdure.tolerance import taken_back
from perdure.values.items import OfferedItem
from perdure.values.jobs import Batch, Receipt, SessionNote, SubmitCall, WaitIngestCall
from workflows import options
from workflows.failures import problem_of

WAITING_LIMIT = 500_000
"""Bytes of batches that may wait to be accepted while the steps go on: they are carried along."""

BATCH = 25
"""Items that are submitted to one job: about 100 kB in the history at their usual size."""


class Outbox:
    """What one task learned, until ingest jobs have accepted it.

    Args:
        learned: How far earlier runs of the task came with it.
    """

    def __init__(self, learned: Learned) -> None:
        self._learned = learned
        self._tenant = self._agent = self._user = ""
        self._epoch: int | None = None
        self._note: SessionNote | None = None
        self._waiting: dict[str, Batch] = {}
        self._bytes = 0
        self._submitting: dict[str, asyncio.Task[str | ActivityError]] = {}

    @property
    def learned(self) -> Learned:
        """How far it has come, unsent batches included."""
        return self._learned.changed(unsent=(*self._learned.unsent, *self._waiting.values()))

    def start(self, user: str, tenant: str, epoch: int | None, agent: str, session: str) -> None:
        """Send what an earlier run could not.

        Args:
            user: Whose memory it is for.
            tenant: Their tenant.
            session: The task's session, which shows what was learned once it is believed.
            epoch: Theirs when the task was prepared: nothing is remembered once they are erased. None: unknown.
            agent: Who learned it.
        """
        self._user, self._tenant, self._epoch, self._agent = user, tenant, epoch, agent
        self._note = SessionNote(tenant=tenant, session=session) if session else None
        unsent = self._learned.unsent
        self._update(unsent=())
        for batch in unsent:
            # A foreign workflow that continues as this one may have written another user's tenant into its state.
            note = self._note and batch.noted_in and self._note.changed(since=batch.noted_in.since)
            self._send(batch.changed(tenant=tenant, noted_in=note))

    def add(self, items: tuple[OfferedItem, ...], refused: tuple[str, ...]) -> None:
        """Gather what a step has to remember; submit it once it is enough for a job."""
        self._update(buffer=(*self._learned.buffer, *_dated(items)))
        self._refuse(*refused)
        if len(self._learned.buffer) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Submit what there is; retried until it is accepted or refused."""
        for batch in self._batches():
            self._send(batch)

    @property
    def has_room(self) -> bool:
        """Whether what waits to be accepted is not too much to be carried along."""
        return self._bytes <= WAITING_LIMIT

    async def room(self) -> None:
        """Wait until there is room for more."""
        await workflow.wait_condition(lambda: self.has_room)

    async def finish(self, items: tuple[OfferedItem, ...], refused: tuple[str, ...]) -> None:
        """Submit what a step has to remember, and wait until it is searchable, rejected or held.

        Where the wait is cancelled, the batches stay among those that a task's end waits for.

        Raises:
            ActivityError: When a job failed.
        """
        self.flush()
        self._update(buffer=_dated(items))
        self._refuse(*refused)
        for of, submitting in [(batch.of, self._send(batch)) for batch in self._batches()]:
            job = await asyncio.shield(submitting)
            if isinstance(job, ActivityError):
                raise job
            receipt = await workflow.execute_activity(
                Activity.WAIT_INGEST,
                WaitIngestCall(job=job, user_id=self._user, of=of),
                result_type=Receipt,
                summary="until it is searchable",
                **options.of_ingest(),
            )
            self._update(receipts=(*self._learned.receipts, receipt)[-RECEIPTS_KEPT:])

    async def settle(self, limit: timedelta) -> bool:
        """Wait until every batch is accepted or refused, but not longer than the limit.

        Returns:
            Whether they are.
        """
        if self._waiting:
            try:
                await workflow.wait_condition(
                    lambda: not self._waiting, timeout=limit, timeout_summary="until what was learned is accepted"
                )
            except TimeoutError:
                return False
        return True

    async def close(self, limit: timedelta) -> None:
        """Wait for what was submitted at a task's end; what is not accepted in time is named among the refused."""
        if not await self.settle(limit):
            items = sum(len(batch.items) for batch in self._waiting.values())
            self._refuse(f"{counted(items, 'item')}: not accepted in time")

    def _send(self, batch: Batch) -> asyncio.Task[str | ActivityError]:
        self._waiting[batch.key] = batch
        self._bytes += _size(batch)
        self._submitting[batch.key] = asyncio.create_task(self._hand_over(batch))
        return self._submitting[batch.key]

    async def _hand_over(self, batch: Batch) -> str | ActivityError:
        """Submit a batch; returns its job, or why it was not accepted."""
        try:
            return await self._submit(batch)
        except ActivityError as error:
            self._refuse(f"{counted(len(batch.items), 'item')}: {problem_of(error)}")
            return error
        finally:
            del self._waiting[batch.key]
            self._bytes -= _size(batch)
            self._submitting.pop(batch.key, None)

    async def _submit(self, batch: Batch) -> str:
        call, summary = SubmitCall(batch=batch, user_id=self._user), f"{len(batch.items)} to remember"
        job = await workflow.execute_activity(
            Activity.SUBMIT_INGEST, call, result_type=str, summary=summary, **options.of_ingest()
        )
        self._update(jobs=(*self._learned.jobs, job)[-JOBS_KEPT:], started=self._learned.started + 1)
        return job

    def _batches(self) -> list[Batch]:
        """Make batches of all that was gathered; their keys are the same in every replay."""
        task, buffer, made = workflow.info().workflow_id, self._learned.buffer, self._learned.batches
        batches: list[Batch] = []
        for of in dict.fromkeys(one.of for one in buffer):
            of_one = [one for one in buffer if one.of == of]
            for start in range(0, len(of_one), BATCH):
                some = of_one[start : start + BATCH]
                recorded = tuple(one.at or workflow.now() for one in some)
                whole = {
                    "tenant": self._tenant,
                    "of": of,
                    "key": f"{task}/{made + len(batches)}",
                    "items": tuple(one.item for one in some),
                    "task": task,
                    "agent": self._agent,
                    "noted_in": self._note and self._note.changed(since=min(recorded)),
                    "recorded": recorded,
                }
                batch = taken_back(Batch, whole)
                # An owner's epoch is another one.
                batches.append(batch if of else batch.changed(epoch=self._epoch))
        remembered = self._learned.remembered + len(buffer)
        self._update(buffer=(), batches=made + len(batches), remembered=remembered)
        return batches

    def _refuse(self, *reasons: str) -> None:
        refused = (*self._learned.refused, *reasons)[-REFUSED_KEPT:]
        self._update(refused=refused, refusals=self._learned.refusals + len(reasons))

    def _update(self, **changes: object) -> None:
        self._learned = self._learned.changed(**changes)


def _dated(items: tuple[OfferedItem, ...]) -> tuple[OfferedItem, ...]:
    return tuple(one.changed(at=workflow.now()) for one in items)


def _size(batch: Batch) -> int:
    return len(batch.model_dump_json())
