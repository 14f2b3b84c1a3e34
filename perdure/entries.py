"""Records, memories and turns, how they change, and the items that they are made of. Pure."""

import json
import unicodedata
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, field_validator

from perdure.errors import InvalidInput
from perdure.identity import canonical_json, memory_id, record_id, turn_id
from perdure.model import Instant, Name, OpenEnum, Passed, Stored, Text, Unit

MARKER = "EXEC_MEMORY_JSON="
"""What a stored text carries before its canonical payload, so that the text alone gives it back."""

OCCURRENCES_KEPT = 1_024
"""How many distinct occurrences an entry lists and counts, in 11 kB at most. Beyond that no observation can be told
from a retry, and none is counted."""

OPERATIONS_KEPT = 8
"""How many operation ids an object keeps, to recognise a write that it has already had."""

LARGEST_PAYLOAD = 16_000
"""Bytes of canonical JSON that a record's payload may have: it is an insight, not a document."""

DEEPEST_PAYLOAD = 64
"""Lists and mappings within one another in a payload. Parsers stop at 200, and it travels inside others' messages."""

_ARTICLES = frozenset({"a", "an", "the"})


_normalise = AfterValidator(partial(unicodedata.normalize, "NFC"))

Key = Annotated[str, _normalise]
"""What a record is looked up by, in Unicode NFC: two spellings of one text are one key."""

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


def _not_before_1970(moment: datetime) -> datetime:
    if moment < EARLIEST:
        raise ValueError("is before 1970 (give the moment at which it was observed)")
    return moment


Observed = Annotated[Instant, AfterValidator(_not_before_1970)]
"""When something was observed."""


class Lane(OpenEnum):
    """Which log an execution record belongs to. An unknown lane is a log like the others."""

    RECOMMENDATION = "recommendation"
    FEEDBACK = "feedback"
    PATTERN = "pattern"


class MemoryType(OpenEnum):
    """What kind of thing a memory believes. An unknown type is recalled where no type is asked for."""

    FACT = "fact"
    PREFERENCE = "preference"
    OUTCOME = "outcome"
    CONSTRAINT = "constraint"


class Source(OpenEnum):
    """How a memory came to be believed; nothing depends on it, so an unknown source is only shown."""

    EXPLICIT = "explicit"
    INFERRED = "inferred"
    LEARNED = "learned"
    MERGED = "merged"


class State(OpenEnum):
    """Whether recall may return an entry. In an unknown state it is neither recalled nor forgotten."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    """Tombstoned: never recalled, and purged after ``purge_after`` unless that is undone."""


class Remembered(Stored):
    """What all entries have in common: their evidence, their life and their version."""

    id: str
    text: Annotated[str, Field(min_length=1)]
    """What is embedded and searched."""
    occurrences: tuple[str, ...] = ()
    """The distinct observations that support it, newest last, at most ``OCCURRENCES_KEPT``."""
    seen: Annotated[int, Field(ge=1)] = 1
    """How many distinct occurrences there were, up to ``OCCURRENCES_KEPT``; a retry never adds to it."""
    first_seen: Instant
    last_seen: Instant
    recorded_at: Instant | None = None
    """When the observation of ``last_seen`` was accepted; None: nobody said, and it counts as accepted at once."""
    last_accessed: Instant | None = None
    access_count: Annotated[int, Field(ge=0)] = 0
    confidence: Unit = 1.0
    importance: Unit | None = None
    """None when nobody judged it, which is never read as "worthless"."""
    valid_until: Instant | None = None
    """When it stops being true; None: it has no end that is known."""
    state: State = State.CURRENT
    forget_after: Instant | None = None
    """The moment at which the rules will first forget it; None: they never will as things stand."""
    forget_reason: str = ""
    """Why the rules will forget it, or did."""
    rules_version: str = ""
    """The version of the rules that computed ``forget_after``."""
    purge_after: Instant | None = None
    """For a forgotten one: until when forgetting it can be undone."""
    kept_at: Instant | None = None
    """When a person undid forgetting it; the rules leave it alone from then on."""
    version: Annotated[int, Field(ge=1)] = 1
    """Grows by one with every change."""
    operations: tuple[str, ...] = ()
    """The last ``OPERATIONS_KEPT`` operations that wrote it, newest last."""

    @property
    def newest(self) -> tuple[datetime, datetime]:
        """When it was last seen, and when that was recorded: of two entries the greater one is the newer."""
        return self.last_seen, self.recorded_at or self.last_seen

    def stamped(self, version: int, operation: str) -> Self:
        """Return the entry as an operation writes it: with its version, recognisable by the operation's id."""
        return self.changed(version=version, operations=(*self.operations, operation)[-OPERATIONS_KEPT:])

    def dated(self, moment: datetime | None, reason: str, rules_version: str) -> Self:
        """Return the entry with the moment at which the rules will forget it; None: they keep it."""
        return self.changed(forget_after=moment, forget_reason=reason, rules_version=rules_version)

    def forgotten(self, reason: str, purge_after: datetime | None = None) -> Self:
        """Return the entry as a tombstone, which can be undone until it is purged."""
        return self.changed(state=State.FORGOTTEN, forget_reason=reason, purge_after=purge_after)

    def restored(self, at: datetime) -> Self:
        """Return a forgotten entry as it was before, kept from now on.

        Undoing says that the entry still holds, so what made it due is lifted.
        """
        replaced = isinstance(self, Memory) and self.superseded_by
        state = State.SUPERSEDED if replaced else State.CURRENT
        return self.changed(state=state, purge_after=None, valid_until=None, kept_at=at)


