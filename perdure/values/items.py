"""Items that can be offered to memory, and the identity of the entries that they become. Pure."""

from typing import Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    JsonValue,
    StringConstraints,
    Tag,
    field_validator,
)

from perdure.errors import InvalidInput
from perdure.identity import OwnerId, canonical_json, memory_id, record_id, turn_id
from perdure.model import Instant, Name, ObservedAt, Passed, Text, Unit, depth, one_line, readable, refuse_beyond
from perdure.values.entries import MARKER, Described, Lane, normalised
from perdure.values.statements import Voice

LARGEST_PAYLOAD = 16_000
"""Bytes of canonical JSON that a record's payload may have: it is an insight, not a document."""

LARGEST_METADATA = 4_000
"""Bytes of canonical JSON that a memory's metadata may have."""

DEEPEST_PAYLOAD = 64
"""Lists and mappings within one another in a payload. Parsers stop at 200, and it travels inside others' messages."""

_ARTICLES = frozenset({"a", "an", "the"})


class RecordItem(Passed):
    """One execution record to be written: what all lanes have in common, and all of a lane that is not known."""

    kind: Literal["record"] = "record"
    lane: Lane
    key: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), one_line, normalised]
    """Its look-up key, without surrounding white space: the store trims what it compares. Terminals show it."""
    payload: JsonValue
    summary: Annotated[str, Field(max_length=500)] = ""
    """A sentence for people and for search; without one, lane and key stand in."""
    intent: Annotated[str, Field(max_length=200)] = ""
    confidence: Unit = 1.0
    importance: Unit | None = None
    valid_until: Instant | None = None
    occurrence: Annotated[str, Field(min_length=1, max_length=500)]
    """Where it was observed: the task and step, the turn, or the caller's own key."""
    occurred_at: ObservedAt

    @field_validator("payload")
    @classmethod
    def _is_bounded(cls, payload: JsonValue) -> JsonValue:
        return _bounded(payload, LARGEST_PAYLOAD, "remember the insight, at most")


def required_intent(intent: str) -> str:
    """Return what a recommendation was made for.

    Raises:
        ValueError: It is empty.
    """
    if not intent.strip():
        refuse_beyond("is empty (say what the recommendation is for: nobody can judge it otherwise)")
    return intent


FEEDBACK = ("answer", "correction", "rating")
"""What a person's feedback may say: each is the name of it in the payload."""


def required_feedback(payload: JsonValue) -> JsonValue:
    """Return what a person said: an answer, a correction or a rating, and whatever else is kept with it.

    Raises:
        ValueError: It says none of them, or its rating is not a number.
    """
    said = payload if isinstance(payload, dict) else {}
    if all(said.get(name) is None for name in FEEDBACK):
        refuse_beyond("has no answer, correction or rating (write what the person said, as answer: yes)")
    rating = said.get("rating")
    if rating is not None and (isinstance(rating, bool | str | list | dict) or not 0 <= rating <= 1):
        refuse_beyond("has a rating that is not a number from 0 to 1 (divide the stars by the most there can be)")
    return payload


def required_pattern(payload: JsonValue) -> JsonValue:
    """Return what was seen.

    Raises:
        ValueError: There is nothing in it.
    """
    if payload is None or (isinstance(payload, str | list | dict) and not payload):
        refuse_beyond("is empty (write what was seen under this key)")
    return payload


class RecommendationItem(RecordItem):
    """What a run recommends, and what for."""

    intent: Annotated[str, Field(max_length=200), AfterValidator(required_intent)]  # pyright: ignore[reportGeneralTypeIssues]  it has no default


class FeedbackItem(RecordItem):
    """What a person said of something: an answer, a correction or a rating."""

    payload: Annotated[JsonValue, AfterValidator(required_feedback), Field(examples=[{"answer": "yes"}])]


class PatternItem(RecordItem):
    """What was seen, to be recognised when it is seen again."""

    payload: Annotated[JsonValue, AfterValidator(required_pattern)]


_LANES: dict[str, type[RecordItem]] = {
    Lane.RECOMMENDATION: RecommendationItem,
    Lane.FEEDBACK: FeedbackItem,
    Lane.PATTERN: PatternItem,
}


def record_model(lane: object) -> type[RecordItem]:
    """Return the model that checks a lane's records; of a lane that is not known, what all have in common."""
    return _LANES.get(lane, RecordItem) if isinstance(lane, str) else RecordItem


def _lane_of(value: Any) -> str:
    lane = cast("dict[str, Any]", value).get("lane") if isinstance(value, dict) else getattr(value, "lane", None)
    return lane if isinstance(lane, str) and lane in _LANES else "other"


