"""A negative number is a value, wherever it stands; what looks like an option and is none is refused as ever."""

import re
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from worker.cli import commands


@pytest.mark.parametrize(
    ("line", "value", "because", "as_json"),
    [
        ("task-1 step -5", "-5", "", False),
        ("task-1 step -5.25 --json", "-5.25", "", True),
        ("task-1 --because why step -.5e3", "-.5e3", "why", False),
        ("--json task-1 step -5 --because -7", "-5", "-7", True),
        ("task-1 step -- -5", "-5", "", False),
        ("task-1 step 5", "5", "", False),
        ("task-1 -5 7", "7", "", False),
    ],
)
def test_an_answer_may_be_negative(line: str, value: str, because: str, as_json: bool) -> None:
    group: Any = get_command(commands.app)
    command: Any = group.get_command(None, "answer")
    found: dict[str, Any] = command.make_context("answer", line.split()).params
    assert (found["value"], found["because"], found["as_json"]) == (value, because, as_json)


@pytest.mark.parametrize("line", ["task-1 step --becuase x", "task-1 step -x", "task-1 step -5x"])
def test_what_is_no_number_is_still_an_option(line: str) -> None:
    ran = CliRunner().invoke(commands.app, ["answer", *line.split()])
    assert (ran.exit_code, bool(re.search("No such option", ran.stderr))) == (2, True)
