"""What long-term memory keeps: records, memories and turns, and how they change. Pure."""

import json
import unicodedata
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from perdure.errors import InvalidInput
from perdure.model import Instant, Name, OpenEnum, Passed, Stored, Unit
from perdure.values.assertions import Assertion
from perdure.values.labels import without_determiner
from perdure.values.suspensions import MOST_SUSPENSIONS, Suspension

MARKER = "EXEC_MEMORY_JSON="
"""The marker before the canonical payload in a stored text, so that the payload can be restored from the text alone."""

OCCURRENCES_KEPT = 1_024
"""How many distinct occurrences an entry lists and counts, in 11 kB at most. Beyond that no observation can be
distinguished from a retry, and none is counted."""

OPERATIONS_KEPT = 8
"""How many operation ids an object keeps, to recognise a duplicate write."""

normalised = AfterValidator(partial(unicodedata.normalize, "NFC"))
"""Brings text into Unicode NFC."""

Key = Annotated[str, normalised]
"""What a record is looked up by, in Unicode NFC: two spellings of one text are one key."""

Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), normalised]
"""What people call something."""

MOST_NAMES = 20
"""How many names a memory may have."""

MOST_AUTHORS = 20
"""How many authors a memory names, a choice: whoever is not named is asked about as another one."""


class EntryKind(OpenEnum):
    """What is kept. Of an unknown kind only the text is shown."""

    RECORD = "record"
    MEMORY = "memory"
    TURN = "turn"


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


class Purpose(OpenEnum):
    """What a memory is kept for, which its user may consent to or not. Nobody consents to an unknown purpose."""

    GIVEN = "given"
    """It was given explicitly; records and turns always are."""
    EXTRACTED = "extracted"
    """It was extracted from what was said."""


class State(OpenEnum):
    """Whether recall may return an entry. In an unknown state it is neither recalled nor forgotten."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    """Tombstoned: never recalled, and purged after ``purge_after`` unless that is undone."""


class Use(NamedTuple):
    """That something was recalled."""

    times: int
    last: int
    """When it was last recalled, in milliseconds since 1970."""


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
    """When the observation of ``last_seen`` was accepted; None: unknown, and it counts as accepted at once."""
    last_accessed: Instant | None = None
    access_count: Annotated[int, Field(ge=0)] = 0
    confidence: Unit = 1.0
    importance: Unit | None = None
    """None when nobody judged it, which is never read as "worthless"."""
    valid_until: Instant | None = None
    """When it stops being true; None: it has no known end."""
    state: State = State.CURRENT
    forget_after: Instant | None = None
    """The moment at which the rules will first forget it; None: they never will as things stand."""
    forget_reason: str = ""
    """Why the rules will forget it, or did."""
    rules_version: str = ""
    """The version of the rules that computed ``forget_after``."""
    purge_after: Instant | None = None
    """For a forgotten one: until when forgetting it can be undone."""
    on_request: bool = False
    """For a forgotten one: whether somebody asked for that, and no rule did."""
    kept_at: Instant | None = None
    """When a person undid forgetting it, or merged it into one that says less; the rules leave it alone from then on,
    up to an end that comes later."""
    version: Annotated[int, Field(ge=1)] = 1
    """Grows by one with every change."""
    operations: tuple[str, ...] = ()
    """The last ``OPERATIONS_KEPT`` operations that wrote it, newest last."""

    @property
    def newest(self) -> tuple[datetime, datetime]:
        """When it was last seen, and when that was recorded: the entry with the greater value is the newer one."""
        return self.last_seen, self.recorded_at or self.last_seen

    @property
    def used_at(self) -> datetime:
        """When it was last confirmed or used: what was learned today about a day long past is not old."""
        return max(*self.newest, self.last_accessed or self.last_seen)

    def stamped(self, version: int, operation: str) -> Self:
        """Return the entry as an operation writes it: with its version and the operation's id."""
        return self.changed(version=version, operations=(*self.operations, operation)[-OPERATIONS_KEPT:])

    def used(self, use: Use) -> Self:
        """Return the entry after it was recalled."""
        at = datetime.fromtimestamp(use.last / 1000, UTC)
        last = max(self.last_accessed or at, at)
        return self.changed(access_count=self.access_count + use.times, last_accessed=last)

    def counted_as(self, stored: "Entry") -> Self:
        """Return the entry with the counts of the stored one, which may have grown without a new version."""
        counts: dict[str, Any] = {"operations": stored.operations}
        if stored.access_count > self.access_count:
            counts |= {"access_count": stored.access_count, "last_accessed": stored.last_accessed}
        if isinstance(self, Memory) and isinstance(stored, Memory) and {*stored.trials} > {*self.trials}:
            counts |= {"trials": stored.trials, "successes": stored.successes}
        return self.changed(**counts)

    def dated(self, moment: datetime | None, reason: str, rules_version: str) -> Self:
        """Return the entry with the moment at which the rules will forget it; None: they keep it."""
        return self.changed(forget_after=moment, forget_reason=reason, rules_version=rules_version)

    def forgotten(self, reason: str, purge_after: datetime | None = None, *, on_request: bool = False) -> Self:
        """Return the entry as a tombstone, which can be undone until it is purged."""
        return self.changed(state=State.FORGOTTEN, forget_reason=reason, purge_after=purge_after, on_request=on_request)


