"""YAML as people mean it: one document read from its text, and the line of a field in it. Opens no file."""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, cast

import yaml

from perdure.documents import join, mapping
from perdure.errors import InvalidInput
from perdure.model import is_whole

LARGEST = 1_000_000
"""Characters that a document may have: reading it holds the process up for 4 s (measured), and half the 2 MB that
Temporal takes in one payload."""

_MOST_VALUES = 100_000
"""Values that a document may have once its aliases are expanded."""


_UNKNOWN_TAG = "could not determine a constructor for the tag "
_OWN_TAGS = "tag:yaml.org,2002:"
_QUOTE = "close what is opened, and put text with : # [ or { in quotes"
_UTF8 = "save it as plain text, in UTF-8"
_INDENT = "indent what belongs together equally"
_DEEPER = "expected <block end>, but found '"
_FIXES = (
    ("\\t", "indent with spaces"),
    # Before anything else that is found there, a quote or a bracket was closed too early.
    *((f"{_DEEPER}{found}'", _INDENT) for found in ("<block mapping start>", "<block sequence start>", "?", "-")),
    ("mapping values are not allowed", f"{_INDENT}, and put text with : in quotes"),
    ("is duplicated", "leave one of the two out"),
    ("aliases", "write it without them"),
    ("another document", "keep one document in a file, and write each of the others into one of its own"),
    ("unhashable key", "write a key as one word, or as text in quotes"),
    ("YAML document (version", "leave out the line with %YAML"),
    ("undefined alias", "define it, or put text with * in quotes"),
)
"""What to do about what PyYAML and the loader here say, by a part of it."""


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


# What JSON has no value for is an unknown tag.
_Loader.yaml_constructors = {
    tag: constructor
    for tag, constructor in yaml.SafeLoader.yaml_constructors.items()
    if str(tag).removeprefix(_OWN_TAGS) not in ("binary", "timestamp", "set", "omap", "pairs")
}

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
        mark, told = problem.problem_mark, str(problem.problem)
        place = f", in column {mark.column + 1}" if mark else ""
        at = f"{where}:{mark.line + 1}" if mark else where
        if (tag := told.removeprefix(_UNKNOWN_TAG)) != told:
            tag = tag.strip("'").replace(_OWN_TAGS, "!!")
            raise error(at, f"has the tag {tag!r}{place}", fix="leave it out: only plain values are read") from problem
        fix = next((fix for sign, fix in _FIXES if sign in told), _QUOTE)
        raise error(at, f"is not YAML: {told}{place}", fix=fix) from problem
    except yaml.reader.ReaderError as problem:
        raise error(where, f"is not text: it has the character #x{problem.character:04x}", fix=_UTF8) from problem
    except RecursionError as problem:
        raise error(where, "is nested too deeply", fix="write it flatter") from problem
    except (yaml.YAMLError, ValueError) as problem:
        raise error(where, f"is not YAML: {problem}", fix=_QUOTE) from problem
    read = mapping(document, where, error)
    _require_whole(read, "", error)
    return read


def _require_whole(value: object, path: str, error: type[InvalidInput]) -> None:
    """Refuse halves of surrogate pairs, which only an escape can write."""
    match value:
        case str() if not is_whole(value):
            raise error(path, "has half of a surrogate pair", fix="write the character itself")
        case dict():
            for key, inner in cast("dict[object, object]", value).items():
                _require_whole(key, path, error)
                _require_whole(inner, join(path, str(key)), error)
        case list():
            for place, inner in enumerate(cast("list[object]", value)):
                _require_whole(inner, join(path, place), error)
        case _:
            pass


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


@contextmanager
def placing(path: Path, text: str) -> Generator[None]:
    """Add the file and the line to errors about what the block reads from a text.

    Args:
        path: The file.
        text: What is in it.
    """
    try:
        yield
    except InvalidInput as error:
        raise placed(error, path, text) from None


def placed(error: InvalidInput, path: Path, text: str) -> InvalidInput:
    """Return an error with the file and the line of its field; one that has a place already stays as it is."""
    if error.place:
        return error
    whole, _, line = error.field.partition(":")
    if whole == path.name and (not line or line.isdigit()):
        # The document as a whole is no field: its problem may know a line.
        place = f"{path}:{line}" if line else str(path)
        return type(error)(place, error.problem, fix=error.fix, place=place)
    place = f"{path}:{line_of(text, error.field)}"
    return type(error)(error.field, error.problem, fix=error.fix, place=place)
