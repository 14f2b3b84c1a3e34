"""What people write as values, and its refusal in plain words, with the field's path and the nearest name. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError

from perdure.booleans import boolean_as_number
from perdure.errors import InvalidArguments, InvalidInput, InvalidItem
from perdure.locations import places_in
from perdure.model import OpenEnum, Passed
from perdure.suggestions import nearest
from perdure.tolerance import bounds_crossed

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

M = TypeVar("M", bound=BaseModel)

_KINDS: dict[type, str] = {
    type(None): "empty",
    str: "text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
}

_TYPES = {
    ("string",): ("", "write text"),
    ("int",): ("a whole number", ""),
    ("float", "decimal"): ("a number", ""),
    ("bool",): ("true or false", ""),
    ("date",): ("a date", "write it as 2026-01-31"),
    ("datetime",): ("a moment", "write it as 2026-01-31T12:00:00Z"),
    ("dict", "mapping", "model", "model_attributes", "dataclass"): ("", "write a mapping: name: value"),
    ("list", "tuple", "set", "frozen_set", "iterable"): ("", "write a list"),
}
"""What a value of a type of pydantic's is called where it can be mistaken for another, and how it is written."""

_WANTED = {f"{name}_type": words for names, words in _TYPES.items() for name in names} | {
    **dict.fromkeys(("int_parsing", "int_parsing_size", "int_from_float"), _TYPES["int",]),
    "float_parsing": _TYPES["float", "decimal"],
    "decimal_parsing": _TYPES["float", "decimal"],
    "bool_parsing": _TYPES["bool",],
    "date_parsing": _TYPES["date",],
    "date_from_datetime_parsing": _TYPES["date",],
    "date_from_datetime_inexact": _TYPES["date",],
    "datetime_parsing": _TYPES["datetime",],
    "datetime_from_date_parsing": _TYPES["datetime",],
}
"""The same, by pydantic's types of errors."""

_BOUNDS = {
    "string_too_short": ("min_length", "write at least"),
    "string_too_long": ("max_length", "write at most"),
    "too_short": ("min_length", "write at least"),
    "too_long": ("max_length", "write at most"),
    "greater_than": ("gt", "write more than"),
    "greater_than_equal": ("ge", "write at least"),
    "less_than": ("lt", "write less than"),
    "less_than_equal": ("le", "write at most"),
}
"""Where pydantic's errors about bounds have the bound, and what to write."""

_OTHERS = {
    "missing": ("is missing", "add it"),
    "union_tag_not_found": ("is missing", "add it"),
    "string_unicode": ("has half of a surrogate pair", "send whole characters"),
    "invalid-json-value": ("is not a value of JSON", "give text, a number, a boolean, a list or a mapping"),
    "finite_number": ("is not a finite number", "write a number"),
    "timezone_aware": ("has no time zone", "write it as 2026-01-31T12:00:00Z"),
}


def mapping(value: object, path: str, error: type[InvalidInput]) -> dict[str, Any]:
    """Return a value as a mapping with text keys, or refuse it."""
    if not isinstance(value, dict):
        raise error(path, f"is {kind_of(value)}", fix="write a mapping: name: value")
    entries = cast("dict[object, Any]", value)
    for key in entries:
        if not isinstance(key, str):
            raise error(path, f"has the key {key!r}, which is not text", fix="put it in quotes")
    return cast("dict[str, Any]", entries)


def sequence(value: object, path: str, error: type[InvalidInput]) -> list[Any]:
    """Return a value as a list, or refuse it."""
    if not isinstance(value, list):
        raise error(path, f"is {kind_of(value)}", fix="write a list")
    return cast("list[Any]", value)


def unreadable(path: object, problem: OSError | ValueError, error: type[InvalidInput] = InvalidInput) -> InvalidInput:
    """Return the refusal of a file that somebody named and that cannot be read."""
    if isinstance(problem, OSError):
        return error(str(path), f"cannot be read: {problem.strerror}", fix="give a file that can be read")
    return error(str(path), "is not UTF-8 text", fix="save it as plain text, in UTF-8", place=str(path))


def validated(model: type[M], data: Mapping[str, Any], path: str, error: type[InvalidInput] = InvalidInput) -> M:
    """Read a part of a document strictly, or refuse it with the path of the first problem.

    Args:
        model: What it should be.
        data: The part.
        path: Where the part is in its document; empty for the whole.
        error: What to raise.
    """
    value = fitted(model, data, path, error)
    if (found := boolean_as_number(value, data)) is not None:
        noun = "a whole number" if isinstance(found[1], int) else "a number"
        raise error(join(path, *found[0]), f"is a boolean, not {noun}", fix="write it in digits")
    refuse_unknown(value, path, error)
    return value


