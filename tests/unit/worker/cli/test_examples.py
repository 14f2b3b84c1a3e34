"""The help of every command has an example, which can be typed so."""

import importlib
import inspect
import re
import shlex
from collections.abc import Iterator, Mapping

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from worker.cli import command_call, commands


def every(table: Mapping[str, str], before: str = "") -> Iterator[tuple[str, str]]:
    """Return each command as it is typed, and where it is; of a group, each of its commands."""
    for name, place in table.items():
        if place.startswith("worker.cli.commands:"):
            group: Mapping[str, str] = getattr(commands, name.upper())
            yield from every(group, f"{before}{name} ")
        else:
            yield f"{before}{name}", place


def without_shell(words: list[str]) -> list[str]:
    """Return the words of an example up to what the shell makes of them."""
    return words[: next((place for place, word in enumerate(words) if word in (">", "|")), None)]


TYPED: dict[str, set[str]] = {}
for _typed, _place in every(commands.COMMANDS):
    TYPED.setdefault(_place, set()).add(_typed)


@pytest.mark.parametrize(("typed", "place"), [pytest.param(*one, id=one[0]) for one in every(commands.COMMANDS)])
def test_the_help_has_an_example(typed: str, place: str) -> None:
    module, _, function = place.partition(":")
    command = getattr(importlib.import_module(module), function)
    examples = re.findall(
        r"Example: (?:eval .*\()?perdure (.*?)(?:\).*)?$", inspect.getdoc(command) or "", re.MULTILINE
    )
    assert examples
    app = typer.Typer()
    app.command(name=typed, cls=command_call.CliCommand)(command)
    for example in examples:
        words = without_shell(shlex.split(example))
        # One that is in a group, and outside as well, is typed either way.
        called = next(count for count in range(1, 4) if " ".join(words[:count]) in TYPED[place])
        get_command(app).make_context(typed, words[called:])


GROUPS = {typed.rpartition(" ")[0] for typed, _ in every(commands.COMMANDS)} - {""}


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_the_help_of_a_group_has_an_example_of_one_of_its_commands(group: str) -> None:
    for words in ([*group.split(), "--help"], group.split()):
        ran = CliRunner().invoke(commands.app, words, env={"COLUMNS": "200"})
        example = re.search(rf"Example: perdure ({group} [a-z-]+)", ran.output)
        assert example is not None, ran.output
        assert example[1] in {typed for typed, _ in every(commands.COMMANDS)}
    listed = CliRunner().invoke(commands.app, ["--help"], env={"COLUMNS": "200"}).output
    assert "Example: " not in listed


def test_control_every_group_is_looked_into() -> None:
    found = [typed for typed, _ in every(commands.COMMANDS)]
    assert {"memories members add", "audit verify", "skills test"} < {*found}
    assert len(found) > 80
