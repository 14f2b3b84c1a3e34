"""YAML documents, and their refusal with the field's path and the nearest name. Opens no file."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar, cast

import yaml
from pydantic import BaseModel, ValidationError

from perdure.errors import InvalidInput
from perdure.model import OpenEnum, Passed
from perdure.tolerance import bounds_crossed

M = TypeVar("M", bound=BaseModel)

LARGEST = 1_000_000
"""Characters that a document may have: reading it holds the process up for 4 s (measured), and half the 2 MB that
Temporal takes in one payload."""

_MOST_VALUES = 100_000
"""Values that a document may have once its aliases are expanded."""


_KINDS: dict[type, str] = {
    type(None): "empty",
    str: "text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
}


class _Loader(yaml.SafeLoader):
    """YAML as people mean it: a repeated key is a mistake; dates and words stay the text that was written."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._sizes: dict[yaml.Node, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose a node, and refuse aliases that expand a few lines to millions of values."""
        node = super().compose_node(parent, index)
        if isinstance(node, yaml.CollectionNode) and node not in self._sizes:
            inner = chain.from_iterable(node.value) if isinstance(node, yaml.MappingNode) else node.value
            size = 1 + sum(self._sizes.get(one, 1) for one in cast("Iterable[yaml.Node]", inner))
            if size > _MOST_VALUES:
                problem = f"its aliases come to more than {_MOST_VALUES:,} values"
                raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
            self._sizes[node] = size
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            name = str(key.value)
            if name in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {name!r} is duplicated", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


# As in YAML 1.2, only true and false are booleans and only decimals are numbers: "on", "yes" and "no" are words
# that people write, 12:30 is a time of the day, and 0815 starts with a zero that somebody wants to keep.
_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag.rpartition(":")[2] not in ("timestamp", "bool", "int", "float")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)


def read_document(text: str, where: str, error: type[InvalidInput] = InvalidInput) -> dict[str, Any]:
    """Read one YAML document that must be a mapping.

    Args:
        text: The document.
        where: What it is, for the message: a file's name.
        error: What to raise.

    Raises:
        InvalidInput: When it is not YAML, or not a mapping with text keys; of the class ``error``.
    """
    if len(text) > LARGEST:
        raise error(where, f"has {len(text):,} characters", fix=f"at most {LARGEST:,} can be read")
    try:
        # The loader is a SafeLoader.
        document: object = yaml.load(text, Loader=_Loader)  # noqa: S506
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise error(where, f"is not YAML: {problem.problem}{place}") from problem
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        raise error(where, f"is not YAML: {problem}") from problem
    return mapping(document, where, error)


def line_of(text: str, field: str) -> int:
    r"""Return the line of a field in a YAML document, counted from 1; of a missing one, that of what is around it.

    >>> line_of("name: a\nunless:\n  - x\n  - y\n", "unless[1]")
    4
    """
    node, line = yaml.compose(text, Loader=_Loader), 1
    for part in re.findall(r"[^.\[\]]+", field):
        match node:
            case yaml.MappingNode():
                found = next((pair for pair in node.value if pair[0].value == part), None)
                if found is None:
                    return line
                line, node = found[0].start_mark.line + 1, found[1]
            case yaml.SequenceNode() if part.isdigit() and int(part) < len(node.value):
                node = node.value[int(part)]
                line = node.start_mark.line + 1
            case _:
                return line
    return line


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


def validated(model: type[M], data: Mapping[str, Any], path: str, error: type[InvalidInput] = InvalidInput) -> M:
    """Read a part of a document strictly, or refuse it with the path of the first problem.

    Args:
        model: What it should be.
        data: The part.
        path: Where the part is in its document; empty for the whole.
        error: What to raise.
    """
    value = fitted(model, data, path, error)
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
    try:
        return model.model_validate(dict(data))
    except ValidationError as problem:
        # A name that is written wrongly is also missing; the wrong one says more.
        for name in (name for name in data if name not in _fields(model)):
            raise error(join(path, name), "is not a field here", fix=nearest(name, _fields(model))) from None
        raise refused(problem, model, path, error) from None


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
                raise error(join(path, name), "is not a field here", fix=nearest(name, _fields(type(value))))
            for name in type(value).model_fields:
                part, place = getattr(value, name), join(path, name)
                refuse_unknown(part, place, error)
                if (beyond := bounds_crossed(type(value), name, part)) is not None:
                    raise refused(beyond, type(value), place, error)
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
    ignore_missing: bool = False,
) -> InvalidInput:
    """Turn the first of pydantic's complaints into an error that names the field and the fix."""
    found = problem.errors()
    found = [one for one in found if not (ignore_missing and one["type"] == "missing")] or found
    # A name that is written wrongly is also missing; the wrong one says more.
    first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
    location = first["loc"]
    field = join(path, *location)
    if first["type"] == "extra_forbidden":
        known = _fields(model) if len(location) == 1 else []
        return error(field, "is not a field here", fix=nearest(str(location[-1]), known))
    if first["type"] == "missing":
        return error(field, "is missing")
    message = first["msg"].removeprefix("Value error, ")
    return error(field or "input", message[:1].lower() + message[1:])


def join(path: str, *location: str | int) -> str:
    """Write a path the way people do: ``steps[3].args.name``."""
    for part in location:
        path = f"{path}[{part}]" if isinstance(part, int) else ".".join(filter(None, (path, part)))
    return path


def nearest(name: str, known: Iterable[str]) -> str:
    """Suggest the closest known name, or list the known names."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"there are: {_listed(names)}" if names else ""


def kind_of(value: object) -> str:
    """Return what a value is, in the words of somebody who writes YAML.

    >>> kind_of(["a"])
    'a list'
    """
    for kind, name in _KINDS.items():
        if isinstance(value, kind):
            return name
    return f"a {type(value).__name__}"


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _fields(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
