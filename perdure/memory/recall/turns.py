"""Ranking the turns of conversations: by words and by meaning, each turn heard together with those around it. Pure.

The recipe and its constants were measured on LoCoMo (Maharana et al., ACL 2024) at dialog level: of a question's right
turns, .763, .843 and .903 are among the first 5, 10 and 25 on seven conversations that no constant was fitted to.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from perdure.memory.recall.ranking import Scored, until_it_falls
from perdure.values.entries import Turn
from perdure.values.hits import Hit

Floats = npt.NDArray[np.float64]

_REACH = 4
"""How many turns before and after one are heard with it."""
_LATER, _EARLIER, _ASKED = 0.4, 0.6, 0.9
"""A turn's weight for another one: for each step that it comes later or earlier, and as the question before it."""
_K1, _B = 1.2, 0.75
_AROUND = 0.3
"""The weight of the neighbouring turns' cosines for a turn's own."""
_MEANING = 0.75
_SPEAKER = 0.2
_QUESTION = -0.2
_LENGTH = 0.075
_WHEN = 0.35
_DATE = 0.6

_FALLEN = 0.55
"""The share of the best score below which a turn no longer belongs to what is relevant. On LoCoMo's three conversations
for development 18 of 50 turns are left, and recall@5, @10 and @25 lose .001, .002 and .011; at .6 it would be 14 turns
and .004, .008 and .020."""

_KERNEL = np.array(
    [_EARLIER**-step if step < 0 else _LATER**step if step else 1.0 for step in range(-_REACH, _REACH + 1)]
)

_MONTHS = re.findall(r"\w+", "january february march april may june july august september october november december")
_MONTH = {name: number for number, name in enumerate(_MONTHS, 1)} | {
    name[:3]: number for number, name in enumerate(_MONTHS, 1) if name != "may"
}

_ASKS_WHEN = re.compile(r"\b(when|how long|(what|which) (year|month|day|date))\b", re.IGNORECASE)
_SAYS_WHEN = re.compile(
    r"\b(yesterday|ago|recently|(last|next) (week|weekend|month|year|night|summer|\w+day)|days?|weeks?|months?|years?"
    r"|(mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|june|july|august|september|october|november|december|(19|20)\d\d)\b",
    re.IGNORECASE,
)
_ENDS_ASKING = re.compile(r"\?\s*(\[[^\]]*\]\s*)?$")
"""A note in brackets, as of a shared image, does not end what is said."""
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_NAMED_MONTH = re.compile(r"\b((?-i:May)|" + "|".join(name for name in _MONTH if name != "may") + r")\b", re.IGNORECASE)
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b(?!\d)")


class Asked(NamedTuple):
    """What a question says."""

    text: str
    stems: Sequence[str]
    names: Collection[str]
    """The speakers that it names."""


def named(question: str, speakers: Collection[str]) -> list[str]:
    """Return the speakers that a question names."""
    return [name for name in speakers if _spelled(name).search(question)]


def without_names(question: str, names: Collection[str]) -> str:
    """Return a question without these names, as it is embedded: a name is near to everything that its bearer said."""
    left = question
    for name in names:
        left = _spelled(name).sub(" ", left)
    left = " ".join(left.split())
    return left if re.search(r"\w", left) else question


def limits(stored: int) -> tuple[int, int]:
    """Return how many turns are looked for by meaning and by words.

    200 and 100 were measured for conversations of up to 700 turns; where all seven were in one store of 4,431, .896
    instead of .972 of the right turns were among so many. That they grow with the root of the number is a choice.
    """
    growth = max(1.0, min(5.0, (stored / 700) ** 0.5))
    return round(200 * growth), round(100 * growth)


def rank_turns(asked: Asked, hits: Sequence[Hit], *, stored: int, limit: int) -> list[Scored]:
    """Rank the turns that were found by meaning and by words.

    Args:
        asked: The question.
        hits: What either search found.
        stored: How many turns the user has.
        limit: How many at most.

    Returns:
        Best first; ties by the later one, then by id.
    """
    found = [_Candidate(hit, hit.entry, hit.words.split()) for hit in hits if isinstance(hit.entry, Turn)]
    if not found:
        return []
    near = _near(found)
    parts = {
        "words": _lexical(asked.stems, found, near, stored),
        "meaning": _MEANING * _dense(found),
        "speaker": _SPEAKER * _flags(len(asked.names) == 1 and one.turn.speaker in asked.names for one in found),
        "question": _QUESTION * _flags(bool(_ENDS_ASKING.search(one.turn.text)) for one in found),
        "length": _LENGTH * np.log1p([len(one.stems) for one in found]),
        "when": _WHEN
        * _flags(bool(_ASKS_WHEN.search(asked.text) and _SAYS_WHEN.search(one.turn.text)) for one in found),
        "date": _DATE * np.array([_dated(asked.text, one.turn.last_seen.date()) for one in found]),
    }
    total = sum(parts.values(), np.zeros(len(found))).round(6)
    order = sorted(
        range(len(found)),
        key=lambda index: (-total[index], -found[index].turn.last_seen.timestamp(), found[index].turn.id),
    )
    return [
        Scored(
            entry=found[index].turn,
            score=float(total[index]),
            parts={name: round(float(values[index]), 6) for name, values in parts.items()},
        )
        for index in order[:limit]
    ]


