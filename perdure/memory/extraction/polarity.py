"""Which words of a text are denied: those behind a negation, as far as it reaches. Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from perdure.words import stems

NEGATION = re.compile(
    r"\b(?:not(?! only\b)|never|no|none|nobody|nothing|nowhere|neither|nor|without|cannot|hardly|stopped|quit)\b"
    r"|\b\w+n['’]t\b",
    re.IGNORECASE,
)
"""What denies. Of the stems, "not" is none, and "never" is as good as "don't"."""

_ENDS = re.compile(
    r"[;:.!?()]+(?=\s|$)|\s[-–—]\s"
    r"|\b(?:but|because|although|though|while|whereas|so that|which|who|except|unless|if|when)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"(?:\s*,\s*(?!(?:the|a|an|my|our|his|her|their|i|we|it|he|she|they|there)\b)[\w'’-]+(?: [\w'’-]+)?)+,?\s+n?or\s"
)
"""Further members of "no meat, fish or eggs"."""
_JOINED = re.compile(
    r"\s*,\s*(?:and\s+|or\s+)?"
    r"|\s+(?:and|or)\s+(?=(?:the|a|an|my|our|some|i|we|he|she|it|they|no|not|never|there|only|always|\d+)\b)",
    re.IGNORECASE,
)
_ELLIPTIC = re.compile(
    r"\s*(?:(?:only|just|always) )*(?:on|in|at|to|for|by|with|from|during|after|before)\b", re.IGNORECASE
)
_TRAILING = re.compile(r"\b(?:any ?more|more|any longer|longer|yet|at all)(?=\W*$)", re.IGNORECASE)
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)


class Polarity(NamedTuple):
    """The stems of a text by whether they are denied; one may be both, or stand where nobody can tell."""

    denied: frozenset[str]
    affirmed: frozenset[str]
    open: frozenset[str]
    """Those before a negation of the same part, "the lift" of "the lift is not used": it may be said of them too."""


def polarity(text: str) -> Polarity:
    """Return which words of a text are denied.

    >>> found = polarity("I have a dog, no cat.")
    >>> sorted(found.denied), sorted(found.affirmed)
    (['cat'], ['dog'])
    """
    denied: set[str] = set()
    affirmed: set[str] = set()
    either: set[str] = set()
    verb: list[str] = []
    for part in _parts(text):
        match = NEGATION.search(part)
        if match is None:
            affirmed.update(stems(part))
            # "Never on Fridays, only on Tuesdays" says of both what is done.
            either.update(verb if _ELLIPTIC.match(part) else ())
            continue
        before, after = stems(part[: match.start()]), _AND.split(_TRAILING.sub(" ", part[match.start() :]))
        first = stems(NEGATION.sub(" ", after[0]))
        # "Lee doesn't", "we meet no more": it is said of what stands before.
        (either if first else denied).update(before)
        denied.update(first)
        verb = first[:1]
        # "I don't smoke and drink": whether the second one is denied too cannot be told.
        either.update(stem for other in after[1:] for stem in stems(NEGATION.sub(" ", other)))
    return Polarity(frozenset(denied), frozenset(affirmed), frozenset(either))


def agree(statement: str, source: str) -> bool:
    """Return whether a statement denies what its source denies, and nothing else."""
    said, told = polarity(statement), polarity(source)
    known = told.denied | told.affirmed | told.open
    if not (said.denied & known) <= told.denied | told.open or not (said.affirmed & known) <= told.affirmed | told.open:
        return False
    return not said.denied or not said.denied.isdisjoint(told.denied)


def _parts(text: str) -> Iterator[str]:
    """Yield the parts of a text that a negation does not reach beyond."""
    for clause in _ENDS.split(text):
        start = at = 0
        while match := _JOINED.search(clause, at):
            listed = _LISTED.match(clause, match.start())
            if listed:
                at = listed.end()
                continue
            yield clause[start : match.start()]
            start = at = match.end()
        yield clause[start:]
