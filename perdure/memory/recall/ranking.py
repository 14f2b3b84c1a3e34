"""From hits to a ranking, with every part of every score. Pure: no store, no clock.

Relevance leads. Quality - how sure, how fresh, how often used - only orders what is about equally
relevant; otherwise the same memories would answer every question.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from perdure.memory.retention import RetentionRules
from perdure.model import Model, Unit
from perdure.values.entries import Entry
from perdure.values.filters import is_of_task
from perdure.values.hits import Hit
from perdure.values.strategies import ProfileName

_DAY = 86_400.0

_RULES = RetentionRules()


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
    task: Unit = 0.0


RELEVANCE_FIRST = Profile(name=ProfileName.RELEVANCE_FIRST, words=0.5, quality=0.1)
READER = Profile(name=ProfileName.READER, words=0.5, quality=1.0)
HYBRID = Profile(name=ProfileName.HYBRID, words=0.5, quality=1.0, confidence=0.4, recency=0.3, frequency=0.2, task=0.1)
PROFILES = {profile.name: profile for profile in (RELEVANCE_FIRST, READER, HYBRID)}

_PLACES = 6
"""Places to which scores are told, and compared."""

_FALLEN = 0.5
"""The share of the strongest below which a memory or record no longer belongs to what is relevant. On the 109 questions
of ``bench/precision``, by brute force, .661 of what is left is right instead of .279, and .913 of what is right is left
instead of .960; at .6 it would be .679 and .908."""


def profile_of(name: ProfileName) -> Profile:
    """Return a profile; an unknown one orders by relevance."""
    return PROFILES.get(name.value, RELEVANCE_FIRST)


class Scored(Model):
    """An entry with its score and all that the score is made of."""

    entry: Entry
    score: float
    parts: dict[str, float]


class _Judging(NamedTuple):
    """What an entry's quality is judged by."""

    now: datetime
    profile: Profile
    rules: RetentionRules
    task: str = ""


def quality_parts(entry: Entry, now: datetime, rules: RetentionRules = _RULES) -> dict[str, float]:
    """Return an entry's quality, independent of the question (R31).

    An entry is as fresh as its last observation; after 90 days a tenth of that is left. Its confidence is taken after
    decay.
    """
    days = max(0.0, (now - entry.last_seen).total_seconds() / _DAY)
    return {
        "confidence": rules.believed(entry, now),
        "recency": max(0.1, 1.0 - days / 90.0),
        "frequency": min(1.0, entry.access_count / 50.0),
    }


def score_exact(
    entry: Entry,
    *,
    now: datetime,
    profile: Profile = RELEVANCE_FIRST,
    relevance: float = 1.0,
    rules: RetentionRules = _RULES,
) -> Scored:
    """Score an entry that was not searched for: unless stated, it is as relevant as can be, as it was asked for."""
    return _scored(entry, {"relevance": relevance}, _Judging(now, profile, rules))


def reordered(
    chosen: Sequence[Scored], profile: Profile, *, now: datetime, task: str = "", rules: RetentionRules = _RULES
) -> list[Scored]:
    """Order what relevance chose by the weights of a profile.

    Args:
        chosen: What was chosen, with its parts.
        profile: The weights.
        now: The moment of the question.
        task: What counts as written for the task at hand.
        rules: How belief decays.
    """
    judging = _Judging(now, profile, rules, task)
    found = [_scored(one.entry, one.parts, judging) for one in chosen]
    return sorted(found, key=_order)


def until_it_falls(strengths: Sequence[float], share: float) -> int:
    """Return how many come before the first one below a share of the strongest."""
    least = share * max(strengths, default=0.0)
    return next((index for index, strength in enumerate(strengths) if strength < least), len(strengths))


def relevant(ranked: Sequence[Scored]) -> list[Scored]:
    """Return the beginning of a ranking up to where relevance falls off.

    What is measured are the cosine and the word score as they are, each as a share of the highest: brought to 0…1
    between the lowest and the highest, the last of a few good ones would have none.
    """
    nearest = max((one.parts.get("cosine", 0.0) for one in ranked), default=0.0)
    most = max((one.parts.get("bm25", 0.0) for one in ranked), default=0.0)
    strengths = [
        _share(one.parts.get("cosine", 0.0), nearest) + _share(one.parts.get("bm25", 0.0), most) for one in ranked
    ]
    return list(ranked[: until_it_falls(strengths, _FALLEN)])


def rank(
    hits: Sequence[Hit],
    *,
    now: datetime,
    floor: float,
    limit: int,
    profile: Profile = RELEVANCE_FIRST,
    rules: RetentionRules = _RULES,
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
        rules: How belief decays.

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
    # Quality can lift by its own share at most, and what is rounded away orders nothing, so only what is that close to
    # the last place is looked at.
    reach = sorted((relevance for relevance, _ in found), reverse=True)[:limit][-1:] or [0.0]
    lifted = profile.quality + 10.0**-_PLACES
    least = reach[0] - lifted / (1.0 - profile.quality) if profile.quality < 1.0 else 0.0
    judging = _Judging(now, profile, rules)
    scored = [
        _scored(hit.entry, {**_found_by(hit), "relevance": relevance}, judging)
        for relevance, hit in found
        if relevance >= least
    ]
    return sorted(scored, key=_order)[:limit]


def _order(one: Scored) -> tuple[float, float, str]:
    return -one.score, -one.entry.last_seen.timestamp(), one.entry.id


def _share(value: float, highest: float) -> float:
    return max(0.0, value) / highest if highest > 0.0 else 0.0


def _found_by(hit: Hit) -> dict[str, float]:
    by = {"cosine": hit.cosine, "bm25": hit.bm25}
    return {name: value for name, value in by.items() if value is not None}


def _scored(entry: Entry, parts: dict[str, float], judging: _Judging) -> Scored:
    profile, relevance = judging.profile, parts["relevance"]
    good = quality_parts(entry, judging.now, judging.rules)
    if judging.task:
        good["task"] = float(is_of_task(entry, judging.task))
    quality = (
        profile.confidence * good["confidence"]
        + profile.recency * good["recency"]
        + profile.frequency * good["frequency"]
        + profile.task * good.get("task", 0.0)
    )
    score = (1.0 - profile.quality) * relevance + profile.quality * quality
    parts = {**parts, **good, "quality": quality, "score": score}
    rounded = {name: round(value, _PLACES) for name, value in parts.items()}
    return Scored(entry=entry, score=rounded["score"], parts=rounded)


def _between(value: float, lowest: float, highest: float) -> float:
    return (value - lowest) / (highest - lowest) if highest > lowest else 1.0
