"""Every command and every piece of code that the documentation shows is one that works."""

import doctest
import importlib
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import typer
from typer.main import get_command

from perdure import CallLimit, tool
from perdure.agent.rehearsal import differences, rehearsed
from perdure.crashpoints import CrashPoint
from perdure.documents import validated
from perdure.errors import InvalidTask
from perdure.mcp.shape import read_server
from perdure.memory.write_policies import read_policies
from perdure.names import (
    AGAIN,
    ANSWER,
    BINDING,
    COMPENSATED,
    CONVERSATION,
    DELIVER,
    FEEDBACK,
    MEMORY,
    MESSAGE,
    PAUSE,
    PROGRESS,
    QUESTIONS,
    REDIRECT,
    REPORT,
    RESULT,
    RESUME,
    SENDING,
    STAGE,
    STARTED_BY,
    TASK,
)
from perdure.policies.cases import read_cases, tried
from perdure.policies.shape import PolicySet, read_policy
from perdure.registry.agents import read_agent
from perdure.registry.prompts import read_prompt
from perdure.skills.cases import read_cases as read_skill_cases
from perdure.skills.library import read_skill
from perdure.toolbox import Toolbox
from perdure.values.tasks import AgentTask
from perdure.yaml_text import read_document
from tests.support import pages
from worker.cli.command_call import CliCommand
from worker.cli.commands import (
    AGENTS,
    AUDIT,
    COMMANDS,
    LESSONS,
    MEMBERS,
    MEMORIES,
    POLICIES,
    PROMPTS,
    SKILLS,
    TASKS,
    TOKENS,
    TOOLS,
)

