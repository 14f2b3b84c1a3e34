"""Shells complete commands and options; for the names of commands none of them is imported."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from worker.cli.commands import COMMANDS, SKILLS, app
from worker.cli.completion import SCRIPTS, candidates


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["sta"], ["status"]),
        (["nothing"], []),
        (["skills", "s"], ["show"]),
        (["skills", ""], sorted(SKILLS)),
        (["memories", "members", "a"], ["add"]),
        (["status", "--j"], ["--json"]),
        (["status", "task-1", "--j"], ["--json"]),
        (["status", ""], []),
        (["skills", "list", "--j"], ["--json"]),
        (["--ver"], ["--version"]),
    ],
)
def test_a_word_is_completed(words: list[str], found: list[str]) -> None:
    assert candidates(words) == found


def test_all_commands_are_offered() -> None:
    assert candidates([""]) == sorted(COMMANDS)


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_script_is_printed(shell: str) -> None:
    ran = CliRunner().invoke(app, ["completion", shell])
    assert (ran.exit_code, ran.stdout) == (0, SCRIPTS[shell])
    assert "perdure completion words --" in ran.stdout


def test_a_shell_that_there_is_no_script_for_is_named() -> None:
    ran = CliRunner().invoke(app, ["completion", "bsh"])
    assert (ran.exit_code, "did you mean 'bash'" in ran.stderr) == (2, True)


def test_bash_completes_by_it() -> None:
    command = 'perdure() { "$PYTHON" -m worker.cli "$@"; }\n' + SCRIPTS["bash"]
    command += 'COMP_WORDS=(perdure sched); COMP_CWORD=1; _perdure; echo "${COMPREPLY[*]}"'
    ran = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHON": sys.executable, "PATH": "/bin"},
    )
    assert ran.stdout.split() == ["schedule", "schedules"]


def test_for_the_names_no_command_is_imported() -> None:
    code = (
        "import sys; from worker.cli.completion import candidates; candidates(['st']); candidates(['skills', 'l']);"
        "sys.exit(any(name in sys.modules for name in ('worker.cli.tasks', 'worker.cli.skills', 'temporalio')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
