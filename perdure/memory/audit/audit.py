"""What a process reports to the audit: changes at once and synced, reads after the recall, heads each minute."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from perdure.errors import InvalidInput, PerdureError, StoreUnavailable
from perdure.identity import is_author_id
from perdure.memory.audit.reader import AuditRemoval, is_written
from perdure.memory.audit.verification import Missing
from perdure.memory.audit.writer import STORE, ChainWriter
from perdure.policies.ruling import Ruling
from perdure.policies.shape import Outcome
from perdure.stores import disk
from perdure.stores.audit.chain import LABEL
from perdure.stores.audit.lines import AuditKind, AuditLine
from perdure.stores.redis.audit_heads import AuditHeads, KnownHead
from perdure.stores.tenant_key import TenantKey
from perdure.together import to_its_end
from perdure.values.changes import Actor, ActorKind

HEADS_EVERY = 60.0
"""Seconds between two reports of a chain's head to Redis; what is cut off since the last one is not noticed."""

READS_WITHIN = 0.5
"""Seconds that a read waits to be written, together with others: a kill loses them."""

_AGAIN_AFTER = 1.0
_MOST_WAITING = 10_000
"""Reads that wait while the disk is full; of more, the number alone is written."""

_RECENT = 10_000
"""Operations of reads that are remembered, so that a retried activity adds none."""

_NAMED = 1_000
"""Entries that the line of a read names; of further ones it gives the number."""

_CLOSED_WITHIN = 0.5
"""Seconds that Redis has at the end of a process to learn how far its chain came."""

_log = logging.getLogger(__name__)
# Of the standard library: a command, which configures no logging, shows warnings on stderr.


