"""A pattern is compiled when it is first used, and each of them can be."""

import re
import sys
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest

import perdure.memory.extraction
from perdure.memory.extraction.patterns import regex


def test_a_pattern_is_compiled_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, compile_ = list[str](), re.compile

    def compiling(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_(pattern, flags)

    monkeypatch.setattr(re, "compile", compiling)
    word = regex(r"(\w+)", re.IGNORECASE)
    assert not compiled
    assert word.findall("one two") == ["one", "two"]
    assert (word.sub("x", "one two"), word.pattern, word.groups) == ("x x", r"(\w+)", 1)
    assert compiled == [r"(\w+)"], "once"


def test_each_pattern_can_be_compiled() -> None:
    for module in walk_packages(perdure.memory.extraction.__path__, "perdure.memory.extraction."):
        import_module(module.name)
    kind = type(regex(""))
    late: list[Any] = [
        value
        for name, module in list(sys.modules.items())
        if name.startswith("perdure.memory.extraction.")
        for value in vars(module).values()
        if type(value) is kind
    ]
    assert len(late) > 300
    assert all(one.pattern for one in late)
