"""Ingest as activities: submit and wait for callers; plan, apply and confirm for the job itself."""

import asyncio
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue
from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import FailureError
from temporalio.service import RPCError, RPCStatusCode

from activities.episodes import SessionWriter
from activities.remote_memory import RemoteMemory
from activities.session_notes import SessionNotes, place_of
from activities.submissions import Submitter
from perdure.documents import refuse_unknown
from perdure.errors import (
    EmbeddingMismatch,
    InvalidInput,
    JobFailed,
    SchemaMismatch,
    StoreRefused,
    StoreUnavailable,
    VersionConflict,
    WorkerUnavailable,
)
from perdure.identity import author_id
from perdure.memory.consent_book import ConsentBook
from perdure.memory.extraction.preceding_turns import answering, turns_said
from perdure.memory.membership import MemberBook
from perdure.memory.writing.batch_checks import read_batch, require_said_in_time
from perdure.memory.writing.intake import Intake
from perdure.memory.writing.writer import Writer
from perdure.model import Instant, Passed
from perdure.models.errors import ModelFileDamaged, ModelKeyRefused
from perdure.names import Activity
from perdure.plurals import counted
from perdure.stores.redis.changed_tenants import ChangedTenants
from perdure.stores.redis.erasures import RedisErasures
from perdure.temporal.errors import of_call
from perdure.temporal.failures import still_running
from perdure.values.changes import Actor, ActorKind
from perdure.values.consents import is_granted
from perdure.values.entries import Purpose
from perdure.values.episodes import said_to_people
from perdure.values.items import MemoryItem, TurnItem
from perdure.values.jobs import (
    ELSEWHERE,
    Applied,
    Batch,
    BatchItem,
    ItemReceipt,
    PlannedItem,
    Receipt,
    SessionNote,
    SubmitCall,
    UnusableItem,
    WaitIngestCall,
    WritePlan,
    named_job,
)
from perdure.values.requests import RememberRequest, Submitted

POLLS = 4
POLL_SECONDS = 0.15
"""Four fast polls 150 ms apart inside one attempt (R3); after that the wait is Temporal's, and free."""

RETRY_SECONDS = 1.0
"""The server rounds retry delays up to whole seconds (measured: asked for 150 ms, 1.0 s came out)."""


def job_id(batch: Batch, undated: Collection[int] = ()) -> str:
    """Return the id of a batch's job: from tenant, the caller's key and the items, so a duplicate is the same job.

    Args:
        batch: The batch.
        undated: The places of items that their caller did not date: they get the date of acceptance.
    """
    items: list[JsonValue] = [
        item.model_dump(mode="json", exclude={"occurred_at"} if index in undated else None)
        for index, item in enumerate(batch.items)
    ]
    return named_job("job/1", batch.tenant, batch.key, items)


class PlanCall(Passed):
    """The input of ``plan_ingest``."""

    batch: Batch
    at: Instant


class ApplyCall(Passed):
    """The input of ``apply_ingest``."""

    batch: Batch
    plan: WritePlan
    operation: str


class HoldCall(Passed):
    """The input of ``hold_doubtful``."""

    batch: Batch
    """The batch with only the doubtful items in their places."""
    held: tuple[PlannedItem, ...]
    """The decision on each of them."""
    operation: str


