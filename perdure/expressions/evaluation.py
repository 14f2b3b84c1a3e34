"""Expressions in skills: text with ``${…}`` in CEL, what it refers to, and its value. Knows no step and no store.

The library evaluates some expressions over maps in another order in each process, so this runs in
activities only, and its results are what a workflow's history holds.
"""

import functools
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, JsonValue, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from perdure.documents import kind_of
from perdure.errors import InvalidExpression
from perdure.expressions.problems import evaluation_problem, parse_problem
from perdure.expressions.syntax import TOKEN, Path, Reading, read
from perdure.suggestions import closest, nearest

if TYPE_CHECKING:
    import cel

_BUILT_IN = frozenset(
    {
        *("has", "all", "exists", "exists_one", "map", "filter"),
        *("size", "contains", "startsWith", "endsWith", "matches"),
        *("string", "int", "uint", "double", "bytes", "dyn", "type", "timestamp", "duration"),
        *("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"),
        *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
    }
)
LONGEST = 8_000
"""Characters that one expression may have: beyond 20,000 the library overflows its stack and kills the process."""

WALKED = 10_000_000
"""What walking lists may cost in one expression, in visited elements: 3,000 for one ``map`` or ``filter``, about 0.5 s.
The library holds the interpreter's lock for all of it, so that every attempt in the process misses its heartbeats."""

# What a function raises is raised here as well, and a log is no place for values.
logging.getLogger("cel").addFilter(lambda _: False)

_json: TypeAdapter[JsonValue] = TypeAdapter(JsonValue, config=ConfigDict(allow_inf_nan=False))


@dataclass(frozen=True, kw_only=True)
class Expression:
    """One compiled expression."""

    source: str
    program: "cel.Program"
    reading: Reading


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
        told = f"${{{source}}} does not parse: {parse_problem(str(problem))}"
        fix = "one ${…} is enough: what is in it is all an expression" if "'$'" in told else "complete or correct it"
        raise InvalidExpression(field, told, fix=fix) from None
    except LookupError as problem:
        name = str(problem.args[0])
        fix = nearest(name, callable_names())
        raise InvalidExpression(field, f"${{{source}}} calls {name}(), which does not exist", fix=fix) from None


@functools.cache
def _functions() -> dict[str, Callable[..., Any]]:
    from cel.stdlib import EXTENSIONS  # noqa: PLC0415  as below

    libraries = [EXTENSIONS[library] for library in ("core", "strings", "lists")]
    found = {name: function for library in libraries for name, function in library.items() if "." not in name}
    # Of an empty list they give what JSON cannot carry.
    return found | {name: _or_null(found[name]) for name in ("first", "last")}


@functools.cache
def callable_names() -> frozenset[str]:
    """Return the functions and macros that expressions can call."""
    return _BUILT_IN.union(_functions())


