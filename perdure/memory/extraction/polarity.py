"""Which words of a text are denied: those behind a negation, as far as it reaches. Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from perdure.memory.extraction.patterns import regex
from perdure.words import stems

NEGATION = regex(
    r"\b(?:not(?! only\b)|never|no|none|nobody|nothing|nowhere|neither|nor|without|cannot|hardly|stopped|quit)\b"
    r"|\b\w+n['’]t\b",
    re.IGNORECASE,
)
"""What denies. Of the stems, "not" is none, and "never" is as good as "don't"."""

_ENDS = regex(
    r"[;:.!?()]+(?=\s|$)|\s[-–—]\s"
    r"|\b(?:but|because|although|though|while|whereas|so that|which|who|except|unless|if|when)\b",
    re.IGNORECASE,
)
_LISTED = regex(
    r"(?:\s*,\s*(?!(?:the|a|an|my|our|his|her|their|i|we|it|he|she|they|there)\b)[\w'’-]+(?: [\w'’-]+)?)+,?\s+n?or\s"
)
"""Further members of "no meat, fish or eggs"."""
_JOINED = regex(
    r"\s*,\s*(?:and\s+|or\s+)?"
    r"|\s+and\s+(?=(?:the|a|an|my|our|some|i|we|he|she|it|they|no|not|never|there|only|always|\d+)\b)"
    r"|\s+or\s+(?=(?:i|we|he|she|it|they|there)\b)",
    re.IGNORECASE,
)
_ELLIPTIC = regex(r"\s*(?:(?:only|just|always) )*(?:on|in|at|to|for|by|with|from|during|after|before)\b", re.IGNORECASE)
_TRAILING = regex(r"\b(?:any ?more|more|any longer|longer|yet|at all)(?=\W*$)", re.IGNORECASE)
_AND = regex(r"\s+and\s+", re.IGNORECASE)


_OWN = regex(
    r"\s*(?:(?:and|or|so|then) )?"
    r"(?:(?:i|we|he|she|it|they|you|there|this|that|only|just|always|the|my|our|his|her|their)\b"
    r"|\w+ (?:is|are|was|were|has|does|do|runs?)\b)",
    re.IGNORECASE,
)
"""How a part begins that says something of its own, which a negation before it does not reach."""
_FURTHER = regex(
    r"\s*(?:(?:or|nor|a|an|any|even|ever|especially|under|at|as|in|on|to|for|by|with|from|during|after|before|until)\b"
    r"(?!.*\b(?:i|we|he|she|it|they)\b)|[\w'’-]+(?:\s+[\w'’-]+)?\W*$)",
    re.IGNORECASE,
)
"""How a part begins that goes on with what is denied: one more thing, or when and where; or it is a word or two."""
_ALONE = regex(r"\W*(?:no|nothing|none)\W*$", re.IGNORECASE)
"""A negation that answers, and denies nothing behind its comma: "No, I live in Hull"."""
_CONTRASTED = regex(r"\W*not\b", re.IGNORECASE)
"""Behind "not Hull," may stand what it is instead."""


class Polarity(NamedTuple):
    """The stems of a text by whether they are denied; one may be both, or stand where nobody can tell."""

    denied: frozenset[str]
    affirmed: frozenset[str]
    open: frozenset[str]
    """Those before a negation of the same part, "the lift" of "the lift is not used": it may be said of them too."""
    unclear: frozenset[str]
    """Those behind the comma of a negation that may reach them or not: nothing can be said of them."""


def polarity(text: str) -> Polarity:
    """Return which words of a text are denied.

    >>> found = polarity("I have a dog, no cat.")
    >>> sorted(found.denied), sorted(found.affirmed)
    (['cat'], ['dog'])
    """
    denied, affirmed, either, unclear = set[str](), set[str](), set[str](), set[str]()
    verb: list[str] = []
    # "I never, if I can help it, eat fish": what is denied comes later.
    awaited = False
    for clause in _ENDS.split(text):
        reached: set[str] | None = None
        for part in _parts(clause):
            match = NEGATION.search(part)
            if match is None:
                own = bool(_OWN.match(part))
                if own or (reached is None and not awaited):
                    affirmed.update(stems(part))
                    # "Never on Fridays, only on Tuesdays" says of both what is done.
                    either.update(verb if _ELLIPTIC.match(part) else ())
                    reached = None
                elif awaited:
                    denied.update(stems(part))
                else:
                    (denied if reached is denied and _FURTHER.match(part) else unclear).update(stems(part))
                continue
            before, after = stems(part[: match.start()]), _AND.split(_TRAILING.sub(" ", part[match.start() :]))
            first = stems(NEGATION.sub(" ", after[0]))
            # "Lee doesn't", "we meet no more": it is said of what stands before.
            (either if first else denied).update(before)
            denied.update(first)
            verb = first[:1]
            # "I don't smoke and drink": whether the second one is denied too is unclear.
            either.update(stem for other in after[1:] for stem in stems(NEGATION.sub(" ", other)))
            alone = bool(_ALONE.match(part))
            awaited = not before and not first and not alone
            told = bool(first) and not _CONTRASTED.match(part)
            reached = None if alone else denied if told else unclear
    return Polarity(frozenset(denied), frozenset(affirmed), frozenset(either), frozenset(unclear))


def agree(statement: str, source: str) -> bool:
    """Return whether a statement denies what its source denies, and nothing else."""
    said, told = polarity(statement), polarity(source)
    known = told.denied | told.affirmed | told.open | told.unclear
    if not (said.denied & known) <= told.denied | told.open or not (said.affirmed & known) <= told.affirmed | told.open:
        return False
    return not said.denied or not said.denied.isdisjoint(told.denied)


def _parts(clause: str) -> Iterator[str]:
    """Yield the parts of a clause that a negation may not reach beyond."""
    start = at = 0
    while match := _JOINED.search(clause, at):
        listed = _LISTED.match(clause, match.start())
        if listed:
            at = listed.end()
            continue
        yield clause[start : match.start()]
        start = at = match.end()
    yield clause[start:]
