"""Where in data a complaint of pydantic's belongs. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_MOST_WAYS = 64
"""Ways through data that are tried for one location, a choice: more than one are rare."""


def places_in(one: "ErrorDetails", data: object) -> tuple[int, ...]:
    """Return which parts of a complaint's location are fields, keys and indexes of the data, by their places.

    The others name members of unions and validators. A key may have such a name as well: of several ways through the
    data, the one to the value that is complained of counts.
    """
    location = one["loc"]
    absent = one["type"] in ("missing", "extra_forbidden")
    if data is None:
        return tuple(place for place, part in enumerate(location) if not re.search(r"[\[\](){}]", str(part)))
    ways = list(islice(_ways(data, location[:-1] if absent else location, 0), _MOST_WAYS))
    way = next((way for way, end in ways if end is one["input"] or end == one["input"]), ways[0][0])
    return (*way, len(location) - 1) if absent else way


def _ways(value: object, location: Sequence[str | int], place: int) -> Iterator[tuple[tuple[int, ...], object]]:
    """Walk data along a location, and return each way as the places of its parts, with the value that it ends at."""
    if place == len(location):
        yield (), value
        return
    for inner in _at(value, location[place]):
        for way, end in _ways(inner, location, place + 1):
            yield (place, *way), end
    yield from _ways(value, location, place + 1)


def _at(value: object, part: str | int) -> list[object]:
    """Return what a value has as this field, key or index, if it has it."""
    if isinstance(value, BaseModel):
        return [getattr(value, name) for name in type(value).model_fields if name == part]
    if isinstance(value, Mapping):
        return [inner for name, inner in cast("Mapping[object, object]", value).items() if name == part]
    if isinstance(value, list | tuple) and isinstance(part, int):
        return list(cast("Sequence[object]", value)[part : part + 1])
    return []
