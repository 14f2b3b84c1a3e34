"""What other memories decide on one: what replaced it, and what temporary ones override. Writes none."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from perdure.memory.heirs import Read, heir, wholes_of
from perdure.memory.recall.named_memories import relatives
from perdure.values.entries import Entry, Memory
from perdure.values.filters import Filters

_SUCCESSIONS = 20
"""How many replacements in a row are followed to the memory that holds today. A choice."""

_FURTHER = 8
"""How often what was found leads to further memories to be read: to what overrides them in turn, or what they were
merged into. A choice: each is one read, and two are rare."""


async def with_relatives(
    candidates: Mapping[str, Memory], read: Callable[[Sequence[str]], Awaitable[Mapping[str, Memory]]]
) -> dict[str, Memory]:
    """Return memories with what replaced them, up to what holds today, and what they replaced."""
    found, asked = dict(candidates), set[str]()
    for _ in range(_SUCCESSIONS):
        if not (missing := [one for one in relatives(found) if one not in asked]):
            break
        asked |= {*missing}
        found |= await read(missing)
    return found


class Overridden:
    """The memories of one recall that something temporary overrides, as more and more are found.

    Args:
        read: Reads what overrides them.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._seen: dict[str, Entry] = {}
        self.ids: set[str] = set()
        """Those that are overridden, of all that were judged."""

    async def judge(self, entries: Iterable[Entry], filters: Filters, *, is_all: bool = True) -> None:
        """Judge what was found.

        Args:
            entries: What was found.
            filters: When it must hold, and what is believed then.
            is_all: Whether what cannot be read is purged; otherwise it may be believed.
        """
        memories = [entry for entry in entries if isinstance(entry, Memory)]
        # What overrides one of them is near to the question, too, as a rule: it need not be read again.
        self._seen |= {memory.id: memory for memory in memories}
        found = [memory for memory in memories if memory.suspended]
        self.ids |= await overridden(found, filters, self._once)
        if not is_all:
            self.ids |= {one.id for one in found if self._may_be_overridden(one, filters)}

    def _may_be_overridden(self, memory: Memory, filters: Filters) -> bool:
        return any(one.covers(filters.now) and one.by not in self._seen for one in memory.suspended)

    async def _once(self, ids: Sequence[str]) -> Mapping[str, Entry]:
        if missing := [one for one in ids if one not in self._seen]:
            self._seen |= await self._read(missing)
        return {one: self._seen[one] for one in ids if one in self._seen}


async def holding(entries: Mapping[str, Entry], filters: Filters, read: Read) -> dict[str, Entry]:
    """Return the entries that hold, and that nothing temporary overrides, however little they are believed.

    Args:
        entries: By the ids that were asked for; several may have led to one.
        filters: When they must hold, and what is believed then.
        read: Reads what overrides them.
    """
    over = await overridden(entries.values(), filters, read)
    held = filters.changed(min_confidence=0.0)
    return {one: entry for one, entry in entries.items() if entry.id not in over and held.objection(entry) is None}


async def overridden(entries: Iterable[Entry], filters: Filters, read: Read) -> set[str]:
    """Return the ids of the memories that something temporary overrides now.

    Args:
        entries: What was found.
        filters: When it must hold, and what is believed then.
        read: Reads what overrides it.
    """
    found = {entry.id: entry for entry in entries}
    known, asked = dict(found), set(found)
    wanted = _overriding(found.values()) - asked
    for _ in range(_FURTHER):
        if not wanted:
            break
        asked |= wanted
        more = await read(sorted(wanted))
        known |= more
        wanted = _leading_on(more.values()) - asked
    return overridden_among(found, known, filters)


def overridden_among(ids: Iterable[str], known: Mapping[str, Entry], filters: Filters) -> set[str]:
    """Return those of these ids whose memories something temporary overrides that is known. Pure."""
    return {one for one in ids if _is_overridden(one, known, filters, frozenset())}


def _leading_on(entries: Iterable[Entry]) -> set[str]:
    """Return the ids of what has to be read to judge these: what overrides them, and what they were merged into."""
    found = list(entries)
    return _overriding(found) | wholes_of(found)


def _overriding(entries: Iterable[Entry]) -> set[str]:
    return {one.by for entry in entries if isinstance(entry, Memory) for one in entry.suspended}


def _is_overridden(identifier: str, known: Mapping[str, Entry], filters: Filters, asking: frozenset[str]) -> bool:
    memory = known.get(identifier)
    if not isinstance(memory, Memory):
        return False
    others = (heir(one.by, known) for one in memory.suspended)
    return any(_counts(other, known, filters, asking | {identifier}) for other in others)


def _counts(other: Memory | None, known: Mapping[str, Entry], filters: Filters, asking: frozenset[str]) -> bool:
    """Return whether a temporary memory is believed: it is not, if another one overrides it in turn."""
    if other is None or other.id in asking or not filters.overrides(other):
        return False
    return not _is_overridden(other.id, known, filters, asking)
