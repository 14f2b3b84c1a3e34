"""Whether what a language model states stands in what was said: its words, its numbers, its negation. Pure."""

import re

from perdure.memory.extraction.parser import clauses, sentences
from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.phrases import normalised
from perdure.memory.extraction.polarity import NEGATION, agree
from perdure.memory.extraction.speech import tokens_of
from perdure.words import stems

_VERIFIED = 0.8
"""The share of a statement's stems that must stand in its source: a model may leave words out, and put none in."""

_LEADING_ZEROS = regex(r"(?<![\w.,])0+(?=\d)|(?<=[:/-])0+(?=\d)")
"""09:30 is 9:30, and 2026-05-01 is 2026-5-1; but 1.05 is not 1.5."""

_IDENTIFIER = regex(r"\d|(?<=\w)[_/@#.](?=\w)")


def source_of(content: str, value: str, text: str) -> str | None:
    """Return the part of what was said that a statement stands in; None: it does not stand there.

    The least part that has its words decides, a clause before a sentence: what another one denies says nothing of it.

    Args:
        content: The statement.
        value: What it says of its subject: each number and identifier of both must stand in the text.
        text: What was said.
    """
    if not _exact(f"{content} {value}") <= _exact(text) | _exact(" ".join(normalised(tokens_of(text)))):
        return None
    whole = sentences(text)
    for parts in ([clause for sentence in whole for clause in clauses(sentence)], whole, [text]):
        if holding := [part for part in parts if _stands_in(content, part)]:
            return next((part for part in holding if agree(content, part)), None)
    return None


def _stands_in(content: str, part: str) -> bool:
    wanted, there = (stems(NEGATION.sub(" ", _LEADING_ZEROS.sub("", one))) for one in (content, part))
    return bool(wanted) and sum(stem in there for stem in wanted) >= _VERIFIED * len(wanted)


def _exact(text: str) -> set[str]:
    """Return the numbers of a text, and its names with digits or signs in them, in parts: 9 and 30 of "09:30"."""
    words = _LEADING_ZEROS.sub("", text.casefold()).split()
    return {part for word in words if _IDENTIFIER.search(word) for part in re.findall(r"[^\W_]+", word)}
