from typing import Annotated

from pydantic import Field

from perdure import tool
from perdure.mcp.servers import McpServers
from perdure.mcp.shape import read_server
from perdure.secrets.sources import SecretKeeper
from perdure.toolbox import Toolbox
from worker.restart_checks import differing_tools


@tool(effect="read")
def weigh(parcel: str, *, unit: Annotated[str, Field(max_length=5)] = "kg") -> str:
    return f"{parcel} {unit}"


def test_what_a_step_of_before_could_call_no_longer_is_named() -> None:
    now = Toolbox([weigh])
    assert differing_tools({"weigh": ("parcel", "unit")}, now) == ([], [])
    assert differing_tools({"weigh": ("parcel",)}, now) == ([], []), "what is new may be left out"
    assert differing_tools({"ship": (), "weigh": ("parcel",)}, now) == (["ship"], [])
    assert differing_tools({"weigh": ("box",)}, now) == ([], ["weigh (box is gone, parcel is needed)"])
    assert differing_tools({}, now) == ([], [])


def test_a_tool_that_only_its_server_knows_is_not_missed_while_its_server_is_named() -> None:
    servers = McpServers([read_server("name: mail\nurl: http://127.0.0.1:9/mcp\n", "mail")], SecretKeeper())
    now = Toolbox([weigh]).extended(servers.tools, servers.find)
    assert differing_tools({"mail.send": ("to",), "chat.say": ("text",)}, now) == (["chat.say"], [])
