"""``perdure policies``: which there are, and cases that they are tried out on."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from perdure.policies.ruling import Ruling, Spoke
from perdure.policies.shape import Outcome
from perdure.stores.audit.lines import AuditKind, AuditLine
from perdure.values.changes import Actor, ActorKind
from perdure.values.questions import Approval
from tests.support.guarding import Policies
from worker import audits
from worker.cli.commands import app

CASES = """
cases:
  - name: a large one
    tool: send
    arguments: {cents: 900}
    expect: block
    policies: [no-large]
  - {tool: send, arguments: {cents: 1}, expect: pass, policies: []}
  - {tool: send, expect: block}
  - {tool: look, state: {effect: read}, expect: warn}
"""


@pytest.fixture
def policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Policies:
    found = Policies(tmp_path / "policies")
    found.write("no-large", when="tool == 'send' && arguments.cents > 100")
    found.write("mind-reads", when="state.effect == 'read' && tool != 'send'", level="soft")
    monkeypatch.setenv("PERDURE_POLICIES", json.dumps([str(found.folder)]))
    return found


def tried(tmp_path: Path, cases: str, *options: str) -> tuple[int, str, str]:
    path = tmp_path / "cases.yaml"
    path.write_text(cases, encoding="utf-8")
    ran = CliRunner().invoke(app, ["policies", "test", str(path), *options])
    return ran.exit_code, ran.stdout, ran.stderr


def test_cases_that_come_out_as_expected(policies: Policies, tmp_path: Path) -> None:
    # Of a state that a case leaves out, nothing is known: a condition about it has no answer, and soft ones warn.
    policies.write("mind-reads", when="tool == 'look' && state.effect == 'read'", level="soft")
    status, out, err = tried(tmp_path, CASES)
    assert (status, out) == (0, ""), out
    assert "4 cases, all as expected" in err


def test_a_tool_that_nobody_has_is_noted(policies: Policies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_TOOLS", json.dumps(["tests.support.tools"]))
    policies.write("no-echo", when="tool == 'ecko'")
    noted = "note: policy 'no-echo' is about 'ecko', which no tool"
    assert noted in tried(tmp_path, "cases: [{tool: echo, expect: pass}]\n")[2]
    assert noted in CliRunner().invoke(app, ["policies", "list"]).stderr


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("{tool: send, arguments: {cents: 900}, expect: pass}", "cases[0]: is block, not pass"),
        ("{tool: send, arguments: {cents: 900}, expect: block, policies: []}", "cases[0]: no-large spoke, not none"),
        ("{tool: send, arguments: {cents: 9}, expect: ask, name: the one}", "the one: is pass, not ask"),
    ],
)
def test_what_differs_is_printed_and_a_failure(policies: Policies, tmp_path: Path, case: str, said: str) -> None:
    policies.write("mind-reads", when="tool == 'look'", level="soft")
    status, out, _ = tried(tmp_path, f"cases:\n  - {case}\n")
    assert (status, out.splitlines()[0]) == (1, said)
    status, out, _ = tried(tmp_path, f"cases:\n  - {case}\n", "--json")
    [shown] = json.loads(out)["cases"]
    assert (status, [f"{shown['case']}: {one}" for one in shown["differences"]]) == (1, [said])


@pytest.mark.parametrize(
    ("cases", "problem"),
    [
        ("cases: []\n", "cases"),
        (
            "cases: [{tool: a, expect: blok}]\n",
            "cases[0].expect: 'blok' is not one of the choices (did you mean 'block'?)",
        ),
        ("cases: [{tool: a, expect: block, args: {}}]\n", "cases[0].args: is not a field here"),
        ("cases: [{tool: a, expect: block, state: {efect: x}}]\n", "cases[0].state.efect: is not there in state"),
    ],
)
def test_cases_that_cannot_be_read_are_refused(policies: Policies, tmp_path: Path, cases: str, problem: str) -> None:
    status, _, err = tried(tmp_path, cases)
    assert (status, problem in " ".join(err.split())) == (2, True), err


def test_the_list_has_versions_and_what_is_deprecated(policies: Policies) -> None:
    path = policies.folder / "no-large.yaml"
    path.write_text(f"{path.read_text(encoding='utf-8')}deprecated: The limit is in the shop now.\n", encoding="utf-8")
    ran = CliRunner().invoke(app, ["policies", "list"])
    first, second = ran.stdout.splitlines()
    assert (ran.exit_code, first[:5], second[:5]) == (0, "warn ", "block")
    assert second.endswith("no-large: It is rule no-large. (deprecated: The limit is in the shop now.)")
    listed = json.loads(CliRunner().invoke(app, ["policies", "list", "--json"]).stdout)
    assert [one["name"] for one in listed["policies"]] == ["mind-reads", "no-large"]
    assert listed["policies"][1]["version"][:12] in second


def test_policies_that_cannot_be_used_are_named(policies: Policies, tmp_path: Path) -> None:
    policies.write("broken", when="nobody == 1")
    for arguments in (["list"], ["test", str(tmp_path / "cases.yaml")]):
        (tmp_path / "cases.yaml").write_text(CASES, encoding="utf-8")
        ran = CliRunner().invoke(app, ["policies", *arguments])
        assert ran.exit_code == 2
        assert "broken.yaml:4: when: there is no name 'nobody'" in " ".join(ran.stderr.split())


def test_a_decision_is_shown_with_its_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    ruling = Ruling(
        outcome=Outcome.ASK,
        answer=Approval.YES,
        tool="send",
        step="each[0].send",
        arguments="a" * 64,
        policies=(Spoke(policy="large", version="b" * 64, outcome=Outcome.ASK),),
        version="c" * 64,
    )
    at, by = datetime(2026, 5, 1, tzinfo=UTC), Actor(kind=ActorKind.PERSON, id="anna")

    async def shown(*_: object) -> list[AuditLine]:
        return [AuditLine(kind=AuditKind.RULED, at=at, tenant="t_1", operation="o", by=by, ruling=ruling)]

    monkeypatch.setattr(audits, "show", shown)
    ran = CliRunner().invoke(app, ["audit", "show", "--user", "ada"])
    assert ran.stdout.splitlines() == [
        "2026-05-01 00:00:00  ruled    person anna  o",
        "    ask, answered yes: send at each[0].send, arguments aaaaaaaaaaaa; "
        "policies cccccccccccc: large bbbbbbbbbbbb (ask)",
    ]
