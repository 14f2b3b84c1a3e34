"""Recall's input and output. Pure values."""

from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from perdure.documents import fitted
from perdure.model import Instant, Model, Name, OpenEnum, Passed, QueryText, Unit
from perdure.values.changes import PROGRAM, Actor
from perdure.values.decay import Decay
from perdure.values.entries import EntryKind, Key, Lane, MemoryType, Purpose
from perdure.values.episodes import Episode
from perdure.values.filters import Filters, Omission
from perdure.values.strategies import ProfileName, Strategy


class FoundBy(OpenEnum):
    """Which part of recall found something. An unknown one is shown as it is."""

    EXACT = "exact"
    """The activity log, by lane and key."""
    SEMANTIC = "semantic"
    """By meaning and words."""
    HANDLE = "handle"
    """By the handle of an earlier recall."""
    NAMED = "named"
    """The question names it."""
    LINKED = "linked"
    """A relation links it to what the question names."""
    FILTERS = "filters"
    """It meets the filters, and no question was looked at."""
    PINNED = "pinned"
    """It always stands in the context."""
    JOURNAL = "journal"
    """The journal on disk, because the store did not answer."""


class Trigger(OpenEnum):
    """Why memory was searched by meaning. An unknown reason is shown as it is."""

    NONE = ""
    """It was not."""
    NO_KEY = "no_key"
    """Nothing names what is looked for, so an exact result cannot be enough."""
    TOO_FEW = "too_few_exact"

    @property
    def told(self) -> str:
        """Why a search was widened, in words; empty where nothing else was asked for than to search by meaning."""
        if self in {Trigger.NONE, Trigger.NO_KEY}:
            return ""
        if self is Trigger.TOO_FEW:
            return "searched by meaning too, as few are under these keys"
        return f"searched by meaning: {self.value}"


class Query(Model):
    """A question to memory."""

    tenant: str
    session: str
    text: QueryText = ""
    """What is looked for, in words."""
    in_session: QueryText = ""
    """What is looked for among all that happened in the session, in words; empty: only the newest and the most
    important of it are shown."""
    lane: Lane | None = None
    """Look in this log first."""
    keys: Annotated[tuple[Key, ...], Field(max_length=1_000)] = ()
    """Under exactly these keys of the lane."""
    strategy: Strategy = Strategy.BALANCED
    profile: ProfileName | None = None
    """The weights of the order; None: the strategy's own."""
    memory_types: tuple[MemoryType, ...] = ()
    """Only memories, and of these types; empty: of all."""
    tags: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    """Only memories, and with all of these tags."""
    scopes: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    """Only what counts in one of these scopes; what has none counts everywhere."""
    since: Instant | None = None
    """Only what was last observed at this moment or later."""
    until: Instant | None = None
    """Only what was last observed before this moment."""
    task: Annotated[str, Field(max_length=300)] = ""
    """Only what the task with this workflow id wrote, or what is tagged so; for the order ``hybrid``, that comes first
    instead."""
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    """How many items at most; in addition come everything that is found under ``keys``, what is pinned unless
    ``is_exact``, and with ``structured`` every constraint."""
    enough: Annotated[int, Field(ge=0)] = 3
    """With this many exact items, nothing more is looked for."""
    min_confidence: Unit | None = None
    """Items with less confidence are recalled only if they are pinned; None: as recall is configured."""
    decay: Decay | None = None
    """How belief in memories decays, by the rules that recall is configured with; None: not at all."""
    only_reads: bool = False
    """Whether what is recalled does not count as used, so that asking leaves no trace in what is remembered."""
    tell_left_out: bool = False
    """Whether to report what this recall's searches found and it left out, and why. It takes no extra search."""
    explain: bool = False
    """The same, and what is near to the question but outside the filters: that takes one more round of searches."""
    withheld: tuple[Purpose, ...] = ()
    """Nothing that is kept for these purposes, which the user does not consent to; recall looks them up."""
    working: tuple[str, ...] = ()
    """Lines of working memory, for the context block."""
    context_characters: Annotated[int, Field(ge=500, le=100_000)] = 8_000
    """How long the context block may be."""
    shows_ids: bool = False
    """Whether the context block names each memory by the beginning of its id, for a reader who may correct it."""
    now: Instant
    by: Actor = PROGRAM
    """Who asks."""
    operation: str = ""
    """The id under which the audit records it once, however often it is attempted; empty: a new one."""

    @model_validator(mode="after")
    def _keys_need_a_lane(self) -> Self:
        if self.keys and self.lane is None:
            raise ValueError("keys need a lane: name the log that they are in")
        return self

    @model_validator(mode="after")
    def _begins_before_it_ends(self) -> Self:
        if self.since and self.until and self.since >= self.until:
            raise ValueError(f"since {self.since.isoformat()} is not before until {self.until.isoformat()}")
        return self

    @property
    def is_exact(self) -> bool:
        """Whether it asks for the records under its keys, and for nothing else."""
        return bool(self.keys) and not self.text.strip() and self.strategy is not Strategy.STRUCTURED

    @property
    def ordered_by(self) -> ProfileName:
        """The profile that the result is ordered by."""
        own = ProfileName.HYBRID if self.strategy is Strategy.HYBRID else ProfileName.RELEVANCE_FIRST
        return self.profile or own

    @property
    def filters(self) -> Filters:
        """What it is limited to."""
        return Filters(
            now=self.now,
            min_confidence=self.min_confidence or 0.0,
            decay=self.decay,
            lane=self.lane,
            memory_types=self.memory_types,
            tags=self.tags,
            scopes=self.scopes,
            since=self.since,
            until=self.until,
            withheld=self.withheld,
            task="" if self.ordered_by is ProfileName.HYBRID else self.task,
        )

    @classmethod
    def of(cls, asked: Model, where: str = "", **context: object) -> Self:
        """Return the question that a request or a step asks, in its context.

        Args:
            asked: The request; fields that a question does not have are left out.
            where: What it is, for the message of an error.
            **context: The tenant, the moment and whatever the request does not say.

        Raises:
            InvalidInput: It is malformed; with the field.
        """
        known = {name: getattr(asked, name) for name in cls.model_fields if name in type(asked).model_fields}
        return fitted(cls, {**known, **context}, where)