class Record(Remembered):
    """An execution record: what a run did or was told, recalled exactly by its lane and key."""

    kind: Literal["record"] = "record"
    lane: Lane
    key: str
    payload: JsonValue
    intent: str = ""
    run: str = ""
    """The task that wrote it."""
    agent: str = ""


class Memory(Remembered):
    """What is believed; recalled by meaning."""

    kind: Literal["memory"] = "memory"
    memory_type: MemoryType
    source: Source
    tags: tuple[str, ...] = ()
    supersedes: str = ""
    """The id of the memory that this one replaced, or nothing."""
    superseded_by: str = ""

    def superseded(self, by: str) -> Self:
        """Return the memory after another one replaced it: kept, and no longer recalled."""
        return self.changed(state=State.SUPERSEDED, superseded_by=by)


class Turn(Remembered):
    """What somebody said in a conversation, word for word; recalled together with what was said around it."""

    kind: Literal["turn"] = "turn"
    session: str
    """The conversation session that it is of."""
    position: Annotated[int, Field(ge=0)]
    """Its place in the session: 0, 1, 2 … without gaps."""
    speaker: str


Entry = Annotated[Record | Memory | Turn, Field(discriminator="kind")]
"""Anything that long-term memory keeps."""


class Hit(NamedTuple):
    """An entry that a search found, and what each kind of search thought of it."""

    entry: Entry
    cosine: float | None = None
    """None: the vector search did not return it."""
    bm25: float | None = None
    """None: the word search did not return it."""
    words: str = ""
    """The words that it is searched by, see ``perdure.words``."""


class RecordItem(Passed):
    """One execution record to be written."""

    kind: Literal["record"] = "record"
    lane: Lane
    key: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), _normalise]
    """What it is looked up by, without white space around it: the store trims what it compares."""
    payload: JsonValue
    summary: Annotated[str, Field(max_length=500)] = ""
    """A sentence for people and for search; without one, lane and key stand in."""
    intent: Annotated[str, Field(max_length=200)] = ""
    confidence: Unit = 1.0
    importance: Unit | None = None
    valid_until: Instant | None = None
    occurrence: Annotated[str, Field(min_length=1, max_length=500)]
    """Where it was observed: the task and step, the turn, or the caller's own key."""
    occurred_at: Observed

    @field_validator("payload")
    @classmethod
    def _is_bounded_json(cls, payload: JsonValue) -> JsonValue:
        try:
            size = len(canonical_json(payload))
        except InvalidInput as error:
            raise ValueError(f"{error.problem} ({error.fix})" if error.fix else error.problem) from error
        if size > LARGEST_PAYLOAD:
            raise ValueError(f"has {size:,} bytes (remember the insight, at most {LARGEST_PAYLOAD:,})")
        if (depth := _depth(payload)) > DEEPEST_PAYLOAD:
            raise ValueError(f"is nested {depth} deep (at most {DEEPEST_PAYLOAD})")
        return payload


