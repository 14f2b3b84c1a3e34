"""Notes in a session what a job has made memory of, and takes back what a person has to decide on first."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from activities.episodes import SessionWriter
from perdure.errors import StoreUnavailable, TenantErased
from perdure.memory.writing.provenance import recorded_at
from perdure.stores.redis.erasures import RedisErasures
from perdure.values.jobs import Batch, Fate, ItemReceipt, SessionNote, UnusableItem


def place_of(occurrence: str) -> str:
    """Return where the statement was made from which an item comes."""
    return occurrence.partition("#")[0]


@dataclass(frozen=True)
class SessionNotes:
    """Notes in sessions."""

    session: SessionWriter
    erasures: RedisErasures

    async def believed(self, batch: Batch, receipts: Sequence[ItemReceipt]) -> None:
        """Note what is believed of a batch now, unless its user was erased meanwhile."""
        note = batch.noted_in
        if note is None:
            return
        found = [(one.index, batch.items[one.index]) for one in receipts if one.fate is Fate.SEARCHABLE]
        items = [(item, recorded_at(batch, index, item)) for index, item in found if not isinstance(item, UnusableItem)]
        # Without Redis nothing can be noted either.
        with suppress(TenantErased, StoreUnavailable):
            epoch = await self._epoch_of(note, batch)
            await self.session.believed(note.tenant, note.session, items, epoch=epoch)

    async def doubted(self, batch: Batch, held: Iterable[Batch]) -> None:
        """Take back what was said of a batch's items that are on hold now.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        if (note := batch.noted_in) is None:
            return
        items = (item for one in held for item in one.items)
        places = {place_of(item.occurrence) for item in items if not isinstance(item, UnusableItem)}
        with suppress(TenantErased):
            epoch = await self._epoch_of(note, batch)
            await self.session.doubted(note.tenant, note.session, places, epoch=epoch)

    async def _epoch_of(self, note: SessionNote, batch: Batch) -> int:
        """Return the epoch of the user whose session a note is for; it may be another one's than the batch's.

        Raises:
            TenantErased: They were erased since it was said or learned.
        """
        since = note.since or batch.began or datetime.now(UTC)
        return await self.erasures.epoch_since(note.tenant, since)