class Audit:
    """The audit as one process writes it.

    Args:
        folder: The audit's folder.
        key: The installation's tenant key, from which that of the chains is derived.
        heads: The heads of all chains.
    """

    def __init__(self, folder: Path, key: TenantKey, heads: AuditHeads) -> None:
        self._chain = ChainWriter(folder, key.derived(LABEL))
        self._key = key
        self._heads = heads
        self._waiting: list[_Waiting] = []
        self._committing = asyncio.Lock()
        self._failing = False
        self._lost = 0
        self._recent: OrderedDict[str, None] = OrderedDict()
        self._news = False
        self._soon: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()

    async def ready(self) -> None:
        """Check that lines can be written, before the action that they record.

        Raises:
            StoreUnavailable: They cannot.
        """
        await self._chain.open()
        if self._telling is None:
            self._news = True
            self._telling = asyncio.create_task(self._keep_telling())

    async def changed(
        self,
        tenant: str,
        ids: Mapping[str, Sequence[str]],
        *,
        operation: str,
        by: Actor,
        again: bool = False,
    ) -> None:
        """Write that memories were changed; on return it is on the disk.

        Args:
            tenant: Whose.
            ids: Which, for each reason.
            operation: The id of the operation.
            by: Who.
            again: Whether an earlier attempt may have written it: then all chains are asked first.

        Raises:
            StoreUnavailable: It cannot be written, so the change must not be acknowledged.
        """
        line = self._act(AuditKind.CHANGED, tenant, ids, operation, by)
        await self.ready()
        if again and await disk.in_thread(STORE, lambda: is_written(self._chain.folder, line)):
            return
        await self._write(line)

    async def read(
        self, tenant: str, ids: Sequence[str], *, why: str, operation: str, by: Actor, kind: AuditKind = AuditKind.READ
    ) -> bool:
        """Queue a read of memories, or what comes as often, to be written soon; returns False if that is impossible.

        A read of the same operation is written once; what else comes as often, each time: callers choose its operation.
        """
        try:
            await self.ready()
        except StoreUnavailable as error:
            _log.warning("who reads memory cannot be audited: %s", error)
            self._failing = True
        key = f"{tenant} {operation} {why}"
        if kind is not AuditKind.READ or key not in self._recent:
            self._recent[key] = None
            if len(self._recent) > _RECENT:
                self._recent.popitem(last=False)
            line = self._act(kind, tenant, {why: ids if len(ids) <= _NAMED else ()}, operation, by)
            line = line if len(ids) <= _NAMED else line.changed(number=len(ids))
            self._waiting.append(_Waiting(line, can_wait=True))
            self._write_soon()
        return not self._failing

    async def ruled(self, tenant: str, ruling: Ruling, *, operation: str, by: Actor) -> None:
        """Write what policies decided about a call; on return it is on the disk, unless it simply passes.

        Args:
            tenant: Whose task makes the call.
            ruling: What was decided.
            operation: The id of the attempt at the call.
            by: The agent that makes it, or the person who decided.

        Raises:
            StoreUnavailable: It cannot be written, so the call must not be made.
        """
        line = self._act(AuditKind.RULED, tenant, {}, operation, by).changed(ruling=ruling)
        passes = ruling.outcome is Outcome.PASS
        try:
            await self.ready()
        except StoreUnavailable as error:
            if not passes:
                raise
            _log.warning("what policies let pass cannot be audited: %s", error)
            self._failing = True
        if passes:
            self._waiting.append(_Waiting(line, can_wait=True))
            self._write_soon()
        else:
            await self._write(line)

    async def administered(self, about: str, *, why: str, by: Actor) -> None:
        """Write what somebody is about to do as an administrator; on return it is on the disk.

        Args:
            about: The id of what it is about.
            why: What is about to be done.
            by: Who does it.

        Raises:
            StoreUnavailable: It cannot be written, so it must not be done.
        """
        line = self._act(AuditKind.ADMINISTERED, self._key.tenant_of_installation, {why: (about,)}, about, by)
        await self.ready()
        await self._write(line)

    async def removing(self, removal: AuditRemoval, by: Actor) -> None:
        """Write that a person is about to remove old files.

        Raises:
            StoreUnavailable: It cannot be written.
        """
        await self.ready()
        line = AuditLine(kind=AuditKind.REMOVED, at=datetime.now(UTC), by=by)
        said = {AuditKind.HEADS: removal.held, AuditKind.REMOVED: removal.removed}
        await self._chain.append([line.changed(kind=kind, heads=heads) for kind, heads in said.items() if heads])
        self._news = True

    async def accepting(self, missing: Sequence[Missing], by: Actor) -> None:
        """Write that a person accepts losses.

        Raises:
            StoreUnavailable: It cannot be written.
        """
        await self.ready()
        line = AuditLine(kind=AuditKind.ACCEPTED, at=datetime.now(UTC), by=by)
        await self._chain.append([line.changed(number=one.left, heads=(one.head,)) for one in missing])
        self._news = True

    async def written(self) -> None:
        """Wait until the pending reads are written, or cannot be."""
        while self._waiting and not self._failing:
            await self._commit()

    async def close(self) -> None:
        """Write what waits, end the chain, and report to Redis how far it came."""
        # Redis's client may swallow a cancellation: the end of a process then waited for the next minute (seen).
        self._ending.set()
        for task in (self._soon, self._telling):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        self._soon = None
        if self._telling is None and not self._waiting:
            return
        try:
            await self._commit()
            # With Redis away, the chain is closed all the same.
            await self._tell(closing=True)
        except PerdureError as error:
            _log.warning("the audit did not end in order: %s", error)
        self._telling = None
        await self._chain.end()

    async def _write(self, line: AuditLine) -> None:
        """Write a line that somebody waits for, and what waits besides.

        Raises:
            StoreUnavailable: It cannot be written.
        """
        waiting = _Waiting(line, can_wait=False)
        self._waiting.append(waiting)
        await self._commit(waiting)

    async def _commit(self, waiting: "_Waiting | None" = None) -> None:
        """Write all pending lines, for all their callers.

        Raises:
            StoreUnavailable: What waits cannot be written.
        """
        async with self._committing:
            if waiting is None or not waiting.done:
                await to_its_end(self._append())
        if waiting is not None and waiting.error is not None:
            raise waiting.error

    async def _append(self) -> None:
        taken, self._waiting, lost = self._waiting, [], self._lost
        lines = [one.line for one in taken]
        lines += [AuditLine(kind=AuditKind.LOST, at=datetime.now(UTC), number=lost)] if lost else []
        error: StoreUnavailable | None = None
        try:
            if lines:
                await self._chain.append(lines)
        except StoreUnavailable as problem:
            error = problem
            # Changes are not acknowledged, and come again; reads wait on.
            self._waiting = [one for one in taken if one.can_wait] + self._waiting
        else:
            self._news = self._news or bool(lines)
            self._lost -= lost
        self._failing = error is not None
        for one in taken:
            one.done, one.error = not (error and one.can_wait), error

    def _write_soon(self) -> None:
        self._forget_some()
        if self._soon is None:
            self._soon = asyncio.create_task(self._commit_soon())

    async def _commit_soon(self) -> None:
        wait = READS_WITHIN
        while self._waiting:
            await asyncio.sleep(wait)
            wait = _AGAIN_AFTER
            await self._commit()
        self._soon = None

    async def _keep_telling(self) -> None:
        own = asyncio.current_task()
        while not self._ending.is_set():
            try:
                await self._tell()
            except PerdureError as error:
                _log.info("how far the audit came is not told yet: %s", error)
            if own is not None and own.cancelling():
                return  # Redis's client may have swallowed the cancellation.
            with suppress(TimeoutError):
                async with asyncio.timeout(HEADS_EVERY):
                    await self._ending.wait()

    async def _tell(self, *, closing: bool = False) -> None:
        """Write the heads of the other chains into this one, and report this one's to Redis instead.

        Only if there is news: otherwise two idle chains would answer each other for ever.
        """
        others: list[KnownHead] = []
        with suppress(PerdureError, TimeoutError):
            async with asyncio.timeout(_CLOSED_WITHIN if closing else None):
                others = [one for one in await self._heads.all() if not self._is_own(one)]
        news = self._news or closing
        if not news and not any(one.news for one in others):
            return
        held = AuditLine(kind=AuditKind.HEADS, at=datetime.now(UTC), heads=tuple(one.head for one in others))
        head = self._chain.head
        if others or closing or head is None:
            head = await self._chain.append([held] if others else [], closing=closing)
        self._news = False
        try:
            async with asyncio.timeout(_CLOSED_WITHIN if closing else None):
                await self._heads.publish(KnownHead(head, news), others)
        except (PerdureError, TimeoutError) as error:
            self._news = self._news or news
            raise StoreUnavailable("redis", "does not know yet how far the audit came") from error

    def _is_own(self, known: KnownHead) -> bool:
        return self._chain.head is not None and known.head.file == self._chain.head.file

    def _act(
        self, kind: AuditKind, tenant: str, ids: Mapping[str, Sequence[str]], operation: str, by: Actor
    ) -> AuditLine:
        actor, named = self._without_user_id(tenant, by), {why: tuple(some) for why, some in ids.items()}
        return AuditLine(kind=kind, at=datetime.now(UTC), tenant=tenant, operation=operation, by=actor, ids=named)

    def _without_user_id(self, tenant: str, by: Actor) -> Actor:
        """Return an actor with a user's own tenant instead of their id: the id would outlast their erasure.

        Every person may be a user, whoever's memories they are; of the others, those who act under the user's id.
        """
        try:
            own = self._key.tenant_of(by.id) if by.id and not is_author_id(by.id) else ""
        except InvalidInput:
            return by
        return by.changed(id=own) if own == tenant or (own and by.kind is ActorKind.PERSON) else by

    def _forget_some(self) -> None:
        if len(self._waiting) > _MOST_WAITING:
            oldest = next((place for place, one in enumerate(self._waiting) if one.can_wait), None)
            if oldest is not None:
                del self._waiting[oldest]
                self._lost += 1


class _Waiting:
    """A line that waits to be written, and what became of it."""

    def __init__(self, line: AuditLine, *, can_wait: bool) -> None:
        self.line = line
        self.can_wait = can_wait
        """Whether nobody waits for it, so that it is tried again where it cannot be written."""
        self.done = False
        self.error: StoreUnavailable | None = None
