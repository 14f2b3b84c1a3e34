"""What is asked of recall, and what it returns. Pure values."""

from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from perdure.documents import fitted
from perdure.entries import Key, Lane, MemoryType
from perdure.episodes import Episode
from perdure.model import Instant, Model, OpenEnum, Passed, Unit


class FoundBy(OpenEnum):
    """Which part of recall found something. An unknown one is shown as it is."""

    EXACT = "exact"
    """The activity log, by lane and key."""
    SEMANTIC = "semantic"
    """By meaning and words."""
    HANDLE = "handle"
    """By the handle of an earlier recall."""
    JOURNAL = "journal"
    """The journal on disk, because the store did not answer."""


class Trigger(OpenEnum):
    """Why memory was searched by meaning. An unknown reason is shown as it is."""

    NONE = ""
    """It was not."""
    NO_KEY = "no_key"
    """Nothing names what is looked for, so an exact result cannot be enough."""
    TOO_FEW = "too_few_exact"


class Query(Model):
    """A question to memory."""

    tenant: str
    session: str
    text: Annotated[str, Field(max_length=8_000)] = ""
    """What is looked for, in words."""
    lane: Lane | None = None
    """Look in this log first."""
    keys: Annotated[tuple[Key, ...], Field(max_length=1_000)] = ()
    """Under exactly these keys of the lane."""
    memory_types: tuple[MemoryType, ...] = ()
    """Only memories of these types; empty: of all."""
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    """How many items at most; but everything that is found under ``keys`` is given."""
    enough: Annotated[int, Field(ge=0)] = 3
    """With this many exact items, nothing more is looked for."""
    min_confidence: Unit = 0.7
    """What is believed less is not recalled by meaning."""
    working: tuple[str, ...] = ()
    """Lines of working memory, for the context block."""
    context_characters: Annotated[int, Field(ge=500, le=100_000)] = 8_000
    """How long the context block may be."""
    now: Instant

    @model_validator(mode="after")
    def _keys_need_a_lane(self) -> Self:
        if self.keys and self.lane is None:
            raise ValueError("keys need a lane: name the log that they are in")
        return self

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
    kind: Literal["record", "memory", "turn"]
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
    """When that was recorded: of two with one ``last_seen`` the later one is the newer."""
    confidence: Unit = 1.0


class RecallResult(Passed):
    """What memory knows about a question."""

    items: tuple[RecalledItem, ...] = ()
    """Exact ones first, newest first; then by score."""
    episodes: tuple[Episode, ...] = ()
    """What happened in the session: the newest and the most important, oldest first."""
    trigger: Trigger = Trigger.NONE
    degraded: tuple[str, ...] = ()
    """The stores that did not answer; empty when all is well."""
    milliseconds: float
    context: str
    """All of it as one block for a prompt."""
