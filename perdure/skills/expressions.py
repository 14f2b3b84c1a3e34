"""Expressions in skills: text with ``${…}`` in CEL, what it refers to, and its value. Knows no step and no store.

The library evaluates some expressions over maps in another order in each process, so this runs in
activities only, and its results are what a workflow's history holds.
"""

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import cel
from cel.stdlib import EXTENSIONS
from pydantic import ConfigDict, JsonValue, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from perdure.documents import nearest
from perdure.errors import InvalidExpression

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: function
    for library in ("core", "strings", "lists")
    for name, function in EXTENSIONS[library].items()
    if "." not in name
}
_BUILT_IN = frozenset(
    {
        *(
            "has",
            "all",
            "exists",
            "exists_one",
            "map",
            "filter",
            "size",
            "contains",
            "startsWith",
            "endsWith",
            "matches",
        ),
        *("string", "int", "uint", "double", "bytes", "dyn", "type", "timestamp", "duration"),
        *("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"),
        *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
    }
)
_TYPES = frozenset({"string", "int", "uint", "double", "bytes", "bool", "list", "map", "null_type"})
_WORDS = frozenset({"true", "false", "null", "in"})

_TOKEN = re.compile(
    r"""(?P<text>[rRbB]{0,2}(?:\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))"""
    r"""|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>\d[\w.]*)|(?P<space>\s+)|(?P<sign>.)""",
    re.DOTALL,
)
RESERVED = frozenset(
    {
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop"),
        *("package", "namespace", "return", "var", "void", "while"),
        *_WORDS,
        *_TYPES,
    }
)
"""Words that mean something in CEL, so that no element can be named so."""

_MACROS = {"all": 1, "exists": 1, "exists_one": 1, "map": 2, "filter": 2}
"""Macros that walk a list, and the power with which their cost grows with its length: the library copies all that
``map`` and ``filter`` have gathered for each element (measured: 0.7 s for 5,000 numbers, 11 s for 20,000)."""

LONGEST = 8_000
"""Characters that one expression may have: beyond 20,000 the library overflows its stack and kills the process."""

WALKED = 10_000_000
"""What walking lists may cost in one expression, in visited elements: 3,000 for one ``map`` or ``filter``, about 0.5 s.
The library holds the interpreter's lock for all of it, so that every attempt in the process misses its heartbeats."""

_json: TypeAdapter[JsonValue] = TypeAdapter(JsonValue, config=ConfigDict(allow_inf_nan=False))

Path = tuple[str, ...]
"""What an expression refers to: ``("steps", "licence", "output")``."""


@dataclass(frozen=True, kw_only=True)
class Expression:
    """One compiled expression."""

    source: str
    program: cel.Program
    paths: frozenset[Path]
    power: int
    """How the cost of walking its lists grows with their length; 0: it walks none."""


@dataclass(frozen=True, kw_only=True)
class _Token:
    kind: str
    text: str


@dataclass(frozen=True, kw_only=True)
class _Walk:
    """A macro that walks a list: ``list.map(x, …)``."""

    name: str
    variable: str
    first: int
    last: int
    """Its parentheses, within which the variable is known."""


def compiled(source: str, field: str) -> Expression:
    """Compile an expression and find what it refers to.

    Args:
        source: The CEL, without ``${}``.
        field: Where it is written, for the error.

    Raises:
        InvalidExpression: When it is too long, does not parse, or calls a function that is not there.
    """
    if len(source) > LONGEST:
        raise InvalidExpression(field, f"is longer than {LONGEST:,} characters", fix="work it out in a tool")
    try:
        return _compiled(source)
    except ValueError as problem:
        raise InvalidExpression(field, f"${{{source}}} does not parse: {_first_line(problem)}") from None
    except LookupError as problem:
        name = str(problem.args[0])
        fix = nearest(name, {*_FUNCTIONS, *_BUILT_IN})
        raise InvalidExpression(field, f"${{{source}}} calls {name}(), which is not there", fix=fix) from None


