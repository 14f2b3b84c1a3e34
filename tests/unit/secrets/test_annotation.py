"""Parameters of tools that take secrets: apart from its arguments, and refused where they would show them."""

from typing import Annotated, Any

import pytest
from pydantic import SecretStr

from perdure import Secret, ToolCall, tool
from perdure.agent.tool_specs import specs
from perdure.errors import InvalidArguments, InvalidInput
from perdure.secrets.redaction import KNOWN
from perdure.tools import Tool
from perdure.values.tasks import MemoryMode
from tests.unit.test_tools import CALL

Token = Annotated[SecretStr, Secret("tracker-token")]


async def found(title: str, token: Token, call: ToolCall) -> str | None:
    return f"{title} {token.get_secret_value()[:4]}" if call.step == "here" else None


@tool(effect="once", check=found)
async def tickets(title: str, token: Token, *, proxy: Annotated[SecretStr | None, Secret("proxy")] = None) -> Any:
    """Open a ticket."""
    return {"title": title, "token": token.get_secret_value(), "proxy": proxy and proxy.get_secret_value()}


SECRETS = {"tracker-token": SecretStr("ghp_0123456789"), "proxy": None}


def test_neither_a_skill_nor_a_model_sees_it() -> None:
    assert tickets.parameters == {"title": True}
    assert "token" not in specs([tickets], (), MemoryMode.OFF)[0].parameters["properties"]  # type: ignore[operator]
    assert [(one.secret, one.optional) for one in tickets.secrets] == [("tracker-token", False), ("proxy", True)]


def test_nobody_may_give_it() -> None:
    with pytest.raises(InvalidArguments, match=r"args\.token: is not a field here"):
        tickets.validate({"title": "a", "token": "b"})


async def test_function_and_check_are_given_what_they_take() -> None:
    keywords = tickets.validate({"title": "a"})
    assert (await tickets.call(CALL, keywords, SECRETS))["token"] == "ghp_0123456789"
    assert await tickets.run_check(CALL, keywords, SECRETS) == (True, "a ghp_")


async def test_a_result_that_has_it_is_cleaned() -> None:
    KNOWN.learn("tracker-token", "ghp_0123456789")
    returned = await tickets.call(CALL, tickets.validate({"title": "a"}), SECRETS)
    assert tickets.jsonable(returned) == {"title": "a", "token": "[secret tracker-token]", "proxy": None}


@pytest.mark.parametrize(
    ("annotation", "default", "problem"),
    [
        (Annotated[str, Secret("a")], ..., "of a type that would show it"),
        (Annotated[SecretStr, Secret("a b")], ..., "asks for the secret 'a b'.*another name"),
        (Annotated[SecretStr, Secret("../a")], ..., "asks for the secret"),
        (Annotated[SecretStr, Secret("a")], "x", "has a default for 'token'"),
        (Annotated[SecretStr, Secret("a")], None, r"Annotated\[SecretStr \| None, Secret\('a'\)\]"),
        (Annotated[SecretStr | None, Secret("a")], ..., "of a type that would show it"),
        (Secret("a"), ..., "annotated with a secret and no type"),
    ],
)
def test_a_parameter_that_could_not_keep_it_is_refused(annotation: Any, default: Any, problem: str) -> None:
    def given(token: str = default) -> None: ...

    if default is ...:
        given.__defaults__ = ()
    given.__annotations__ = {"token": annotation}
    with pytest.raises(InvalidInput, match=problem):
        tool(effect="read")(given)


def test_a_check_may_take_none_of_them() -> None:
    def plain(title: str) -> str | None:
        return title

    async def opened(title: str, token: Token) -> str:
        return title + str(token)

    made: Tool[..., Any] = tool(effect="once", check=plain)(opened)
    assert made.check_secrets == ()
