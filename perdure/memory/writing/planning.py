"""What to do with each item of a batch. Pure: derives decisions from the stored state and the offered items.

Vectors take no part. With all-MiniLM-L6-v2, "likes peanuts" and "does not like peanuts" have a cosine of .979, while
true paraphrases have .72 to .74 (measured): so what a statement asserts decides what it has to do with another.
"""

from collections import ChainMap, Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from perdure.errors import InvalidItem
from perdure.memory.extraction.content_words import says_it_was_otherwise, told
from perdure.memory.extraction.findings.remainder import TAKEN_OUT
from perdure.memory.heirs import heir
from perdure.memory.write_policies import WritePolicy
from perdure.memory.writing.batch_checks import require_span, require_timely
from perdure.memory.writing.contradictions import NOTHING_BESIDE, Contradiction, says_the_same, suspensions, verdict
from perdure.memory.writing.observation import after
from perdure.memory.writing.provenance import author_of, is_its_import, occurrence_of, purpose_of, recorded_at
from perdure.memory.writing.restatements import LEAST_SHARED
from perdure.model import Model
from perdure.values.changes import ActorKind, Deletion
from perdure.values.consents import refusal
from perdure.values.entries import OCCURRENCES_KEPT, Entry, Memory, MemoryType, Purpose, Source, State
from perdure.values.items import Item, MemoryItem, RecordItem, imported_id, item_id
from perdure.values.jobs import Batch, BatchItem, Decision, PlannedItem, UnusableItem, WritePlan


class Known(Model):
    """What the stores know about a batch, read before it is planned."""

    entries: Mapping[str, Entry]
    """What the items would become, what they replace, what replaced those, and what is believed about the same."""
    deletions: Mapping[str, Deletion]
    withheld: tuple[Purpose, ...] = ()
    """What the user does not, or no longer, consent to."""
    older: int = 0
    """How many memories about the same as the batch are missing here: those observed first, where there are many."""
    operation: str = ""
    """The batch's own operation, if an attempt may have written part of it: that part is not refused any more."""


def plan(batch: Batch, known: Known, *, policy: WritePolicy, at: datetime, epoch: int = 0) -> WritePlan:
    """Decide on every item of a batch, each after those before it."""
    planned: list[PlannedItem] = []
    expected: dict[str, int] = {}
    beside = _Beside(batch, known)
    for index, item in enumerate(batch.items):
        decided = _decide(_Case(batch, index, known, beside, policy, batch.accepted_at or at), item)
        planned.append(decided)
        if isinstance(item, MemoryItem):
            beside.add(after(batch, decided, beside.entries).values())
        touched = [decided.target, *decided.over] if decided.target else []
        if decided.decision is Decision.SUPERSEDE and isinstance(item, MemoryItem) and item.supersedes:
            touched.append(item.supersedes)
        for identifier in touched:
            entry = known.entries.get(identifier)
            expected[identifier] = entry.version if entry else 0
    return WritePlan(at=at, items=tuple(planned), expected=expected, epoch=epoch)


