"""``perdure check``: what is written is checked without a server, and a mistake names file, line, field and fix."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from worker.cli.commands import app

SKILL = """\
name: greet
inputs: {who: string}
steps:
  - id: say
    tool: echo
    args: {value: "${inputs.who}"}
"""
GOOD = {
    "greet.yaml": ("skill", SKILL),
    "task.yaml": ("task", "task_id: t\nuser_id: ada\nskill: greet\ninputs: {who: you}\n"),
    "helper.yaml": (
        "agent",
        "name: helper\ninstructions: help\nmodel: 'openai:gpt-5'\ntools: [echo]\nskills: [greet]\n",
    ),
    "no-echo.yaml": ("policy", "name: no-echo\nrationale: r\nlevel: hard\nwhen: \"${tool == 'echo'}\"\n"),
    "ask.yaml": ("prompt", 'name: ask\ninputs: {text: x}\ntemplate: "Read ${inputs.text}"\n'),
}
MODEL = "write openai:<model>, <module>:<model> of a provider of your own, or leave it empty"
BAD = {
    "an unknown tool": ("greet.yaml", SKILL.replace("echo", "ecko"), "5", "steps[0].tool", "did you mean 'echo'?"),
    "an unknown field": ("greet.yaml", SKILL + "stesp: []\n", "7", "stesp", "did you mean 'steps'?"),
    "a field of another language": (
        "greet.yaml",
        SKILL + "    if: ${true}\n",
        "7",
        "steps[0].if",
        "did you mean 'when'?",
    ),
    "a duration without a unit": (
        "greet.yaml",
        SKILL + "    timeout: 90\n",
        "7",
        "steps[0].timeout",
        "write 90s, 90m or 90h",
    ),
    "a function of another language": (
        "greet.yaml",
        SKILL.replace("inputs.who", "len(inputs.who)"),
        "6",
        "steps[0].args.value",
        "did you mean 'size'?",
    ),
    "a step's model that nobody provides": (
        "greet.yaml",
        SKILL + "  - id: sum\n    prompt: Sum up.\n    model: gpt\n",
        "9",
        "steps[1].model",
        MODEL,
    ),
    "a model without a name, in a list that is walked": (
        "greet.yaml",
        SKILL + '  - for_each: "${[1]}"\n    as: one\n    steps:\n      - {id: sum, prompt: x, model: "openai:"}\n',
        "10",
        "steps[1].steps[0].model",
        MODEL,
    ),
    "a judge's model": (
        "greet.yaml",
        SKILL + "judge:\n  criterion: is polite\n  model: gpt\n",
        "9",
        "judge.model",
        MODEL,
    ),
    "an agent's model": ("helper.yaml", "name: helper\nturns: 3\nmodel: gpt\n", "3", "model", MODEL),
    "the model of an agent's judge": (
        "helper.yaml",
        "name: helper\nturns: 3\njudge: {criterion: is polite, model: ':gpt'}\n",
        "3",
        "judge.model",
        MODEL,
    ),
    "an unknown input": (
        "task.yaml",
        "task_id: t\nuser_id: ada\nskill: greet\ninputs:\n  whom: you\n",
        "5",
        "inputs.whom",
        "did you mean 'who'?",
    ),
    "an unknown skill": ("task.yaml", "task_id: t\nuser_id: ada\nskill: gret\n", "3", "skill", "did you mean 'greet'?"),
    "a tool of no worker": ("helper.yaml", "name: helper\ntools:\n  - ecko\n", "3", "tools[0]", "did you mean 'echo'?"),
    "a boolean as a bound of an agent": (
        "helper.yaml",
        "name: helper\ninstructions: x\ntokens: true\n",
        "3",
        "tokens",
        "write it in digits",
    ),
    "a boolean as a bound of a task": (
        "task.yaml",
        "task_id: t\nuser_id: ada\nskill: greet\ninputs: {who: you}\nlimits:\n  hours: true\n",
        "6",
        "limits.hours",
        "write it in digits",
    ),
    "a skill of no agent": (
        "helper.yaml",
        "name: helper\ninstructions: x\nskills: [greet, nosuch]\n",
        "3",
        "skills[1]",
        "there are: greet",
    ),
    "half of a surrogate pair": (
        "task.yaml",
        'task_id: t\nuser_id: ada\nskill: greet\ninputs:\n  who: "\\ud800"\n',
        "5",
        "inputs.who",
        "write the character itself",
    ),
    "half of a surrogate pair in a list, in a name": (
        "task.yaml",
        'task_id: t\nuser_id: ada\nskill: greet\ninputs:\n  who: [1, {"\\ud800": 1}]\n',
        "5",
        "inputs.who[1]",
        "write the character itself",
    ),
    "a level": ("p.yaml", "name: p\nrationale: r\nlevel: hart\nwhen: ${true}\n", "3", "level", "did you mean 'hard'?"),
    "an input of a prompt": (
        "ask.yaml",
        'name: ask\ninputs: {text: x}\ntemplate: "${inputs.txt}"\n',
        "3",
        "template",
        "did you mean 'text'?",
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    skills = tmp_path / "skills"
    skills.mkdir()
    (skills / "greet.yaml").write_text(SKILL, encoding="utf-8")
    monkeypatch.setenv("PERDURE_SKILLS", json.dumps([str(skills)]))
    monkeypatch.setenv("PERDURE_TOOLS", json.dumps(["tests.support.tools"]))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.mark.parametrize("name", [name for name in GOOD if name != "greet.yaml"])
def test_what_can_be_used_is_said_to_be(folder: Path, name: str) -> None:
    kind, text = GOOD[name]
    (folder / name).write_text(text, encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", name, "../skills/greet.yaml"])
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.splitlines() == [
        f"{name}: {'an agent' if kind == 'agent' else f'a {kind}'} that can be used",
        "../skills/greet.yaml: a skill that can be used",
    ]


@pytest.mark.parametrize("case", BAD)
def test_a_mistake_is_named_with_file_line_field_and_fix(folder: Path, case: str) -> None:
    name, text, line, field, fix = BAD[case]
    place = folder.parent / "skills" / name if name == "greet.yaml" else folder / name
    place.write_text(text, encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", str(place)])
    assert (ran.exit_code, ran.stdout) == (2, "")
    # Below the folder where the command runs, without what both begin with.
    shown = place.relative_to(folder) if place.is_relative_to(folder) else place
    assert f" {shown}:{line}: {field}: " in ran.stderr
    assert f"({fix})" in ran.stderr
    ran = CliRunner().invoke(app, ["check", str(place), "--json"])
    error = json.loads(ran.stdout)["error"]
    assert (ran.exit_code, ran.stderr) == (2, "")
    assert (error["place"], error["field"], error["fix"]) == (f"{place}:{line}", field, fix)
    assert error["code"].startswith("PRD1")


@pytest.mark.parametrize(
    ("text", "problem"),
    [("x: 1\n", "a.yaml: is not a skill, task"), ("a: [\n", "a.yaml:2: is not YAML"), ("", "a.yaml: is empty")],
)
def test_what_is_nothing_that_can_be_checked_is_refused(folder: Path, text: str, problem: str) -> None:
    (folder / "a.yaml").write_text(text, encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", "a.yaml"])
    assert (ran.exit_code, problem in ran.stderr) == (2, True), ran.stderr


def test_a_file_that_is_not_there_is_named() -> None:
    ran = CliRunner().invoke(app, ["check", "none.yaml"])
    assert (ran.exit_code, "there is no file none.yaml" in ran.stderr) == (2, True)


def test_a_tool_of_other_settings_is_said_to_be_of_no_tools_of_these(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PERDURE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    monkeypatch.setenv("PERDURE_TOOLS", '["playbooks.file_manifest.tools"]')
    ran = CliRunner().invoke(app, ["check", "../skills/greet.yaml"])
    assert "steps[0].tool: there is no tool 'echo' (there are: " in ran.stderr
    assert f"these are those of playbooks.file_manifest.tools, by no perdure.toml in {folder})" in ran.stderr


def test_of_a_folder_its_files_are_checked(folder: Path) -> None:
    for name in ("ask.yaml", "helper.yaml"):
        (folder / name).write_text(GOOD[name][1], encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", "."])
    assert (ran.exit_code, ran.stdout.splitlines()) == (
        0,
        ["ask.yaml: a prompt that can be used", "helper.yaml: an agent that can be used"],
    )
    (folder / "empty").mkdir()
    ran = CliRunner().invoke(app, ["check", "empty"])
    assert (ran.exit_code, "there is no YAML file in empty" in ran.stderr) == (2, True)


def test_an_empty_name_is_refused_and_is_not_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a shell writes it that expands a variable which is not set."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "greet.yaml").write_text(SKILL)
    ran = CliRunner().invoke(app, ["check", ""])
    assert (ran.exit_code, "FILE.yaml: is empty (name a file, or a folder" in ran.stderr) == (2, True)


@pytest.mark.parametrize("name", ["echo", "greet", "ChargeCard", "remember"])
def test_a_policy_may_be_about_whatever_can_be_called(folder: Path, name: str) -> None:
    foreign = "name: pay\nsteps: [{id: pay, activity: ChargeCard, queue: payments}]\n"
    (folder.parent / "skills/pay.yaml").write_text(foreign, encoding="utf-8")
    (folder / "no-echo.yaml").write_text(GOOD["no-echo.yaml"][1].replace("'echo'", f"'{name}'"), encoding="utf-8")
    [found] = json.loads(CliRunner().invoke(app, ["check", "no-echo.yaml", "--json"]).stdout)
    assert (found["kind"], found["notes"]) == ("policy", [])


def test_without_any_tool_nobody_can_say_which_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "no-echo.yaml").write_text(GOOD["no-echo.yaml"][1], encoding="utf-8")
    monkeypatch.delenv("PERDURE_TOOLS")
    [found] = json.loads(CliRunner().invoke(app, ["check", "no-echo.yaml", "--json"]).stdout)
    assert found["notes"] == []


def test_a_server_may_have_tools_that_are_not_declared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mcp").mkdir()
    (folder / "mcp/drive.yaml").write_text("name: drive\ncommand: drive-server\n", encoding="utf-8")
    monkeypatch.setenv("PERDURE_MCP_SERVERS", json.dumps([str(folder / "mcp")]))
    for name, noted in (("drive.write_file", 0), ("dive.write_file", 1)):
        text = GOOD["no-echo.yaml"][1].replace("'echo'", f"'{name}'")
        (folder / "no-echo.yaml").write_text(text, encoding="utf-8")
        [found] = json.loads(CliRunner().invoke(app, ["check", "no-echo.yaml", "--json"]).stdout)
        assert len(found["notes"]) == noted


def test_a_policy_about_a_tool_that_nobody_has_is_noted(folder: Path) -> None:
    (folder / "no-echo.yaml").write_text(GOOD["no-echo.yaml"][1].replace("'echo'", "'ecko'"), encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", "no-echo.yaml"])
    assert ran.exit_code == 0, ran.stderr
    assert "note: no-echo.yaml:4: policy 'no-echo' is about 'ecko', which no tool" in ran.stderr
    assert "is named here (did you mean 'echo'?)" in ran.stderr


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("$inputs.who", "${inputs.who}"),
        ("{{ inputs.who | upper }}", "${inputs.who}"),
        ("$HOME and $5.00", ""),
        ("x", ""),
    ],
)
def test_what_looks_like_an_expression_of_another_language_is_noted(folder: Path, written: str, meant: str) -> None:
    (folder / "noted.yaml").write_text(SKILL.replace("greet", "noted").replace("${inputs.who}", written), "utf-8")
    ran = CliRunner().invoke(app, ["check", "noted.yaml"])
    assert ran.exit_code == 0, ran.stderr
    assert (f"note: noted.yaml:6: {written!r} is text here; an expression is {meant}\n" in ran.stderr) is bool(meant)
    [found] = json.loads(CliRunner().invoke(app, ["check", "noted.yaml", "--json"]).stdout)
    assert len(found["notes"]) == bool(meant)
    assert CliRunner().invoke(app, ["check", "noted.yaml", "--strict"]).exit_code == bool(meant)
    assert (ran.stdout == "noted.yaml: a skill that can be used, with 1 note\n") is bool(meant)


def test_what_no_input_of_its_type_gives_a_value_is_noted(folder: Path) -> None:
    skill = SKILL.replace("{who: string}", "{who: string, most: integer}").replace("greet", "noted")
    skill += '    when: "${inputs.most + 1.0 > 2.0}"\noutput: "${size(inputs.most)}"\n'
    (folder / "noted.yaml").write_text(skill, "utf-8")
    ran = CliRunner().invoke(app, ["check", "noted.yaml"])
    assert ran.exit_code == 0, ran.stderr
    assert "note: noted.yaml:7: steps[0].when: ${inputs.most + 1.0 > 2.0} cannot be evaluated: its values" in ran.stderr
    assert "note: noted.yaml:8: output: ${size(inputs.most)}" in ran.stderr
    assert "size() takes no value of this type" in ran.stderr


def test_a_successor_that_is_no_skill_is_noted(folder: Path) -> None:
    old = SKILL.replace("greet", "old") + "deprecated: it is slow\nsuccessor: NEXT\n"
    for successor, noted in (("greet", False), ("gret", True)):
        (folder / "old.yaml").write_text(old.replace("NEXT", successor), encoding="utf-8")
        ran = CliRunner().invoke(app, ["check", "old.yaml"])
        assert ran.exit_code == 0, ran.stderr
        said = "note: old.yaml:8: successor: there is no skill 'gret' (did you mean 'greet'?)"
        assert (said in ran.stderr) is noted


def test_an_agent_whose_skill_is_nowhere_is_an_invalid_agent(folder: Path) -> None:
    (folder / "helper.yaml").write_text("name: helper\nskills: [nosuch]\n", encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", "helper.yaml"])
    assert "PRD108 helper.yaml:2: skills[0]: there is no skill 'nosuch'" in ran.stderr


def test_of_a_folder_what_is_nothing_of_ours_is_passed_over_and_folders_below_are_told(folder: Path) -> None:
    (folder / "drive.yaml").write_text("name: drive\ncommand: drive-server\ntools: {look: read}\n", encoding="utf-8")
    (folder / "cases.yaml").write_text("cases: []\n", encoding="utf-8")
    (folder / "below").mkdir()
    (folder / "below/greet.yaml").write_text(SKILL, encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", "."])
    assert (ran.exit_code, ran.stdout) == (0, "drive.yaml: an MCP server that can be used\n"), ran.stderr
    assert (
        "note: cases.yaml: is not a skill, task, agent, policy, prompt or MCP server, and is passed over" in ran.stderr
    )
    assert "note: not looked into: below" in ran.stderr
    assert CliRunner().invoke(app, ["check", ".", "--strict"]).exit_code == 1
    assert CliRunner().invoke(app, ["check", "cases.yaml"]).exit_code == 2
    (folder / "drive.yaml").write_text("name: drive\ncommand: drive-server\ntools: {look: reed}\n", encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", "."])
    assert (ran.exit_code, "drive.yaml:3: tools.look" in ran.stderr) == (2, True), ran.stderr


def test_what_lies_in_a_folder_of_skills_is_checked_as_one(folder: Path) -> None:
    text = "name: buy\nstep: [{id: a, tool: echo}]\n"
    (folder / "buy.yaml").write_text(text, encoding="utf-8")
    (folder.parent / "skills/buy.yaml").write_text(text, encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", "../skills"])
    assert (ran.exit_code, "buy.yaml:2: step: is not a field here (did you mean 'steps'?)" in ran.stderr) == (2, True)
    near = "did you mean 'steps' by 'step' in line 2?"
    for named, status in (("buy.yaml", 2), (".", 0)):
        ran = CliRunner().invoke(app, ["check", named])
        assert (ran.exit_code, near in " ".join(ran.stderr.split())) == (status, True), ran.stderr


@pytest.mark.parametrize("setting", ["agents", "prompts", "mcp_servers"])
def test_what_lies_in_a_folder_of_a_setting_is_checked(
    folder: Path, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"PERDURE_{setting.upper()}", json.dumps([str(folder)]))
    (folder / "one.yaml").write_text("name: one\nnosuch: x\n", encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", "."])
    assert (ran.exit_code, "one.yaml:2: nosuch: is not a field here" in ran.stderr) == (2, True), ran.stderr
