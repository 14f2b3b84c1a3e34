"""Submitting to memory: a batch becomes a job, and what a person has to approve first becomes a hold."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from perdure.crashpoints import CrashPoint, reached
from perdure.errors import StoreUnavailable, TenantErased
from perdure.memory.membership import MemberBook
from perdure.memory.writing.intake import Intake
from perdure.memory.writing.writer import Writer
from perdure.model import Passed
from perdure.names import Workflow
from perdure.plurals import counted
from perdure.stores.journal import lines
from perdure.stores.journal.lines import Accepted, Line, Settled
from perdure.stores.journal.log import Journal
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.redis.leases import Leases
from perdure.temporal.attributes import TASK_TIMEOUT, tenant_attributes
from perdure.temporal.errors import of_call
from perdure.tolerance import changed_back
from perdure.values.changes import ActorKind
from perdure.values.erasures import Erasure
from perdure.values.holds import Hold
from perdure.values.jobs import Batch, UnusableItem

ABOUT_TO_START = timedelta(hours=1)
"""How long after accepting a batch a process may still start its job: a choice, far above any retry."""


@dataclass(frozen=True, kw_only=True)
class Submitter:
    """Starts jobs and holds, each once, however often it is asked to."""

    client: Client
    task_queue: str
    journal: Journal
    leases: Leases
    writer: Writer
    intake: Intake
    erasures: RedisErasures
    members: MemberBook

    async def submit(self, batch: Batch, job: str, *, people: Collection[str] = ()) -> Batch:
        """Put on hold what has to wait, journal the rest of a batch, and start its job; returns that rest.

        Args:
            batch: The batch.
            job: The id of its job; an existing one, open or closed, stays as it is.
            people: The tenants of other users from whose memory it was taken.

        Raises:
            InvalidInput: There is no such policy.
            StoreUnavailable: A store or Temporal does not answer.
            TenantErased: The user was erased since the epoch that the batch names, or since this was asked; or one of
                these people was.
        """
        now = datetime.now(UTC)
        if batch.stated_by:
            batch = batch.changed(by=await self.members.named(batch.tenant, batch.author, batch.stated_by))
        accepted_at = batch.accepted_at or now
        # With Redis away nobody can be erased either, so the first plan may take the epoch that it finds.
        with suppress(StoreUnavailable):
            epoch = await self.leases.epoch(batch.tenant)
            if batch.epoch is not None and batch.epoch < epoch:
                raise TenantErased("the user was erased after this began")
            if batch.epoch is None and batch.approved is None:
                batch = _since(await self.erasures.of(batch.tenant), batch.changed(epoch=epoch))
        counts_from = accepted_at
        if batch.approved and batch.author.kind is ActorKind.PERSON:
            # What a person approves counts from now on; what nobody answered, from when it was put on hold.
            counts_from, batch = now, batch.changed(recorded=())
        batch, holds = await self.intake.taken(batch.changed(accepted_at=counts_from), job=job, at=now)
        for hold in holds:
            await self.hold(hold)
        reached(CrashPoint.SUBMIT_HELD)
        # A second attempt finds the lines of the first, or that the job has settled, after which they may be erased.
        if not any(_tells_of(line, job) for line in await self.journal.read(batch.tenant, naming=[job])):
            accepted = lines.accepted(job, batch, now)
            await self.journal.append(batch.tenant, accepted, epoch=batch.epoch, asked_at=accepted_at, people=people)
        reached(CrashPoint.SUBMIT_JOURNALED)
        if not await self._started(Workflow.INGEST_MEMORY, batch, job, batch.tenant, _counted(batch)):
            # If it has settled, nothing else would erase again what was journaled just now.
            await self.writer.settled_again(batch.tenant, job)
        reached(CrashPoint.SUBMIT_STARTED)
        return batch

    async def resume(self, tenant: str, pending: Iterable[Accepted], *, now: datetime) -> int:
        """Start the missing jobs of accepted batches: the process that accepted one died before it started the job.

        A batch that is entirely on hold has no lines, and needs no job: each hold is a workflow that has its text, and
        submits it when a person approves it.

        Args:
            tenant: Whose.
            pending: What the tenant's journal says is not done, oldest first.
            now: The moment; the job of a batch accepted less than an hour ago may still be about to start.

        Returns:
            How many were started.

        Raises:
            StoreUnavailable: Temporal does not answer.
        """
        jobs: dict[str, list[Accepted]] = {}
        for line in pending:
            jobs.setdefault(line.job, []).append(line)
        started = 0
        for job, accepted in jobs.items():
            if accepted[0].at < now - ABOUT_TO_START:
                batch = lines.batch_of(tenant, accepted)
                started += await self._started(
                    Workflow.INGEST_MEMORY,
                    batch,
                    job,
                    tenant,
                    _counted(batch),
                    reuse=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                )
        return started

    async def hold(self, hold: Hold) -> None:
        """Put a memory on hold, unless it is or was already.

        Raises:
            StoreUnavailable: Temporal does not answer.
        """
        await self._started(Workflow.HOLD_MEMORY, hold, hold.batch.key, hold.batch.tenant, "Ask a person to approve")

    async def _started(
        self,
        workflow: Workflow,
        argument: Passed,
        identifier: str,
        tenant: str,
        summary: str,
        *,
        # A workflow that was ended from outside did not finish: it may start again, and writes nothing twice.
        reuse: WorkflowIDReusePolicy = WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
    ) -> bool:
        """Start a workflow; returns whether its id was new."""
        try:
            await self.client.start_workflow(
                workflow,
                argument,
                id=identifier,
                task_queue=self.task_queue,
                id_reuse_policy=reuse,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                task_timeout=TASK_TIMEOUT,
                search_attributes=tenant_attributes(tenant),
                static_summary=summary,
            )
        except WorkflowAlreadyStartedError:
            return False
        except RPCError as error:
            raise of_call(error) from error
        return True


def _since(erasure: Erasure | None, batch: Batch) -> Batch:
    """Return a batch without what was said or learned before the memory that it is for was erased."""
    if erasure is None or not batch.recorded:
        return batch
    erased = UnusableItem(reason=f"the memory was erased on {erasure.at:%Y-%m-%d}, after this was learned")
    items = (one if at > erasure.at else erased for one, at in zip(batch.items, batch.recorded, strict=True))
    return changed_back(batch, items=tuple(items))


def _tells_of(line: Line, job: str) -> bool:
    """Return whether a line says that a job's batch was accepted, or that the job has settled."""
    return (isinstance(line, Accepted) and line.job == job) or (isinstance(line, Settled) and line.operation == job)


def _counted(batch: Batch) -> str:
    return f"Remember {counted(len(batch.items), 'item')}"
