"""Requests to memory."""

import secrets
from typing import TYPE_CHECKING

from pydantic import JsonValue
from temporalio.client import WorkflowExecutionStatus
from temporalio.exceptions import WorkflowAlreadyStartedError

from perdure.errors import InvalidInput, TenantKeyMissing, UnknownOwner
from perdure.identity import digest
from perdure.memory.recall.query import RecalledItem, RecallResult
from perdure.names import Workflow
from perdure.values.changes import Actor
from perdure.values.entries import Purpose
from perdure.values.erasures import ErasureReceipt
from perdure.values.jobs import Receipt
from perdure.values.requests import (
    EraseRequest,
    ForgetRequest,
    ForgetResult,
    Observed,
    ObserveRequest,
    RecallHandle,
    RecallRequest,
    ReconcileRequest,
    ReconcileResult,
    RedateRequest,
    RedateResult,
    Reference,
    RememberRequest,
    UndoRequest,
    UndoResult,
)
from worker.gateway.base import Base, call
from worker.lookup import job_of
from worker.worker_wait import ANSWER_WITHIN, waiting

if TYPE_CHECKING:
    from worker.reader import Reader

_MOST_BYTES = 1_500_000
"""Of what is offered at once: Temporal takes 2 MB, and what is sent is as long in another form."""


