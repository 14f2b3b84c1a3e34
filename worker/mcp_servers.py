"""The MCP servers of an installation, opened for a look at them: by the doctor and by ``perdure tools``."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from perdure.mcp.connection import CONNECTED_WITHIN
from perdure.mcp.servers import McpServers, open_servers
from perdure.settings import Settings
from worker.wiring.registries import secrets_of, servers_of


@asynccontextmanager
async def opened(settings: Settings) -> AsyncGenerator[McpServers]:
    """Ask the configured servers for their tools, and end what was started for them in the end.

    Raises:
        InvalidInput: One cannot be used, or a source of secrets; naming its file and field.
    """
    servers, secrets = servers_of(settings), secrets_of(settings)
    # Nothing else waits for them here, as a worker's start does.
    async with open_servers(servers, secrets, logs=False, within=CONNECTED_WITHIN) as found:
        yield found


async def examined(settings: Settings) -> tuple[bool, str, str]:
    """Return whether all servers answer, their tools or why not, and what to do otherwise.

    Raises:
        InvalidInput: One cannot be used; naming its file and field.
    """
    async with opened(settings) as found:
        problems = [*found.away.values(), *found.unusable.values()]
        told = "; ".join([f"{len(found.tools)} of their tools", *problems])
        fix = "correct its file, or its secrets in this shell: until it answers, a task that needs it is refused"
        return not found.away, told, fix
