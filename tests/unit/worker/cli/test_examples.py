"""The help of the commands used most has an example, which can be typed so."""

import importlib
import re
import shlex

import pytest
import typer
from typer.main import get_command

from worker.cli import command_call
from worker.cli.commands import COMMANDS, docstring_of

USED_MOST = ("up", "worker", "run", "status", "answer", "cancel", "inbox", "recall", "remember", "doctor", "check")


@pytest.mark.parametrize("name", USED_MOST)
def test_the_help_has_an_example(name: str) -> None:
    module, _, function = COMMANDS[name].partition(":")
    example = re.search(r"Example: perdure (.*)$", docstring_of(module, function), re.MULTILINE)
    assert example
    called, *arguments = shlex.split(example.group(1))
    assert called == name
    app = typer.Typer()
    app.command(name=name, cls=command_call.CliCommand)(getattr(importlib.import_module(module), function))
    get_command(app).make_context(name, arguments)
