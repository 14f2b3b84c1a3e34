"""Merges what the long-term store has with what the mirror says. Pure: no store, no file, no clock."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from perdure.entries import Entry, Item, MemoryItem, RecordItem, item_id
from perdure.identity import occurrence_id
from perdure.jobs import UnusableItem
from perdure.model import Model
from perdure.stores.journal.lines import BatchLine, DeletionLine, EpisodeLine, MirrorLine, RestorationLine


class Origin(StrEnum):
    """Where an entry was found."""

    REMOTE = "remote"
    LOCAL = "local"
    """In the mirror only: its job has not finished, or the store lost it."""
    MERGED = "merged"


class Reconciled(Model):
    """One record or memory, however often it was found."""

    id: str
    origin: Origin
    entry: Entry | None = None
    """As the store has it."""
    items: tuple[Item, ...] = ()
    """As it was asked to be remembered, oldest first, one for each distinct occurrence."""


def reconcile(tenant: str, remote: Sequence[Entry], lines: Iterable[MirrorLine]) -> tuple[Reconciled, ...]:
    """Merge by id: each distinct id once, tagged with where it was found.

    A deletion wins over what was observed before it or is one of the very observations that were forgotten,
    wherever that stands in the log, and over an entry that was last seen before it: submitting a batch again
    brings nothing back. What was observed later counts.

    Args:
        tenant: Whose entries and lines these are.
        remote: What the store has.
        lines: The mirror's lines, oldest first.

    Returns:
        The store's entries in their order, then what only the mirror has, oldest first.
    """
    observed = _observed(tenant, lines)
    merged: dict[str, Reconciled] = {}
    for entry in remote:
        local = observed.get(entry.id, _Observed())
        items = tuple(local.items.values())
        if not items and local.deletion is not None and entry.last_seen <= local.deletion.at:
            continue
        origin = Origin.MERGED if items else Origin.REMOTE
        merged[entry.id] = Reconciled(id=entry.id, origin=origin, entry=entry, items=items)
    known = {entry.id for entry in remote}
    for identifier, local in observed.items():
        if local.items and identifier not in known:
            items = tuple(local.items.values())
            merged[identifier] = Reconciled(id=identifier, origin=Origin.LOCAL, items=items)
    return tuple(merged.values())


@dataclass
class _Observed:
    """What the log says about one id, up to some line."""

    items: dict[str, Item] = field(default_factory=dict[str, Item])
    buried: dict[str, Item] = field(default_factory=dict[str, Item])
    """Items under a deletion, until a restoration."""
    deletion: DeletionLine | None = None

    def observe(self, tenant: str, item: RecordItem | MemoryItem) -> None:
        again = self.deletion and _covers(self.deletion, tenant, item)
        (self.buried if again else self.items).setdefault(item.occurrence, item)

    def heed(self, tenant: str, line: DeletionLine | RestorationLine) -> None:
        if isinstance(line, DeletionLine):
            # A purge writes the line of its forgetting once more, and items may have come in between.
            gone = {name: item for name, item in self.items.items() if _covers(line, tenant, item)}
            self.items = {name: item for name, item in self.items.items() if name not in gone}
            self.buried |= gone
            self.deletion = line
        else:
            self.items = self.buried | self.items
            self.buried = {}
            self.deletion = None


def _covers(line: DeletionLine, tenant: str, item: RecordItem | MemoryItem) -> bool:
    return item.occurred_at <= line.at or occurrence_id(tenant, "caller", item.occurrence) in line.occurrences


def _observed(tenant: str, lines: Iterable[MirrorLine]) -> dict[str, _Observed]:
    observed: defaultdict[str, _Observed] = defaultdict(_Observed)
    for line in lines:
        match line:
            case BatchLine():
                for item in line.batch.items:
                    if not isinstance(item, UnusableItem):
                        observed[item_id(tenant, item)].observe(tenant, item)
            case DeletionLine() | RestorationLine():
                for identifier in line.ids:
                    observed[identifier].heed(tenant, line)
            case EpisodeLine():
                pass
    return observed