class _Beside:
    """The memories that a batch's statements may contradict, after the items decided so far."""

    def __init__(self, batch: Batch, known: Known) -> None:
        changed: dict[str, Entry] = {}
        self._changed = changed
        self.entries = ChainMap[str, Entry](changed, dict(known.entries))
        """All known entries, after the items decided so far."""
        self._about: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._saying: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._replaced: defaultdict[str, list[str]] = defaultdict(list)
        for entry in known.entries.values() if known.operation else ():
            if isinstance(entry, Memory) and known.operation in entry.operations:
                self._replaced[entry.superseded_by].append(entry.id)
        memories = [item for item in batch.items if isinstance(item, MemoryItem)]
        self._ahead = _written_by(batch, memories, known) if known.operation else set[str]()
        self._changes = any(says_it_was_otherwise(item.content) for item in memories)
        if self._changes or any(item.assertion for item in memories):
            self._list(known.entries.values())

    def add(self, entries: Iterable[Entry]) -> None:
        """Take in what an item has changed."""
        entries = list(entries)
        self._changed.update({entry.id: entry for entry in entries})
        self._ahead -= self._changed.keys()
        self._list(entries)

    def of(self, item: Item) -> list[Memory]:
        """Return the memories that are about the same as an item."""
        if not isinstance(item, MemoryItem):
            return []
        terms = item.assertion.about if item.assertion else ()
        ids = {identifier: None for term in terms for identifier in self._about.get(term, ())}
        if says_it_was_otherwise(item.content):
            said = told(item.content)
            shared = Counter(one for word in said.order for one in self._saying.get(word, ()))
            ids |= {one: None for one, words in shared.items() if words >= LEAST_SHARED}
            ids |= {one: None for words in said.former for word in sorted(words) for one in self._saying.get(word, ())}
        # What an earlier attempt has made of the items still to come was not there when they were decided on first.
        left = [identifier for identifier in ids if identifier not in self._ahead]
        return [entry for identifier in left if isinstance(entry := self.entries[identifier], Memory)]

    def replaced_by(self, target: str) -> list[str]:
        """Return what an earlier attempt has replaced by a memory, and still has to be settled and audited."""
        return self._replaced[target]

    def _list(self, entries: Iterable[Entry]) -> None:
        for entry in (one for one in entries if isinstance(one, Memory)):
            for term in entry.assertion.about if entry.assertion else ():
                self._about[term][entry.id] = None
            for word in told(entry.text).order if self._changes else ():
                self._saying[word][entry.id] = None


def _written_by(batch: Batch, items: Iterable[MemoryItem], known: Known) -> set[str]:
    """Return the memories that an earlier attempt at a batch's operation has made of its items alone."""
    own = {occurrence_of(batch.tenant, item) for item in items}
    return {
        entry.id
        for entry in known.entries.values()
        if isinstance(entry, Memory) and known.operation in entry.operations and own.issuperset(entry.occurrences)
    }


@dataclass(frozen=True)
class _Case:
    """The inputs of the decision on an item."""

    batch: Batch
    index: int
    known: Known
    beside: _Beside
    policy: WritePolicy
    at: datetime
    """When the batch was accepted."""


def _decide(case: _Case, item: BatchItem) -> PlannedItem:
    index = case.index
    if isinstance(item, UnusableItem):
        return PlannedItem(index=index, decision=Decision.HOLD if item.held else Decision.REJECT, reason=item.reason)
    own = item_id(case.batch.tenant, item)
    target = _standing_for(own, case.beside.entries)
    if isinstance(item, MemoryItem) and item.supersedes == target:
        # Who says that a part replaces the whole has it apart again.
        target = own
    stored = case.beside.entries.get(target)
    written = stored is not None and case.known.operation in stored.operations
    if not written and (decided := _withheld_or_known(case, item, target)):
        return decided
    found = NOTHING_BESIDE
    if isinstance(item, MemoryItem):
        approved = case.batch.approved
        settled_at = approved.at if approved and approved.doubt else None
        author = author_of(case.batch, item)
        found = verdict(item, target, case.beside.of(item), author=author, settled_at=settled_at)
    if not written and (objection := _objection(case, item, found)):
        return _rejected(index, objection)
    if not written and (held := _needs_a_person(case, item, found)):
        return PlannedItem(index=index, decision=Decision.HOLD, reason=held)
    decision, reason = found.decision, ""
    if isinstance(item, MemoryItem) and item.supersedes:
        # Who says what it replaces has decided.
        decision = Decision.SUPERSEDE
    elif found.decision in (Decision.HOLD, Decision.REJECT) and not written:
        return PlannedItem(index=index, decision=found.decision, reason=found.reason)
    elif stored is not None and stored.state is not State.FORGOTTEN:
        decision = decision if decision is Decision.SUPERSEDE else Decision.REINFORCE
        reason = _not_counted(occurrence_of(case.batch.tenant, item), stored)
    elif found.same:
        target, reason = found.same.id, "it says the same"
    over = tuple(dict.fromkeys((*(memory.id for memory in found.over), *case.beside.replaced_by(target))))
    reason = reason or "; ".join(filter(None, (_ended(item, case.at), _taken_out(item), _compared(case, item))))
    under = suspensions(found.under)
    return PlannedItem(index=index, decision=decision, target=target, over=over, under=under, reason=reason)


