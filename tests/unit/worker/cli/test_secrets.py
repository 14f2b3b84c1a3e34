"""``perdure secrets``: what the tools ask for, and whether it is there, without showing it."""

import json

import pytest
from typer.testing import CliRunner

from worker.cli.commands import app


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_TOOLS", json.dumps(["tests.support.secret_tools"]))


def test_a_missing_one_is_named_with_the_fix() -> None:
    ran = CliRunner().invoke(app, ["secrets"])
    assert ran.exit_code == 1
    assert "door: missing (set PERDURE_SECRET_DOOR" in " ".join(ran.stdout.split())
    assert "1 secret, 1 of them missing" in ran.stderr


def test_one_that_is_there_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_SECRET_DOOR", "open sesame")
    ran = CliRunner().invoke(app, ["secrets", "--json"])
    [found] = json.loads(ran.stdout)
    assert (ran.exit_code, found["name"], found["found"], found["needed"]) == (0, "door", True, True)
    assert found["tools"] == ["open_door", "look_at"]
    assert "sesame" not in ran.output
