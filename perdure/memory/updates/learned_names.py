"""What a person's correction of a recall teaches about their name for a memory. Pure."""

import re
from collections.abc import Iterable

from perdure.memory.extraction.proper import can_name
from perdure.values.entries import MOST_NAMES
from perdure.values.labels import label, labels_of, named

_AROUND = "\"'“”‘’()[]<>.,;:!?"
_OWNED = re.compile(r"['’]s$")


def names_learned(asked: str, names: Iterable[str], text: str) -> tuple[str, ...]:
    """Return a memory's names, with the one that a question uses for it and that is not among them yet.

    Only a word that is written as a name counts (with a digit or a sign in it, or with a capital that is not due to
    its position), and only if it is the only one: with several, the intended one is unknown. Days, measures and common
    words of conversation do not count.

    Args:
        asked: The question whose recall was corrected.
        names: The names that the memory has.
        text: What the memory says; a word of it is not a new name.
    """
    names = tuple(names)
    words = {label(word): word for word in _names_in(asked)}
    known = {*labels_of(names), *labels_of(text.split())}
    # Also a part of a longer name, and one that is misspelt.
    parts = [*map(label, names), *(label(word) for word in words.values() if named(word, names))]
    new = {one: word for one, word in words.items() if one not in known and not any(one in part for part in parts)}
    return (*names, *new.values())[:MOST_NAMES] if len(new) == 1 else names


def _names_in(asked: str) -> list[str]:
    shouted = asked.isupper()
    found: list[str] = []
    for line in asked.splitlines():
        opens = True
        for raw in line.split():
            word = _OWNED.sub("", raw.strip(_AROUND))
            if can_name(word) and _is_written_as_one(word, opens=opens, shouted=shouted):
                found.append(word)
            # A dash that stands alone opens too: "It is away - Please wait".
            opens = raw.endswith((".", "!", "?", ":", ";")) or not any(map(str.isalnum, raw))
    return found


def _is_written_as_one(word: str, *, opens: bool, shouted: bool) -> bool:
    """Return whether a word is written as a name, and does not just have a capital because of its position."""
    if not word.replace("'", "").isalpha():
        return True
    capitals = [place for place, letter in enumerate(word) if letter.isupper()]
    return bool(capitals) and not shouted and (capitals != [0] or not opens)