DOCUMENTS = [Path("README.md"), Path("CONTRIBUTING.md"), *sorted(Path("docs").rglob("*.md"))]
EXAMPLES = [
    ".".join(path.with_suffix("").parts)
    for path in sorted(Path("perdure").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@tool(effect="read")
async def read_file(path: str) -> str:
    """Stand for the tool that an example names."""
    raise NotImplementedError(path)


def commands() -> Iterator[str]:
    for document in DOCUMENTS:
        for line in document.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"^(?:    )?(perdure [a-z][^#]*)", line):
                yield match.group(1).partition(" > ")[0].strip()


@pytest.mark.parametrize("line", sorted(set(commands())))
def test_a_command_is_one_that_there_is(line: str) -> None:
    _, name, *arguments = shlex.split(line)
    table = COMMANDS
    while inner := {
        "memories": MEMORIES,
        "members": MEMBERS,
        "audit": AUDIT,
        "lessons": LESSONS,
        "agents": AGENTS,
        "tools": TOOLS,
        "policies": POLICIES,
        "prompts": PROMPTS,
        "skills": SKILLS,
        "tasks": TASKS,
        "tokens": TOKENS,
    }.get(name):
        table, (name, *arguments) = inner, arguments
    module, _, function = table[name].partition(":")
    app = typer.Typer()
    app.command(name=name, cls=CliCommand)(getattr(importlib.import_module(module), function))
    get_command(app).make_context(name, arguments)


@pytest.mark.parametrize("module", EXAMPLES)
def test_the_examples_in_docstrings_are_true(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried
    assert not failed


def test_the_rooms_on_the_page_about_the_architecture_are_there() -> None:
    page = Path("docs/architecture.md").read_text(encoding="utf-8")
    rooms = re.findall(r"`((?:perdure|workflows|activities|worker)/[a-z_/]+)`", page)
    assert len(rooms) > 20
    assert [room for room in rooms if not (Path(room).is_dir() or Path(f"{room}.py").is_file())] == []


def blocks(field: str) -> list[str]:
    found: list[str] = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        written = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        found += [block for block in written if f"\n{field}:" in f"\n{block}"]
    return found


@pytest.mark.parametrize("text", blocks("steps"), ids=lambda text: text.splitlines()[0])
def test_a_skill_can_be_read(text: str) -> None:
    assert read_skill(text).steps


@pytest.mark.parametrize("text", [*blocks("instructions"), *blocks("model")], ids=lambda text: text.splitlines()[0])
def test_an_agent_can_be_read(text: str) -> None:
    assert read_agent(text).tools


@pytest.mark.parametrize("text", [*blocks("command"), *blocks("url")], ids=lambda text: text.splitlines()[0])
def test_an_mcp_server_can_be_read(text: str) -> None:
    assert read_server(text).secrets


@pytest.mark.parametrize("text", blocks("default"), ids=lambda text: text.splitlines()[1])
def test_write_policies_can_be_read(text: str) -> None:
    assert "default" in read_policies(text, "policies.yaml")


@pytest.mark.parametrize("text", blocks("template"), ids=lambda text: text.splitlines()[0])
def test_a_prompt_can_be_read(text: str) -> None:
    assert read_prompt(text).inputs


@pytest.mark.parametrize("text", blocks("rationale"), ids=lambda text: text.splitlines()[0])
def test_a_policy_can_be_read(text: str) -> None:
    assert read_policy(text).rationale


@pytest.mark.parametrize("text", [one for one in blocks("cases") if "skill:" in one], ids=lambda text: text[:20])
async def test_cases_of_a_skill_end_as_they_say(text: str) -> None:
    read = read_skill_cases(text, "cases")
    [skill] = [one for one in map(read_skill, blocks("steps")) if one.name == read.skill]
    tools = Toolbox([read_file])
    assert [differences(case, await rehearsed(skill, case, tools)) for case in read.cases] == [[] for _ in read.cases]


@pytest.mark.parametrize("text", [one for one in blocks("cases") if "skill:" not in one], ids=lambda text: text[:20])
def test_cases_can_be_read_and_are_as_the_policies_say(text: str) -> None:
    policies = PolicySet.of(map(read_policy, blocks("rationale")))
    cases = read_cases(text, "cases")
    assert [case.differences(tried(policies, case)) for case in cases] == [[] for _ in cases]


@pytest.mark.parametrize("text", blocks("task_id"), ids=lambda text: text.splitlines()[0])
def test_a_task_can_be_read(text: str) -> None:
    assert validated(AgentTask, read_document(text, "task", InvalidTask), "", InvalidTask).workflow_id


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_a_link_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (document.parent / link).exists()] == []


PLAYED = {Path("docs/quickstart-python.md"), Path("docs/quickstart-skills.md"), Path("docs/testing.md")}
"""Pages that tests play from their first block to their last."""

READ = ("steps", "instructions", "model", "command", "url", "template", "rationale", "cases", "task_id", "default")
"""A field of each kind of YAML that tests here read."""


@pytest.mark.parametrize("document", sorted({*DOCUMENTS} - PLAYED), ids=str)
def test_every_block_of_code_is_tested(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The reader's own module.
    monkeypatch.setitem(sys.modules, "shop", ModuleType("shop"))
    for block in pages.blocks(document):
        match block.language:
            case "python":
                exec(
                    compile(block.text, str(document), "exec"),
                    {"__name__": "shown", "tool": tool, "CallLimit": CallLimit},
                )
            case "json":
                json.loads(block.text)
            case "yaml":
                # The first line that a skill may have, for editors.
                comment = block.text.startswith("#") and block.text.count("\n") == 1
                assert comment or any(f"\n{field}:" in f"\n{block.text}" for field in READ), block.text
            case other:
                assert other == "", f"{other}: nothing tests it"


def test_every_module_and_room_of_perdure_has_its_place_on_the_map() -> None:
    rooms = Path("CONTRIBUTING.md").read_text(encoding="utf-8").split("### Inside `perdure/`")[1].split("\n### ")[0]
    named = {word.rstrip("/") for code in re.findall(r"`([^`]+)`", rooms) for word in code.split()}
    found = {path.stem for path in Path("perdure").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found - named - {"__init__"} == set()


def test_every_query_update_and_memo_is_documented() -> None:
    said = Path("docs/temporal.md").read_text(encoding="utf-8").split("## Names")[1]
    queries = (PROGRESS, QUESTIONS, MEMORY, CONVERSATION, RESULT, STAGE, REPORT)
    ours = (
        ANSWER,
        DELIVER,
        PAUSE,
        RESUME,
        MESSAGE,
        REDIRECT,
        FEEDBACK,
        *queries,
        TASK,
        SENDING,
        STARTED_BY,
        BINDING,
        COMPENSATED,
        AGAIN,
    )
    assert [name for name in ours if f"`{name}`" not in said] == []


def test_every_commit_point_is_documented() -> None:
    text = Path("docs/testing.md").read_text(encoding="utf-8")
    assert {point for point in CrashPoint if f"| `{point}` |" not in text} == set()


def test_every_page_of_the_console_has_a_picture_that_can_be_taken_anew() -> None:
    shown = set(re.findall(r"\(pictures/(console-[\w-]+)\.png\)", Path("docs/console.md").read_text(encoding="utf-8")))
    taken = set(re.findall(r'"(console-[\w-]+)"', Path("tests/pictures.py").read_text(encoding="utf-8")))
    assert shown == taken
    templates = Path("worker/http/console/templates").glob("*.html")
    pages = {one.stem for one in templates if one.read_text(encoding="utf-8").startswith("{% extends")} - {"problem"}
    assert {page for page in pages if not any(f"{one}-".startswith(f"console-{page}-") for one in shown)} == set()
