"""What a person's correction of a recall teaches about how they call a memory. Pure."""

from collections.abc import Iterable

from perdure.entries import MOST_NAMES
from perdure.labels import label, labels_of, named
from perdure.words import STOP_WORDS

_AROUND = "\"'“”‘’()[]<>.,;:!?"


def names_learned(asked: str, names: Iterable[str], text: str) -> tuple[str, ...]:
    """Return a memory's names, with the one that a question calls it by and that is none of them yet.

    Only a word that is written as a name counts (with a capital, a digit or a sign in it), and only where it is the
    only one: of several nobody can tell which is meant.

    Args:
        asked: The question whose recall was corrected.
        names: The names that the memory has.
        text: What the memory says; what stands there is no other name of it.
    """
    names = tuple(names)
    words = {label(word): word for word in _names_in(asked)}
    known = {*labels_of(names), *labels_of(text.split())}
    # Also a part of a longer name, and one that is misspelt.
    parts = [*map(label, names), *(label(word) for word in words.values() if named(word, names))]
    new = {one: word for one, word in words.items() if one not in known and not any(one in part for part in parts)}
    return (*names, *new.values())[:MOST_NAMES] if len(new) == 1 else names


def _names_in(asked: str) -> list[str]:
    words = [word.strip(_AROUND) for word in asked.split()]
    return [word for place, word in enumerate(words) if _is_name(word, first=not place)]


def _is_name(word: str, *, first: bool) -> bool:
    if word.casefold() in STOP_WORDS or not any(letter.isalpha() for letter in word):
        return False
    inner = word[1:]
    return inner != inner.casefold() or not word.isalpha() or (not first and word[0].isupper())
