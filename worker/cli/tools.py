"""``perdure tools``: list them and show one, those of MCP servers too, which are started or asked for it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import typer

from perdure.mcp.connection import CONNECTED_WITHIN
from perdure.mcp.servers import McpServers, open_servers
from perdure.mcp.tools import McpTool
from perdure.settings import Settings
from perdure.toolbox import Toolbox
from perdure.tools import Tool
from worker.cli.tasks import AsJson
from worker.terminal.output import Exit, counted, err, out, say, show_json
from worker.wiring.registries import secrets_of, servers_of, toolbox_of

ToolName = Annotated[
    str, typer.Argument(metavar="NAME", help="The tool's name; an MCP server's tools have its name in front.")
]


async def list_(*, as_json: AsJson = False) -> None:
    """Show the tools, and what a second call of each does; exits with 3 if an MCP server does not answer.

    Example: perdure tools list
    """
    async with _opened() as (toolbox, servers):
        found = sorted(toolbox, key=lambda one: one.name)
        if as_json:
            away = {"away": servers.away, "unusable": servers.unusable}
            show_json({"tools": [_told(one) for one in found], **away})
        else:
            for one in found:
                first = next(iter(one.description.splitlines()), "no description")
                out.print(f"{one.effect.value:<10}  {one.name}: {first}", markup=False)
            say(counted(len(found), "tool"))
            for problem in servers.unusable.values():
                say(f"note: {problem}")
            for problem in servers.away.values():
                err.print(f"error: {problem}", style="red", markup=False)
        if servers.away:
            raise typer.Exit(Exit.UNAVAILABLE)


async def show(name: ToolName, *, as_json: AsJson = False) -> None:
    """Show a tool: what a second call does, its time, its secrets and its arguments.

    Example: perdure tools show inspect
    """
    async with _opened() as (toolbox, servers):
        one = toolbox.get(name)
        away = servers.away.get(one.server.name, "") if isinstance(one, McpTool) else ""
        problem = away
        if isinstance(one, McpTool) and not one.is_known:
            problem = problem or f"MCP server {one.server.name!r} has no tool {one.own!r} that can be used"
        told = {**_told(one), "problem": problem}
        if as_json:
            show_json(told)
        else:
            for field, value in told.items():
                if value:
                    out.print(f"{field}: {value}", markup=False)
        if problem:
            raise typer.Exit(Exit.UNAVAILABLE if away else Exit.FAILED)


@asynccontextmanager
async def _opened() -> AsyncGenerator[tuple[Toolbox, McpServers]]:
    settings = Settings()
    # Nothing else waits for them here, as a worker's start does.
    servers, secrets = servers_of(settings), secrets_of(settings)
    async with open_servers(servers, secrets, logs=False, within=CONNECTED_WITHIN) as opened:
        yield toolbox_of(settings).extended(opened.tools, opened.find), opened


def _told(one: Tool[..., Any]) -> dict[str, Any]:
    secrets = dict.fromkeys(each.secret for each in (*one.secrets, *one.check_secrets))
    return {
        "name": one.name,
        "effect": one.effect.value,
        "timeout": one.timeout,
        "description": one.description,
        "server": one.server.name if isinstance(one, McpTool) else "",
        "secrets": list(secrets),
        "arguments": one.schema,
    }
