"""What says today what a memory said: itself, or what it was merged into. Writes nothing."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from perdure.values.entries import Entry, Memory, State

MERGERS = 20
"""How many mergers in a row are followed. A choice: each is one read, and two are rare."""

Read = Callable[[Sequence[str]], Awaitable[Mapping[str, Entry]]]
"""Reads entries by their ids; those that are purged are missing."""


async def standing_for(ids: Sequence[str], read: Read) -> dict[str, Entry]:
    """Return what stands for each of these entries, by the ids asked for; what is purged is missing.

    What was contradicted or corrected stands for itself: what replaced it says something else.
    """
    known = await with_wholes(await read(ids), read, missing=ids)
    return {one: heir(one, known) or known[one] for one in ids if one in known}


async def with_wholes(entries: Mapping[str, Entry], read: Read, *, missing: Iterable[str] = ()) -> dict[str, Entry]:
    """Return entries with what they were merged into, and that in turn, as far as it is not purged.

    Args:
        entries: What was read.
        read: Reads more.
        missing: What was looked for already, and is not there.
    """
    known, asked, last = dict(entries), {*entries, *missing}, list(entries.values())
    for _ in range(MERGERS):
        wanted = wholes_of(last) - asked
        if not wanted:
            break
        asked |= wanted
        more = await read(sorted(wanted))
        known |= more
        last = mergers(more.values())
    return known


async def with_parts(ids: Sequence[str], read: Read) -> list[tuple[Entry, list[str]]]:
    """Return what stands for these entries, each once, with the ids that it stands for."""
    parts: dict[str, tuple[Entry, list[str]]] = {}
    for one, entry in (await standing_for(ids, read)).items():
        parts.setdefault(entry.id, (entry, []))[1].append(one)
    return list(parts.values())


def may_be_merged(memory: Memory) -> bool:
    """Return whether a memory may have been merged into another one, as far as it says itself."""
    return memory.superseded_by != "" and memory.state is not State.CURRENT and not memory.contradicted


def wholes_of(entries: Iterable[Entry]) -> set[str]:
    """Return the ids of what any of these may have been merged into."""
    return {one.superseded_by for one in entries if isinstance(one, Memory) and may_be_merged(one)}


def mergers(entries: Iterable[Entry]) -> list[Entry]:
    """Return those of these that others were merged into: what replaced a memory otherwise says something else."""
    return [one for one in entries if isinstance(one, Memory) and one.merged_from]


def heir(identifier: str, known: Mapping[str, Entry]) -> Memory | None:
    """Return what says what a memory says, of what is known; None: it is no memory, or not known. Pure."""
    memory, passed = known.get(identifier), set[str]()
    while isinstance(memory, Memory) and may_be_merged(memory) and memory.id not in passed:
        passed.add(memory.id)
        whole = known.get(memory.superseded_by)
        if not (isinstance(whole, Memory) and memory.id in whole.merged_from):
            break
        memory = whole
    return memory if isinstance(memory, Memory) else None
