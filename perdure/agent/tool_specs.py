"""The specifications that a model sees of its tools: the worker's, and those of its own memory. Pure."""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from pydantic import JsonValue

from perdure.agent.offered_skills import OfferedSkill
from perdure.documents import mapping
from perdure.errors import InvalidArguments
from perdure.model import DEEPEST_VALUE, depth
from perdure.models.language.conversation import ToolSpec
from perdure.registry.agents import told_name
from perdure.tools import Tool
from perdure.values.tasks import MemoryMode


class MemoryTool(StrEnum):
    """The tools of a model's own memory."""

    CORRECT = "correct"
    NOTE = "note"
    RECALL = "recall"
    REMEMBER = "remember"


_TEXT: dict[str, JsonValue] = {"type": "string"}

_OWN = {
    MemoryTool.CORRECT: ToolSpec(
        name=MemoryTool.CORRECT,
        description=(
            "Put right a remembered memory that you have found to be wrong: name it by the id that stands behind it "
            "(mem_…), and say in one sentence what is right. The rules of memory may refuse it."
        ),
        parameters={"type": "object", "properties": {"id": _TEXT, "text": _TEXT}, "required": ["id", "text"]},
    ),
    MemoryTool.NOTE: ToolSpec(
        name=MemoryTool.NOTE,
        description="Write down what must not be forgotten in this task. It stays in view until the task ends.",
        parameters={
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["constraints", "decisions", "done", "next"]},
                "text": _TEXT,
            },
            "required": ["kind", "text"],
        },
    ),
    MemoryTool.RECALL: ToolSpec(
        name=MemoryTool.RECALL,
        description=(
            "Ask long-term memory for what is known about something. Of what happened in this session, the turns that "
            "you are no longer shown included, it finds what has the words that you give."
        ),
        parameters={"type": "object", "properties": {"text": _TEXT}, "required": ["text"]},
    ),
    MemoryTool.REMEMBER: ToolSpec(
        name=MemoryTool.REMEMBER,
        description=(
            "Keep one stable fact, preference or proven outcome for later tasks, in one sentence. "
            "The rules of memory may refuse it, and say why."
        ),
        parameters={"type": "object", "properties": {"text": _TEXT}, "required": ["text"]},
    ),
}


def memory_tools(mode: MemoryMode) -> tuple[MemoryTool, ...]:
    """Return the tools of a model's own memory that a task's memory mode allows."""
    recalls = (MemoryTool.RECALL,) if mode.recalls else ()
    writes = (MemoryTool.REMEMBER, MemoryTool.CORRECT) if mode.remembers else ()
    return (MemoryTool.NOTE, *recalls, *writes)


def specs(tools: Sequence[Tool[..., Any]], skills: Sequence[OfferedSkill], mode: MemoryMode) -> list[ToolSpec]:
    """Return the specifications of a model's tools, those of the skills first."""
    own = [_OWN[name] for name in memory_tools(mode)]
    return [*(one.spec(told_name(one.name)) for one in skills), *map(_spec, tools), *own]


def parsed_arguments(arguments: str) -> tuple[dict[str, JsonValue], str]:
    """Return the arguments of a call, and what is wrong with them."""
    try:
        given = mapping(json.loads(arguments or "{}"), "arguments", InvalidArguments)
        # Numbers without end and half characters, which cannot be stored or sent.
        json.dumps(given, ensure_ascii=False, allow_nan=False).encode()
        levels = depth(given)
    except (ValueError, RecursionError) as error:
        return {}, f"its arguments are not JSON: {error}"
    except InvalidArguments:
        return {}, "its arguments are not a JSON object"
    if levels > DEEPEST_VALUE:
        return {}, f"its arguments are nested {levels} deep (at most {DEEPEST_VALUE} lists and objects)"
    return given, ""


def whole(text: str) -> str:
    """Return a text whose characters are all whole: half of a surrogate pair can be neither stored nor sent."""
    return text.encode(errors="replace").decode()


def _spec(tool: Tool[..., Any]) -> ToolSpec:
    return ToolSpec(name=told_name(tool.name), description=tool.description, parameters=tool.schema)
