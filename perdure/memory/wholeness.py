"""Whether the three stores still have what was written to them, and the marks that show it.

Compares on demand, before and after each change of memory and every few seconds. Rebuilds nothing.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import TypeVar

from perdure.errors import InvalidInput, JournalMismatch, StoreLost, StoreUnavailable
from perdure.memory.lost_stores import WHAT_TO_DO, require_answers, require_whole
from perdure.memory.own_marks import OwnMarks
from perdure.stores.journal.marks import JournalMarks, new_id
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.marks import WeaviateMarks
from perdure.together import together
from perdure.values.losses import Loss, LossKind, Store, Told, losses, restored, seen_around

COMPARED_EVERY = 10.0
"""Seconds after which the stores are compared again, though nothing is written; a choice."""

IDLE = 86_400.0
"""Seconds without writing after which a process's marks are removed: .15 ms of each comparison (measured)."""

_T = TypeVar("_T")


class Wholeness:
    """One process's view of what the stores have lost, and its own marks in them.

    Args:
        journal: What the journal says of itself.
        redis: What Redis says.
        weaviate: What Weaviate says.
    """

    def __init__(self, journal: JournalMarks, redis: RedisMarks, weaviate: WeaviateMarks) -> None:
        self._journal = journal
        self._redis = redis
        self._stores = {Store.REDIS: redis, Store.WEAVIATE: weaviate}
        self._own = OwnMarks(journal, redis, weaviate)
        self._connected = 0
        self._compared: dict[Store, float] = {}
        self._found: dict[Store, Loss | None] = {}

    async def begin(self, key: TenantKey) -> tuple[Loss, ...]:
        """Enrol new stores in this installation, and return the losses of the others.

        Args:
            key: The tenant key of this process.

        Raises:
            StoreLost: The journal was lost.
            TenantKeyMismatch: The journal was written under another key.
            JournalMismatch: The stores belong to different installations.
            StoreUnavailable: A store does not answer.
        """
        told = await self._ask()
        found = self._judged(told)
        require_whole(loss for loss in found if loss == Loss(Store.JOURNAL, LossKind.LOST))
        if told.get(Store.JOURNAL, Told(None, {})).journal is None:
            # A store that does not answer may know of a journal, whose folder is not mounted here.
            require_answers(told)
        journal, fingerprint = await self._journal.begin(key.fingerprint)
        key.require(fingerprint)
        lost = {loss.store for loss in found}
        for store, marks in self._stores.items():
            if store in told and told[store].journal is None and store not in lost:
                await marks.begin(journal)
        require_answers(told)
        if not found:
            # Where that fails now, a later comparison goes on with it.
            with suppress(StoreUnavailable):
                await self._retire()
        return found

    async def begin_journal(self, key: TenantKey) -> str:
        """Start a new journal in a folder that does not hold the installation's; returns its id.

        Reconciling writes to it what the stores still have: until then, it counts as an older copy.

        Raises:
            InvalidInput: The journal is there.
            StoreUnavailable: A store does not answer.
        """
        told = await self._ask_all()
        if Loss(Store.JOURNAL, LossKind.LOST) not in losses(told):
            raise InvalidInput("journal", f"nothing was lost: {self._journal.folder} is as the stores know it")
        # The stores first: after an interruption in between, the journal is still found to be lost.
        id_ = new_id()
        for store, marks in self._stores.items():
            if told[store].journal is not None:
                await marks.move(id_)
        found, _ = await self._journal.begin(key.fingerprint, id_)
        return found

    async def compare(self) -> tuple[Loss, ...]:
        """Return the stores that lost data. One that does not answer is left out, and not compared with the others.

        Raises:
            JournalMismatch: The stores belong to different installations.
        """
        return self._judged(await self._ask())

    async def examine(self) -> tuple[Loss, ...]:
        """Return the stores that lost data, once every store answers.

        Raises:
            JournalMismatch: The stores belong to different installations.
            StoreUnavailable: A store does not answer.
        """
        return self._judged(await self._ask_all())

    async def lost(self, store: Store) -> bool:
        """Return whether a store lost data; compared again every few seconds, and once Redis is reached again.

        Raises:
            JournalMismatch: It belongs to another installation.
            StoreUnavailable: The store does not answer.
        """
        long_ago = time.monotonic() - self._compared.get(store, -COMPARED_EVERY) > COMPARED_EVERY
        connected = self._redis.connections
        anew = store is Store.REDIS and connected != self._connected
        if long_ago or anew:
            # What the journal lacks only the others can tell.
            told = await self._ask({Store.JOURNAL, store} if store in self._stores else tuple(Store))
            if store not in told:
                raise StoreUnavailable(store, "does not answer")
            if Store.JOURNAL in told:
                self._judged(told)
                self._connected = connected
            elif told[store].journal is None:
                # A worker makes every store the installation's own before it is written: this one was emptied since.
                self._found[store] = Loss(store, LossKind.LOST)
            elif anew:
                # Without the journal an older copy would look whole; one that was reached before is what it was.
                raise StoreUnavailable(Store.JOURNAL, "does not answer, so whether redis is an older copy is not known")
        return self._found.get(store) is not None

    async def answered(self, store: Store, answer: Callable[[], Awaitable[_T]]) -> _T:
        """Return the answer of a store that has lost nothing.

        Args:
            store: The store.
            answer: Asks it.

        Raises:
            StoreLost: It lost data, even if that shows only after its answer.
            StoreUnavailable: It does not answer.
        """
        if not await self.lost(store):
            found = await answer()
            if not await self.lost(store):
                return found
        raise StoreLost(store, f"it has to be rebuilt: {WHAT_TO_DO[store]}")

    def doubt(self) -> None:
        """Force a new comparison at the next question: a store did not answer, and may come back with other data."""
        self._compared.clear()

    async def require(self) -> None:
        """Check that no store lost data, before one is written.

        Raises:
            StoreLost: One did.
            JournalMismatch: The stores belong to different installations.
            StoreUnavailable: A store does not answer.
        """
        told = await self._ask_all()
        require_whole(self._judged(told))
        for store, one in told.items():
            if one.journal is None:
                raise StoreUnavailable(store, "is empty, and no worker has initialised it yet")

    async def redis_since(self) -> datetime | None:
        """Return since when Redis has lost nothing; None where it lost something and is not rebuilt.

        Raises:
            StoreUnavailable: Redis or the journal does not answer.
        """
        # Weaviate, which may be away, is not needed for this.
        since, told = await together(self._redis.since(), self._ask({Store.REDIS}))
        # Without the journal an older copy of Redis would look whole.
        for store in (Store.REDIS, Store.JOURNAL):
            if store not in told:
                raise StoreUnavailable(store, "does not answer, so whether claims were lost is not known")
        return None if any(loss.store is Store.REDIS for loss in self._judged(told)) else since

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[None]:
        """Count one operation that writes memory: begun before the block, done after it if it ends well.

        Raises:
            StoreLost: A store lost data, before or during the block: what it wrote has to be written again.
            StoreUnavailable: A store does not answer.
        """
        await self.require()
        await self._own.begin()
        yield
        await self._own.close()

    async def end(self) -> None:
        """Record that this process writes nothing more, so that others remove its marks."""
        await self._own.end()

    async def claimed(self) -> None:
        """Count a claim on an effect, before the effect, so that an older copy of Redis without it is recognised.

        If a store does not answer, the claim is not counted: an effect that must happen once happens all the same.
        """
        counted = False
        try:
            with suppress(StoreUnavailable):
                counted = await self._own.claim()
        finally:
            if not counted:
                self.doubt()

    async def rebuilding(self, found: Iterable[Loss]) -> dict[Store, str]:
        """Return a token for each store that is about to be rebuilt; another loss of the store invalidates its token.

        Raises:
            StoreUnavailable: A store does not answer.
        """
        lost = [loss.store for loss in found if loss.store in self._stores]
        return {store: await self._stores[store].rebuilding(new_id()) for store in lost}

    async def rebuilt(self, found: Collection[Loss], tokens: Mapping[Store, str]) -> bool:
        """Record that these losses are repaired: the stores' own marks again match those of the others.

        Args:
            found: The losses.
            tokens: Those of the stores, from when their rebuilding began.

        Returns:
            False if more was lost meanwhile: the stores have to be reconciled once more.

        Raises:
            StoreUnavailable: A store does not answer; the losses stay.
        """
        now = set(await self.examine())
        if now - set(found):
            return False
        for store, token in tokens.items():
            if any(loss.store is store for loss in now) and await self._stores[store].rebuilt_by() != token:
                return False
        # What another reconciliation has recorded already must not be undone. The journal first: the others get its
        # marks.
        for loss in sorted(now, key=lambda loss: loss.store is not Store.JOURNAL):
            told = await self._ask_all()
            known = restored(told, loss.store)
            if loss.store is Store.JOURNAL:
                await self._journal.restore(known)
            else:
                await self._stores[loss.store].restore(told[Store.JOURNAL].journal or "", known)
        self.doubt()
        return True

    async def _retire(self) -> None:
        """Remove the marks of processes that ended or are idle."""
        # Found before this process makes a mark: one that ends later may have written after it.
        resting = await self._journal.resting(IDLE)
        if not resting:
            return
        # By those that are removed an older copy of a store is no longer known: by one that is newer than all of them.
        async with self.writing():
            pass
        # A store that was replaced by an older copy just before took the newer mark, and only the others betray it.
        await self.require()
        for writer in await self._journal.retire(resting):
            await together(*(marks.remove(writer) for marks in self._stores.values()))
            await self._journal.removed(writer)

    async def _ask(self, stores: Collection[Store] = tuple(Store)) -> dict[Store, Told]:
        """Return the marks of the given stores that answer."""

        # A call that is made here would be left unawaited where the others are cancelled before it begins.
        async def ask(store: JournalMarks | RedisMarks | WeaviateMarks) -> Told | None:
            try:
                return await store.told()
            except StoreUnavailable:
                return None

        before = await ask(self._journal)
        asked = [store for store in self._stores if store in stores]
        answers = await together(*(ask(self._stores[store]) for store in asked))
        after = await ask(self._journal)
        journal = None if before is None or after is None else seen_around(before, after)
        told = {Store.JOURNAL: journal, **dict(zip(asked, answers, strict=True))}
        return {store: one for store, one in told.items() if one is not None}

    async def _ask_all(self) -> dict[Store, Told]:
        """Return the marks of every store.

        Raises:
            StoreUnavailable: One does not answer.
        """
        return require_answers(await self._ask())

    def _judged(self, told: Mapping[Store, Told]) -> tuple[Loss, ...]:
        journal = told[Store.JOURNAL].journal if Store.JOURNAL in told else None
        for store, one in told.items():
            if journal and one.journal and one.journal != journal:
                raise JournalMismatch(store, one.journal, journal, str(self._journal.folder))
        found = losses(told)
        self._found |= {store: next((loss for loss in found if loss.store is store), None) for store in told}
        self._compared |= dict.fromkeys(told, time.monotonic())
        return found
