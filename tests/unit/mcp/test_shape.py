"""MCP servers as people write them: read, and refused with field and fix."""

from pathlib import Path

import pytest

from perdure.errors import InvalidInput
from perdure.mcp.servers import McpServers
from perdure.mcp.shape import DEFAULT_SECONDS, ServerLibrary, read_server
from perdure.secrets.sources import SecretKeeper
from perdure.tools import Effect

SERVER = """\
name: drive
command: drive-server
args: [--all]
env: {LEVEL: error, TOKEN: {secret: drive-token}}
timeout: 20
tools: {look: read, write: {effect: idempotent, timeout: 60}}
"""


def test_what_is_not_declared_must_not_be_repeated() -> None:
    server = read_server(SERVER)
    assert server.declared("look") == (Effect.READ, 20, ())
    assert server.declared("write") == (Effect.IDEMPOTENT, 60, ())
    assert server.declared("send") == (Effect.ONCE, 20, ())
    assert read_server("name: a\nurl: https://x.example/mcp\n").declared("b") == (Effect.ONCE, DEFAULT_SECONDS, ())
    assert server.secrets == ("drive-token",)


def test_its_tools_have_limits_as_others_have() -> None:
    text = "name: a\nurl: https://x.example/mcp\ntools: {look: {effect: read, limits: LIMITS}}\n"
    server = read_server(text.replace("LIMITS", "[{per_minute: 30, per_user: true}, {at_once: 4}]"))
    assert [one.told for one in server.declared("look")[2]] == [
        "at most 30 times a minute for a user",
        "at most 4 times at once",
    ]
    with pytest.raises(InvalidInput, match=r"tools\.look: has two limits of one kind"):
        read_server(text.replace("LIMITS", "[{at_once: 3}, {at_once: 4}]"))
    with pytest.raises(InvalidInput, match=r"tools\.look\.limits\[0\]"):
        read_server(text.replace("LIMITS", "[{per_minut: 30}]"))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("command: drive-server", "", "command: is missing .*command or url"),
        ("command: drive-server", "command: a\nurl: http://a", "command: is given together with a url"),
        ("command: drive-server", "url: http://a", "args: does not go with url"),
        ("args: [--all]", "headers: {a: b}", "headers: does not go with command"),
        ("look: read", "look: reed", "tools.look.effect: 'reed' is not one of the choices .*'read'"),
        ("look: read", "look: {efect: read}", "tools.look.efect: is not a field here .*'effect'"),
        ("look: read", "look: {timeout: 0}", "tools.look.timeout"),
        ("LEVEL: error", "LEVEL: 3", "env.LEVEL: is a number .*quotes"),
        ("{secret: drive-token}", "{secret: a b}", "env.TOKEN.secret"),
        ("{secret: drive-token}", "{secrets: a}", "did you mean 'secret'"),
        ("args: [--all]", "arg: [--all]", "arg: is not a field here .*'args'"),
    ],
)
def test_what_is_wrong_is_refused_with_its_field(old: str, new: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read_server(SERVER.replace(old, new))


@pytest.mark.parametrize("url", ["ftp://a/mcp", "tracker.example.org/mcp"])
def test_an_address_is_one_of_the_web(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"url: is .*https://"):
        read_server(f"name: a\nurl: {url}\n")


def test_one_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "drive.yaml").write_text(SERVER.replace("timeout: 20", "timeout: -1"), encoding="utf-8")
    with pytest.raises(InvalidInput, match="MCP server 'drive': timeout"):
        ServerLibrary((tmp_path,)).all()


def test_a_tool_is_found_by_the_name_of_its_server_also_before_that_has_answered() -> None:
    servers = McpServers([read_server(SERVER)], SecretKeeper())
    assert sorted(one.name for one in servers.tools) == ["drive.look", "drive.write"]
    found = servers.find("drive.send")
    assert found is not None
    assert (found.effect, found.is_known, [one.secret for one in found.secrets]) == (
        Effect.ONCE,
        False,
        ["drive-token"],
    )
    assert [servers.find(name) for name in ("driver.send", "drive", "drive.")] == [None] * 3
    # Whatever is given may fit: only the server knows.
    found.require_names(["anything"], "args")
    assert found.validate({"anything": 1}) == {"anything": 1}
