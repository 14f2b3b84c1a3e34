"""A policy about a tool that nobody has is found, with what may be meant."""

import pytest

from perdure.policies.named_tools import named_tools, strangers
from perdure.policies.shape import Policy, read_policy


def about(when: str) -> Policy:
    return read_policy(f"name: p\nrationale: r\nlevel: hard\nwhen: >-\n  ${{{when}}}\n")


@pytest.mark.parametrize(
    ("when", "named"),
    [
        ("tool == 'send'", ["send"]),
        ('"send" == tool && user == "ada"', ["send"]),
        ("tool in ['send', \"mail\"] && arguments.to == 'ada'", ["send", "mail"]),
        ("tool == 'send' || tool=='mail' || tool == 'send'", ["send", "mail"]),
        ("arguments.tool == 'hammer'", []),
        ("tool != 'send'", []),
        ("arguments.text.contains(\"tool == 'hammer'\")", []),
        ("tool in [arguments.x == 'y' ? 'a' : 'b']", []),
        ("tool == 'se' + 'nd'", []),
        ("'send' == tool + 's'", []),
        ("'a' + 'send' == tool", []),
        ("tool.startsWith('send_')", []),
        ("'hammer' == tool.split('_')[0]", []),
        ("state.effect == 'once'", []),
    ],
)
def test_the_tools_are_those_that_it_is_compared_with(when: str, named: list[str]) -> None:
    assert named_tools(about(when)) == named


def test_exceptions_name_tools_too() -> None:
    policy = about("tool == 'send'").changed(unless=("${tool == 'mail'}",))
    assert named_tools(policy) == ["send", "mail"]


def test_a_stranger_is_told_with_the_nearest_name() -> None:
    policies = [about("tool == 'send_invoice'"), about("tool in ['sen_invoice', 'mail']")]
    found = [(name, meant) for _, name, meant in strangers(policies, {"send_invoice", "mail"})]
    assert found == [("sen_invoice", "did you mean 'send_invoice'?")]