@functools.lru_cache(maxsize=4096)
def _compiled(source: str) -> Expression:
    if not source.strip():
        raise ValueError("it is empty")
    program = cel.compile(source)
    for name in program.functions():
        if name.isidentifier() and name not in _FUNCTIONS and name not in _BUILT_IN:
            raise LookupError(name)
    tokens = [_Token(kind=str(one.lastgroup), text=one.group()) for one in _TOKEN.finditer(source)]
    tokens = [token for token in tokens if token.kind != "space"]
    walks = _walks(tokens)
    return Expression(source=source, program=program, paths=frozenset(_paths(tokens, walks)), power=_power(walks))


def _first_line(problem: ValueError) -> str:
    text = str(problem)
    return text.partition("ERROR: ")[2].splitlines()[0] if "ERROR: " in text else text


def _paths(tokens: list[_Token], walks: list[_Walk]) -> Iterator[Path]:
    """Find the names that an expression takes from outside, each with the fields read from it."""
    index = 0
    while index < len(tokens):
        here, token, before = index, tokens[index], tokens[index - 1].text if index else ""
        index += 1
        if token.kind != "name" or before == "." or token.text in _WORDS or _text(tokens, index) == "(":
            continue
        path, index = _fields(tokens, index, [token.text])
        bound = any(walk.variable == token.text and walk.first < here < walk.last for walk in walks)
        if not bound and not (token.text in _TYPES and len(path) == 1):
            yield tuple(path)


def _fields(tokens: list[_Token], index: int, path: list[str]) -> tuple[list[str], int]:
    while index + 1 < len(tokens):
        sign, after = tokens[index].text, tokens[index + 1]
        if sign == "." and after.kind == "name":
            if _text(tokens, index + 2) == "(":  # a method call on what was read so far
                return path, index
            path.append(after.text)
            index += 2
        elif sign == "[" and after.kind == "text" and _text(tokens, index + 2) == "]":
            path.append(after.text.strip("rRbB").strip("'\""))
            index += 3
        else:
            return path, index
    return path, index


def _walks(tokens: list[_Token]) -> list[_Walk]:
    return [
        _Walk(name=token.text, variable=tokens[index + 2].text, first=index + 1, last=_matching(tokens, index + 1))
        for index, token in enumerate(tokens[:-3])
        if token.text in _MACROS and tokens[index + 1].text == "(" and tokens[index + 3].text == ","
    ]


def _matching(tokens: list[_Token], opening: int) -> int:
    depth = 0
    for index in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        if depth == 0:
            return index
    return len(tokens)


def _power(walks: list[_Walk]) -> int:
    """Give how the cost of all walks grows with the length of the lists: one inside another multiplies."""
    powers: dict[int, int] = {}
    for walk in reversed(walks):  # what is inside a walk comes after it
        inside = max((power for first, power in powers.items() if first < walk.last), default=0)
        powers[walk.first] = max(_MACROS[walk.name], 1 + inside)
    return max(powers.values(), default=0)


def _text(tokens: list[_Token], index: int) -> str:
    return tokens[index].text if index < len(tokens) else ""


def split(template: str, field: str) -> list[str | Expression]:
    """Split a text into its literal parts and its expressions.

    A ``$${`` is a literal ``${``. Braces and quotes inside an expression are balanced.

    Raises:
        InvalidExpression: When an expression is not closed or does not parse.
    """
    return list(_split(template, field))


@functools.lru_cache(maxsize=4096)
def _split(template: str, field: str) -> tuple[str | Expression, ...]:
    parts: list[str | Expression] = []
    literal = ""
    at = 0
    while (start := template.find("${", at)) >= 0:
        if start > at and template[start - 1] == "$":
            literal += template[at : start - 1] + "${"
            at = start + 2
            continue
        literal += template[at:start]
        end = _closing(template, start + 2, field)
        if literal:
            parts.append(literal)
            literal = ""
        parts.append(compiled(template[start + 2 : end], field))
        at = end + 1
    literal += template[at:]
    if literal or not parts:
        parts.append(literal)
    return tuple(parts)


def _closing(template: str, start: int, field: str) -> int:
    depth = 0
    for token in _TOKEN.finditer(template, start):
        if token.group() == "{":
            depth += 1
        elif token.group() == "}":
            if depth == 0:
                return token.start()
            depth -= 1
    raise InvalidExpression(field, f"has a ${{ without its }}: {template[start - 2 : start + 40]!r}")