def _says_nothing_recalled(content: str) -> str:
    if MARKER in content:
        raise ValueError(f"carries {MARKER} (recalled records are not remembered again)")
    return content


class MemoryItem(Passed):
    """One memory to be written."""

    kind: Literal["memory"] = "memory"
    content: Annotated[Text, AfterValidator(_says_nothing_recalled)]
    memory_type: MemoryType = MemoryType.FACT
    source: Source = Source.EXPLICIT
    confidence: Unit = 0.9
    tags: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    importance: Unit | None = None
    valid_until: Instant | None = None
    supersedes: str = ""
    """The id of the memory that this one replaces, or nothing."""
    occurrence: Annotated[str, Field(min_length=1, max_length=500)]
    occurred_at: Observed


class TurnItem(Passed):
    """One turn of a conversation to be written."""

    kind: Literal["turn"] = "turn"
    content: Annotated[Text, AfterValidator(_says_nothing_recalled)]
    speaker: Annotated[Text, Field(max_length=80), _normalise]
    session: Name
    position: Annotated[int, Field(ge=0, le=1_000_000)]
    confidence: Unit = 1.0
    importance: Unit | None = None
    valid_until: Instant | None = None
    occurrence: Annotated[str, Field(min_length=1, max_length=500)]
    occurred_at: Observed


Item = Annotated[RecordItem | MemoryItem | TurnItem, Field(discriminator="kind")]
"""Anything that can be asked to be remembered."""


def record_text(item: RecordItem) -> str:
    """Render a record as the text that is stored: a line for people, then the marker and payload."""
    headline = item.summary or f"{item.lane} {item.key}"
    return f"{headline}\n{MARKER}{canonical_json(item.payload).decode()}"


def item_text(item: Item) -> str:
    """Return the text that an item is stored with."""
    if isinstance(item, RecordItem):
        return record_text(item)
    return item.content if isinstance(item, MemoryItem) else f"{item.speaker}: {item.content}"


def payload_of(text: str) -> JsonValue:
    """Rebuild a record's exact payload from its stored text alone.

    Raises:
        InvalidInput: When the text carries no marker, or what follows it is not JSON.
    """
    _, marker, rest = text.rpartition(f"\n{MARKER}")
    if not marker:
        raise InvalidInput("text", f"carries no {MARKER}")
    try:
        return json.loads(rest)
    except ValueError as error:
        raise InvalidInput("text", f"what follows {MARKER} is not JSON: {error}") from error


def headline_of(text: str) -> str:
    """Return the part of a stored text that is meant for people."""
    return text.rpartition(f"\n{MARKER}")[0] or text


def item_id(tenant: str, item: Item) -> str:
    """Return the id of the entry that an item becomes.

    Two items that state the same have one id, in whatever case they say it: otherwise the second would have an id
    of its own in the deletion log and the journal, and would survive when the first is forgotten.
    """
    if isinstance(item, RecordItem):
        return record_id(tenant, item.lane, item.key, item.payload)
    if isinstance(item, TurnItem):
        return turn_id(tenant, item.session, item.position, item.speaker, item.content)
    return memory_id(tenant, item.memory_type, statement(item.content))


def statement(content: str) -> str:
    """Return a sentence's words in their order, without case, articles and stops: what two tellings of it share.

    Everything else may matter, and stays: a sign, an operator, a currency, the letter of "plan A".
    """
    words = [
        word.casefold().rstrip(".,;:")
        for place, word in enumerate(content.split())
        if (word if place else word.casefold()) not in _ARTICLES
    ]
    return " ".join(filter(None, words)) or content.strip()


def _depth(value: JsonValue) -> int:
    match value:
        case list():
            return 1 + max(map(_depth, value), default=0)
        case dict():
            return 1 + max(map(_depth, value.values()), default=0)
        case _:
            return 0
