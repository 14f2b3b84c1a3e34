"""The result of a once tool as its claim keeps it. Pure."""

import json
from typing import Any

from pydantic import JsonValue

from perdure.errors import InvalidInput, ResultTooLarge
from perdure.model import depth

_FORMAT = 1
"""The version of this stored form."""

_DEEPEST_CARRIED = 160
"""Lists and mappings within one another in a result that a task can still carry, more than a tool may return: a choice.
Parsers stop at 200, and with the messages around it one of 197 could not be read by its workflow, nor one of 192 after
a rollover (measured)."""


def packed(output: JsonValue) -> str:
    """Return the stored form of a result."""
    return json.dumps({"format": _FORMAT, "output": output}, ensure_ascii=False)


def packed_problem(problem: ResultTooLarge | InvalidInput) -> str:
    """Return the stored form of why no step can carry a result."""
    parts = (problem.field, problem.problem, problem.fix) if isinstance(problem, InvalidInput) else problem.args
    return json.dumps({"format": _FORMAT, "problem": type(problem).__name__, "parts": parts})


def unpacked(packed: str) -> JsonValue:
    """Return a stored result: what it may be was checked before it was stored, perhaps by a newer build.

    Raises:
        InvalidInput: The tool returned what no step can carry, or a newer build stored what only its steps can; raised
            anew for every attempt.
        ResultTooLarge: It returned more than a step can carry, or a problem that this build does not know.
    """
    content: dict[str, Any] = json.loads(packed)
    if "problem" not in content:
        if (levels := depth(content["output"])) > _DEEPEST_CARRIED:
            raise InvalidInput("result", f"is stored, and nested {levels} deep", fix=f"at most {_DEEPEST_CARRIED}")
        return content["output"]
    if content["problem"] == InvalidInput.__name__:
        field, problem, fix = content["parts"]
        raise InvalidInput(field, problem, fix=fix)
    raise ResultTooLarge(*content["parts"])
