"""From hits to a ranking, with every part of every score. Pure: no store, no clock.

Relevance leads. Quality - how sure, how fresh, how often used - only orders what is about equally
relevant; otherwise the same memories would answer every question.
"""

from collections.abc import Sequence
from datetime import datetime

from perdure.entries import Entry, Hit
from perdure.model import Model, Unit

_DAY = 86_400.0


class Profile(Model):
    """Weights of a ranking, under a name that explanations can cite."""

    name: str
    words: Unit
    """The share of words in relevance; the rest is meaning."""
    quality: Unit
    """The share of quality in the score; the rest is relevance."""
    confidence: Unit = 0.5
    recency: Unit = 0.3
    frequency: Unit = 0.2


RELEVANCE_FIRST = Profile(name="relevance-first", words=0.5, quality=0.1)


class Scored(Model):
    """An entry with its score and all that the score is made of."""

    entry: Entry
    score: float
    parts: dict[str, float]


def quality_parts(entry: Entry, now: datetime) -> dict[str, float]:
    """Return how good an entry is in itself, whatever is asked (R31).

    An entry is as fresh as its last observation; 90 days take all but a tenth of that away.
    """
    days = max(0.0, (now - entry.last_seen).total_seconds() / _DAY)
    return {
        "confidence": entry.confidence,
        "recency": max(0.1, 1.0 - days / 90.0),
        "frequency": min(1.0, entry.access_count / 50.0),
    }


def score_exact(entry: Entry, *, now: datetime, profile: Profile = RELEVANCE_FIRST) -> Scored:
    """Score what was asked for by name: nothing is more relevant."""
    return _scored(entry, {}, 1.0, now, profile)


def rank(
    hits: Sequence[Hit], *, now: datetime, floor: float, limit: int, profile: Profile = RELEVANCE_FIRST
) -> list[Scored]:
    """Rank what was found by meaning and by words.

    Both kinds of score are brought to 0…1 within this result, as neither means anything beyond it: cosines
    between the lowest and the highest, word scores between nothing and the highest.

    Args:
        hits: What was found.
        now: The moment of the question.
        floor: The cosine below which nothing is right; what shares words with the question stays.
        limit: How many at most.
        profile: The weights.

    Returns:
        Best first; ties by the later observation, then by id.
    """
    kept = [hit for hit in hits if (hit.bm25 or 0.0) > 0.0 or (hit.cosine or 0.0) >= floor]
    cosines = [hit.cosine for hit in kept if hit.cosine is not None]
    lowest, highest = min(cosines, default=0.0), max(cosines, default=0.0)
    most = max((hit.bm25 or 0.0 for hit in kept), default=0.0)
    # Where only one kind of search answered, it decides alone.
    weight = profile.words if cosines and most > 0.0 else float(not cosines)
    found: list[tuple[float, Hit]] = []
    for hit in kept:
        meaning = 0.0 if hit.cosine is None else _between(hit.cosine, lowest, highest)
        words = (hit.bm25 or 0.0) / most if most > 0.0 else 0.0
        found.append(((1.0 - weight) * meaning + weight * words, hit))
    # Quality can lift by its own share at most, so only what is that close to the last place is looked at.
    reach = sorted((relevance for relevance, _ in found), reverse=True)[:limit][-1:] or [0.0]
    least = reach[0] - profile.quality / (1.0 - profile.quality) if profile.quality < 1.0 else 0.0
    scored = [
        _scored(hit.entry, _found_by(hit), relevance, now, profile) for relevance, hit in found if relevance >= least
    ]
    scored.sort(key=lambda one: (-one.score, -one.entry.last_seen.timestamp(), one.entry.id))
    return scored[:limit]


def _found_by(hit: Hit) -> dict[str, float]:
    by = {"cosine": hit.cosine, "bm25": hit.bm25}
    return {name: value for name, value in by.items() if value is not None}


def _scored(entry: Entry, parts: dict[str, float], relevance: float, now: datetime, profile: Profile) -> Scored:
    good = quality_parts(entry, now)
    quality = (
        profile.confidence * good["confidence"]
        + profile.recency * good["recency"]
        + profile.frequency * good["frequency"]
    )
    score = (1.0 - profile.quality) * relevance + profile.quality * quality
    parts = {**parts, "relevance": relevance, **good, "quality": quality, "score": score}
    rounded = {name: round(value, 6) for name, value in parts.items()}
    return Scored(entry=entry, score=rounded["score"], parts=rounded)


def _between(value: float, lowest: float, highest: float) -> float:
    return (value - lowest) / (highest - lowest) if highest > lowest else 1.0
