"""The page of what Python programs import, from its docstrings: ``python -m worker.cli.python_page``."""

import inspect
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Any, get_args

from pydantic import BaseModel

import perdure
import perdure.client
import perdure.public
import perdure.temporal
import perdure.testing
from worker.gateway import Gateway

PAGE = Path("docs/reference/python.md")

_HEAD = """# Python

<!-- `make reference` writes this page from the docstrings. -->

Five ways in, each typed, with the whole docstring in your editor. What raises, raises
[Perdure's errors](../errors.md), each with a code. Methods are awaited, but for those with *plain* (called as they are)
or *async for* (walked over) behind them.

| you are | import |
|---|---|
| writing tools | `from perdure import ToolCall, tool` ([tools and effects](../tools.md)) |
| a program that reaches the servers | `from worker.gateway import Gateway` ([quickstart](../quickstart-python.md)) |
| a program elsewhere | `from perdure.client import BlockingClient, Client` ([HTTP service](../http.md#from-python)) |
| a workflow of your own | `from perdure.temporal import ask_person, recall, remember` ([Temporal](../temporal.md)) |
| testing tools | `from perdure.testing import LocalInstallation` ([testing](../testing.md)) |
"""


def python_page() -> str:
    """Return the page, in Markdown."""
    exported = {name: getattr(perdure, name) for name in sorted(perdure.public.__all__, key=str.casefold)}
    errors = {name: one for name, one in exported.items() if _is_error(one)}
    choices = {name: one for name, one in exported.items() if isinstance(one, type) and issubclass(one, Enum)}
    called = {name: one for name, one in exported.items() if inspect.isfunction(one)}
    values = {name: one for name, one in exported.items() if name not in {*errors, *choices, *called}}
    parts = [
        _HEAD,
        _methods(
            "worker.gateway.Gateway",
            Gateway,
            "`async with Gateway(Settings(), None) as perdure:` is an installation; `by` is an `Actor`, who asks.",
        ),
        _methods(
            "perdure.client.Client",
            perdure.client.Client,
            "`async with Client(url, token) as client:`. `BlockingClient` has the same without `await`, and `close`.",
        ),
        _table("perdure.temporal", {name: getattr(perdure.temporal, name) for name in perdure.temporal.__all__}),
        _methods(
            "perdure.testing.LocalInstallation",
            perdure.testing.LocalInstallation,
            '`async with LocalInstallation(tools=["./shop.py"], skills=["skills"]) as one:` has servers and a worker.',
        ),
        "## perdure\n",
        _table("Functions", called, level=3),
        _table("Requests, results and protocols", values, level=3),
        _table("Choices", choices, level=3),
        _table("Errors", errors, level=3),
    ]
    return "\n".join(parts)


def _is_error(one: object) -> bool:
    return isinstance(one, type) and issubclass(one, BaseException)


def _methods(title: str, one: type, about: str) -> str:
    lines = [f"## {title}", "", *([about, ""] if about else []), "| method | does |", "|---|---|"]
    return "\n".join([*lines, *_rows(_public(one))]) + "\n"


def _public(one: type) -> Iterator[tuple[str, str]]:
    """Yield the methods of a class with what they do, in the order of their names."""
    for name, method in inspect.getmembers(one, inspect.isfunction):
        if not name.startswith("_"):
            yield f"{name}{_taken(method)}", f"{_first(method)}{_how(method)}"


def _how(method: Any) -> str:
    """Return how a method is called that is not awaited."""
    original = inspect.unwrap(method)
    if inspect.isasyncgenfunction(original):
        return " *async for*"
    return "" if inspect.iscoroutinefunction(original) else " *plain*"


def _table(title: str, named: dict[str, Any], *, level: int = 2) -> str:
    rows = ((f"{name}{_taken(one)}" if inspect.isfunction(one) else name, _is(one)) for name, one in named.items())
    return "\n".join([f"{'#' * level} {title}", "", "| name | is |", "|---|---|", *_rows(rows)]) + "\n"


def _is(one: Any) -> str:
    """Return what something is, with what it is made of."""
    match one:
        case UnionType():
            return f"One of {', '.join(f'`{part.__name__}`' for part in get_args(one))}."
        case type() if issubclass(one, Enum):
            return f"{_first(one)} {', '.join(f'`{choice}`' if choice.value else 'empty' for choice in one)}."
        case type() if issubclass(one, BaseModel) and one.model_fields:
            fields = one.model_fields.items()
            needed = ", ".join(f"`{name}`" for name, field in fields if field.is_required())
            optional = ", ".join(f"`{name}`" for name, field in fields if not field.is_required())
            return " ".join(
                filter(None, (_first(one), needed and f"Needs {needed}.", optional and f"May have {optional}."))
            )
        case _:
            return _first(one)


def _rows(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in entries:
        yield f"| `{name}` | {meaning.replace('|', chr(92) + '|')} |"


def _taken(function: Any) -> str:
    """Return what a function takes, without types."""
    parts: list[str] = []
    for one in inspect.signature(function).parameters.values():
        if one.name == "self":
            continue
        if (
            one.kind is inspect.Parameter.KEYWORD_ONLY
            and "*" not in parts
            and not any(p.startswith("*") for p in parts)
        ):
            parts.append("*")
        stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = "" if one.default is inspect.Parameter.empty else f"={_shown(one.default)}"
        parts.append(f"{stars}{one.name}{default}")
    return f"({', '.join(parts)})"


def _shown(default: object) -> str:
    shown = str(default) if isinstance(default, Enum) else repr(default)
    return "…" if len(shown) > 20 or shown.startswith("<") else shown


def _first(one: object) -> str:
    """Return the first sentence or paragraph of a docstring."""
    return " ".join((inspect.getdoc(one) or "").split("\n\n")[0].replace("``", "`").split())


if __name__ == "__main__":
    PAGE.write_text(python_page(), encoding="utf-8")
