"""What people call the elements of a list. They read it, and no id and no key is made of it. Pure."""

from pydantic import JsonValue

_FIELDS = ("name", "title", "id", "key")
"""The fields that name an object, the first that has a text or a number counts."""

_READ = 200
"""Characters of a text that are looked at."""

LONGEST = 40
"""Characters of a name, so that a path of several stays one that can be read; a choice."""

_APART = str.maketrans(dict.fromkeys("[]`", " "))
"""What surrounds a name in a path, and a path in what the Temporal UI shows."""


def name_of(element: JsonValue, index: int) -> str:
    """Return what an element of a list is called; its place, where it has no name.

    >>> name_of("North", 0), name_of({"id": 7, "open": True}, 1), name_of(["a", "b"], 2)
    ('North', '7', '2')
    """
    if isinstance(element, dict):
        element = next((found for field in _FIELDS if _names(found := element.get(field))), None)
    if not _names(element):
        return str(index)
    seen = "".join(letter if letter.isprintable() else " " for letter in str(element)[:_READ].translate(_APART))
    words = " ".join(seen.split())
    return (words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…") or str(index)


def _names(value: JsonValue) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