def _needs_a_person(case: _Case, item: Item, found: Contradiction) -> str:
    """Return why only a person may have an item replace what it names or contradicts; empty: there is no reason."""
    if not isinstance(item, MemoryItem) or _is_a_persons(case.batch, item):
        return ""
    named = case.beside.entries.get(item.supersedes) if item.supersedes else None
    current = [
        entry
        for entry in (named, *((found.stands,) if item.supersedes else ()), *found.over)
        if isinstance(entry, Memory) and entry.state is State.CURRENT
    ]
    if constraint := next((one for one in current if one.memory_type is MemoryType.CONSTRAINT), None):
        return f"it would lift a constraint: {constraint.id}"
    if named in current and {*named.authors} - {author_of(case.batch, item)}:
        return f"it replaces what somebody else said: {named.id}"
    return ""


def _is_a_persons(batch: Batch, item: MemoryItem) -> bool:
    """Return whether a person states an item: who offers it, or whose words a session's extraction found.

    What an agent offers is the agent's, whatever it says of its source.
    """
    match batch.author.kind:
        case ActorKind.PERSON:
            return True
        case ActorKind.SCHEDULE:
            return bool(batch.session) and item.source is Source.EXPLICIT
        case _:
            return False


def _ended(item: Item, at: datetime) -> str:
    """Return a note that an item has already ended; empty: it has not."""
    if item.valid_until is None or item.valid_until > at:
        return ""
    return f"kept, and not recalled: it was over on {item.valid_until:%Y-%m-%d}"


def _withheld_or_known(case: _Case, item: Item, target: str) -> PlannedItem | None:
    """Return the decision on an item that is not consented to, or is a duplicate; None: it is neither."""
    purpose, index = purpose_of(case.batch, item), case.index
    if purpose in case.known.withheld:
        return _rejected(index, refusal(purpose))
    if there := _there_already(case, item):
        return PlannedItem(index=index, decision=Decision.REINFORCE, target=there.id, reason="it is there already")
    known = _known_as(case, item, target)
    if known is None:
        return None
    if known.state is State.SUPERSEDED:
        return _rejected(index, f"it was replaced by {known.superseded_by}")
    reason = "this observation is known already"
    return PlannedItem(index=index, decision=Decision.REINFORCE, target=known.id, reason=reason)


def _there_already(case: _Case, item: Item) -> Entry | None:
    """Return the very entry that an item was exported from; None: it is not there, or says something else."""
    entry = case.beside.entries.get(imported_id(item))
    return entry if entry is not None and is_its_import(item, entry) else None


def _taken_out(item: Item) -> str:
    """Return which part of an item is not kept; empty: everything is."""
    text = item.summary if isinstance(item, RecordItem) else item.content
    kinds = dict.fromkeys(match.group() for match in TAKEN_OUT.finditer(text))
    return f"kept without what identifies somebody or gives access: {', '.join(kinds)}" if kinds else ""


def _compared(case: _Case, item: Item) -> str:
    """Return a note that an item was not compared with everything about the same; empty: it was."""
    if not (case.known.older and isinstance(item, MemoryItem) and item.assertion):
        return ""
    return (
        f"of the {case.known.older:,} oldest memories about the same, compared with those that share its rarest words"
    )


def _known_as(case: _Case, item: Item, target: str) -> Memory | None:
    """Return the memory that says the same in other words, and already counts this very observation."""
    if not isinstance(item, MemoryItem):
        return None
    occurrence = occurrence_of(case.batch.tenant, item)
    for memory in case.beside.of(item):
        if memory.id == target or memory.state is State.FORGOTTEN or occurrence not in memory.occurrences:
            continue
        # One message or page says several things, of the same people and things.
        if says_the_same(item, memory):
            return memory
    return None