class ConfirmCall(Passed):
    """The input of ``confirm_ingest``."""

    batch: Batch
    plan: WritePlan
    versions: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class IngestActivities:
    """The ingest activities and what they need."""

    client: Client
    members: MemberBook
    submitter: Submitter
    writer: Writer
    intake: Intake
    consents: ConsentBook
    session: SessionWriter
    changed: ChangedTenants
    erasures: RedisErasures
    elsewhere: RemoteMemory | None = None
    """The memory that this worker's tasks use, if it is not that of this installation."""

    @activity.defn(name=Activity.REMEMBER)
    async def remember(self, request: RememberRequest) -> Submitted:
        """Check items and submit them as a job of their memory's owner; write what was said into its session.

        An item that does not say when it was observed was observed now.

        Raises:
            InvalidInput: The request is malformed, or none of its items can be used.
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
        """
        refuse_unknown(request)
        request = self.intake.identified(request)
        tenant = await self.members.tenant(request.user_id, request.of)
        now, epoch, asked = datetime.now(UTC), None, activity.info().scheduled_time
        # Whoever says that it was later would have what was offered before an erasure kept after it.
        asked = min(asked, request.asked_at or asked)
        # Where Redis is away the items wait, and the first plan of their job looks.
        with suppress(StoreUnavailable):
            epoch = await self.erasures.epoch_since(tenant, asked)
        require_said_in_time(request.turns, now, "turns")
        if request.turns and not request.items:
            await self._observed(tenant, request, (), (), epoch)
            return Submitted(tenant=tenant)
        undated: set[int] = set()
        items: list[JsonValue] = []
        for index, item in enumerate(request.items):
            if isinstance(item, dict) and "occurred_at" not in item:
                undated.add(index)
                items.append({**item, "occurred_at": now.isoformat()})
            else:
                items.append(item)
        batch = read_batch(
            tenant=tenant,
            key=request.key,
            items=items,
            accepted_at=now,
            agent=request.agent,
            session=request.session,
            policy=request.policy,
        )
        if request.recorded:
            # Whoever says that it was later would have kept what was forgotten meanwhile. Each item is compared with
            # erasures by itself.
            epoch, batch = None, batch.changed(recorded=_moments(request, now))
        job = job_id(batch, undated)
        # A workflow that names no actor is the actor itself.
        own = Actor(kind=ActorKind.AGENT, id=activity.info().workflow_id or "")
        by = request.by if "by" in request.model_fields_set else own
        author = self.members.author(request.user_id, request.of)
        note = SessionNote(tenant=tenant, session=request.session, since=asked) if request.session else None
        taken = await self.submitter.submit(batch.changed(by=by, epoch=epoch, stated_by=author, noted_in=note), job)
        await self._observed(tenant, request, batch.items, taken.items, epoch)
        return Submitted(tenant=tenant, job=job)

    async def _observed(
        self,
        tenant: str,
        request: RememberRequest,
        offered: Sequence[BatchItem],
        items: Sequence[BatchItem],
        epoch: int | None,
    ) -> None:
        """Write what was said into its session, if the user consents to keeping it.

        What a policy holds, or has refused, is not written there either; what is believed, once it is.
        """
        if not request.session:
            return
        purpose = Purpose.GIVEN if any(isinstance(item, TurnItem) for item in items) else Purpose.EXTRACTED
        if is_granted(await self.consents.of(tenant), purpose):
            turns = [*answering(request.turns), *turns_said(offered)]
            left = {
                place_of(item.occurrence)
                for item, taken in zip(offered, items, strict=True)
                if isinstance(taken, UnusableItem) and not isinstance(item, UnusableItem)
            }
            told = said_to_people([one.by for one in turns])
            kept = [
                one
                for one, is_told in zip(turns, told, strict=True)
                if is_told and place_of(one.occurrence) not in left
            ]
            await self.session.observed(tenant, request.session, kept, epoch=epoch)

    @activity.defn(name=Activity.SUBMIT_INGEST)
    async def submit(self, call: SubmitCall) -> str:
        """Journal a batch and start its job, or find the existing one, open or closed; returns the job's id.

        Raises:
            UnknownOwner: The batch is for an owner to which its task's user does not belong, or which does not exist.
        """
        if self.elsewhere:
            return await self.elsewhere.submit(call)
        batch = call.batch
        reached = await self.members.reached(batch.tenant, batch.of)
        author = author_id(reached, batch.tenant) if batch.of else ""
        batch = batch.changed(tenant=reached, of=None, stated_by=author)
        await self.submitter.submit(batch, job_id(batch))
        return job_id(batch)

    @activity.defn(name=Activity.WAIT_INGEST)
    async def wait(self, call: WaitIngestCall) -> Receipt:
        """Wait for a job's receipt: a few fast polls, then again after Temporal's retry delay.

        A job that failed raises an error with its reason, and so does one that Temporal does not know: waiting for it
        would never end. A job that still runs is never reported as failed.
        """
        if call.job.startswith(ELSEWHERE):
            return await self._receipt_of(call)
        handle = self.client.get_workflow_handle(call.job, result_type=Receipt)
        for poll in range(POLLS):
            if poll:
                await asyncio.sleep(POLL_SECONDS)
            try:
                status = (await handle.describe()).status
                if status is not WorkflowExecutionStatus.RUNNING:
                    return await handle.result()
            except WorkflowFailureError as error:
                raise JobFailed(f"{call.job}: {_root(error)}") from None
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    unknown = "Temporal knows no such job, or not any more"
                    raise InvalidInput("job", unknown, fix="submit the batch again") from error
                raise of_call(error) from error
        raise still_running(call.job, again_after=timedelta(seconds=RETRY_SECONDS))

    async def _receipt_of(self, call: WaitIngestCall) -> Receipt:
        if self.elsewhere is None:
            problem = "this job runs in another installation, and this worker is connected to none"
            raise WorkerUnavailable(f"{problem}: set PERDURE_MEMORY_URL")
        receipt = await self.elsewhere.receipt(call, wait=POLLS * POLL_SECONDS)
        if receipt is None:
            raise still_running(call.job, again_after=timedelta(seconds=RETRY_SECONDS))
        return receipt

    @activity.defn(name=Activity.PLAN_INGEST)
    async def plan(self, request: PlanCall) -> WritePlan:
        """Decide on each item."""
        with _accepted():
            return await self.writer.plan(request.batch, at=request.at)

    @activity.defn(name=Activity.APPLY_INGEST)
    async def apply(self, request: ApplyCall) -> Applied:
        """Write the decisions, once; decide again if something has changed since."""
        with _accepted():
            applied = await self.writer.apply(request.batch, request.plan, operation=request.operation)
            if any(isinstance(item, MemoryItem) for item in request.batch.items):
                await self.changed.add(request.batch.tenant, datetime.now(UTC))
        return applied

    @activity.defn(name=Activity.HOLD_DOUBTFUL)
    async def hold(self, request: HoldCall) -> None:
        """Put on hold what contradicts what is believed, until a person says which of the two holds."""
        holds = self.intake.doubtful(request.batch, request.held, job=request.operation, at=datetime.now(UTC))
        with _accepted():
            for hold in holds:
                await self.submitter.hold(hold)
        await self._notes.doubted(request.batch, (hold.batch for hold in holds))

    @property
    def _notes(self) -> SessionNotes:
        return SessionNotes(self.session, self.erasures)

    @activity.defn(name=Activity.CONFIRM_INGEST)
    async def confirm(self, request: ConfirmCall) -> tuple[ItemReceipt, ...]:
        """Read back what was written, as recall would find it; only then is it searchable.

        Raises:
            VersionConflict: It is no longer stored as it was written: it was purged, or the store went back to an older
                state. Planning the job again is harmless, as entries that exist carry its operation's id.
        """
        for poll in range(POLLS):
            if poll:
                await asyncio.sleep(POLL_SECONDS)
            with _accepted():
                receipts = await self.writer.confirm(request.batch, request.plan, request.versions)
            if receipts is not None:
                await self._notes.believed(request.batch, receipts)
                return receipts
        raise VersionConflict("entries are no longer stored as they were written")


def _moments(request: RememberRequest, now: datetime) -> tuple[datetime, ...]:
    """Return when each item of a request was said or learned.

    Raises:
        InvalidInput: There are fewer moments than items, or more.
    """
    if len(request.recorded) != len(request.items):
        problem = f"has {counted(len(request.recorded), 'moment')} for {counted(len(request.items), 'item')}"
        raise InvalidInput("recorded", problem, fix="give one for each item, or none")
    return tuple(min(one, now) for one in request.recorded)


@contextmanager
def _accepted() -> Generator[None]:
    """Let an accepted job wait for a worker with the right settings if this one's are wrong."""
    try:
        yield
    except (EmbeddingMismatch, SchemaMismatch, ModelFileDamaged, ModelKeyRefused, StoreRefused) as error:
        raise WorkerUnavailable(f"this worker cannot write, and another may: {error}") from error


def _root(error: BaseException) -> BaseException:
    """Return the reason of a failure: its wrapper says only that an activity failed."""
    while isinstance(error, WorkflowFailureError | FailureError) and error.cause:
        error = error.cause
    return error
