"""What the README shows is accepted by what it describes; that it runs is tested with the documentation's pages."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.table import REPEATED, RESULTS, repeated, written
from chaos import table as chaos
from perdure import AgentTask
from perdure.agent.steps.validation import check_skill, checked_inputs
from perdure.skills.library import read_skill
from perdure.toolbox import Toolbox
from perdure.tools import Tool
from perdure.yaml_text import read_document

README = Path("README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_its_skill_passes_the_checks_with_its_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    [code], [skill, task] = blocks("python"), blocks("yaml")
    monkeypatch.setitem(sys.modules, "shop", SimpleNamespace())
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    tools: list[Tool[..., Any]] = [value for value in names.values() if isinstance(value, Tool)]
    read = read_skill(skill, "README.md")
    check_skill(read, Toolbox(tools))
    checked_inputs(read, AgentTask.model_validate(read_document(task, "README.md")).inputs)


def test_its_figures_are_those_that_were_measured() -> None:
    figures = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert written(README, figures) == README, "python -m bench.table writes them"
    assert written(README, {**figures, "crash.lines": 26}) != README


@pytest.mark.parametrize(("page", "text"), REPEATED)
def test_other_pages_repeat_its_figures_as_they_are(page: str, text: str) -> None:
    figures: dict[str, float] = json.loads(RESULTS.read_text(encoding="utf-8"))
    told = Path(page).read_text(encoding="utf-8")
    assert repeated(told, text, figures) == told, "python -m bench.table writes them"
    others = {name: 3 * value for name, value in figures.items()}
    again = repeated(told, text, others)
    assert again != told, "the page does not have this text"
    assert repeated(again, text, figures) == told
    assert repeated(told, text, {}) == told, "what was never measured stays as it is"


def test_its_table_of_chaos_is_of_the_run_that_was_published() -> None:
    figures = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert chaos.written(README, figures) == README, "python -m chaos writes it"
    assert chaos.written(README, {**figures, "chaos.kills": 1}) != README
    assert "| the gateway |" in chaos.markdown(figures)


def test_its_first_screen_shows_why_before_it_shows_how() -> None:
    first = README.split("## ")[0]
    shown = [first.index(part) for part in ("not a model", "once.svg", "pip install", "```python", "temporal-ui.png")]
    assert shown == sorted(shown)
    assert len([line for line in blocks("python")[0].splitlines() if line.strip()]) <= 12
