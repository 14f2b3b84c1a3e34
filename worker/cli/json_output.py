"""What commands print with ``--json``, and the page about it: ``python -m worker.cli.json_output`` writes it anew."""

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from perdure.reference.meanings import about, described_by, meanings
from worker.cli.json_values import OBJECTS, PRINTED, Keys, Meaning, Values

PAGE = Path("docs/reference/json.md")

_PLAIN = {
    **{name: name for name in ("string", "integer", "number", "boolean", "null")},
    **{"date-time": "time", "object": "any object", "array": "list"},
}

_HEAD = """# JSON output

<!-- `make reference` writes this page from the types that commands print. -->

With `--json`, a command prints one JSON value on stdout and nothing else there; what it says to a person besides is on
stderr. Times are ISO 8601 in UTC. Where nothing came of the command, the value is an
[object with the key `error`](../cli.md#errors-for-scripts).

    perdure run task.yaml --json
    perdure recall "When are deploys?" --user ada --json

## What stays

From 1.0 on, within one major version, and until then within one minor version:

- No field is renamed or removed, none changes its type, and none changes what it means.
- Fields may be added, and so may choices of an enumeration. Ignore a field that you do not know, and take a choice that
  you do not know for "something else".
- The `code` of an [error](../errors.md) never changes, in any version; its `message` is for people, and may.
- Exit codes are as [listed](../cli.md). The order of fields means nothing.
- What stdout has without `--json`, and all that stderr has, is for people, and may change at any time.

A test compares this page with the types, and with the keys that a command puts together, so whoever changes one changes
this page. Temporal has the same types: the
result of a task's workflow is a [TaskResult](#taskresult), and its query `progress` returns a [Progress](#progress).

## Which command prints what
"""

_OBJECTS = """These print an object with keys of its own, or a list of such objects:
"""


def printed_page() -> str:
    """Return the page, in Markdown."""
    lines = [_HEAD, "| command | prints |", "|---|---|"]
    known: dict[str, Any] = {}
    for command, values in PRINTED.items():
        for model in models_of(values):
            known |= described_by(model)
        lines.append(f"| `perdure {command}` | {_values(values)} |")
    lines += ["", _OBJECTS, "| command | key | what it holds |", "|---|---|---|"]
    for called, keys in _alike():
        for place, (key, meaning) in enumerate(keys.items()):
            if (model := _type_of(meaning)) is not None:
                known |= described_by(model)
            lines.append(f"| {'' if place else called} | {f'`{key}`' if key else ''} | {_meaning(meaning)} |")
    for name in sorted(known):
        lines += ["", f"## {name}", "", about(known[name]), "", *_section(known[name], known)]
    return "\n".join(lines) + "\n"


def _section(described: type[BaseModel] | type[Enum], known: dict[str, Any]) -> Iterator[str]:
    said = meanings(described)
    if issubclass(described, BaseModel):
        yield "| field | type | meaning |"
        yield "|---|---|---|"
        for field, form in described.model_json_schema(mode="serialization")["properties"].items():
            yield f"| `{field}` | {_form(form, known)} | {said.get(field, '')} |"
    elif said:
        yield "| choice | meaning |"
        yield "|---|---|"
        yield from (f"| `{one.value}` | {said.get(name, '')} |" for name, one in described.__members__.items())
    else:
        yield "One of " + ", ".join(f"`{one.value}`" for one in described) + "."


def _type_of(meaning: Meaning) -> type[BaseModel] | None:
    if isinstance(meaning, str):
        return None
    return meaning if isinstance(meaning, type) else meaning[0]


def _meaning(meaning: Meaning) -> str:
    if isinstance(meaning, str):
        return meaning
    if isinstance(meaning, list):
        return f"a list of {_link(meaning[0])}"
    if isinstance(meaning, tuple):
        model, of_null = meaning
        return f"{_link(model)}; {of_null}"
    return _link(meaning)


def _alike() -> Iterator[tuple[str, Keys]]:
    """Yield the commands whose objects have the same keys, and these keys."""
    left = dict(OBJECTS)
    while left:
        first = next(iter(left.values()))
        same = [command for command, keys in left.items() if keys == first]
        for command in same:
            del left[command]
        called = ", ".join(f"`perdure {command}`" for command in same)
        yield (f"{called}: a list", first[0]) if isinstance(first, list) else (called, first)


def models_of(values: Values) -> tuple[type[BaseModel], ...]:
    """Return the types of which a command's values are."""
    return tuple(values) if isinstance(values, list | tuple) else (values,)


def _values(values: Values) -> str:
    forms = " or ".join(map(_link, models_of(values)))
    return f"a list of {forms}" if isinstance(values, list) else forms


def _link(model: type[Any]) -> str:
    return f"[{model.__name__}](#{model.__name__.lower()})"


def _form(form: dict[str, Any], known: dict[str, Any]) -> str:
    """Return what a field holds, in a few words."""
    match form:
        case {"anyOf": forms} | {"oneOf": forms}:
            return " or ".join(dict.fromkeys(_form(one, known) for one in forms))
        case {"$ref": str(ref)} if (name := ref.rpartition("/")[2]) in known:
            return _link(known[name])
        case {"items": items}:
            return f"list of {_form(items, known)}"
        case {"additionalProperties": dict(values)}:  # pyright: ignore[reportUnknownVariableType]
            return f"mapping of names to {_form(values, known)}"  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return _PLAIN.get(form.get("format") or form.get("type", ""), "any JSON")


if __name__ == "__main__":
    PAGE.write_text(re.sub(r" +\n", "\n", printed_page()), encoding="utf-8")
