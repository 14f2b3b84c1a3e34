"""What is read of a model's answer to a step: the fields that were asked for, each of its type, or what is wrong."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.agent.steps.prompt_steps import answer_tools, read_answer
from perdure.models.language.conversation import Replied, Reply, ToolUse, Usage
from perdure.skills.templates import InputType

FIELDS = {"name": InputType.STRING, "count": InputType.INTEGER, "sure": InputType.BOOLEAN}


def replied(*answers: str, text: str = "", tool: str = "answer", is_cut: bool = False) -> Replied:
    calls = tuple(ToolUse(id=str(number), tool=tool, arguments=one) for number, one in enumerate(answers))
    return Replied(reply=Reply(text=text, calls=calls), usage=Usage(), is_cut=is_cut)


def test_an_answer_has_the_fields_that_were_asked_for() -> None:
    whole = {"name": "MIT", "count": 2, "sure": True}
    assert read_answer(FIELDS, replied(json.dumps(whole))) == (whole, "")
    [tool] = answer_tools(FIELDS)
    assert tool.parameters["required"] == ["name", "count", "sure"]
    properties: Any = tool.parameters["properties"]
    assert [one["type"] for one in properties.values()] == ["string", "integer", "boolean"]


@pytest.mark.parametrize(
    ("turn", "problem"),
    [
        (replied(text="MIT"), "call 'answer'"),
        (replied("{}", tool="look"), "call 'answer'"),
        (replied("{"), "not JSON"),
        (replied("[]"), "not a JSON object"),
        (replied('{"name": "MIT", "sure": true}'), "'count' is missing"),
        (replied('{"name": "MIT", "count": "2", "sure": true}'), "'count' is not a whole number"),
        (replied('{"name": "MIT", "count": 2, "sure": true, "why": "x"}'), "'why' is no field of it"),
        (replied('{"name": "MIT", "count": 2, "sure": true}', is_cut=True), "cut off"),
    ],
)
def test_what_cannot_be_used_is_told(turn: Replied, problem: str) -> None:
    assert problem in read_answer(FIELDS, turn)[1]


@given(st.text())
def test_without_fields_it_is_the_text(text: str) -> None:
    found, problem = read_answer({}, replied(text=text))
    assert (found, bool(problem)) == (text.strip(), not text.strip())
    assert answer_tools({}) == []