def _not_counted(occurrence: str, stored: Entry) -> str:
    if occurrence in stored.occurrences:
        return "this observation is known already"
    return f"it is counted up to {OCCURRENCES_KEPT:,} times" if len(stored.occurrences) >= OCCURRENCES_KEPT else ""


def _objection(case: _Case, item: Item, found: Contradiction) -> str:
    batch, index, known = case.batch, case.index, case.known
    if problem := _untimely(batch, index, item, known):
        return problem
    if not isinstance(item, MemoryItem):
        return ""
    if problem := _replaced_already(case, item, found):
        return problem
    if item.confidence < case.policy.minimum_confidence:
        field, low = f"items[{index}].confidence", f"{item.confidence} is below {case.policy.minimum_confidence}"
        return str(InvalidItem(field, low, fix="verify it first"))
    if item.supersedes and (problem := _cannot_replace(batch.tenant, item, known.entries.get(item.supersedes))):
        return str(InvalidItem(f"items[{index}].supersedes", f"{item.supersedes}: {problem}"))
    return ""


def _untimely(batch: Batch, index: int, item: Item, known: Known) -> str:
    """Return why an observation comes too early, or too late, or ends before it begins; empty: it does not."""
    try:
        # The words of a memory may say an end that its caller did not.
        require_span(item, f"items[{index}]")
        if batch.accepted_at is not None:
            require_timely(item.occurred_at, batch.accepted_at, f"items[{index}].occurred_at")
    except InvalidItem as problem:
        return str(problem)
    target = item_id(batch.tenant, item)
    deletion = known.deletions.get(target)
    # A line of which the entry stands is a sweep under way: whichever is written first decides.
    if deletion is None or deletion.is_unfinished(known.entries.get(target)):
        return ""
    if not deletion.covers(occurrence_of(batch.tenant, item), recorded_at(batch, index, item)):
        return ""
    return f"it was forgotten on {deletion.at:%Y-%m-%d}: {deletion.reason}"


def _cannot_replace(tenant: str, item: MemoryItem, replaced: Entry | None) -> str:
    target = item_id(tenant, item)
    if not isinstance(replaced, Memory):
        return "no such memory of this user"
    if replaced.id == target:
        return "a memory cannot replace itself"
    if replaced.state is State.FORGOTTEN or replaced.superseded_by not in ("", target):
        return "that memory is no longer believed"
    return ""


def _replaced_already(case: _Case, item: MemoryItem, found: Contradiction) -> str:
    """Return why a memory that was replaced is not believed again; empty: it may be."""
    tenant, entries = case.batch.tenant, case.beside.entries
    stored = entries.get(item_id(tenant, item))
    if not isinstance(stored, Memory) or stored.state is not State.SUPERSEDED:
        return ""
    if _standing_for(stored.id, entries) != stored.id:
        return ""
    problem = f"it was replaced by {stored.superseded_by}"
    if occurrence_of(tenant, item) in stored.occurrences:
        return problem
    successor, gone = entries.get(stored.superseded_by), case.known.deletions.get(stored.superseded_by)
    if gone and gone.restored_at is None and recorded_at(case.batch, case.index, item) <= gone.at:
        # It was offered before its successor was forgotten, which does not bring back what that replaced.
        return f"{problem}, which was forgotten on {gone.at:%Y-%m-%d}"
    if item.supersedes or found.over or successor is None or successor.state is State.FORGOTTEN:
        return ""
    return f"{problem} (if it holds again, say in supersedes what it replaces)"


def _standing_for(target: str, entries: Mapping[str, Entry]) -> str:
    """Return the memory that an observation of an entry counts for: what it was merged into, which says the same."""
    stored = entries.get(target)
    whole = heir(target, entries) if stored is not None and stored.state is State.SUPERSEDED else None
    return whole.id if whole is not None and whole.state is State.CURRENT else target


def _rejected(index: int, reason: str) -> PlannedItem:
    return PlannedItem(index=index, decision=Decision.REJECT, reason=reason)
