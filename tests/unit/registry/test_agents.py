"""Agents as people write them: read, refused with field and fix, and told apart by their content."""

from pathlib import Path

import pytest

from perdure.errors import InvalidAgent, InvalidExpression
from perdure.registry.agents import AgentLibrary, read_agent

AGENT = "name: a\ninstructions: Be brief.\ntools: [look, write]\n"


def test_an_agent_has_bounds_of_its_own_only_where_it_names_them() -> None:
    agent = read_agent(AGENT)
    assert (agent.tools, agent.model, agent.turns, agent.tokens) == (("look", "write"), "", 100, 1_000_000)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("tool: [x]", "did you mean 'tools'"),
        ("approve: [wipe]", "approve: 'wipe' is not among its tools"),
        ("turns: 0", "turns"),
        ("memory: reed", "memory: 'reed' is not one of the choices .*'read'"),
        ("description: x\ntools: [look, look]", "repeated|twice|duplicated"),
        ('expect: "${steps.a.output}"', "expect: there is no name 'steps'"),
        ('judge: "Does it say ${inputs.x}?"', "judge: there is no name 'inputs'"),
        ("judge: {model: x}", "judge.criterion: is missing"),
        ("judge: [x]", "judge"),
    ],
)
def test_what_is_wrong_is_refused_with_its_field(more: str, problem: str) -> None:
    with pytest.raises(InvalidAgent, match=problem):
        read_agent(f"{AGENT}{more}\n")


def test_an_expectation_that_does_not_parse_is_refused() -> None:
    with pytest.raises(InvalidExpression, match="expect"):
        read_agent(f'{AGENT}expect: "${{output +}}"\n')


def test_other_bounds_are_the_same_agent_and_other_instructions_are_not() -> None:
    same, other = read_agent(f"{AGENT}turns: 7\ntokens: 9\n"), read_agent(AGENT.replace("brief", "long"))
    assert read_agent(AGENT).digest == same.digest != other.digest
    assert same.digest != read_agent(f"{AGENT}memory: read\n").digest
    assert same.digest == "1ca7571868423e6ca6e05f86bc2fabcd1f5d4e85c17b5c7f67b3043133216013"


def test_one_that_two_folders_have_is_refused_and_an_edit_counts_at_once(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        folder.mkdir()
        (folder / "a.yaml").write_text(AGENT.replace("brief", folder.name), encoding="utf-8")
    library = AgentLibrary((first, second, second))
    with pytest.raises(InvalidAgent, match=f"'a' is in {first / 'a.yaml'} and {second / 'a.yaml'}"):
        library.get("a")
    (first / "a.yaml").unlink()
    assert (library.get("a").instructions, library.names()) == ("Be two.", ["a"])
    (second / "a.yaml").write_text(AGENT.replace("brief", "three"), encoding="utf-8")
    assert library.get("a").instructions == "Be three."
    with pytest.raises(InvalidAgent, match="there is no agent 'b'"):
        library.get("b")


def test_one_folder_in_two_spellings_has_it_once(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
        (folder / "a.yaml").write_text(AGENT.replace("brief", folder.name), encoding="utf-8")
    (tmp_path / "link").symlink_to(own)
    folders = (own, tmp_path / "link", other / ".." / "own")
    assert AgentLibrary(folders).get("a").instructions == "Be own."
    with pytest.raises(InvalidAgent, match="remove one of them"):
        AgentLibrary((*folders, other)).get("a")


def test_a_tool_that_is_listed_twice_is_named() -> None:
    with pytest.raises(InvalidAgent, match="tools: names 'look' more than once"):
        read_agent("name: a\ntools: [write, look, look]\n", "a.yaml")


@pytest.mark.parametrize(
    ("tools", "skills"),
    [
        (["drive.write", "drive_write"], []),
        (["drive.write"], ["drive_write"]),
        ([f"drive.{'x' * 60}1", f"drive.{'x' * 60}2"], []),
    ],
)
def test_names_that_are_the_same_to_a_model_are_refused(tools: list[str], skills: list[str]) -> None:
    one, other = (*tools, *skills)
    with pytest.raises(InvalidAgent, match=rf"could not tell '{other}' from '{one}'"):
        read_agent(f"name: a\ntools: {tools}\nskills: {skills}\n", "a.yaml")


def test_where_none_is_configured_it_is_said_how_to_give_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidAgent, match=r"none is configured: write an agent into a folder, and .* PERDURE_AGENTS"):
        AgentLibrary((tmp_path,)).get("agent")