def references(value: JsonValue, field: str) -> set[Path]:
    """Find what the expressions anywhere in a value refer to.

    Raises:
        InvalidExpression: Naming the field whose expression does not parse.
    """
    match value:
        case str():
            return {path for part in _split(value, field) if isinstance(part, Expression) for path in part.paths}
        case list():
            return {path for index, item in enumerate(value) for path in references(item, f"{field}[{index}]")}
        case dict():
            return {path for key, item in value.items() for path in references(item, f"{field}.{key}")}
        case _:
            return set()


def evaluate(value: JsonValue, names: Mapping[str, JsonValue], field: str) -> JsonValue:
    """Give a value with each ``${…}`` replaced by what it evaluates to.

    A text that is one expression and nothing else keeps the expression's type; otherwise each is
    written into the text.

    Args:
        value: The template.
        names: What expressions may refer to.
        field: Where it is written, for the error.

    Raises:
        InvalidExpression: When an expression cannot be evaluated.
    """
    match value:
        case str():
            parts = _split(value, field)
            if len(parts) == 1:
                return parts[0] if isinstance(parts[0], str) else _execute(parts[0], names, field)
            return "".join(part if isinstance(part, str) else written(_execute(part, names, field)) for part in parts)
        case list():
            return [evaluate(item, names, f"{field}[{index}]") for index, item in enumerate(value)]
        case dict():
            return {key: evaluate(item, names, f"{field}.{key}") for key, item in value.items()}
        case _:
            return value


def holds(template: str, names: Mapping[str, JsonValue], field: str) -> bool:
    """Evaluate a condition.

    Raises:
        InvalidExpression: When it gives anything but true or false.
    """
    value = evaluate(template, names, field)
    if not isinstance(value, bool):
        raise InvalidExpression(field, f"{template} gives {type(value).__name__}, not true or false")
    return value


def written(value: JsonValue) -> str:
    """Write a value into a text the way CEL would write it."""
    match value:
        case str():
            return value
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int() | float():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _execute(expression: Expression, names: Mapping[str, JsonValue], field: str) -> JsonValue:
    _refuse_long_walks(expression, names, field)
    try:
        context = cel.Context()
        for name, value in names.items():
            context.add_variable(name, value)
        for name in expression.program.functions():
            if name in _FUNCTIONS:
                context.add_function(name, _FUNCTIONS[name])
        return _json.validate_python(to_jsonable_python(expression.program.execute(context)))
    except ValidationError:
        raise InvalidExpression(field, f"${{{expression.source}}} gives what JSON cannot carry") from None
    except KeyError as problem:
        missing = str(problem.args[0])
        raise InvalidExpression(field, f"${{{expression.source}}} names {missing!r}, which is not there") from None
    except (TypeError, RuntimeError, LookupError, ArithmeticError, ValueError, AttributeError) as problem:
        raise InvalidExpression(field, f"${{{expression.source}}} cannot be evaluated: {problem}") from None


def _refuse_long_walks(expression: Expression, names: Mapping[str, JsonValue], field: str) -> None:
    if not expression.power:
        return
    longest = max((_longest(_at(names, path)) for path in expression.paths), default=0)
    if longest**expression.power > WALKED:
        most = int(WALKED ** (1 / expression.power))
        raise InvalidExpression(
            field, f"walks {longest:,} elements, and at most {most:,} can be walked so", fix="choose them in a tool"
        )


def _at(names: Mapping[str, JsonValue], path: Path) -> JsonValue:
    """Give what is found as far along a path as there is something."""
    value: JsonValue = dict(names)
    for part in path:
        if not isinstance(value, dict) or part not in value:
            break
        value = value[part]
    return value


def _longest(value: JsonValue) -> int:
    """Give the length of the longest list or mapping anywhere in a value."""
    match value:
        case list():
            return max(len(value), max(map(_longest, value), default=0))
        case dict():
            return max(len(value), max(map(_longest, value.values()), default=0))
        case _:
            return 0