class Record(Remembered):
    """An execution record: what a task did or the feedback it got, recalled exactly by its lane and key."""

    kind: Literal["record"] = "record"
    lane: Lane
    key: str
    payload: JsonValue
    intent: str = ""
    task: str = ""
    """The workflow id of the task that wrote it."""
    agent: str = ""


class Relation(Passed):
    """A link from a memory to something else by name: "depends on", and on what."""

    kind: Label
    to: Label


class Described(Passed):
    """What a memory is and is about: fields that are written and kept with it."""

    memory_type: MemoryType = MemoryType.FACT
    source: Source = Source.EXPLICIT
    tags: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    assertion: Assertion | None = None
    """What it asserts, in parts; None: it could not be determined, so nothing is known to contradict it."""
    names: Annotated[tuple[Label, ...], Field(max_length=MOST_NAMES)] = ()
    """What it is about, with aliases: "Kubernetes", "k8s", "kube"."""
    relations: Annotated[tuple[Relation, ...], Field(max_length=20)] = ()
    """What it links its names to."""
    scopes: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    """Where it counts: a recall that is limited to scopes leaves it out unless it has one of them; none: everywhere."""
    pinned: bool = False
    """Whether it is in every context, and never forgotten by the rules."""
    valid_from: Instant | None = None
    """When it begins to be true; None: it has no known beginning."""
    metadata_json: JsonValue = None
    """What the caller keeps with it; never searched."""


class Memory(Remembered, Described):
    """What is believed; recalled by meaning."""

    kind: Literal["memory"] = "memory"
    supersedes: str = ""
    """The id of the memory that this one replaced, or nothing."""
    superseded_by: str = ""
    """The id of the memory that replaces this one, from ``valid_until`` on if it is still current."""
    superseded_at: Instant | None = None
    """When it was replaced, or will be."""
    contradicted: bool = False
    """Whether it was replaced because the other one contradicts it."""
    purpose: Purpose = Purpose.GIVEN
    """What it is kept for: extracted, until somebody gives it explicitly too."""
    merged_from: tuple[str, ...] = ()
    """The ids of the memories that became this one; it stands for each of them."""
    wordings: tuple[str, ...] = ()
    """The ids of the other words in which it was said: forgotten, it does not come back in these either."""
    trials: Annotated[tuple[str, ...], Field(max_length=OCCURRENCES_KEPT)] = ()
    """The tasks that recalled it and whose end is known, newest last, by short digests."""
    successes: Annotated[tuple[str, ...], Field(max_length=OCCURRENCES_KEPT)] = ()
    """Those of them that succeeded."""
    authors: Annotated[tuple[Name, ...], Field(max_length=MOST_AUTHORS)] = ()
    """In a team's or an agent's memory, the users who stated it, each by a digest (``identity.author_id``): their ids
    would outlast their erasure. Empty in a user's own memory, and of what a tool or an agent found out."""
    suspended: Annotated[tuple[Suspension, ...], Field(max_length=MOST_SUSPENSIONS)] = ()
    """What temporary memories override it while they are believed; only a recall, which looks at them, knows that."""

    def holds(self, at: datetime) -> bool:
        """Return whether it is true at a moment, as far as its own dates say."""
        begun = self.valid_from is None or self.valid_from <= at
        return begun and (self.valid_until is None or self.valid_until > at)

    task: str = ""
    """The workflow id of the task that wrote it first, if known."""

    @property
    def called(self) -> tuple[str, ...]:
        """The names by which it can be asked for: its own, and the subject of what it asserts."""
        subject = without_determiner(self.assertion.subject) if self.assertion else ""
        # The user as the subject does not show which memory is meant.
        return (*self.names, subject) if subject not in {"", "user"} else self.names

    def superseded(self, by: str, at: datetime, *, contradicted: bool = False) -> Self:
        """Return the memory after another one replaced it: kept for a while, and no longer recalled.

        Args:
            by: The id of the other one.
            at: When that was recorded.
            contradicted: Whether the other one contradicts it.
        """
        return self.changed(state=State.SUPERSEDED, superseded_by=by, superseded_at=at, contradicted=contradicted)


class Turn(Remembered):
    """What somebody said in a conversation, word for word; recalled together with what was said around it."""

    kind: Literal["turn"] = "turn"
    session: str
    """Its conversation session."""
    position: Annotated[int, Field(ge=0)]
    """Its place in the session: 0, 1, 2 … without gaps."""
    speaker: str


Entry = Annotated[Record | Memory | Turn, Field(discriminator="kind")]
"""Anything that long-term memory keeps."""


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


def holds(entry: Entry, now: datetime) -> bool:
    """Return whether an entry may be recalled: current, begun, and not over."""
    if isinstance(entry, Memory):
        return entry.state is State.CURRENT and entry.holds(now)
    return entry.state is State.CURRENT and (entry.valid_until is None or entry.valid_until > now)
