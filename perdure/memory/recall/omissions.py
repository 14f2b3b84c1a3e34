"""What was near to a question and is not in the result, and why. Pure."""

from collections.abc import Collection, Iterable, Sequence

from perdure.entries import Entry, Hit, headline_of
from perdure.filters import Omission
from perdure.memory.recall.query import LeftOut, Query, RecalledItem

EXPLAINED = 50
"""How many omissions are told. A choice."""

LEAST_CONFIDENCE = 0.3
"""What is believed less is not told: the rules forget it (R33)."""

_BEGINNING = 200
"""Characters of a text that are told."""


def omissions(
    query: Query, *, items: Sequence[RecalledItem], unplaced: Collection[str], hits: Iterable[Hit], floor: float
) -> tuple[LeftOut, ...]:
    """Return what was left out, that of the result first.

    Args:
        query: The question.
        items: The result.
        unplaced: The ids of those that did not fit into the context block.
        hits: What is near to the question, whatever it is limited to.
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
    given = {item.id for item in items}
    full = len(items) >= query.limit
    found += [_left_out(hit.entry, _reason(query, hit, floor, full)) for hit in hits if hit.entry.id not in given]
    return tuple(found[:EXPLAINED])


def _reason(query: Query, hit: Hit, floor: float, full: bool) -> Omission:
    if objection := query.filters.objection(hit.entry):
        return objection
    is_far = not hit.bm25 and (hit.cosine is None or hit.cosine < floor)
    return Omission.LIMIT if full and not is_far else Omission.RELEVANCE


def _left_out(entry: Entry, reason: Omission) -> LeftOut:
    text = headline_of(entry.text)[:_BEGINNING]
    return LeftOut(id=entry.id, kind=entry.kind, text=text, reason=reason, confidence=entry.confidence)
