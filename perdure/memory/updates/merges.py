"""Whether two memories can become one, and what they become. Pure.

Nothing is to be lost by it: neither what one of them says, nor what keeps one of them from holding or from recall.
"""

from datetime import datetime
from typing import Any

from pydantic import JsonValue

from perdure.errors import InvalidInput
from perdure.identity import digest
from perdure.memory.extraction.substance import adds_nothing
from perdure.memory.writing.agreement import Agreement, agreement
from perdure.memory.writing.contradictions import contradict
from perdure.memory.writing.observation import reworded
from perdure.values.entries import MOST_AUTHORS, OCCURRENCES_KEPT, Memory, MemoryType, Source, State
from perdure.values.filters import MIN_CONFIDENCE
from perdure.values.items import bounded_metadata, statement
from perdure.values.suspensions import joined

_MOST_LISTED = 20
"""Tags, names, relations and scopes that a memory may have."""


def require_mergeable(first: Memory, second: Memory) -> None:
    """Check that two memories can become one without losing anything that is believed.

    Raises:
        InvalidInput: One is kept for another purpose than the other, ends by being replaced, or contradicts the other;
            or together they would be believed too little to be recalled.
    """
    if first.purpose is not second.purpose:
        problem = "one was given, and the other extracted from what was said, which its user may withdraw by itself"
        fix = "remember what the extracted one says first: it then counts as given"
        raise InvalidInput("other", problem, fix=fix)
    for field, memory in (("id", first), ("other", second)):
        if memory.superseded_by:
            raise InvalidInput(field, f"it is to be replaced by {memory.superseded_by}", fix="name that one")
    if contradict(first, second):
        fix = "correct or forget the one that does not hold"
        raise InvalidInput("other", f"{first.id} and {second.id} contradict each other", fix=fix)
    if is_recalled_less(first, second):
        mean = f"{_mean(first, second):g}"
        problem = f"the merged memory would have confidence {mean}, below the {MIN_CONFIDENCE:g} of recall"
        fix = "say of the one that is believed less that it is helpful, or forget it"
        raise InvalidInput("other", problem, fix=fix)


def says_more(one: Memory, other: Memory) -> bool:
    """Return whether a memory says something that another one does not say; if in doubt, it does."""
    if one.assertion and other.assertion and agreement(other.assertion, one.assertion) is Agreement.SAME:
        return not adds_nothing(one.text, other.text, other.assertion)
    return statement(one.text) != statement(other.text)


def ancestor(memory: Memory, whole: Memory, at: datetime) -> Memory:
    """Return a memory after it became part of another one: one that says more than that is kept.

    So is one that is made of others itself: by it alone they are found as parts of the whole, to be forgotten with it.

    Args:
        memory: One of the two.
        whole: What they became.
        at: When they were merged.
    """
    replaced = memory.superseded(whole.id, at)
    return replaced.changed(kept_at=at) if memory.merged_from or says_more(memory, whole) else replaced


def taken_apart(memory: Memory) -> Memory:
    """Return an ancestor as it was before it became part of another one."""
    # Only the merger has kept it from the rules.
    kept_at = None if memory.kept_at == memory.superseded_at else memory.kept_at
    return memory.changed(
        state=State.CURRENT, superseded_by="", superseded_at=None, contradicted=False, kept_at=kept_at
    )


def is_recalled_less(one: Memory, other: Memory) -> bool:
    """Return whether a merger, which averages, would take what is recalled below what recall requires."""
    return max(one.confidence, other.confidence) >= MIN_CONFIDENCE > _mean(one, other)


def merged_id(operation: str, one: str, other: str) -> str:
    """Return the id of the memory that two become: a new one for each merger."""
    return f"mem_{digest('merged/1', operation, one, other)}"