class MemoryCalls(Base):
    """Reading memory, offering it items, forgetting, reconciling the stores."""

    @call
    async def recall(self, request: RecallRequest, *, by: Actor) -> RecallResult:
        """Recall from every tier of memory.

        Where this process has the tenant key, it asks the stores itself and leaves nothing in a history. Otherwise a
        worker recalls, and the result is fetched by a reference that expires within minutes.

        Raises:
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
        """
        request = request.changed(by=by)
        if own := await self._own_reader():
            return await own.recall(request)
        reference = await self._execute(Workflow.RECALL_MEMORY, request, Reference, name="recall", within=ANSWER_WITHIN)
        from worker import reader  # noqa: PLC0415  it loads the stores' clients

        return await reader.fetch(self._addresses, reference)

    async def _own_reader(self) -> "Reader | None":
        """Return this process's own reader of memory; None without the tenant key."""
        try:
            return await self._keyed_reader()
        except TenantKeyMissing:
            return None

    async def _keyed_reader(self) -> "Reader":
        """Return this process's own reader of memory.

        Raises:
            TenantKeyMissing: It cannot read the tenant key; says which file, why and what to do.
        """
        # The stores' clients take a second to import, which the other calls need not wait for.
        from worker import reader  # noqa: PLC0415

        async with self._opening:
            if self._reader is None:
                opened = reader.open_reader(self._settings, self._addresses)
                self._reader = await self._stack.enter_async_context(opened)
        return self._reader

    @call
    async def read(self, user_id: str, handle: RecallHandle, *, by: Actor) -> list[RecalledItem]:
        """Return what the handle of an earlier recall names, as it is now: what was forgotten since is gone.

        Raises:
            UnknownOwner: The user no longer belongs to the owner from whom it was recalled.
            TenantKeyMissing: This process has no tenant key, without which memory cannot be read here.
            StoreUnavailable: Weaviate does not answer.
        """
        return await (await self._keyed_reader()).read(user_id, handle, by=by)

    @call
    async def remember(self, request: RememberRequest, *, by: Actor) -> str:
        """Submit items to be remembered, without private data and secrets; returns the id of their job.

        Raises:
            InvalidInput: There is no such policy, or it refuses items that hold some; or they exceed 1.5 MB together.
        """
        return await self._remembered(request, by)

    async def _remembered(self, request: RememberRequest, by: Actor, *, id_: str = "") -> str:
        """Submit items; see ``remember``.

        Args:
            request: The items.
            by: Who offers them.
            id_: The id of the workflow that submits them; empty: a new one.
        """
        from worker.extraction import screened  # noqa: PLC0415  it loads rules and libraries

        size = len(request.model_dump_json())
        if size > _MOST_BYTES:
            fix = "an item's content has at most 8,000 characters; give fewer items at a time"
            raise InvalidInput("items", f"come to {size / 1e6:.1f} MB, and {_MOST_BYTES / 1e6} MB can be sent", fix=fix)
        given = screened(request, self._settings).changed(by=by)
        return await self._execute(Workflow.REMEMBER_ITEMS, given, str, name="remember", within=ANSWER_WITHIN, id_=id_)

    @call
    async def observe(self, request: ObserveRequest, *, by: Actor) -> Observed:
        """Offer memory what was said; it believes what the write policy lets it believe.

        Private data and secrets are taken out in this process, before anything is sent, journaled or started.

        Raises:
            InvalidInput: The request is malformed, there is no such policy, or the user does not consent.
            ModelRefused: The language model that extracts memories refuses the question.
            StoreUnavailable: The model does not answer.
        """
        from worker.extraction import is_verbatim, observed  # noqa: PLC0415  it loads rules and models

        verbatim = is_verbatim(request, self._settings)
        # Here too if this process can: before a model is asked, and so that no history gets what may not be kept.
        if not verbatim and (own := await self._own_reader()):
            await own.require_consent(request.user_id, request.of, Purpose.EXTRACTED)
        items, left = await observed(request, self._settings)
        occurrences: list[JsonValue] = [one.occurrence for one in request.said]
        given = RememberRequest(
            user_id=request.user_id,
            of=request.of,
            key=f"observed-{digest('observed/1', request.session, occurrences)[:24]}",
            items=tuple(items),
            turns=() if verbatim else request.said,
            agent=request.agent,
            session=request.session,
            policy=request.policy,
        )
        return Observed(job=await self.remember(given, by=by), items=len(items), left=left)

    @call
    async def receipt(self, job: str, *, by: Actor) -> Receipt:
        """Wait for a job's receipt: what became of each item. Raises InvalidInput where there is no such job."""
        client = await self.client()
        await job_of(client, job)
        async with waiting(self._notify, f"end {job}", afterwards="the job goes on", within=None):
            return await client.get_workflow_handle(job, result_type=Receipt).result()

    @call
    async def forget(self, request: ForgetRequest, *, by: Actor) -> ForgetResult:
        """Run a sweep: forget what the rules no longer keep.

        Raises:
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
        """
        return await self._execute(Workflow.FORGET_MEMORY, request.changed(by=by), ForgetResult, name="forget-memory")

    @call
    async def undo(self, request: UndoRequest, *, by: Actor) -> UndoResult:
        """Bring back what a sweep forgot.

        Raises:
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
        """
        return await self._execute(Workflow.UNDO_FORGETTING, request.changed(by=by), UndoResult, name="undo-forgetting")

    @call
    async def redate(self, request: RedateRequest, *, by: Actor) -> RedateResult:
        """Date again, for all users, the entries that were dated by other rules than today's."""
        return await self._execute(Workflow.REDATE_MEMORY, request.changed(by=by), RedateResult, name="redate-memory")

    @call
    async def erase(self, request: EraseRequest, *, sending: str = "", by: Actor) -> ErasureReceipt:
        """Erase all that is kept of a user or an owner, and prove it; the receipt says what no erasure reaches.

        An owner's list of members is erased with the proof. The same request again, because its answer was lost,
        gets the existing receipt, as ``earlier``: nothing is erased then, not even if the owner was created again.

        Args:
            request: Whose memory is erased.
            sending: An id of this sending: the same again is the same erasure, which leaves what was remembered since.
            by: Who asks.

        Raises:
            UnknownOwner: The user does not belong to the owner, or there is none, and the user has no receipt either.
        """
        about = f"erase-{digest('erasure/1', request.user_id, request.of)[:24]}-"
        try:
            receipt = await self._erased(request.changed(by=by), f"{about}{sending or secrets.token_hex(6)}")
        except UnknownOwner:
            known = await self._proved_receipt(about)
            if known is None:
                raise
            return known.changed(earlier=True)
        if receipt.proved or not receipt.earlier:
            return receipt
        # Another one may have proved it since; otherwise what was left is to be erased now.
        if known := await self._proved_receipt(about):
            return known.changed(earlier=True)
        return await self._erased(request.changed(by=by), f"{about}{secrets.token_hex(6)}")

    @call
    async def _erased(self, request: EraseRequest, id_: str) -> ErasureReceipt:
        try:
            return await self._execute(Workflow.ERASE_MEMORY, request, ErasureReceipt, name="erase", id_=id_)
        except WorkflowAlreadyStartedError:
            first = (await self.client()).get_workflow_handle(id_, result_type=ErasureReceipt)
            return (await first.result()).changed(earlier=True)

    async def _proved_receipt(self, prefix: str) -> ErasureReceipt | None:
        """Return the latest receipt with a proof of the erasures whose ids begin in this way.

        One that another took over has none, and may have begun after the one that has.
        """
        client = await self.client()
        query = (
            f"WorkflowType = '{Workflow.ERASE_MEMORY}' AND WorkflowId STARTS_WITH '{prefix}'"
            f" AND TaskQueue = '{self._settings.task_queue}'"
        )
        runs = [run async for run in client.list_workflows(query)]
        for run in sorted(runs, key=lambda run: run.start_time, reverse=True):
            handle = client.get_workflow_handle(run.id, run_id=run.run_id, result_type=ErasureReceipt)
            # The list lags behind: an erasure that has ended may be listed as running, and so may this refused one.
            if (await handle.describe()).status is WorkflowExecutionStatus.COMPLETED:
                receipt = await handle.result()
                if receipt.proved:
                    return receipt
        return None

    @call
    async def reconcile(self, request: ReconcileRequest, *, by: Actor) -> ReconcileResult:
        """Reconcile the stores with each other: what one of them lost is there again.

        Raises:
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
        """
        return await self._execute(Workflow.RECONCILE_MEMORY, request.changed(by=by), ReconcileResult, name="reconcile")

    @call
    async def begin_journal(self, *, by: Actor) -> str:
        """Start a new journal in the folder of the settings, the old one being lost; returns its id.

        The audit was in that folder: its loss is accepted too. Needs no worker, as none starts without a journal.

        Raises:
            InvalidInput: Nothing was lost.
            TenantKeyMissing: This process has no tenant key.
            TenantKeyMismatch: The data was written under another key.
            StoreUnavailable: A store does not answer.
        """
        from worker import store_resets  # noqa: PLC0415  it loads every store's client

        return await store_resets.begin_journal(self._settings, self._addresses, by)

    @call
    async def drop_collections(self, *, by: Actor) -> None:
        """Delete the collections in Weaviate: the next worker rebuilds them, with the model that it is set to.

        The journal has all that is remembered but for vectors and what was counted since an entry's last change.

        Raises:
            InvalidInput: Workers are running, which would rebuild them with the model that they are set to.
            StoreLost: Redis or the journal lost something.
            TenantKeyMissing: This process has no tenant key.
            TenantKeyMismatch: The data was written under another key.
            StoreUnavailable: A store does not answer.
        """
        if running := await self.serving(lately=True):
            raise InvalidInput(
                "new-collections",
                f"{running} {'worker serves' if running == 1 else 'workers serve'} this installation, and would go on "
                "with the vectors that it makes",
                fix="stop every worker first; each counts for a minute and a half after its end",
            )
        from worker import store_resets  # noqa: PLC0415  it loads every store's client

        await store_resets.drop_collections(self._settings, self._addresses, by)