def relevant_turns(ranked: Sequence[Scored]) -> list[Scored]:
    """Return the beginning of a ranking of turns up to where relevance falls off."""
    return list(ranked[: until_it_falls([one.score for one in ranked], _FALLEN)])


class _Candidate(NamedTuple):
    hit: Hit
    turn: Turn
    stems: Sequence[str]


def _spelled(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", re.IGNORECASE)


def _flags(values: Iterable[bool]) -> Floats:
    return np.array([float(value) for value in values])


def _near(found: Sequence[_Candidate]) -> Floats:
    """Return what each turn (column) counts for each turn (row)."""
    sessions: dict[str, int] = {}
    session = np.array([sessions.setdefault(one.turn.session, len(sessions)) for one in found])
    position = np.array([one.turn.position for one in found])
    step = position[None, :] - position[:, None]
    close = (session[None, :] == session[:, None]) & (np.abs(step) <= _REACH)
    kernel = np.where(close, _KERNEL[np.clip(step, -_REACH, _REACH) + _REACH], 0.0)
    asks = np.array(["?" in one.turn.text for one in found])
    return np.where(close & (step == -1) & asks[None, :], _ASKED, kernel)


def _lexical(wanted: Sequence[str], found: Sequence[_Candidate], near: Floats, stored: int) -> Floats:
    """Return the BM25 scores of the turns with those around them, the highest being 1."""
    terms = list(dict.fromkeys(wanted))
    counted = [Counter(one.stems) for one in found]
    counts = np.array([[one[term] for term in terms] for one in counted], dtype=float).reshape(len(found), len(terms))
    having = (counts > 0).sum(axis=0)
    rarity = np.log1p((max(stored, len(found)) - having + 0.5) / (having + 0.5))
    often = near @ counts
    long = near @ np.array([float(len(one.stems)) for one in found])
    mean = long.mean() or 1.0
    score = (rarity * often * (_K1 + 1) / (often + _K1 * (1 - _B + _B * (long / mean))[:, None])).sum(axis=1)
    highest = score.max(initial=0.0)
    return score / highest if highest > 0 else score


def _dense(found: Sequence[_Candidate]) -> Floats:
    """Return the cosines of the turns with those before and after them, brought to 0 … 1."""
    known = [one.hit.cosine for one in found if one.hit.cosine is not None]
    if not known:
        return np.zeros(len(found))
    lowest = min(known)
    cosines = [lowest if one.hit.cosine is None else one.hit.cosine for one in found]
    place = {(one.turn.session, one.turn.position): index for index, one in enumerate(found)}
    total = np.empty(len(found))
    for index, one in enumerate(found):
        around = [place[key] for step in (-1, 1) if (key := (one.turn.session, one.turn.position + step)) in place]
        weight = 1 + _AROUND * len(around)
        total[index] = (cosines[index] + _AROUND * sum(cosines[other] for other in around)) / weight
    low, high = total.min(), total.max()
    return (total - low) / (high - low) if high > low else np.ones(len(found))


def _dated(question: str, day: date) -> float:
    """Return how well a turn's day fits the date that a question names."""
    years = {int(year) for year in _YEAR.findall(question)}
    months = {_MONTH[name.lower()] for name in _NAMED_MONTH.findall(question)}
    if not years and not months:
        return 0.0
    if (not months or day.month in months) and (not years or day.year in years):
        named_days = [int(one) for one in _DAY.findall(_YEAR.sub(" ", question)) if 1 <= int(one) <= 31]
        return 0.4 if months and named_days and all(abs(day.day - one) > 3 for one in named_days) else 1.0
    middles = (date(day.year, month, 15) for month in months)
    return 0.5 if any(abs((day - middle).days) <= 27 for middle in middles) else 0.0
