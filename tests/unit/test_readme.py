"""What the README shows is accepted by what it describes; that it runs is tested with the documentation's pages."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bench.table import RESULTS, written
from perdure.agent.steps.validation import check_skill
from perdure.skills.library import read_skill
from perdure.toolbox import Toolbox
from perdure.tools import Tool

README = Path("README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_its_skill_passes_the_checks_with_its_tool() -> None:
    [code], [skill] = blocks("python"), blocks("yaml")
    names: dict[str, Any] = {"shop": SimpleNamespace()}
    exec(compile(code, "README.md", "exec"), names)
    tools: list[Tool[..., Any]] = [value for value in names.values() if isinstance(value, Tool)]
    check_skill(read_skill(skill, "README.md"), Toolbox(tools))


def test_its_figures_are_those_that_were_measured() -> None:
    figures = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert written(README, figures) == README, "python -m bench.table writes them"
    assert written(README, {**figures, "crash.lines": 26}) != README


def test_its_first_screen_shows_why_before_it_shows_how() -> None:
    first = README.split("## ")[0]
    shown = [first.index(part) for part in ("no model", "once.svg", "pip install", "```python", "temporal-ui.png")]
    assert shown == sorted(shown)
    assert len([line for line in blocks("python")[0].splitlines() if line.strip()]) <= 12
