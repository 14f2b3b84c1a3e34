"""The page about JSON is what the types say now, and says of each command that prints JSON what it prints."""

import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from worker.cli import commands
from worker.cli.json_output import PAGE, printed_page
from worker.cli.json_values import OBJECTS, PRINTED

SAID = PRINTED | OBJECTS


def called(table: Mapping[str, str] = commands.COMMANDS, before: str = "") -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each command and its function."""
    for name, place in table.items():
        module, _, function = place.partition(":")
        if inner := getattr(commands, name.upper(), None) if module == commands.__name__ else None:
            yield from called(inner, f"{before}{name} ")
        else:
            yield before + name, getattr(importlib.import_module(module), function)


CALLED = dict(called())


def plain(command: str) -> str:
    """Return a command without the option or the argument that decides what it prints."""
    return re.split(r" (?=--|MESSAGE)", command)[0]


def test_the_page_is_as_the_types_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == printed_page(), "make reference writes it anew"


def test_each_link_on_it_leads_to_a_section() -> None:
    page = printed_page()
    sections = {title.lower() for title in re.findall(r"^## (.*)$", page, re.M)}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= sections


def test_each_command_is_one_that_there_is() -> None:
    for command in SAID:
        assert plain(command) in CALLED, command


def test_each_command_that_prints_json_is_on_it() -> None:
    printing = {name for name, function in CALLED.items() if "as_json" in inspect.signature(function).parameters}
    assert printing - set(map(plain, SAID)) == set()


def test_it_names_each_key_of_an_object_that_a_command_puts_together() -> None:
    checked = 0
    for command in OBJECTS:
        function = CALLED[plain(command)]
        named = {
            key
            for one, keys in OBJECTS.items()
            if plain(one) == plain(command)
            for key in (keys[0] if isinstance(keys, list) else keys)
        }
        for shown in re.findall(r"show_json\(\[?\{(.*?)\}", inspect.getsource(function)):
            for key in re.findall(r'"(\w+)":', shown):
                checked += 1
                assert key in named, (command, key)
    assert checked > 40