AnyRecordItem = Annotated[
    Annotated[RecommendationItem, Tag("recommendation")]
    | Annotated[FeedbackItem, Tag("feedback")]
    | Annotated[PatternItem, Tag("pattern")]
    | Annotated[RecordItem, Tag("other")],
    Discriminator(_lane_of),
]
"""A record of any lane, each checked by its own model."""


def _says_nothing_recalled(content: str) -> str:
    if MARKER in content:
        raise ValueError(f"carries {MARKER} (recalled records are not remembered again)")
    return content


class MemoryItem(Described):
    """One memory to be written."""

    kind: Literal["memory"] = "memory"
    content: Annotated[Text, AfterValidator(_says_nothing_recalled)]
    confidence: Unit = 0.9
    importance: Unit | None = None
    valid_until: Instant | None = None
    supersedes: str = ""
    """The id of the memory that this one replaces; empty: none."""
    occurrence: Annotated[str, Field(min_length=1, max_length=500)]
    occurred_at: ObservedAt

    @field_validator("metadata_json")
    @classmethod
    def _is_bounded(cls, metadata: JsonValue) -> JsonValue:
        return bounded_metadata(metadata)


class TurnItem(Passed):
    """One turn of a conversation to be written."""

    kind: Literal["turn"] = "turn"
    content: Annotated[Text, AfterValidator(_says_nothing_recalled)]
    speaker: Annotated[str, Field(min_length=1, max_length=80), readable, normalised]
    by: Voice = Voice.USER
    """Whether that is the user, an agent or a tool."""
    session: Name
    position: Annotated[int, Field(ge=0, le=1_000_000)]
    confidence: Unit = 1.0
    importance: Unit | None = None
    valid_until: Instant | None = None
    occurrence: Annotated[str, Field(min_length=1, max_length=500)]
    occurred_at: ObservedAt


Item = Annotated[AnyRecordItem | MemoryItem | TurnItem, Field(discriminator="kind")]
"""Anything that can be offered to memory."""


class OfferedItem(Passed):
    """An item that a task's step offers, and whose memory it is offered to."""

    item: Item
    of: OwnerId | None = None
    """The team or agent that the task's user belongs to; None: the user's own memory."""
    at: Instant | None = None
    """When it was learned; None: an earlier build did not say."""


_IMPORTED = "import/"


def import_of(identifier: str) -> str:
    """Return the occurrence of an item that is read from an export: the same entry again is the same observation."""
    return f"{_IMPORTED}{identifier}"


def imported_id(item: Item) -> str:
    """Return the id that an item's entry had where it was exported; empty: it is from no export."""
    return item.occurrence.removeprefix(_IMPORTED) if item.occurrence.startswith(_IMPORTED) else ""


def record_text(item: RecordItem) -> str:
    """Render a record as the text that is stored: a line for people, then the marker and payload."""
    headline = item.summary or f"{item.lane} {item.key}"
    return f"{headline}\n{MARKER}{canonical_json(item.payload).decode()}"


def item_text(item: Item) -> str:
    """Return the text that an item is stored with."""
    if isinstance(item, RecordItem):
        return record_text(item)
    return item.content if isinstance(item, MemoryItem) else f"{item.speaker}: {item.content}"


def item_id(tenant: str, item: Item) -> str:
    """Return the id of the entry that an item becomes.

    Two items that state the same have one id, whatever their case: otherwise the second would have an id of its own in
    the deletion log and the journal, and would survive when the first is forgotten.
    """
    if isinstance(item, RecordItem):
        return record_id(tenant, item.lane, item.key, item.payload)
    if isinstance(item, TurnItem):
        return turn_id(tenant, item.session, item.position, item.speaker, item.content)
    return memory_id(tenant, item.memory_type, statement(item.content))


def statement(content: str) -> str:
    """Return a sentence's words in their order, without case, articles and stops: what two wordings of it share.

    Everything else may matter, and stays: a sign, an operator, a currency, the letter of "plan A".
    """
    words = [
        word.casefold().rstrip(".,;:")
        for place, word in enumerate(content.split())
        if (word if place else word.casefold()) not in _ARTICLES
    ]
    return " ".join(filter(None, words)) or content.strip()


def bounded_metadata(metadata: JsonValue) -> JsonValue:
    """Return a memory's metadata.

    Raises:
        ValueError: They are larger or deeper than a memory may have.
    """
    return _bounded(metadata, LARGEST_METADATA, "at most")


def _bounded(value: JsonValue, most: int, at_most: str) -> JsonValue:
    try:
        size = len(canonical_json(value))
    except InvalidInput as error:
        raise ValueError(f"{error.problem} ({error.fix})" if error.fix else error.problem) from error
    if size > most:
        refuse_beyond(f"has {size:,} bytes ({at_most} {most:,})")
    if (levels := depth(value)) > DEEPEST_PAYLOAD:
        refuse_beyond(f"is nested {levels} deep (at most {DEEPEST_PAYLOAD})")
    return value