def _or_null(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(values: Any) -> Any:
        return function(values).or_value(None)

    return called


@functools.lru_cache(maxsize=4096)
def _compiled(source: str) -> Expression:
    if not source.strip():
        raise ValueError("it is empty")
    import cel  # noqa: PLC0415  it takes .15 s: with it comes a terminal of its own

    program = cel.compile(source)
    for name in program.functions():
        if name.isidentifier() and name not in callable_names():
            raise LookupError(name)
    return Expression(source=source, program=program, reading=read(source))


@functools.lru_cache(maxsize=4096)
def _split(template: str, field: str) -> tuple[str | Expression, ...]:
    """Split a text into its literal parts and its expressions; a ``$${`` is a literal ``${``."""
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
    for token in TOKEN.finditer(template, start):
        if token.group() == "{":
            depth += 1
        elif token.group() == "}":
            if depth == 0:
                return token.start()
            depth -= 1
    problem = f"has a ${{ without its }}: {template[start - 2 : start + 40]!r}"
    raise InvalidExpression(field, problem, fix="close it with }, or write $${ where no expression is meant")


def expressions(value: JsonValue, field: str) -> Iterator[Expression]:
    """Yield the expressions anywhere in a value.

    Raises:
        InvalidExpression: Naming the field whose expression is not closed or does not parse.
    """
    match value:
        case str():
            yield from (part for part in _split(value, field) if isinstance(part, Expression))
        case list():
            for index, item in enumerate(value):
                yield from expressions(item, f"{field}[{index}]")
        case dict():
            for key, item in value.items():
                yield from expressions(item, f"{field}.{key}")
        case _:
            pass


def references(value: JsonValue, field: str) -> set[Path]:
    """Return what the expressions anywhere in a value refer to; raises what ``expressions`` raises."""
    return {path for expression in expressions(value, field) for path in expression.reading.paths}


def evaluate(value: JsonValue, names: Mapping[str, JsonValue], field: str, *, walked: int = WALKED) -> JsonValue:
    """Return a value with each ``${…}`` replaced by what it evaluates to.

    A text that is one expression and nothing else keeps the expression's type; otherwise each is
    written into the text.

    Args:
        value: The template.
        names: What expressions may refer to.
        field: Where it is written, for the error.
        walked: What walking lists may cost in one expression, in visited elements.

    Raises:
        InvalidExpression: When an expression cannot be evaluated.
    """
    match value:
        case str():
            parts = [
                part if isinstance(part, str) else _execute(part, names, field, walked) for part in _split(value, field)
            ]
            return parts[0] if len(parts) == 1 else "".join(map(written, parts))
        case list():
            return [evaluate(item, names, f"{field}[{index}]", walked=walked) for index, item in enumerate(value)]
        case dict():
            return {key: evaluate(item, names, f"{field}.{key}", walked=walked) for key, item in value.items()}
        case _:
            return value


def holds(template: str, names: Mapping[str, JsonValue], field: str, *, walked: int = WALKED) -> bool:
    """Evaluate a condition.

    Raises:
        InvalidExpression: When it gives anything but true or false.
    """
    value = evaluate(template, names, field, walked=walked)
    if not isinstance(value, bool):
        raise InvalidExpression(field, f"{template} is {kind_of(value)}, not true or false")
    return value


def written(value: JsonValue) -> str:
    """Write a value into a text the way CEL would write it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _execute(expression: Expression, names: Mapping[str, JsonValue], field: str, walked: int) -> JsonValue:
    _refuse_long_walks(expression, names, field, walked)
    import cel  # noqa: PLC0415  as above

    try:
        context = cel.Context()
        for name, value in _read_by(expression, names).items():
            context.add_variable(name, value)
        for name in expression.program.functions():
            if name in _functions():
                context.add_function(name, _functions()[name])
        return _json.validate_python(to_jsonable_python(expression.program.execute(context)))
    except ValidationError:
        raise InvalidExpression(field, f"${{{expression.source}}} gives what JSON cannot carry") from None
    except KeyError as problem:
        missing = str(problem.args[0])
        told = f"${{{expression.source}}} names {missing!r}, which does not exist"
        raise InvalidExpression(field, told, fix=_near(missing, expression, names)) from None
    except (TypeError, RuntimeError, LookupError, ArithmeticError, ValueError, AttributeError) as problem:
        fieldless = next((said for path in sorted(expression.reading.paths) if (said := _fieldless(names, path))), "")
        why, of_types = evaluation_problem(str(problem), callable_names(), fieldless)
        told = f"${{{expression.source}}} cannot be evaluated: {why}"
        raise InvalidExpression(field, told, of_types=of_types) from None


def _read_by(expression: Expression, names: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return what an expression reads of the names, two levels deep: the library copies all that it is given."""
    found: dict[str, JsonValue] = {}
    for root, *fields in expression.reading.paths:
        value = names.get(root)
        if root not in names:
            continue
        if isinstance(value, dict) and fields and not (root in found and found[root] is value):
            chosen = found.setdefault(root, {})
            if isinstance(chosen, dict) and fields[0] in value:
                chosen[fields[0]] = value[fields[0]]
        else:
            found[root] = value
    return found


def _refuse_long_walks(expression: Expression, names: Mapping[str, JsonValue], field: str, walked: int) -> None:
    reading = expression.reading
    if not reading.power:
        return
    longest = max((_longest(_reached(names, path)[0]) for path in reading.paths), default=0)
    if longest**reading.power > walked:
        most = int(walked ** (1 / reading.power))
        problem = f"iterates over {longest:,} elements, and at most {most:,} are allowed here"
        raise InvalidExpression(field, problem, fix="select them in a tool")


def _reached(names: Mapping[str, JsonValue], path: Path) -> tuple[JsonValue, Path]:
    """Return what the longest existing part of a path leads to, and the rest of the path."""
    value: JsonValue = dict(names)
    for place, part in enumerate(path):
        if not isinstance(value, dict) or part not in value:
            return value, path[place:]
        value = value[part]
    return value, ()


def _fieldless(names: Mapping[str, JsonValue], path: Path) -> str:
    """Return that a path asks a field of what has none, and what may be meant; empty: it does not."""
    value, rest = _reached(names, path)
    if not rest or isinstance(value, dict):
        return ""
    whole = ".".join(path[: -len(rest)])
    return f"{whole} is {kind_of(value)}, and has no field {rest[0]!r}; {_instead(rest[0], whole, value)}"


def _near(missing: str, expression: Expression, names: Mapping[str, JsonValue]) -> str:
    """Return the name that may be meant by one that does not exist; none that is unlike it, as names can be content."""
    for path in sorted(expression.reading.paths):
        value, rest = _reached(names, path)
        if rest[:1] == (missing,) and isinstance(value, dict) and (meant := closest(missing, value)):
            return f"did you mean {meant!r}?"
    return ""


def _instead(part: str, whole: str, value: JsonValue) -> str:
    """Return what may be meant by a field of what has none."""
    # A field such as "price" is none of "slice".
    if meant := closest(part, ["size", *(name for name in callable_names() if name.startswith(part))]):
        return f"did you mean '{meant}()'?"
    return f"read it of an element: {whole}[0].{part}" if isinstance(value, list) else f"write {whole} alone"


def _longest(value: JsonValue) -> int:
    """Return the length of the longest list or mapping anywhere in a value."""
    match value:
        case list():
            return max(len(value), max(map(_longest, value), default=0))
        case dict():
            return max(len(value), max(map(_longest, value.values()), default=0))
        case _:
            return 0
