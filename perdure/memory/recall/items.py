"""A ranked entry as the caller gets it, with why it was recalled. Pure."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from perdure.memory.recall.query import FoundBy, RecalledItem
from perdure.memory.recall.ranking import Profile, Scored
from perdure.values.entries import EntryKind, Memory, Record, Turn, headline_of

T = TypeVar("T")


def recalled(scored: Scored, found_by: FoundBy, why: str) -> RecalledItem:
    """Return the item that an entry is recalled as.

    Args:
        scored: The entry with its score.
        found_by: Which part of recall found it.
        why: The reason in words, without content.
    """
    entry = scored.entry
    own: dict[str, Any] = {}
    match entry:
        case Record():
            own.update(lane=entry.lane, key=entry.key, payload=entry.payload)
        case Memory():
            own.update(memory_type=entry.memory_type, pinned=entry.pinned)
        case Turn():
            own.update(speaker=entry.speaker, session=entry.session, position=entry.position)
    return RecalledItem(
        id=entry.id,
        kind=EntryKind(entry.kind),
        text=headline_of(entry.text),
        found_by=found_by,
        score=scored.score,
        parts=scored.parts,
        why=f"{why}; seen {entry.seen}×, last {entry.last_seen:%Y-%m-%d}",
        seen=entry.seen,
        last_seen=entry.last_seen,
        version=entry.version,
        recorded_at=entry.newest[1],
        confidence=scored.parts.get("confidence", entry.confidence),
        **own,
    )


def explained(scored: Scored, profile: Profile) -> str:
    """Return the parts of a score, in words."""
    parts = scored.parts
    if isinstance(scored.entry, Turn):
        return "said: " + ", ".join(f"{name} {value:.2f}" for name, value in parts.items() if value)
    found = [f"meaning {parts['cosine']:.2f}"] if "cosine" in parts else []
    found += [f"words {parts['bm25']:.2f}"] if "bm25" in parts else []
    return f"{', '.join(found)}: relevance {parts['relevance']:.2f}, quality {parts['quality']:.2f} ({profile.name})"


def with_others(items: list[RecalledItem], others: list[RecalledItem]) -> list[RecalledItem]:
    """Return items, followed by the others that are not among them."""
    known = {item.id for item in items}
    return items + [item for item in others if item.id not in known]


def sharing(exact: list[RecalledItem], found: list[RecalledItem], limit: int) -> list[RecalledItem]:
    """Share the places: a full log must not starve what was found by meaning, nor the other way round."""
    kept = exact[: max(limit - len(found), (limit + 1) // 2)]
    return kept + found[: limit - len(kept)]


def interleaved(*rankings: Sequence[T]) -> list[T]:
    """Return several rankings as one, best first in each, so that none takes all the places.

    >>> interleaved("abc", "x")
    ['a', 'x', 'b', 'c']
    """
    return [each for pair in zip_longest(*rankings) for each in pair if each is not None]