def fitted(model: type[M], data: Mapping[str, Any], path: str, error: type[InvalidInput] = InvalidInput) -> M:
    """Read what was checked when it was written, perhaps by a newer build: its unknown fields and choices are kept.

    Args:
        model: What it should be.
        data: The part.
        path: Where the part is in its document; empty for the whole.
        error: What to raise.
    """
    given = dict(data)
    try:
        return model.model_validate(given)
    except ValidationError as problem:
        # A name that is written wrongly is also missing; the wrong one says more.
        for name in (name for name in data if name not in _fields(model)):
            raise error(join(path, name), "is not a field here", fix=nearest(name, _written(model))) from None
        raise refused(problem, model, path, error, data=given) from None


def refuse_unknown(value: object, path: str = "", error: type[InvalidInput] = InvalidInput) -> None:
    """Refuse what a tolerant value keeps and a person must not have written: unknown parts, and what is beyond bounds.

    Args:
        value: The value; models, lists and mappings inside it are looked through.
        path: Where it stands in its document; empty for the whole.
        error: What to raise.

    Raises:
        InvalidInput: Naming the first unknown field or choice and the nearest known one, or the first field beyond its
            bounds; of the class ``error``.
    """
    match value:
        case Passed() if not value.by_hand:
            pass
        case BaseModel():
            for name in value.model_extra or ():
                raise error(join(path, name), "is not a field here", fix=nearest(name, _written(type(value))))
            for name in type(value).model_fields:
                part, place = getattr(value, name), join(path, name)
                refuse_unknown(part, place, error)
                if (beyond := bounds_crossed(type(value), name, part)) is not None:
                    raise refused(beyond, type(value), place, error, data=part)
        case OpenEnum() if not value.known:
            raise error(
                path, f"{value.value!r} is not one of the choices", fix=nearest(value.value, map(str, type(value)))
            )
        case dict():
            for key, item in cast("dict[object, object]", value).items():
                refuse_unknown(item, join(path, str(key)), error)
        case list() | tuple():
            for index, item in enumerate(cast("Sequence[object]", value)):
                refuse_unknown(item, join(path, index), error)
        case _:
            pass


def refused(
    problem: ValidationError,
    model: type[BaseModel],
    path: str,
    error: type[InvalidInput] = InvalidInput,
    *,
    data: object = None,
    ignore_missing: bool = False,
    only: str = "",
) -> InvalidInput:
    """Turn the first of pydantic's complaints into an error that names the field and the fix.

    Args:
        problem: The complaints.
        model: What the data should be.
        path: Where the data is in its document; empty for the whole.
        error: What to make.
        data: What was validated. Without it, a path through a union names pydantic's choice among its members too.
        ignore_missing: Whether missing fields count only where nothing else is wrong.
        only: The field whose complaints count; empty: all do.
    """
    found = [one for one in problem.errors(include_url=False) if not only or one["loc"][:1] == (only,)]
    found = [one for one in found if not (ignore_missing and one["type"] == "missing")] or found
    first = _most_telling(_of_nearest_member(found, data))
    location = [first["loc"][place] for place in places_in(first, data)]
    if first["type"] == "extra_forbidden":
        known = _written(model) if len(location) == 1 else []
        return error(join(path, *location), "is not a field here", fix=nearest(str(location[-1]), known))
    if first["loc"] and first["loc"][-1] == "[key]" and first["type"] == "string_type":
        told = f"has the key {first['input']!r}, which is not text"
        return error(join(path, *location[:-1]) or "input", told, fix="put it in quotes")
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        location.append(first.get("ctx", {})["discriminator"].strip("'"))
    # What tools and memory are given is content, which messages must not repeat: they are logged.
    told, fix = _told(first, shown=not issubclass(error, InvalidArguments | InvalidItem))
    return error(join(path, *location) or "input", told, fix=fix)


def _most_telling(found: Sequence["ErrorDetails"]) -> "ErrorDetails":
    # A name that is written wrongly is also missing; the wrong one says more.
    return next((one for one in found if one["type"] == "extra_forbidden"), found[0])


