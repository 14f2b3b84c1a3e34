"""The versions that definitions had, as git knows them, and the commands that show them."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from perdure.errors import InvalidInput
from perdure.registry.agents import read_agent
from worker.cli.commands import app
from worker.definition_versions import Revision, chosen, difference, revisions_of

AGENT = "name: a\ninstructions: {}\ntools: []\n"


class Playbook:
    """A folder in a git repository of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, **variables: str) -> None:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        environment = {"GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ["PATH"], **variables}
        subprocess.run(["git", "-C", str(self.folder), *who, *arguments], check=True, env=environment)

    def write(self, name: str, text: str) -> Path:
        place = self.folder / name
        place.write_text(text, encoding="utf-8")
        return place

    def commit(self, name: str, text: str, subject: str) -> Path:
        place = self.write(name, text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)
        return place


@pytest.fixture
def playbook(tmp_path: Path) -> Playbook:
    return Playbook(tmp_path / "playbook")


def told(found: tuple[Revision, ...]) -> list[tuple[str, int]]:
    return [(one.subject, one.commits) for one in found]


async def test_each_content_is_a_version_with_the_commit_that_brought_it(playbook: Playbook) -> None:
    playbook.commit("a.yaml", AGENT.format("one"), "First")
    playbook.commit("a.yaml", "# a comment\n" + AGENT.format("one"), "Comment")
    playbook.commit("a.yaml", "name: [", "Break it")
    playbook.commit("a.yaml", "name: {", "Break it otherwise")
    place = playbook.commit("a.yaml", AGENT.format("two"), "Second")
    found = await revisions_of(place, read_agent)
    assert told(found) == [("Second", 1), ("Break it otherwise", 1), ("Break it", 1), ("First", 2)]
    assert [one.version for one in found] == [read_agent(AGENT.format("two")).digest, "", "", found[3].version]
    assert found[3].version == read_agent(AGENT.format("one")).digest
    assert "is not YAML" in found[1].problem
    assert all(one.author == "Ada" and one.date for one in found)


async def test_what_is_not_committed_stands_before_all(playbook: Playbook) -> None:
    playbook.commit("a.yaml", AGENT.format("one"), "First")
    place = playbook.write("a.yaml", AGENT.format("two"))
    found = await revisions_of(place, read_agent)
    assert [one.commit == "" for one in found] == [True, False]
    assert "-instructions: one\n+instructions: two" in difference("a", found[1], found[0])


async def test_a_repository_without_a_commit_has_the_file_alone(playbook: Playbook) -> None:
    assert told(await revisions_of(playbook.write("a.yaml", AGENT.format("one")), read_agent)) == [("", 1)]


async def test_a_renamed_file_keeps_its_versions_and_a_removed_one_that_came_back_as_well(playbook: Playbook) -> None:
    old = playbook.commit("old.yaml", AGENT.format("one, of some more words"), "First")
    old.rename(playbook.folder / "a.yaml")
    playbook.commit("other.yaml", "x", "Rename")
    (playbook.folder / "a.yaml").unlink()
    playbook.commit("other.yaml", "y", "Remove")
    place = playbook.commit("a.yaml", AGENT.format("two, of some more words"), "Again")
    assert told(await revisions_of(place, read_agent)) == [("Again", 1), ("First", 2)]


async def test_a_folder_in_no_repository_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(AGENT, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"is in no git repository.*git init"):
        await revisions_of(tmp_path / "a.yaml", read_agent)


async def test_where_git_is_not_installed_it_is_named(playbook: Playbook, monkeypatch: pytest.MonkeyPatch) -> None:
    place = playbook.commit("a.yaml", AGENT.format("one"), "First")
    monkeypatch.setenv("PATH", str(playbook.folder))
    with pytest.raises(InvalidInput, match="git: is not installed"):
        await revisions_of(place, read_agent)


async def test_nothing_that_a_repository_configures_is_run(playbook: Playbook) -> None:
    ran = playbook.folder.parent / "ran"
    playbook.commit(".gitattributes", "*.yaml diff=own\n", "Attributes")
    playbook.commit("a.yaml", AGENT.format("one"), "First")
    place = playbook.commit("a.yaml", AGENT.format("two"), "Second")
    for name in ("core.fsmonitor", "diff.external", "diff.own.textconv", "diff.own.command", "core.pager"):
        playbook.git("config", name, f"touch {ran}")
    assert len(await revisions_of(place, read_agent)) == 2
    assert not ran.exists()


def revision(version: str, commit: str) -> Revision:
    return Revision(version=version, commit=commit)


def test_a_version_is_named_by_its_beginning_or_that_of_a_commit() -> None:
    found = [revision("aaaa1111", "cccc1111"), revision("aaaa2222", "cccc2222"), revision("aaaa1111", "cccc3333")]
    assert chosen(found, "aaaa1", "OLD").commit == "cccc1111"
    assert chosen(found, "cccc2", "OLD").version == "aaaa2222"
    for wanted, problem in (
        ("aaaa", "'aaaa' names 2 versions"),
        ("aaa", "names no version"),
        ("dddd", "names no version"),
    ):
        with pytest.raises(InvalidInput, match=f"OLD: .*{problem}.*aaaa1111, aaaa2222"):
            chosen(found, wanted, "OLD")


KINDS = {
    "agents": (AGENT.format("{}"), "PERDURE_AGENTS"),
    "prompts": ("name: a\ntemplate: {}\n", "PERDURE_PROMPTS"),
    "policies": ("name: a\nrationale: {}\nlevel: hard\nwhen: \"${{tool == 'x'}}\"\n", "PERDURE_POLICIES"),
    "skills": ("name: a\nsteps: [{{id: a, tool: look, args: {{of: {}}}}}]\n", "PERDURE_SKILLS"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_log_and_a_diff(playbook: Playbook, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    text, variable = KINDS[kind]
    monkeypatch.setenv(variable, json.dumps([str(playbook.folder)]))
    for number in ("one", "two"):
        playbook.commit("a.yaml", text.format(number), number)
    ran = CliRunner().invoke(app, [kind, "log", "a", "--json"])
    versions = json.loads(ran.stdout)["versions"]
    assert [one["subject"] for one in versions] == ["two", "one"]
    assert "text" not in versions[0]
    shown = CliRunner().invoke(app, [kind, "log", "a", "--limit", "1"])
    assert versions[0]["version"][:12] in shown.stdout
    assert versions[1]["version"][:12] not in shown.stdout
    assert "2 versions, of which 1 are shown" in shown.stderr
    differs = CliRunner().invoke(app, [kind, "diff", "a", versions[1]["version"][:8]])
    assert any(line.startswith("+") and "two" in line for line in differs.stdout.splitlines())
    as_json = json.loads(CliRunner().invoke(app, [kind, "diff", "a", "--json"]).stdout)
    assert (as_json["old"]["version"], as_json["new"]["version"]) == (versions[1]["version"], versions[0]["version"])


def test_one_that_has_no_version_before_is_refused_with_what_to_do(
    playbook: Playbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERDURE_AGENTS", json.dumps([str(playbook.folder)]))
    playbook.commit("a.yaml", AGENT.format("one"), "First")
    ran = CliRunner().invoke(app, ["agents", "diff", "a"])
    assert ran.exit_code == 2
    assert "has no version before" in ran.stderr


def test_agents_are_listed_and_shown_with_their_problems(playbook: Playbook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_AGENTS", json.dumps([str(playbook.folder)]))
    monkeypatch.setenv("PERDURE_TOOLS", json.dumps(["tests.support.tools"]))
    playbook.write("a.yaml", AGENT.format("one").replace("[]", "[echo]"))
    playbook.write("b.yaml", AGENT.replace("name: a", "name: b").format("two").replace("[]", "[ecko]"))
    ran = CliRunner().invoke(app, ["agents", "list", "--json"])
    good, bad = json.loads(ran.stdout)
    assert (ran.exit_code, good["name"], good["memory"]) == (1, "a", "on")
    assert "did you mean 'echo'" in bad["problem"]
    shown = CliRunner().invoke(app, ["agents", "show", "b"])
    assert shown.exit_code == 1
    assert "instructions: two" in shown.stdout
    assert "b.yaml:3: tools[0]" in shown.stdout
