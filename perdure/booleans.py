"""Booleans where numbers are meant: pydantic takes true for 1, and whoever wrote it meant something else. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from pydantic import BaseModel


def boolean_as_number(value: object, given: object) -> tuple[tuple[str | int, ...], int | float] | None:
    """Return where a boolean became a number, and that number; None: nowhere.

    Args:
        value: What was made of it.
        given: What somebody wrote; models in it were made before, and are not looked through.

    >>> boolean_as_number({"tokens": [1, 1]}, {"tokens": [1, True]})
    (('tokens', 1), 1)
    """
    if isinstance(given, bool):
        return ((), value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    for part, inner, of_it in _parts(value, given):
        if (found := boolean_as_number(inner, of_it)) is not None:
            return (part, *found[0]), found[1]
    return None


def _parts(value: object, given: object) -> Iterator[tuple[str | int, object, object]]:
    """Yield the parts of a value that have been given, each with its name or place, and what it was made of."""
    if isinstance(given, Mapping):
        named = cast("Mapping[str, object]", given)
        if isinstance(value, BaseModel):
            for name, field in type(value).model_fields.items():
                if (written := field.alias or name) in named:
                    yield written, getattr(value, name), named[written]
        elif isinstance(value, Mapping):
            made = cast("Mapping[str, object]", value)
            yield from ((name, made[name], one) for name, one in named.items() if name in made)
    elif isinstance(given, list | tuple) and isinstance(value, list | tuple):
        several, made = cast("Sequence[object]", given), cast("Sequence[object]", value)
        yield from ((place, *pair) for place, pair in enumerate(zip(made, several, strict=False)))
