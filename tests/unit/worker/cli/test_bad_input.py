"""What people get wrong is said in one sentence, with the thing and the fix, and an exit code that means something."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.unit.worker.cli.bad_input import ARGUMENTS, AWAY, HOMES, MODULES, SETTINGS, SKILL, SKILLS, TASK, TASKS
from worker.cli.commands import app


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills/greet.yaml").write_text(SKILL, encoding="utf-8")
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.setenv("PERDURE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PERDURE_SKILLS", json.dumps([str(tmp_path / "skills")]))
    monkeypatch.setenv("PERDURE_TOOLS", json.dumps(["tests.support.tools"]))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(*arguments: str, status: int = 2, env: dict[str, str] | None = None) -> str:
    ran: Any = CliRunner().invoke(app, list(arguments), env=env)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    assert (ran.exit_code, ran.stdout) == (status, ""), ran.output
    assert "Traceback" not in ran.stderr
    return " ".join(ran.stderr.split())


def test_there_are_as_many_of_each_kind_as_were_tried_by_hand() -> None:
    kinds = {"tasks": TASKS, "skills": SKILLS, "arguments": ARGUMENTS, "settings": SETTINGS, "modules": MODULES}
    found = {kind: len(cases) for kind, cases in {**kinds, "homes": HOMES, "away": AWAY}.items()}
    tried = {"tasks": 29, "skills": 22, "arguments": 41, "settings": 17, "modules": 9, "homes": 13, "away": 13}
    assert {kind for kind, number in tried.items() if found[kind] < number} == set()
    assert sum(found.values()) >= 150


@pytest.mark.parametrize("case", TASKS)
def test_a_task(here: Path, case: str) -> None:
    text, thing, fix = TASKS[case]
    (here / "task.yaml").write_text(text, encoding="utf-8")
    told = refused("check", "task.yaml")
    assert thing in told
    assert fix in told


@pytest.mark.parametrize("case", SKILLS)
def test_a_skill(here: Path, case: str) -> None:
    text, thing, fix = SKILLS[case]
    (here / "skills/greet.yaml").write_text(text, encoding="utf-8")
    told = refused("check", "skills/greet.yaml")
    assert thing in told
    assert fix in told


@pytest.mark.parametrize("line", ARGUMENTS)
def test_a_command(line: str) -> None:
    thing, fix = ARGUMENTS[line]
    told = refused(*shlex.split(line))
    assert thing in told
    assert fix in told


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting(setting: str) -> None:
    thing, fix = SETTINGS[setting]
    name, _, value = setting.partition("=")
    told = refused("tools", "list", env={f"PERDURE_{name}": value})
    assert thing in told
    assert fix in told


def test_of_all_settings_that_cannot_be_used_it_is_told_why() -> None:
    wrong = {"PERDURE_REDIS_URL": "6379", "PERDURE_FORGETTING_CRON": "x", "PERDURE_TOOL_ATTEMPTS": "many"}
    told = refused("doctor", env=wrong)
    assert "redis_url: must be a URL" in told
    where = "or its line in perdure.toml)"
    assert (
        f"forgetting_cron: must be five fields such as '0 3 * * *', or off (set PERDURE_FORGETTING_CRON {where}" in told
    )
    fix = f"write it in digits; set PERDURE_TOOL_ATTEMPTS {where}"
    assert f"tool_attempts: 'many' is not a whole number ({fix}" in told


@pytest.mark.parametrize("command", ["check task.yaml", "skills list", "agents list"])
@pytest.mark.parametrize("setting", ["skills", "agents", "prompts", "mcp_servers"])
def test_a_folder_that_is_not_there(here: Path, setting: str, command: str) -> None:
    told = refused(*command.split(), env={f"PERDURE_{setting.upper()}": '["nosuchdir"]'})
    assert f"{setting}: {here}/nosuchdir is not a folder (make it, or correct PERDURE_{setting.upper()})" in told


@pytest.mark.parametrize("case", MODULES)
def test_a_module_with_tools(here: Path, case: str) -> None:
    text, thing, fix = MODULES[case]
    (here / "shop.py").write_text(text, encoding="utf-8")
    told = refused("tools", "list", env={"PERDURE_TOOLS": '["./shop.py"]'})
    # What many modules may have in common is named by the tool.
    assert str(here / "shop.py") in told or "tool recall" in told
    assert thing in told
    assert fix in told


@pytest.mark.parametrize("home", HOMES)
def test_a_home(home: str) -> None:
    thing, fix = HOMES[home]
    told = refused("up", "--no-worker", status=1, env={"PERDURE_HOME": home})
    assert thing in told
    assert fix in told


@pytest.mark.parametrize("line", AWAY)
def test_a_command_while_nothing_answers(line: str) -> None:
    nowhere = {
        "TEMPORAL_ADDRESS": "127.0.0.1:9",
        "PERDURE_REDIS_URL": "redis://127.0.0.1:9/0",
        "PERDURE_WEAVIATE_URL": "http://127.0.0.1:9",
        "PERDURE_WEAVIATE_GRPC_PORT": "10",
    }
    told = refused(*shlex.split(line), status=3, env=nowhere)
    assert "temporal: 127.0.0.1:9 does not answer" in told
    assert "start it, or correct TEMPORAL_ADDRESS" in told


def test_an_address_that_is_none_is_named() -> None:
    env = {"PERDURE_REDIS_URL": "redis://127.0.0.1:9/0", "PERDURE_WEAVIATE_URL": "http://127.0.0.1:9"}
    told = refused("status", "task-x", env=env | {"TEMPORAL_ADDRESS": "not an address"})
    assert "temporal: 'not an address' cannot be connected to" in told
    assert "correct Temporal's client configuration: TEMPORAL_ADDRESS)" in told
