"""What is found of what people write for an installation, without a server."""

import json
from pathlib import Path

import pytest

from perdure.policies.shape import read_policy
from tests.conftest import clean_settings
from tests.support.guarding import Policies
from worker import configuration_checks

ABOUT = "name: p\nrationale: r\nlevel: hard\nwhen: \"${{tool == '{}'}}\"\n"
TOOLS = ("tests.support.tools",)


async def test_a_policy_about_a_tool_that_nobody_has_is_no_fault_and_is_told(tmp_path: Path) -> None:
    policies = Policies(tmp_path / "policies")
    policies.write("no-echo", when="tool == 'ecko'")
    settings = clean_settings(tmp_path, policies=(policies.folder,), tools=TOOLS)
    is_well, told, fix = await configuration_checks.policies(settings)
    assert (is_well, fix) == (True, "")
    assert "; note: policy 'no-echo' is about 'ecko'" in told


@pytest.mark.parametrize(("tools", "doubts"), [(TOOLS, 1), ((), 0), (("no.such.module",), 0)], ids=json.dumps)
def test_without_tools_nobody_can_say_which_are_missing(tmp_path: Path, tools: tuple[str, ...], doubts: int) -> None:
    settings = clean_settings(tmp_path, tools=tools)
    assert len(configuration_checks.unguarded([read_policy(ABOUT.format("ecko"))], settings)) == doubts


def test_a_skill_that_cannot_be_read_hides_none_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("name: broken\nsteps: [{id: a, tol: echo}]\n")
    (tmp_path / "pay.yaml").write_text("name: pay\nsteps: [{id: a, activity: ChargeCard, queue: payments}]\n")
    settings = clean_settings(tmp_path, tools=TOOLS, skills=(tmp_path,))
    policies = [read_policy(ABOUT.format(name)) for name in ("ChargeCard", "broken", "note")]
    [doubt] = configuration_checks.unguarded(policies, settings)
    assert "is about 'note'" in doubt


def test_what_modules_print_is_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'from perdure import tool\nprint("loading")\n@tool(effect="read")\ndef look() -> str:\n    return ""\n'
    (tmp_path / "loud.py").write_text(text)
    settings = clean_settings(tmp_path, tools=(str(tmp_path / "loud.py"),))
    assert configuration_checks.unguarded([read_policy(ABOUT.format("look"))], settings) == []
    printed = capsys.readouterr()
    assert ("loading" in printed.out, "loading" in printed.err) == (False, True)
