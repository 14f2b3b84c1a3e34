"""``perdure skills``: which there are, and cases that they are tried out on."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from worker.cli.app import app

SKILL = """
name: doubling
description: Asks before it goes on.
inputs: {text: string}
steps:
  - {id: one, tool: echo, args: {value: "${inputs.text}"}, approve: "Go on?"}
output: "${steps.one.output}"
"""

CASES = """
skill: doubling
cases:
  - name: a yes
    inputs: {text: a}
    results: {one: aa}
    answers: {one: "yes"}
    expect: "${output == 'aa'}"
  - {inputs: {text: a}, answers: {one: "no"}, expect: "${called.size() == 0}"}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "skills"
    folder.mkdir()
    (folder / "doubling.yaml").write_text(SKILL, encoding="utf-8")
    monkeypatch.setenv("PERDURE_SKILLS", json.dumps([str(folder)]))
    monkeypatch.setenv("PERDURE_TOOLS", json.dumps(["tests.support.tools"]))
    return folder


def tried(tmp_path: Path, cases: str, *options: str) -> tuple[int, str, str]:
    (tmp_path / "cases.yaml").write_text(cases, encoding="utf-8")
    ran = CliRunner().invoke(app, ["skills", "test", str(tmp_path / "cases.yaml"), *options])
    return ran.exit_code, ran.stdout, ran.stderr


def test_cases_that_end_as_expected(tmp_path: Path) -> None:
    status, out, err = tried(tmp_path, CASES)
    assert (status, out) == (0, ""), out
    assert "2 cases, all as expected; skill doubling" in err


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("== 'aa'", "== 'b'", "a yes: does not hold: ${output == 'b'}"),
        ('answers: {one: "no"}, ', "", "cases[1]: PRD102 answers.one: is missing: one is reached"),
        ("{text: a}, answers", "{txt: a}, answers", "cases[1]: PRD101 inputs.txt: skill 'doubling' has no such input"),
    ],
)
def test_one_that_does_not_is_told_with_how_it_ended(tmp_path: Path, before: str, after: str, said: str) -> None:
    status, out, err = tried(tmp_path, CASES.replace(before, after))
    assert status == 1
    assert said in " ".join(out.split())
    assert "1 not as expected" in err


def test_scripts_get_how_each_case_ended(tmp_path: Path) -> None:
    status, out, _ = tried(tmp_path, CASES.replace("== 'aa'", "== 'b'"), "--json")
    assert status == 1
    first, second = json.loads(out)["cases"]
    assert (first["case"], first["ended"]["output"], bool(first["differences"])) == ("a yes", "aa", True)
    assert (second["ended"]["asked"], second["differences"]) == (["one"], [])


def test_they_are_listed_with_those_that_cannot_be_used(folder: Path) -> None:
    ran = CliRunner().invoke(app, ["skills", "list"])
    assert (ran.exit_code, "doubling: Asks before it goes on." in ran.stdout) == (0, True)
    (folder / "broken.yaml").write_text("name: broken\nsteps: []\n", encoding="utf-8")
    ran = CliRunner().invoke(app, ["skills", "list"])
    assert ran.exit_code == 1
    assert "broken: PRD102 steps" in ran.stdout
    listed = json.loads(CliRunner().invoke(app, ["skills", "list", "--json"]).stdout)
    assert [one["name"] for one in listed] == ["broken", "doubling"]


def test_a_skill_or_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    status, _, err = tried(tmp_path, CASES.replace("skill: doubling", "skill: doublin"))
    assert status == 2
    assert "doubling" in err
    ran = CliRunner().invoke(app, ["skills", "test", str(tmp_path / "none.yaml")])
    assert (ran.exit_code, "there is no file" in ran.stderr) == (2, True)
