"""The command that serves memory and tasks to an MCP client."""

from importlib import metadata
from typing import Annotated

import typer

from perdure.identity import normal_user
from perdure.settings import Settings
from perdure.values.access_tokens import Caller, TokenScope
from perdure.values.changes import Actor, ActorKind
from worker.cli.reach import gateway, note_other_settings, started
from worker.mcp.server import make_server

STDIO = "stdio"
"""What stands for a token where whoever starts the server is its user."""


async def mcp(
    *,
    user: Annotated[
        str,
        typer.Option("--user", help="Whose memory and tasks the client reaches, and no other's.", show_default=False),
    ],
) -> None:
    """Serve memory and tasks to an MCP client over stdio, as desktop clients start it.

    Example: perdure mcp --user ada
    """
    settings, user_id = Settings(), normal_user(user)
    caller = Caller(
        token=STDIO,
        actor=Actor(kind=ActorKind.PERSON, id=user_id),
        scopes=frozenset({TokenScope.READ, TokenScope.WRITE, TokenScope.TASKS}),
        user_id=user_id,
    )
    addresses = started(settings)
    note_other_settings(settings)
    async with gateway(settings, addresses) as installation:
        await make_server(installation, lambda _: caller, metadata.version("perdure")).run_stdio_async()
