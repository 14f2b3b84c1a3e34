"""What was near to a question and is not in the result, and why. Pure."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from perdure.memory.recall.query import LeftOut, Query, RecalledItem
from perdure.values.entries import Entry, EntryKind, headline_of
from perdure.values.filters import Omission
from perdure.values.hits import Hit
from perdure.values.strategies import Strategy

EXPLAINED = 50
"""How many omissions are reported. A choice."""

LEAST_CONFIDENCE = 0.3
"""Omissions with less confidence are not reported: the rules forget them (R33)."""

NOT_MEANT = -1.0
"""Stands in for the cosine of a candidate that was found by name, and is not what the question names."""

_BEGINNING = 200
"""Characters of a text that are shown."""


def omissions(
    query: Query,
    *,
    items: Sequence[RecalledItem],
    unplaced: Collection[str],
    hits: Iterable[Hit],
    objection: Callable[[Entry], Omission | None],
    floor: float,
) -> tuple[LeftOut, ...]:
    """Return what was left out, that of the result first.

    Args:
        query: The question.
        items: The result.
        unplaced: The ids of those that did not fit into the context block.
        hits: What the searches found, whether or not the filters let it be recalled.
        objection: Why an entry is not recalled, whatever the question; None: it is.
        floor: The cosine below which nothing is right.
    """
    found = [
        LeftOut(
            id=item.id,
            kind=item.kind,
            text=item.text[:_BEGINNING],
            reason=Omission.BUDGET,
            confidence=item.confidence,
        )
        for item in items
        if item.id in unplaced
    ]
    told = {item.id for item in items}
    full = len(items) >= query.limit
    for hit in hits:
        if hit.entry.id not in told:
            told.add(hit.entry.id)
            found.append(_left_out(query, hit.entry, objection(hit.entry) or _reason(query, hit, floor, full)))
    return tuple(found[:EXPLAINED])


def alternating(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits nearest first, alternating between kinds: a user's many turns would leave no place for a memory.

    Hits by key or by name come before those that are only near.
    """
    nearest = sorted(hits, key=lambda hit: (-_nearness(hit), -hit.entry.last_seen.timestamp(), hit.entry.id))
    places: Counter[str] = Counter()
    placed: list[tuple[int, Hit]] = []
    for hit in nearest:
        placed.append((places[hit.entry.kind], hit))
        places[hit.entry.kind] += 1
    return [hit for _, hit in sorted(placed, key=lambda one: one[0])]


def _reason(query: Query, hit: Hit, floor: float, full: bool) -> Omission:
    if query.strategy is Strategy.STRUCTURED:
        # No question decides there, so nothing is too far from it.
        return Omission.LIMIT
    is_far = not hit.bm25 and _nearness(hit) < floor
    return Omission.LIMIT if full and not is_far else Omission.RELEVANCE


def _nearness(hit: Hit) -> float:
    if hit.cosine is None and hit.bm25 is None:
        return 1.0
    return hit.cosine or 0.0


def _left_out(query: Query, entry: Entry, reason: Omission) -> LeftOut:
    return LeftOut(
        id=entry.id,
        kind=EntryKind(entry.kind),
        text=headline_of(entry.text)[:_BEGINNING],
        reason=reason,
        confidence=round(query.filters.believed(entry), 6),
    )
