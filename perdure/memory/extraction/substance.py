"""All that a sentence says, word by word: what is compared before one of two sentences is dropped. Pure.

``told`` and ``Assertion`` leave out what does not tell what a sentence is about. Two sentences that are alike without
it may still differ: "set the clock" and "get the clock", "if it is cold, call Ann" and "if it is cold, call Ben".
"""

import re
from collections import defaultdict
from functools import lru_cache

from perdure.memory.extraction.lexicon import (
    AFTER_TURNING,
    ARTICLES,
    BE,
    DO,
    HAVE,
    MEASURES,
    NEGATIONS,
    OPPOSITES,
    PASSING,
    PREPOSITIONS,
    word_list,
)
from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.phrases import normalised, stemmed
from perdure.memory.extraction.speech import LONGEST, calm, spoken, tokens_of
from perdure.memory.extraction.verbs import CLASS, CONSUMING, DISLIKING, FORMS, KEEPING, LIKING, RESPONSIBLE
from perdure.values.assertions import SPEAKERS, Assertion
from perdure.words import stem

_SYNONYMS = word_list("leave order accept end use like prefer want dislike live write")
"""Classes of verbs of which one can stand for another; those of the others say more than the class does."""
_BEING = word_list("be remain stay locate situate base happen occur meet")
_SAYING_MORE = word_list("only once both even too very much instead either rather")
_EMPTY = (
    ARTICLES
    | BE
    | DO
    | HAVE
    | PASSING
    | word_list(
        "my our i we me us it they them itself this that these those there here which who what when where how one stuff"
        " thing things long will would shall get gets got become becomes became take takes took place and or so but"
        " then well please in on at to by with for of into onto as around longer more any nowadays name called named"
    )
) - _SAYING_MORE
"""What says nothing by itself, or only that it is so now."""
_TURNING = (PREPOSITIONS - _EMPTY) | {stem(word) for pair in OPPOSITES.items() for word in pair}
"""What is never just another word for something: "above", "below"."""
_LEAD = regex(r"^(?:[a-z][\w'-]* ?){1,3}[,:?] (?=\w)", re.IGNORECASE)
"""What comes before what is said: "Just a reminder, …", "job finished: …"."""
_KIND = regex(r"\b(?:is|are) the [\w-]+ (?=(?:(?:that|which) )?(?:i|we|my|our|the) )", re.IGNORECASE)
"""What kind of thing something is, as any would know: "Haskell is the language our compiler is written in"."""
_HOUR = regex(r"^@(\d+):00$")
_ROOT = 4
"""Letters that words of one root share, where their stems differ: "allergy", "allergic". A choice."""


def _bases() -> dict[str, set[str]]:
    bases: dict[str, set[str]] = defaultdict(set)
    for base in FORMS.values():
        bases[stem(base)].add(base)
    return bases


_BASES = _bases()
"""Each stem of a verb, to the verbs that have it."""


@lru_cache(maxsize=2_000)
def substance(text: str) -> tuple[str, ...]:
    """Return the words of a sentence that say something, each in one form, in their order."""
    return words(_plain(text))


def adds_nothing(new: str, old: str, assertion: Assertion) -> bool:
    """Return whether a sentence says nothing that another one does not say.

    Args:
        new: The sentence.
        old: The other one.
        assertion: What the other one asserts, and this one does too.
    """
    if len(new) > LONGEST:
        return new == old
    if AFTER_TURNING.search(new) and not AFTER_TURNING.search(old):
        # "Overtime is allowed after the audit" may be a condition.
        return False
    there, asserted = {*substance(old)}, f"{assertion.subject} {assertion.value} {assertion.former}"
    roots = {word[:_ROOT] for word in (*there, *words(asserted), *asserted.replace("-", " ").split())}
    added = (word for word in words(_KIND.sub("", _LEAD.sub("", _plain(new)))) if word not in there)
    return all(
        word not in _TURNING and ((word.isalpha() and word[:_ROOT] in roots) or _is_verb_of(word, assertion))
        for word in added
    )


def _plain(text: str) -> str:
    text = calm(text[:LONGEST])
    return spoken(text)[0] or text


def words(text: str) -> tuple[str, ...]:
    """Return the same of any text: what comes before and after what is said is not taken off it."""
    parts = [part for token in tokens_of(text) for part in token.replace("-", " ").split()]
    telling = [part for part in parts if part.lower() not in _EMPTY]
    return tuple(form for word in normalised(telling) for form in _forms(_HOUR.sub(r"\1", word)))


def _forms(word: str) -> list[str]:
    if word in NEGATIONS:
        return ["not"]
    base = FORMS.get(word, MEASURES.get(word, word))
    if base in _BEING:
        return []
    name = CLASS.get(base, base)
    return stemmed(name if name in _SYNONYMS else base)


_ALSO = {"consume": CONSUMING, "like": DISLIKING, "prefer": LIKING, "be": KEEPING, "who": RESPONSIBLE}
"""Further verbs that say the same of a thing: "who dislikes it" is told by "not like", "where it is" by "keep"."""


def _is_verb_of(word: str, assertion: Assertion) -> bool:
    """Return whether a word is another verb for what an assertion says."""
    verbs, attribute = _BASES.get(word, set[str]()), assertion.attribute.split()[-1]
    if attribute == "change":
        # One raises what another lowers.
        return False
    if attribute == "be" and word == "home":
        return assertion.subject in SPEAKERS
    if attribute == "prefer" and word in ("best", "most"):
        return True
    named = {CLASS.get(verb, verb) for verb in verbs} | verbs
    return attribute in named or not verbs.isdisjoint(_ALSO.get(attribute, frozenset()))
