"""The reference pages of what people write, from the models and from what expressions can use."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from perdure.reference.names import FUNCTIONS, NAMES, SAMPLE, Entry
from perdure.reference.schema import STEPS, Schema, schema_of

_SKILLS_HEAD = """\
# Skills: every field and every name

This page is written from the models that read skills (`make reference`); [Skills](../skills.md) explains
what it lists. `perdure schema skill` prints the same as JSON Schema, for editors.
"""

_FILES_HEAD = """\
# Tasks, agents, prompts and policies: every field

This page is written from the models that read these files (`make reference`). [The command line](../cli.md#a-task),
[Agents](../agents.md), [Skills](../skills.md#prompts-by-name) and [Policies](../policies.md) explain what it lists.
`perdure schema task` prints the same as JSON Schema, for editors, and so do `agent`, `prompt` and `policy`.
"""

SKILL_TITLES = {
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
"""What each section about skills is called, in their order."""

FILE_TITLES = {
    "Task": "Task",
    "Limits": "Limits",
    "Agent": "Agent",
    "PromptUse": "Prompt by name",
    "Judge": "Judge",
    "Prompt": "Prompt",
    "PromptInput": "Prompt input",
    "Policy": "Policy",
}
"""What each section about other files is called, in their order."""

_PLAIN = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "mapping",
    "array": "list",
    "null": "empty",
}

Models = Mapping[str, Schema]
"""What a page describes, by name."""


def skills_page() -> str:
    """Return the page about skills, in Markdown."""
    sections = _Sections({"Skill": schema_of("skill")}, SKILL_TITLES)
    parts = [_SKILLS_HEAD]
    for name in SKILL_TITLES:
        if name == STEPS[0]:
            parts.append(sections.steps())
        parts.append(sections.section(name))
    return "\n".join([*parts, _expressions()])


def files_page() -> str:
    """Return the page about tasks, agents, prompts and policies, in Markdown."""
    kinds = {kind.capitalize(): schema_of(kind) for kind in ("task", "agent", "prompt", "policy")}
    sections = _Sections(kinds, FILE_TITLES)
    return "\n".join([_FILES_HEAD, *map(sections.section, FILE_TITLES)])


class _Sections:
    """The sections of one page.

    Args:
        kinds: The schemas of what people write, by the names of their sections.
        titles: What each section is called.
    """

    def __init__(self, kinds: Models, titles: Mapping[str, str]) -> None:
        self._models: dict[str, Schema] = dict(kinds)
        for schema in kinds.values():
            self._models |= schema.get("$defs", {})
        self._titles = titles

    def steps(self) -> str:
        """Return the section that lists the kinds of steps."""
        lines = ["## Steps", "", "A step is one of these; the key that says what it does decides.", ""]
        return "\n".join([*lines, *(f"- {self._link(name)}" for name in STEPS)]) + "\n"

    def section(self, name: str) -> str:
        """Return the section of one model."""
        model = self._models[name]
        required = set(model.get("required", ()))
        lines = [f"## {self._titles[name]}", "", model["description"], ""]
        lines += ["| field | type | default | meaning |", "|---|---|---|---|"]
        for called, field in model["properties"].items():
            default = "*required*" if called in required else _default(field)
            cells = (f"`{called}`", self._type(field), default, field["description"])
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        for called, needs in model.get("dependencies", {}).items():
            lines += ["", f"`{called}` needs `{'`, `'.join(needs)}`."]
        return "\n".join(lines) + "\n"

    def _link(self, name: str) -> str:
        title = self._titles[name]
        anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        return f"[{title[:1].lower()}{title[1:]}](#{anchor})"

    def _type(self, field: Schema) -> str:
        """Return what a field holds, in a few words."""
        match field:
            case {"anyOf": forms}:
                found = dict.fromkeys(self._type(form) for form in forms)
                return " or ".join(one for one in found if one != "empty")
            case {"$ref": ref}:
                return self._named(ref.rpartition("/")[2])
            case {"enum": choices}:
                return " or ".join(f"`{one}`" for one in choices)
            case {"const": only}:
                return f"`{only}`" if only else "empty"
            case {"type": str(kind)}:
                return self._of_type(kind, field)
            case _:
                return "any JSON"

    def _of_type(self, kind: str, field: Schema) -> str:
        match field:
            case {"items": items}:
                return f"list of {self._type(items)}"
            case {"additionalProperties": values} if values and values is not True:
                return f"mapping of names to {self._type(values)}"
            case {"format": "date"}:
                return "date"
            case _:
                return f"{_PLAIN[kind]}{_bounds(field)}"

    def _named(self, name: str) -> str:
        if name == "Step":
            return "[step](#steps)"
        model = self._models[name]
        if not model:
            return "any JSON"
        return self._link(name) if "properties" in model else self._type(model)


def _default(field: Schema) -> str:
    value = field.get("default")
    return "" if value in (None, "", [], {}) else f"`{json.dumps(value, ensure_ascii=False)}`"


def _bounds(field: dict[str, Any]) -> str:
    least, most = field.get("minimum"), field.get("maximum")
    if least is not None and most is not None:
        return f", {least:,} to {most:,}"
    if most is not None:
        return f", up to {most:,}"
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