class RecalledItem(Passed):
    """An entry that was recalled, and why."""

    id: str
    kind: EntryKind
    text: str
    """The part that is meant for people."""
    lane: Lane | None = None
    key: str = ""
    payload: JsonValue = None
    """A record's payload, exactly as it was written."""
    memory_type: MemoryType | None = None
    speaker: str = ""
    """Who said a turn."""
    session: str = ""
    """The conversation session that a turn is of."""
    position: int | None = None
    """A turn's place in its session."""
    found_by: FoundBy
    score: float
    parts: dict[str, float]
    """What the score was made of."""
    why: str
    """The same in words, without content."""
    seen: int = 1
    last_seen: Instant
    version: int = 0
    """The version of the entry that was read; 0: not known."""
    recorded_at: Instant | None = None
    """When that was recorded: of two with the same ``last_seen`` the later one is the newer."""
    confidence: Unit = 1.0
    """How much it is believed at the moment of the question, after decay; read by a handle, as it was recorded."""
    pinned: bool = False


class LeftOut(Passed):
    """Something that was near to the question, or in the result, and left out."""

    id: str
    kind: EntryKind
    text: str
    """The beginning of the part that is meant for people."""
    reason: Omission
    confidence: Unit
    """How much it is believed at the moment of the question, after decay."""


class RecallResult(Passed):
    """What memory knows about a question."""

    items: tuple[RecalledItem, ...] = ()
    """Exact ones first, newest first; then by score; pinned ones that nothing else found last."""
    episodes: tuple[Episode, ...] = ()
    """What happened in the session: the newest and the most important, oldest first."""
    found_in_session: tuple[Episode, ...] = Field(default=(), exclude_if=lambda found: not found)
    """What else happened in it that was looked for there, best first."""
    trigger: Trigger = Trigger.NONE
    degraded: tuple[str, ...] = ()
    """The stores that did not answer; empty when all is well."""
    withheld: tuple[Purpose, ...] = ()
    """What is left out since the user does not consent to it (any more)."""
    left_out: tuple[LeftOut, ...] = ()
    """What was left out, and why, at most 50; only where the question asked for it."""
    milliseconds: float
    context: str
    """All of it as one block for a prompt."""
