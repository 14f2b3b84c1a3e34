"""Which memories hold again, as the temporary ones that override them are no longer believed. Writes none."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from perdure.values.entries import Entry, Memory, State
from perdure.values.filters import Filters

E = TypeVar("E", bound=Entry)

_MERGERS = 3
"""How many mergers in a row are followed from a memory to what it became. A choice."""

Read = Callable[[Sequence[str]], Awaitable[Mapping[str, Entry] | None]]
"""Reads entries by their ids; None: they cannot be read now."""


async def lifted(entries: Iterable[E], filters: Filters, read: Read) -> list[E]:
    """Return entries without the suspensions that no longer count.

    Args:
        entries: What was found.
        filters: When it must hold, and what is believed then.
        read: Reads what overrides it. While it cannot, all suspensions count.
    """
    found = list(entries)
    if not (by := sorted({one for entry in found for one in _overriding(entry, filters)})):
        return found
    known = await _with_mergers(by, read)
    return found if known is None else [_lifted(entry, filters, known) for entry in found]


async def holding(entries: Iterable[E], filters: Filters, read: Read) -> list[E]:
    """Return the entries that meet the filters, with what ``lifted`` finds to hold again."""
    return [one for one in await lifted(entries, filters, read) if filters.objection(one) is None]


def _overriding(entry: Entry, filters: Filters) -> list[str]:
    return [one.by for one in entry.suspended if one.covers(filters.now)] if isinstance(entry, Memory) else []


async def _with_mergers(ids: Sequence[str], read: Read) -> dict[str, Entry] | None:
    """Return entries by their ids, each merged one as what it became; None: they cannot be read."""
    heirs = {one: one for one in ids}
    known: dict[str, Entry] = {}
    for _ in range(1 + _MERGERS):
        if not (missing := sorted({*heirs.values()} - known.keys())):
            break
        if (read_now := await read(missing)) is None:
            return None
        known |= read_now
        heirs = {one: _heir(known.get(heir), heir) for one, heir in heirs.items()}
    return {one: known[heir] for one, heir in heirs.items() if heir in known}


def _heir(entry: Entry | None, identifier: str) -> str:
    """Return the id of what stands for an entry: what it was merged into, or itself."""
    if isinstance(entry, Memory) and entry.state is State.SUPERSEDED and not entry.contradicted:
        return entry.superseded_by or identifier
    return identifier


def _lifted(entry: E, filters: Filters, known: Mapping[str, Entry]) -> E:
    if not isinstance(entry, Memory) or not entry.suspended:
        return entry
    others = {one: known.get(one) for one in _overriding(entry, filters)}
    over = {one for one, other in others.items() if not (isinstance(other, Memory) and filters.overrides(other))}
    return entry.changed(suspended=tuple(one for one in entry.suspended if one.by not in over))
