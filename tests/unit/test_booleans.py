"""A boolean that became a number is found wherever it stands; one that stays a boolean is none."""

from typing import Any

import pytest
from pydantic import Field, JsonValue

from perdure.booleans import boolean_as_number
from perdure.model import Model


class Bounds(Model):
    tokens: int = 1
    hours: float | None = None
    exact: bool = False


class Bounded(Model):
    bounds: tuple[Bounds, ...] = ()
    named: dict[str, Bounds] = Field(default_factory=dict[str, Bounds])
    renamed: int = Field(default=1, alias="other")
    inputs: JsonValue = None


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"bounds": [{"tokens": 2}, {"tokens": True}]}, (("bounds", 1, "tokens"), 1)),
        ({"named": {"a": {"hours": False}}}, (("named", "a", "hours"), 0.0)),
        ({"other": True}, (("other",), 1)),
        ({"bounds": [{"exact": True, "tokens": 1, "hours": None}]}, None),
        ({"inputs": {"a": [True, 1, {"b": False}]}}, None),
        ({"bounds": (Bounds(exact=True),)}, None),
        ({}, None),
    ],
)
def test_where_a_boolean_became_a_number(given: dict[str, Any], found: object) -> None:
    assert boolean_as_number(Bounded.model_validate(given), given) == found
