"""``perdure skills``: which there are, and cases that they are tried out on."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from worker.cli.commands import app

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
    assert "2 cases, all as expected" in err


def test_one_that_does_not_is_told_with_how_it_ended(tmp_path: Path) -> None:
    status, out, err = tried(tmp_path, CASES.replace("== 'aa'", "== 'b'"))
    assert status == 1
    assert "a yes: does not hold: ${output == 'b'}" in " ".join(out.split())
    assert '"output": "aa"' in out
    assert "1 not as expected" in err


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('answers: {one: "no"}, ', "", "cases[1]: PRD102 answers.one: is missing: one is reached"),
        ("{text: a}, answers", "{txt: a}, answers", "cases[1]: PRD101 inputs.txt: skill 'doubling' has no such input"),
        ("== 'aa'", ".x == 1", "a yes: PRD103 expect: "),
    ],
)
def test_a_case_that_cannot_be_tried_is_wrong_input(tmp_path: Path, before: str, after: str, said: str) -> None:
    status, out, err = tried(tmp_path, CASES.replace(before, after))
    assert status == 2
    assert said in " ".join(out.split())
    assert "1 of them cannot be tried" in err


def test_scripts_get_how_each_case_ended(tmp_path: Path) -> None:
    status, out, _ = tried(tmp_path, CASES.replace("== 'aa'", "== 'b'"), "--json")
    assert status == 1
    first, second = json.loads(out)
    assert (first["case"], first["ended"]["output"], bool(first["differences"])) == ("a yes", "aa", True)
    assert (second["ended"]["asked"], second["differences"]) == (["one"], [])


def test_they_are_listed_with_those_that_cannot_be_used(folder: Path) -> None:
    (folder / "nobody.yaml").write_text("name: nobody\nsteps: [{id: a, tool: nobody_has_it}]\n", encoding="utf-8")
    ran = CliRunner().invoke(app, ["skills", "list"])
    assert ran.exit_code == 1
    assert "doubling: Asks before it goes on." in ran.stdout
    assert "nobody.yaml:2: steps[0].tool: there is no tool 'nobody_has_it'" in " ".join(ran.stdout.split())
    listed = json.loads(CliRunner().invoke(app, ["skills", "list", "--json"]).stdout)
    assert {one["name"] for one in listed} == {"doubling", "nobody"}


def test_the_examples_can_be_tried_where_they_are_wanted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_EXAMPLES", "true")
    command = ["skills", "test", "playbooks/cases/dependency-audit.yaml"]
    ran = CliRunner().invoke(app, [*command, command[-1]])
    assert ran.exit_code == 0, ran.stdout
    assert "6 cases, all as expected" in ran.stderr
    monkeypatch.delenv("PERDURE_EXAMPLES")
    without = CliRunner().invoke(app, command)
    assert (without.exit_code, "there is no skill 'dependency-audit'" in without.stderr) == (2, True)


def test_a_skill_with_the_name_of_an_example_is_refused_with_both_places(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERDURE_EXAMPLES", "true")
    own = folder / "dependency-audit.yaml"
    own.write_text("name: dependency-audit\nsteps: [{id: a, tool: append}]\n", encoding="utf-8")
    ran = CliRunner().invoke(app, ["skills", "show", "dependency-audit"])
    told = " ".join(ran.stderr.split())
    assert ran.exit_code == 2
    assert f"'dependency-audit' is in {own} and " in told
    assert "remove one of them, or give it another name" in told


def test_a_skill_or_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    status, _, err = tried(tmp_path, CASES.replace("skill: doubling", "skill: doublin"))
    assert status == 2
    assert "doubling" in err
    ran = CliRunner().invoke(app, ["skills", "test", str(tmp_path / "none.yaml")])
    assert (ran.exit_code, "there is no file" in ran.stderr) == (2, True)


HEADER = """when_to_use: Something is to be said twice.
triggers: [say it twice, double]
requires: {tools: [append]}
checks: [{check: "${inputs.text != ''}", otherwise: give a text}]
examples: [{inputs: {text: ha}, note: a laugh}]
changelog: [{date: 2026-01-02, change: Asks first.}]
"""


def shown(*options: str) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, ["skills", "show", "doubling", *options])
    return ran.exit_code, ran.stdout, ran.stderr


def test_one_shows_what_it_says_of_itself(folder: Path) -> None:
    (folder / "doubling.yaml").write_text(SKILL + HEADER, encoding="utf-8")
    status, out, _ = shown()
    assert status == 0
    lines = out.splitlines()
    assert lines[0].endswith("  doubling")
    assert lines[1:] == [
        "Asks before it goes on.",
        f"place: {folder / 'doubling.yaml'}",
        "when to use: Something is to be said twice.",
        "triggers: say it twice; double",
        "input text: string, required",
        "requires the tools append",
        "check ${inputs.text != ''}, otherwise: give a text",
        "steps[0] one: tool echo",
        'example {"text": "ha"}: a laugh',
        "2026-01-02: Asks first.",
    ]
    listed = CliRunner().invoke(app, ["skills", "list"]).stdout
    assert "when to use: Something is to be said twice." in listed
    assert "triggers: say it twice; double" in listed


def test_scripts_get_all_that_one_says_of_itself(folder: Path) -> None:
    status, out, _ = shown("--json")
    plain = json.loads(out)
    assert (status, plain["triggers"], plain["changelog"], plain["requires"]) == (0, [], [], None)
    (folder / "doubling.yaml").write_text(SKILL + HEADER, encoding="utf-8")
    status, out, _ = shown("--json")
    whole = json.loads(out)
    assert status == 0
    assert whole["steps"] == [{"path": "steps[0]", "id": "one", "kind": "tool", "tool": "echo"}]
    assert (whole["place"], whole["problem"]) == (str(folder / "doubling.yaml"), "")
    assert whole["examples"] == [{"inputs": {"text": "ha"}, "note": "a laugh"}]
    assert whole["changelog"] == [{"date": "2026-01-02", "change": "Asks first."}]
    [listed] = [
        one
        for one in json.loads(CliRunner().invoke(app, ["skills", "list", "--json"]).stdout)
        if one["name"] == "doubling"
    ]
    assert {**listed, "place": whole["place"], "problem": "", "steps": whole["steps"]} == whole


def test_one_that_the_tools_do_not_fit_is_shown_with_what_is_wrong(folder: Path) -> None:
    (folder / "doubling.yaml").write_text(SKILL + HEADER.replace("append", "apend"), encoding="utf-8")
    status, out, _ = shown()
    assert status == 1
    assert "doubling.yaml:10: requires.tools[0]: there is no tool 'apend' (did you mean 'append'?)" in out
    status, out, _ = shown("--json")
    assert (status, "did you mean 'append'?" in json.loads(out)["problem"]) == (1, True)


def test_one_that_is_not_there_is_not_shown() -> None:
    ran = CliRunner().invoke(app, ["skills", "show", "doublin"])
    assert (ran.exit_code, "did you mean 'doubling'" in ran.stderr) == (2, True)


def test_a_case_that_a_check_refuses_cannot_be_tried(folder: Path, tmp_path: Path) -> None:
    (folder / "doubling.yaml").write_text(SKILL + HEADER, encoding="utf-8")
    status, out, _ = tried(tmp_path, CASES.replace("{text: a}, answers", "{text: ''}, answers"))
    assert status == 2
    assert "checks[0]: skill 'doubling' refuses these inputs: give a text" in out
