"""The reference page of skills, written from the models and from what expressions can use."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from perdure.reference.names import FUNCTIONS, NAMES, SAMPLE, Entry
from perdure.reference.schema import STEPS, Schema, schema_of

_HEAD = """\
# Skills: every field and every name

This page is written from the models that read skills (`make reference`); [Skills](../skills.md) explains
what it lists. `perdure schema skill` prints the same as JSON Schema, for editors.
"""

TITLES = {
    "Skill": "Skill",
    "InputSpec": "Input",
    "SafetyCheck": "Check",
    "Requirements": "Requirements",
    "Example": "Example",
    "SkillChange": "Change",
    "Judge": "Judge",
    "ToolStep": "Step with tool",
    "PromptStep": "Step with prompt",
    "RecallStep": "Step with recall",
    "RememberStep": "Step with remember",
    "LetStep": "Step with let",
    "WaitStep": "Step with wait",
    "EventStep": "Step with wait for an event",
    "SkillStep": "Step with skill",
    "ActivityStep": "Step with activity",
    "WorkflowStep": "Step with workflow",
    "ForEach": "Block with for_each",
    "Parallel": "Block with parallel",
    "AnswerSpec": "Answer",
    "CompensateTemplate": "Compensation",
    "RecordTemplate": "Record",
    "MemoryTemplate": "Memory",
    "PromptUse": "Prompt by name",
    "RecallTemplate": "Recall",
    "EventTemplate": "Event",
}
"""What each section is called, in their order."""

_PLAIN = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "mapping",
    "array": "list",
    "null": "empty",
}


def skills_page() -> str:
    """Return the page, in Markdown."""
    schema = schema_of("skill")
    models: dict[str, Schema] = {"Skill": schema, **schema["$defs"]}
    parts = [_HEAD]
    for name in TITLES:
        if name == STEPS[0]:
            parts.append(_steps())
        parts.append(_section(name, models))
    parts += [_expressions()]
    return "\n".join(parts)


def _steps() -> str:
    lines = ["## Steps", "", "A step is one of these; the key that says what it does decides.", ""]
    return "\n".join([*lines, *(f"- {_link(name)}" for name in STEPS)]) + "\n"


def _section(name: str, models: dict[str, Schema]) -> str:
    model = models[name]
    required = set(model.get("required", ()))
    lines = [f"## {TITLES[name]}", "", model["description"], ""]
    lines += ["| field | type | default | meaning |", "|---|---|---|---|"]
    for called, field in model["properties"].items():
        default = "*required*" if called in required else _default(field)
        cells = (f"`{called}`", _type(field, models), default, field["description"])
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    for called, needs in model.get("dependencies", {}).items():
        lines += ["", f"`{called}` needs `{'`, `'.join(needs)}`."]
    return "\n".join(lines) + "\n"


def _link(name: str) -> str:
    title = TITLES[name]
    anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
    return f"[{title[:1].lower()}{title[1:]}](#{anchor})"


def _default(field: Schema) -> str:
    value = field.get("default")
    return "" if value in (None, "", [], {}) else f"`{json.dumps(value, ensure_ascii=False)}`"


def _type(field: Schema, models: dict[str, Schema]) -> str:
    """Return what a field holds, in a few words."""
    match field:
        case {"anyOf": forms}:
            found = dict.fromkeys(_type(form, models) for form in forms)
            return " or ".join(one for one in found if one != "empty")
        case {"$ref": ref}:
            return _named(ref.rpartition("/")[2], models)
        case {"enum": choices}:
            return " or ".join(f"`{one}`" for one in choices)
        case {"type": str(kind)}:
            return _of_type(kind, field, models)
        case _:
            return "any JSON"


def _of_type(kind: str, field: Schema, models: dict[str, Schema]) -> str:
    match field:
        case {"items": items}:
            return f"list of {_type(items, models)}"
        case {"additionalProperties": values} if values and values is not True:
            return f"mapping of names to {_type(values, models)}"
        case {"format": "date"}:
            return "date"
        case _:
            return f"{_PLAIN[kind]}{_bounds(field)}"


def _named(name: str, models: dict[str, Schema]) -> str:
    if name == "Step":
        return "[step](#steps)"
    model = models[name]
    if not model:
        return "any JSON"
    return _link(name) if "properties" in model else _type(model, models)


def _bounds(field: dict[str, Any]) -> str:
    least, most = field.get("minimum"), field.get("maximum")
    if least is not None and most is not None:
        return f", {least:,} to {most:,}"
    return f", up to {field['maxLength']:,} characters" if "maxLength" in field else ""


def _expressions() -> str:
    lines = [
        "## What expressions can name",
        "",
        "The values of the examples are those over",
        "",
        "```json",
        json.dumps(SAMPLE, indent=2, ensure_ascii=False),
        "```",
        "",
        *_entries("name", NAMES),
        "",
        "## What expressions can call",
        "",
        "Operators are those of [CEL](https://cel.dev): `+ - * / %`, `== != < <= > >=`, `&& || !`, `in`, `a ? b : c`.",
        "",
        *_entries("function", FUNCTIONS),
    ]
    return "\n".join(lines) + "\n"


def _entries(kind: str, entries: Iterable[Entry]) -> Iterator[str]:
    yield f"| {kind} | is | example | its value |"
    yield "|---|---|---|---|"
    for one in entries:
        gives = json.dumps(one.gives, ensure_ascii=False)
        yield f"| `{one.name}` | {one.meaning} | `${{{one.example}}}` | `{gives}` |"
