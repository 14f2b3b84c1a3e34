"""What becomes of a statement, given what is believed about the same: decided by what both say, who said it and when.

Pure. A later statement of the same user replaces an earlier one. A person is asked (the statement is held) only where
time does not order the two, where a guess or a tool speaks against a person, or one person against another in a memory
that they share, or where a constraint would be lifted.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from perdure.memory.extraction.conditions import may_concern
from perdure.memory.extraction.content_words import told
from perdure.memory.extraction.substance import adds_nothing
from perdure.memory.writing.agreement import Agreement, agreement
from perdure.memory.writing.kinds import differ_in_kind
from perdure.memory.writing.restatements import changes, restates
from perdure.values.assertions import SPEAKERS
from perdure.values.entries import Described, Entry, Memory, MemoryType, Source, State
from perdure.values.items import MemoryItem
from perdure.values.jobs import Decision
from perdure.values.suspensions import Suspension, joined

E = TypeVar("E", Entry, Memory)

_EVER = datetime.max.replace(tzinfo=UTC)


class Contradiction(NamedTuple):
    """The decision on a statement."""

    decision: Decision
    same: Memory | None = None
    """The memory that already says the same."""
    over: tuple[Memory, ...] = ()
    """The memories that it contradicts and overrides, newest first."""
    reason: str = ""
    stands: Memory | None = None
    """The memory that it contradicts and does not override, where it is refused or held."""
    under: tuple[Memory, ...] = ()
    """The memories that override it until they end: they were said later, or of what it corrects."""


NOTHING_BESIDE = Contradiction(Decision.INSERT)
"""The decision on a statement that is unrelated to anything believed."""


def verdict(
    item: MemoryItem,
    target: str,
    known: Iterable[Memory],
    *,
    author: str = "",
    settled_at: datetime | None = None,
    overriding: Collection[str] = (),
) -> Contradiction:
    """Decide on a statement.

    Args:
        item: The statement.
        target: The id of the memory that it becomes by itself.
        known: What is believed; only memories about the same count.
        author: Who states it in a memory that several share; empty: nobody does, or it is not shared.
        settled_at: When a person decided that it overrides what it contradicts; None: nobody did.
        overriding: The ids of what overrides the memory that it corrects: the correction is no word against those.
    """
    known = list(known)
    others = [memory for memory in known if _is_beside(memory, item, target) and may_concern(item.content, memory.text)]
    # What it changed when it was said first is replaced already, and nothing else is meant when it is said again.
    is_new = not any(memory.id == target and memory.state is State.CURRENT for memory in known)
    same, against = _judged(item, others, is_new=is_new)
    if told(item.content).adds:
        # "At 7:40, too".
        against = []
    if not against and is_new:
        against = _put_in_place_of(item, known, others)
    if not against and is_new:
        new = told(item.content)
        retold = [(memory, told(memory.text)) for memory in others]
        changed = [memory for memory, old in retold if changes(new, old)]
        # In other words altogether: only where one thing alone can be meant.
        if len(changed) == 1 and same in (None, *changed):
            against, same = changed, None
        elif same is None:
            said = (memory for memory, old in retold if restates(new, old) and _says_the_same_now(memory, item))
            same = next(said, None)
    over = sorted(against, key=lambda memory: (memory.newest, memory.id), reverse=True)
    above = [memory for memory in over if memory.id in overriding and _ends_before(item, memory)]
    over = [memory for memory in over if memory not in above]
    late = [memory for memory in over if memory.last_seen > (settled_at or item.occurred_at)]
    if final := next((memory for memory in late if not _goes_on(item, memory)), None):
        return Contradiction(Decision.REJECT, reason=f"{final.id} was said later, and contradicts it", stands=final)
    over = [memory for memory in over if memory not in late]
    for memory in over if settled_at is None else ():
        if reason := doubt(memory, item, author):
            return Contradiction(Decision.HOLD, reason=f"{reason}: {memory.id}", stands=memory)
    under = (*above, *late)
    item = ending(item, same or next((memory for memory in known if memory.id == target), None))
    if any(replaces(item, memory) for memory in over):
        return Contradiction(Decision.SUPERSEDE, same, tuple(over), under=under)
    return Contradiction(Decision.REINFORCE if same else Decision.INSERT, same, tuple(over), under=under)


def _judged(item: MemoryItem, others: Iterable[Memory], *, is_new: bool) -> tuple[Memory | None, list[Memory]]:
    """Return the memory that asserts the same as a statement, and those that assert what contradicts it."""
    if item.assertion is None:
        return None, []
    about = set(item.assertion.about)
    judged = [
        (memory, agreement(memory.assertion, item.assertion))
        for memory in others
        if memory.assertion
        and not about.isdisjoint(memory.assertion.about)
        and not differ_in_kind(memory.assertion, memory.text, item.assertion, item.content)
    ]
    same = [
        memory
        for memory, found in judged
        if found is Agreement.SAME and _is_all_said(item, memory) and _says_the_same_now(memory, item)
    ]
    against = [memory for memory, found in judged if found is Agreement.CONTRADICTION]
    likely = [memory for memory, found in judged if found is Agreement.LIKELY]
    # "It is at ten now" changes something: where one thing alone can be meant, that.
    revises = is_new and item.assertion.revises and not told(item.content).adds
    if revises and not against and not same and len(likely) == 1:
        against = likely
    return next(iter(same), None), against


def _put_in_place_of(item: MemoryItem, known: Iterable[Memory], others: Collection[Memory]) -> list[Memory]:
    """Return what was put in place of a memory that a statement says holds again; empty: none, or it cannot be told."""
    new = told(item.content)
    if not new.changed or new.adds:
        return []
    stored, current = {memory.id: memory for memory in known}, {memory.id: memory for memory in others}
    found: dict[str, Memory] = {}
    for memory in stored.values():
        if memory.state is State.SUPERSEDED and memory.contradicted and says_the_same(item, memory):
            heir, passed = memory.superseded_by, {memory.id}
            while heir in stored and heir not in current and heir not in passed:
                passed.add(heir)
                heir = stored[heir].superseded_by
            found |= {heir: current[heir]} if heir in current else {}
    return list(found.values()) if len(found) == 1 else []


def says_the_same(item: MemoryItem, memory: Memory) -> bool:
    """Return whether a statement says what a memory says, in these or in other words, whenever either holds."""
    one, other = item.assertion, memory.assertion
    if one and other and agreement(other, one) is Agreement.SAME:
        return _is_all_said(item, memory)
    return restates(told(item.content), told(memory.text))


def contradict(one: Memory, other: Memory) -> bool:
    """Return whether two memories say what cannot both be, whenever and wherever either holds."""
    old, new = sorted((one, other), key=lambda memory: memory.newest)
    if not may_concern(new.text, old.text):
        return False
    if old.assertion and new.assertion and agreement(old.assertion, new.assertion) is Agreement.CONTRADICTION:
        return True
    return changes(told(new.text), told(old.text))


def _is_all_said(item: MemoryItem, memory: Memory) -> bool:
    """Return whether nothing is lost where a memory stands for a statement that asserts the same."""
    return memory.assertion is not None and adds_nothing(item.content, memory.text, memory.assertion)


def _goes_on(item: MemoryItem, memory: Memory) -> bool:
    """Return whether a statement holds again after a memory that was said later; a constraint is never put aside."""
    return item.memory_type is not MemoryType.CONSTRAINT and _ends_before(item, memory)


def _ends_before(item: MemoryItem, memory: Memory) -> bool:
    """Return whether a memory ends while a statement still holds."""
    return memory.valid_until is not None and memory.valid_until < (item.valid_until or _EVER)


def suspensions(under: Iterable[Memory]) -> tuple[Suspension, ...]:
    """Return how memories that were said later override one until they end."""
    return tuple(
        Suspension(by=one.id, start=one.valid_from or one.first_seen, until=one.valid_until or _EVER) for one in under
    )


def suspended(entry: E, under: Sequence[Suspension], at: datetime) -> E:
    """Return an entry that others override, besides those that do already; only memories are overridden."""
    if not isinstance(entry, Memory) or not under:
        return entry
    return entry.changed(suspended=joined((*entry.suspended, *under), at))


def ending(item: MemoryItem, said: Entry | None) -> MemoryItem:
    """Return a statement with the end that it has where the same was said with one: said again, that still counts.

    What is to be replaced ends with what comes, and not by what was said of it.
    """
    if not isinstance(said, Memory) or said.state is not State.CURRENT or said.superseded_by:
        return item
    if said.valid_until is None:
        return item
    goes_on = item.valid_until is None and said.valid_until > item.occurred_at
    return item.changed(valid_until=said.valid_until) if goes_on else item


def replaces(item: MemoryItem, memory: Memory) -> bool:
    """Return whether a statement replaces what it contradicts: not if that holds again after it."""
    return item.valid_until is None or (memory.valid_until or _EVER) <= item.valid_until


def overtaken(memory: Memory, item: MemoryItem, by: str, at: datetime) -> Memory:
    """Return a memory after a statement that contradicts it: replaced, replaced from some day on, or suspended.

    Args:
        memory: What it contradicts.
        item: The statement.
        by: The id of the memory that it becomes.
        at: When it was recorded.
    """
    start = _start(item)
    if not replaces(item, memory) and item.valid_until:
        return suspended(memory, [Suspension(by=by, start=start, until=item.valid_until)], at)
    if start > item.occurred_at and (memory.valid_from is None or memory.valid_from < start):
        end = min(memory.valid_until or start, start)
        return memory.changed(valid_until=end, superseded_by=by, superseded_at=max(end, at), contradicted=True)
    return memory.superseded(by, at, contradicted=True)


def unlinked(entry: Entry, known: Mapping[str, Entry], but: Collection[str] = ()) -> Entry:
    """Return an entry that names nothing as replaced that is believed, and not to be replaced by it one day."""
    other = known.get(entry.supersedes) if isinstance(entry, Memory) and entry.supersedes not in but else None
    if isinstance(other, Memory) and other.state is State.CURRENT and other.superseded_by != entry.id:
        return entry.changed(supersedes="")
    return entry


def said(memory: Memory) -> MemoryItem:
    """Return the statement that a memory is, made when it was last seen."""
    return MemoryItem(
        **{name: getattr(memory, name) for name in Described.model_fields},
        content=memory.text,
        confidence=memory.confidence,
        importance=memory.importance,
        valid_until=memory.valid_until,
        occurrence=memory.id,
        occurred_at=memory.last_seen,
    )


def _is_beside(memory: Memory, item: MemoryItem, target: str) -> bool:
    return (
        memory.id != target
        and memory.state is State.CURRENT
        and set(memory.scopes) == set(item.scopes)
        and (memory.valid_until or _EVER) > _start(item)
        and (item.valid_until or _EVER) > (memory.valid_from or memory.first_seen)
    )


def _start(item: MemoryItem) -> datetime:
    return max(item.valid_from or item.occurred_at, item.occurred_at)


def _says_the_same_now(memory: Memory, item: MemoryItem) -> bool:
    """Return whether one more observation of the memory is all that a statement of the same is."""
    if item.memory_type is MemoryType.CONSTRAINT and memory.memory_type is not MemoryType.CONSTRAINT:
        return False
    return (
        item.valid_from is None
        and item.valid_until == memory.valid_until
        and (memory.valid_from or _start(item)) <= _start(item)
    )


def doubt(memory: Memory, item: MemoryItem, author: str = "") -> str:
    """Return why a person has to say which of two holds, a memory or a later statement; empty: the later one does.

    Args:
        memory: The memory.
        item: The statement.
        author: Who states it in a memory that several share: what others have stated too is theirs as well.
    """
    if memory.last_seen == item.occurred_at:
        return "it was said at the same moment as what it contradicts"
    if memory.memory_type is MemoryType.CONSTRAINT and item.memory_type is not MemoryType.CONSTRAINT:
        return "it would lift a constraint"
    if author and {*memory.authors} - {author}:
        return "it contradicts what somebody else said"
    if item.source in (Source.EXPLICIT, Source.MERGED):
        return ""
    if item.source is Source.LEARNED:
        return (
            ""
            if memory.source is not Source.EXPLICIT or _is_observable(memory, item)
            else "it contradicts what a person said"
        )
    return "" if memory.source is item.source else "it is inferred, and contradicts what was said or seen"


def _is_observable(memory: Memory, item: MemoryItem) -> bool:
    """Return whether a tool can know better than a person: of facts, and not of what people want or are."""
    personal = item.assertion is not None and item.assertion.attribute.split()[0] in SPEAKERS
    kinds = {memory.memory_type, item.memory_type}
    return not personal and not kinds & {MemoryType.PREFERENCE, MemoryType.CONSTRAINT}
