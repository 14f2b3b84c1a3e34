"""Arguments against a server's schema: refused by their names, without their values, and nothing is fetched."""

from typing import Any

import pytest

from perdure.errors import InvalidArguments, InvalidInput
from perdure.mcp.schemas import LARGEST_SCHEMA, ArgumentSchema

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "maxLength": 9},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
    },
    "required": ["path"],
    "additionalProperties": False,
    "$defs": {"line": {"type": "integer", "minimum": 1}},
}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, r"args\.path: is missing"),
        ({"path": "secret-and-too-long"}, r"args\.path: does not fit the tool's schema: maxLength 9"),
        ({"path": "a", "lines": [1, "hunter2"]}, r'args\.lines\[1\]: does not fit the tool\'s schema: type "integer"'),
        ({"path": "a", "lines": [0]}, r"args\.lines\[0\]: .* minimum 1"),
        ({"path": "a", "liens": []}, r"args\.liens: is no argument of the tool .*'lines'"),
    ],
)
def test_what_does_not_fit_is_named_and_not_quoted(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidArguments, match=problem) as raised:
        ArgumentSchema(SCHEMA).check(arguments, "args")
    assert "hunter2" not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_what_is_known_before_the_others_is_checked_by_itself() -> None:
    schema = ArgumentSchema(SCHEMA)
    schema.check({"lines": [1]}, "args", partial=True)
    with pytest.raises(InvalidArguments, match=r"args\.lines\[0\]"):
        schema.check({"lines": ["x"]}, "args", partial=True)
    with pytest.raises(InvalidArguments, match=r"args\.path: is missing"):
        schema.require_names(["lines"], "args")


@pytest.mark.parametrize(
    "schema",
    [{"type": "nothing"}, {"type": "object", "description": "x" * LARGEST_SCHEMA}, {"properties": {"a": 3}}],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="inputSchema"):
        ArgumentSchema(schema)


def test_no_other_schema_is_fetched() -> None:
    schema = ArgumentSchema({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}})
    with pytest.raises(InvalidArguments, match="cannot be used"):
        schema.check({"a": 1}, "args")
