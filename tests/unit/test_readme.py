"""What the README shows is accepted by what it describes."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from perdure.agent.steps.validation import check_skill
from perdure.documents import validated
from perdure.skills.library import read_skill
from perdure.tasks import AgentTask
from perdure.toolbox import Toolbox
from perdure.tools import Tool
from perdure.yaml_text import read_document

README = Path("README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_its_skill_passes_the_checks_with_its_tool() -> None:
    names: dict[str, Any] = {"billing": SimpleNamespace(Busy=OSError)}
    exec(compile(blocks("python")[0], "README.md", "exec"), names)
    tools: list[Tool[..., Any]] = [value for value in names.values() if isinstance(value, Tool)]
    [skill, _] = blocks("yaml")
    check_skill(read_skill(skill, "README.md"), Toolbox(tools))


def test_its_task_is_one() -> None:
    [_, task] = blocks("yaml")
    assert validated(AgentTask, read_document(task, "README.md"), "").skill == "invoicing"
