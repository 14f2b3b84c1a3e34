"""A plan that worked, as the draft of a skill: the calls of a model's turns, in their order, as steps. Pure."""

import datetime
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

import yaml
from pydantic import JsonValue

from perdure.agent.tool_specs import MemoryTool
from perdure.agent.turns import Conversation, WantedCall
from perdure.errors import InvalidTask

_FIELD = re.compile(r"(?!(?:in|true|false|null)$)[a-z_][a-z0-9_]*")
"""A key of a mapping that can stand behind a dot in an expression."""

_MEMORY = frozenset(tool.value for tool in MemoryTool)
"""What a model calls of its own memory: no step does that."""

_SHORTEST = 4
"""Characters of a text below which it is taken for the same as another only by chance: a choice."""


def proposed(
    name: str,
    goal: str,
    conversation: Conversation,
    skills: Mapping[str, str],
    *,
    approve: Collection[str] = (),
    task: str,
    day: datetime.date,
) -> str:
    """Return the draft of a skill that does what a model did, as YAML for a person to read and change.

    A call that failed, and those of the model's own memory, are left out. An argument that is what an earlier step
    returned refers to that step; one that the goal names becomes an input, with the task's own as its default.

    What the agent had to be permitted each time, a person has to permit in the skill, too.

    Args:
        name: What the skill is to be called.
        goal: What the task worked towards.
        conversation: The turns of its model.
        skills: The tools and the skills that a call may name, each with the kind of step that it becomes.
        approve: Those that a person had to approve each time.
        task: The task's id, for the changelog.
        day: The day on which it is drafted.

    Raises:
        InvalidTask: Some of its calls are not known here, or none of them can be a step.
    """
    # What was said before its first turn stands in a turn that is not counted.
    if (left := conversation.begun - len(conversation.turns)) > 0:
        problem = f"the first {left} of its {conversation.begun} turns were summarised: what it called is not known"
        raise InvalidTask("task", problem, fix="choose a task with fewer turns")
    inputs: dict[str, Any] = {}
    outputs: dict[str, JsonValue] = {}
    steps: list[dict[str, Any]] = []
    unasked: set[str] = set()
    for number, (wanted, output) in enumerate(_calls(conversation, skills), 1):
        step = f"step{number}"
        given = wanted.arguments
        if given.ref:
            called = f"{step}, its call {number}, gave {wanted.tool!r} {given.size:,} characters"
            problem = f"{called}, which are kept apart from its turns and are too many for the text of a skill"
            raise InvalidTask("task", problem, fix="choose a task whose calls take less, or write the skill yourself")
        arguments: Any = given.inline if isinstance(given.inline, dict) else {}
        said = {key: _argument(key, value, goal, outputs, inputs) for key, value in arguments.items()}
        kind = skills[wanted.tool]
        written = {"id": step, kind: wanted.tool, "args" if kind == "tool" else "inputs": said}
        if wanted.tool in approve and kind == "tool":
            written["approve"] = f"May {wanted.tool} be called?"
        elif wanted.tool in approve:
            unasked.add(wanted.tool)
        steps.append(written)
        outputs[f"steps.{step}.output"] = output
    if not steps:
        raise InvalidTask("task", "its model called no tool that ended well", fix="choose a task that did something")
    draft: dict[str, Any] = {
        "name": name,
        "description": " ".join(goal.split())[:500],
        "changelog": [{"date": day, "change": f"Drafted from what the task {task} did.{_told(unasked)}"}],
        **({"inputs": inputs} if inputs else {}),
        "steps": steps,
        "output": f"${{steps.{steps[-1]['id']}.output}}",
    }
    return yaml.safe_dump(draft, sort_keys=False, allow_unicode=True, width=120)


def _calls(conversation: Conversation, skills: Mapping[str, str]) -> Iterator[tuple[WantedCall, JsonValue]]:
    for turn in conversation.turns:
        for place, wanted in enumerate(turn.calls):
            gave = turn.gave(place)
            if gave is None or gave.problem or wanted.tool in _MEMORY:
                continue
            if wanted.tool not in skills:
                fix = "name its module in PERDURE_TOOLS, or declare it with its MCP server"
                raise InvalidTask("task", f"its model called {wanted.tool!r}, which nothing here is called", fix=fix)
            yield wanted, gave.output.inline


def _told(unasked: Iterable[str]) -> str:
    """Return what the changelog says of skills that a step cannot ask about."""
    return "".join(
        f" A person approved each run of the skill {one}; no step of this one asks." for one in sorted(unasked)
    )


def _argument(
    name: str, value: JsonValue, goal: str, outputs: Mapping[str, JsonValue], inputs: dict[str, Any]
) -> JsonValue:
    """Return an argument as a step writes it; one that becomes an input is noted among the inputs."""
    if isinstance(value, str) and len(value) >= _SHORTEST:
        for path, output in reversed(list(outputs.items())):
            if (found := _within(path, output, value)) is not None:
                return f"${{{found}}}"
        if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", goal):
            called = _input(name, value, inputs)
            return f"${{inputs.{called}}}"
    return _literal(value)


def _within(path: str, output: JsonValue, value: str) -> str | None:
    """Return where in an output a text stands, as an expression; None: nowhere."""
    if output == value:
        return path
    match output:
        case dict():
            places = ((f"{path}.{key}", one) for key, one in output.items() if _FIELD.fullmatch(key))
        case list():
            places = ((f"{path}[{place}]", one) for place, one in enumerate(output))
        case _:
            return None
    found = (_within(place, one, value) for place, one in places)
    return next((one for one in found if one is not None), None)


def _input(name: str, value: str, inputs: dict[str, Any]) -> str:
    """Return the name of the input that has a value, a new one if there is none."""
    known = next((key for key, spec in inputs.items() if spec["default"] == value), None)
    if known is not None:
        return known
    base = re.sub(r"[^a-z0-9_]", "_", name.lower())[:30].lstrip("0123456789") or "input"
    names = (base if number == 1 else f"{base}{number}" for number in count(1))
    called = next(one for one in names if one not in inputs)
    inputs[called] = {"type": "string", "default": value}
    return called


def _literal(value: JsonValue) -> JsonValue:
    """Return a value in which no expression is evaluated."""
    match value:
        case str():
            return value.replace("${", "$${")
        case list():
            return [_literal(one) for one in value]
        case dict():
            return {key: _literal(one) for key, one in value.items()}
        case _:
            return value
