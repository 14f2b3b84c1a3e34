"""What commands print with ``--json``, and the page about it: ``python -m worker.cli.json_output`` writes it anew."""

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from perdure import (
    ErasureReceipt,
    ForgetResult,
    OpenQuestion,
    Progress,
    Receipt,
    ReconcileResult,
    TaskExplanation,
    TaskResult,
    UndoResult,
)
from perdure.memory.recall.query import RecallResult
from perdure.reference.meanings import about, described_by, meanings
from worker.doctor import HealthFinding
from worker.gateway.task_list import ListedTask

PAGE = Path("docs/reference/json.md")

PRINTED: dict[str, type[BaseModel] | list[type[BaseModel]]] = {
    "run": TaskResult,
    "fork": TaskResult,
    "status": Progress,
    "explain": TaskExplanation,
    "inbox": [OpenQuestion],
    "tasks list": [ListedTask],
    "tasks show": ListedTask,
    "recall": RecallResult,
    "remember": Receipt,
    "forget": ForgetResult,
    "forget --undo": UndoResult,
    "reconcile": ReconcileResult,
    "erase": ErasureReceipt,
    "doctor": [HealthFinding],
}
"""The value of each command whose value is one of a type; a list: a list of such values."""

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

A test compares this page with the types, so whoever changes a field changes this page. Temporal has the same types: the
result of a task's workflow is a [TaskResult](#taskresult), and its query `progress` returns a [Progress](#progress).

## Which command prints what
"""


def printed_page() -> str:
    """Return the page, in Markdown."""
    lines = [_HEAD, "| command | prints |", "|---|---|"]
    known: dict[str, Any] = {}
    for command, value in PRINTED.items():
        model = value[0] if isinstance(value, list) else value
        known |= described_by(model)
        lines.append(f"| `perdure {command}` | {'a list of ' if isinstance(value, list) else ''}{_link(model)} |")
    told = "`new`: whether it was started just now, and `checked`: whether a worker had checked it before"
    lines += ["", f"`perdure run --detach` prints `workflow_id`, {told}.", ""]
    lines += ["The other commands print an object, or a list of objects, of their own. The same holds for their keys."]
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
