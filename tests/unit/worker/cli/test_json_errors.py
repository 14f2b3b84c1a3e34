"""With ``--json`` an error is one JSON object on stdout; exit codes are the same."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from worker.cli.commands import app


@pytest.fixture(autouse=True)
def examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_EXAMPLES", "true")


@pytest.mark.parametrize(
    ("command", "code", "field", "fix"),
    [
        ("run none.yaml", "PRD101", "none.yaml", ""),
        ("recall --user u", "PRD100", "text", "say what it is about"),
        ("skills show dependency-audt", "PRD102", "skill", "did you mean 'dependency-audit'?"),
        ("forget --undo", "PRD100", "--undo", "add --user"),
        ("statu", "PRD100", "arguments", "did you mean 'status'?"),
        ("status --verbos", "PRD100", "arguments", "did you mean '--verbose'?"),
        ("status --bogus", "PRD100", "arguments", "'perdure status -h' says what it takes"),
        ("status", "PRD100", "arguments", "perdure status"),
        ("status a b", "PRD100", "arguments", "'perdure status -h' says what it takes"),
        ("status --zzz", "PRD100", "arguments", "'perdure status -h' says what it takes"),
        ("memories members --zzz", "PRD100", "arguments", "'perdure memories members -h' says what it takes"),
    ],
)
def test_an_error_is_an_object(command: str, code: str, field: str, fix: str) -> None:
    plain = CliRunner().invoke(app, command.split())
    ran = CliRunner().invoke(app, [*command.split(), "--json"])
    assert (ran.exit_code, ran.exit_code, ran.stderr) == (2, plain.exit_code, "")
    error = json.loads(ran.stdout)["error"]
    assert (error["code"], error["field"]) == (code, field)
    assert fix in error["fix"]
    assert error["problem"]
    assert error["message"] == f"{error['field']}: {error['problem']}" + (f" ({error['fix']})" if error["fix"] else "")
    assert {*error} == {"code", "message", "field", "problem", "fix", "place"}


def test_a_server_that_does_not_answer_is_an_object_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("PERDURE_REDIS_URL", "redis://127.0.0.1:1")
    monkeypatch.setenv("PERDURE_WEAVIATE_URL", "http://127.0.0.1:1")
    ran = CliRunner().invoke(app, ["status", "task-x", "--json"])
    error = json.loads(ran.stdout)["error"]
    assert (ran.exit_code, error["field"], error["problem"][:8]) == (3, "", "temporal")
    assert error["fix"].startswith("start it, or correct TEMPORAL_ADDRESS")
    assert error["message"] == f"{error['problem']} ({error['fix']})"


def test_where_nothing_runs_the_fix_is_how_it_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_HOME", str(tmp_path))
    for name in ("TEMPORAL_ADDRESS", "PERDURE_REDIS_URL", "PERDURE_WEAVIATE_URL"):
        monkeypatch.delenv(name, raising=False)
    ran = CliRunner().invoke(app, ["inbox", "--json"])
    error = json.loads(ran.stdout)["error"]
    assert (ran.exit_code, error["code"], error["problem"]) == (3, "PRD205", "nothing runs here")
    assert error["fix"] == "start it with 'perdure up', or set the servers' addresses"


def test_without_it_stdout_stays_empty() -> None:
    ran = CliRunner().invoke(app, ["run", "none.yaml"])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: PRD101 none.yaml: cannot be read")


def test_what_stands_behind_the_end_of_the_options_is_none() -> None:
    ran = CliRunner().invoke(app, ["recall", "--user=", "--", "--json"])
    assert (ran.exit_code, ran.stdout) == (2, "")