def merged(identifier: str, first: Memory, second: Memory) -> Memory:
    """Return the memory that two of one purpose become: the text of the first, and what else is known of both.

    Raises:
        InvalidInput: Both have more tags, names, relations, scopes or metadata than one memory may have.
    """
    oldest, newest = sorted((first, second), key=lambda one: one.newest)
    occurrences = _union(oldest.occurrences, newest.occurrences)
    important = [one.importance for one in (first, second) if one.importance is not None]
    # If one counts everywhere, or for ever, the result does too.
    everywhere = not (first.scopes and second.scopes)
    constraint = MemoryType.CONSTRAINT in (first.memory_type, second.memory_type)
    trials = _union(oldest.trials, newest.trials)
    return first.changed(
        id=identifier,
        source=Source.MERGED,
        memory_type=MemoryType.CONSTRAINT if constraint else first.memory_type,
        confidence=_mean(first, second),
        importance=max(important, default=None),
        tags=_listed("tags", first, second),
        names=_listed("names", first, second),
        relations=_listed("relations", first, second),
        scopes=() if everywhere else _listed("scopes", first, second),
        pinned=first.pinned or second.pinned,
        metadata_json=_metadata(first, second),
        occurrences=occurrences[-OCCURRENCES_KEPT:],
        seen=min(len(occurrences), OCCURRENCES_KEPT) or 1,
        authors=_union(first.authors, second.authors)[:MOST_AUTHORS],
        first_seen=min(first.first_seen, second.first_seen),
        last_seen=newest.last_seen,
        recorded_at=newest.recorded_at,
        last_accessed=max(filter(None, (first.last_accessed, second.last_accessed)), default=None),
        access_count=first.access_count + second.access_count,
        valid_from=_earliest(first.valid_from, second.valid_from),
        valid_until=_latest(first.valid_until, second.valid_until),
        # What overrides one of them overrides what both say.
        suspended=joined((*first.suspended, *second.suspended), newest.recorded_at or newest.last_seen),
        merged_from=(first.id, second.id),
        wordings=reworded(first, *second.wordings),
        supersedes=first.id,
        superseded_by="",
        trials=trials[-OCCURRENCES_KEPT:],
        successes=tuple(one for one in trials[-OCCURRENCES_KEPT:] if one in {*first.successes, *second.successes}),
        state=State.CURRENT,
        forget_after=None,
        forget_reason="",
        kept_at=max(filter(None, (first.kept_at, second.kept_at)), default=None),
        version=1,
        operations=(),
    )


def _listed(name: str, first: Memory, second: Memory) -> tuple[Any, ...]:
    both = _union(getattr(first, name), getattr(second, name))
    if len(both) > _MOST_LISTED:
        problem = f"both together have {len(both)}, and a memory has at most {_MOST_LISTED}"
        raise InvalidInput(name, problem, fix="correct one of the two so that it has fewer")
    return both


def _union(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*one, *(value for value in other if value not in one))


def _metadata(first: Memory, second: Memory) -> JsonValue:
    """Return the metadata of both: if they differ, the second's is kept under its id."""
    one, other = first.metadata_json, second.metadata_json
    both: JsonValue
    if one is None or other is None or one == other:
        both = other if one is None else one
    elif isinstance(one, dict) and isinstance(other, dict):
        differing: dict[str, JsonValue] = {key: other[key] for key in other if key in one and other[key] != one[key]}
        both = {**other, **one, **({second.id: differing} if differing else {})}
    else:
        both = {first.id: one, second.id: other}
    try:
        return bounded_metadata(both)
    except ValueError as problem:
        fix = "remember one of the two again with less"
        raise InvalidInput("metadata_json", f"of both together {problem}", fix=fix) from None


def _earliest(one: datetime | None, other: datetime | None) -> datetime | None:
    return None if one is None or other is None else min(one, other)


def _latest(one: datetime | None, other: datetime | None) -> datetime | None:
    return None if one is None or other is None else max(one, other)


def _mean(one: Memory, other: Memory) -> float:
    return round((one.confidence + other.confidence) / 2, 6)