def _of_nearest_member(found: Sequence["ErrorDetails"], data: object) -> Sequence["ErrorDetails"]:
    """Return the complaints; in a union, those about the member that is complained of least."""
    first = _most_telling(found)
    skipped = set(range(len(first["loc"]))).difference(places_in(first, data))
    if not skipped:
        return found
    branch = min(skipped)
    members: dict[object, list[ErrorDetails]] = {}
    for one in found:
        if len(one["loc"]) > branch and one["loc"][:branch] == first["loc"][:branch]:
            members.setdefault(one["loc"][branch], []).append(one)
    return min(members.values(), key=len)


def _told(one: "ErrorDetails", *, shown: bool) -> tuple[str, str]:
    """Return what is wrong with a value, and what to write instead."""
    kind, value, context = one["type"], one["input"], one.get("ctx", {})
    named = f"{_quoted(value)} " if shown and isinstance(value, str | int | float) else ""
    if kind in ("union_tag_invalid", "enum", "literal_error"):
        # Pydantic lists the choices: 'a', 'b' or 'c'. All are told: "none" is close to "on", and meant "off".
        choices = re.findall(r"'([^']*)'", context.get("expected_tags") or context["expected"])
        if "tag" in context:
            value, named = context["tag"], f"{_quoted(context['tag'])} "
        fixes = dict.fromkeys((nearest(str(value), choices), nearest("", choices)))
        return f"{named}is not one of the choices", " ".join(fixes)
    if kind == "string_type" and isinstance(value, int | float):
        return f"is {kind_of(value)}", "put it in quotes"
    if kind in _WANTED:
        return _of_other_type(*_WANTED[kind], value, named)
    if kind in _BOUNDS and str(value).casefold().lstrip("+-") == "nan":
        kind = "finite_number"
    if kind in _BOUNDS:
        name, fix = _BOUNDS[kind]
        if name.endswith("length"):
            return _size(value), f"{fix} {context[name]:,}" if value else "fill it in"
        limit = f"{context[name]:g}" if isinstance(context[name], int | float) else context[name]
        return f"{named}is too {'small' if name in ('gt', 'ge') else 'large'}", f"{fix} {limit}"
    return _OTHERS.get(kind) or _parted(one["msg"].removeprefix("Value error, "))


def _of_other_type(noun: str, fix: str, value: object, named: str) -> tuple[str, str]:
    """Return that a value is not of a type, with its name where it may be shown, and what to write."""
    if noun.endswith("number") and re.fullmatch(r"\.?\d[\d.]* ?[A-Za-z%]+", str(value)):
        fix = "write it without a unit"
    if noun and named:
        return f"{named}is not {noun}", fix or ("write it in digits" if noun.endswith("number") else f"write {noun}")
    return f"is {kind_of(value)}", fix or f"write {noun}"


def _parted(message: str) -> tuple[str, str]:
    """Return what a validator of ours found wrong, and what to write, which it puts in brackets."""
    message = message[:1].lower() + message[1:]
    both = re.fullmatch(r"(.+?) \((.+)\)", message, re.DOTALL)
    return (both[1], both[2]) if both else (message, "")


def _size(value: Any) -> str:
    """Return how long a text or a list is."""
    if not value:
        return "is empty"
    one, many = ("character", "characters") if isinstance(value, str) else ("entry", "entries")
    return f"has {len(value):,} {one if len(value) == 1 else many}"


def _quoted(value: str | float) -> str:
    """Return a value as a person wrote it, cut to 80 characters."""
    return str(value).lower() if isinstance(value, bool) else repr(value[:80] if isinstance(value, str) else value)


def join(path: str, *location: str | int) -> str:
    """Write a path the way people do: ``steps[3].args.name``."""
    for part in location:
        path = f"{path}[{part}]" if isinstance(part, int) else ".".join(filter(None, (path, part)))
    return path


def kind_of(value: object) -> str:
    """Return what a value is, in the words of somebody who writes YAML.

    >>> kind_of(["a"])
    'a list'
    """
    for kind, name in _KINDS.items():
        if isinstance(value, kind):
            return name
    return f"a {type(value).__name__}"


def _fields(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _written(model: type[BaseModel]) -> list[str]:
    """Return the fields that somebody writes: not what can only have its default, which says which model it is."""
    fields = zip(_fields(model), model.model_fields.values(), strict=True)
    return [
        name for name, one in fields if get_origin(one.annotation) is not Literal or len(get_args(one.annotation)) > 1
    ]
