"""``perdure tools``: list them and show one, those of MCP servers too, which are started or asked for it."""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, cast

import typer

from perdure.mcp.servers import McpServers
from perdure.mcp.tools import McpTool
from perdure.plurals import counted
from perdure.settings import Settings
from perdure.toolbox import Toolbox
from perdure.tools import Tool
from worker import mcp_servers
from worker.cli.tasks import AsJson
from worker.exit_status import Exit
from worker.terminal.output import err, out, say, show_json
from worker.wiring.registries import toolbox_of

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
            for field, value in (told | {"secrets": ", ".join(told["secrets"]), "arguments": ""}).items():
                if value:
                    out.print(f"{field}: {value}", markup=False)
            for line in ("arguments:", *found) if (found := list(_arguments(one.schema))) else ():
                out.print(line, markup=False)
        if problem:
            raise typer.Exit(Exit.UNAVAILABLE if away else Exit.FAILED)


@asynccontextmanager
async def _opened() -> AsyncGenerator[tuple[Toolbox, McpServers]]:
    settings = Settings()
    async with mcp_servers.opened(settings) as servers:
        yield toolbox_of(settings).extended(servers.tools, servers.find), servers


def _arguments(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each argument: its name and type, its default or that it may be left out, what it is."""
    required = _list(schema.get("required"))
    for name, given in _mapping(schema.get("properties")).items():
        one = _mapping(given)
        optional = "" if name in required else ", may be left out"
        default = f", by default {json.dumps(one['default'], ensure_ascii=False)}" if "default" in one else optional
        described = next(iter(str(one.get("description") or "").splitlines()), "")
        yield f"  {name}, {_kind(one)}{default}{f': {described}' if described else ''}"


def _kind(given: Mapping[str, Any]) -> str:
    """Return what an argument may be, as far as that is said in one word."""
    if choices := given.get("enum"):
        return f"one of {json.dumps(choices, ensure_ascii=False)}"
    alternatives = _list(given.get("anyOf") or given.get("type"))
    kinds: list[object] = [_mapping(one).get("type", one) for one in alternatives]
    known = [one for one in kinds if isinstance(one, str)]
    return " or ".join(known) if known and len(known) == len(kinds) else "see --json"


def _mapping(value: object) -> Mapping[str, Any]:
    # A server may say anything.
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else [value]


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
