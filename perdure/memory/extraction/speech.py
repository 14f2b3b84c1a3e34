"""A sentence without what people say around it, and its words. Pure."""

import re

from perdure.memory.extraction.lexicon import CLOSINGS, CONTRACTIONS, CORRECTIONS, ENDINGS, OPENINGS, REVISIONS
from perdure.memory.extraction.patterns import regex

_TITLES = regex(
    r"\b(?:dr|mr|mrs|ms|prof|st|sr|jr|no|nr|vs|approx|dept|inc|ltd|co|rev|sgt|capt|e\.g|i\.e|[A-Z])\.(?=\s)",
    re.IGNORECASE,
)
_IS = regex(
    r"(?<=\w)'s(?=\s+(?:a|an|the|my|our|now|not|no|still|always|called|named|at|in|on|by|from|with|for|going|been|back|"
    r"actually|currently|just|only|usually|also|\d\S*"
    r"|(?:living|working|staying) (?:in|at|with|for|as|on|near|by|abroad)"
    r"|(?:studying|teaching|learning) [A-Za-z])\b)",
    re.IGNORECASE,
)
"""An owner is never followed by one of these: "the landlord's now a Mrs Lindqvist"."""


LONGEST = 1_000
"""Characters of a sentence that is read; longer ones are texts. A choice."""


def calm(text: str) -> str:
    """Return a text that is shouted, all in capitals, in small letters; any other as it is."""
    return text.lower() if text.isupper() else text


def evened(text: str) -> str:
    """Return a text with one space for each white space: patterns take minutes for a thousand spaces in a row."""
    return " ".join(text.split())


def spoken(text: str) -> tuple[str, bool]:
    """Return a sentence without what people say before and after it, and whether that says that something changed."""
    revises = False
    text = evened(re.sub(r"[“”\"]", "", text.replace("’", "'"))).lstrip("-*• ")
    text = _TITLES.sub(lambda match: match[0][:-1], text)
    while True:
        before = text
        if match := CORRECTIONS.match(text):
            text, revises = text[match.end() :], True
        elif (match := OPENINGS.match(text)) and match.end() < len(text):
            text = text[match.end() :]
        if match := REVISIONS.search(text):
            text, revises = text[: match.start()], True
        elif match := CLOSINGS.search(text):
            text = text[: match.start()]
        text = text.strip(" ,;.!\t\n")
        if text == before or not text:
            return text, revises


def tokens_of(text: str) -> list[str]:
    """Return a text's words, with contractions written out and stops taken off their ends."""
    words: list[str] = []
    for raw in _IS.sub(" is", text).split():
        word = raw.strip(',;.!?()[]"“”…')
        if not re.search(r"\w|[$€£%]", word):
            continue
        lower = word.lower()
        if lower in CONTRACTIONS:
            words += CONTRACTIONS[lower].split()
            continue
        for ending, full in ENDINGS.items():
            if lower.endswith(ending) and len(lower) > len(ending):
                words += [word[: -len(ending)], full]
                break
        else:
            words.append(word)
    return words
