"""All MCP servers of a worker: asked for their tools when it starts, and none of them holds that up for long."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import structlog

from perdure.errors import InvalidInput, InvalidTask, NotDone, WorkerUnavailable
from perdure.mcp.connection import ServerConnection
from perdure.mcp.shape import McpServer
from perdure.mcp.tools import McpTool
from perdure.secrets.sources import SecretKeeper
from perdure.together import together
from perdure.tools import Tool, tool_name

_log = structlog.get_logger(__name__)

ANSWER_WITHIN = 10.0
"""Seconds for which a worker that starts waits for all of its servers together; a choice."""

AWAY_WITHIN = 5
"""Attempts, some 15 s, until a task is refused because a server that it needs is away. A choice."""


class McpServers:
    """The MCP servers of one process.

    Args:
        servers: The servers.
        secrets: Those that they need.
        logs: Whether what cannot be used is logged; it is in ``away`` and ``unusable`` as well.
    """

    def __init__(self, servers: Iterable[McpServer], secrets: SecretKeeper, *, logs: bool = True) -> None:
        self._logs = logs
        self._connections = {one.name: ServerConnection(one, secrets) for one in servers}
        self._tools: dict[str, McpTool] = {}
        self.away: dict[str, str] = {}
        """Which servers did not answer when they were last asked, and why."""
        self.unusable: dict[str, str] = {}
        """Which of their tools cannot be used, and why."""
        for connection in self._connections.values():
            for own in connection.server.tools:
                self._add(connection, own)
        self._served = frozenset[str]()

    @property
    def tools(self) -> tuple[McpTool, ...]:
        """The tools that are declared, and those that the servers have told of."""
        return tuple(self._tools.values())

    def find(self, name: str) -> McpTool | None:
        """Return a tool by its whole name, also one that is not known yet; None: no server has its prefix."""
        server, _, own = name.partition(".")
        connection = self._connections.get(server)
        if connection is None or not own:
            return None
        return self._tools.get(name) or McpTool(connection, own)

    async def look(self, within: float = ANSWER_WITHIN) -> None:
        """Ask all servers for their tools, at the same time.

        Args:
            within: Seconds after which one that has not answered counts as away.
        """
        await together(*(self._look(one, within) for one in self._connections.values()))

    def serve(self) -> tuple[McpTool, ...]:
        """Return the tools that are known now, of which a worker makes activities: further ones need a new worker."""
        self._served = frozenset(self._tools)
        return self.tools

    async def require(self, tools: Iterable[Tool[..., Any]], attempt: int) -> bool:
        """Check that the servers of some tools answer before a task begins, and learn what arguments these take.

        Returns:
            Whether something was learned: what was checked before then has to be checked again.

        Args:
            tools: The tools of a task, of whichever kind.
            attempt: The attempt at preparing the task.

        Raises:
            WorkerUnavailable: A server does not answer now; asked again.
            InvalidTask: One has not answered for some time, or does not have the tool.
        """
        wanted = [one for one in tools if isinstance(one, McpTool)]
        unknown = [one for one in wanted if not one.is_known]
        for name in dict.fromkeys(
            one.server.name for one in wanted if not one.is_known or one.server.name in self.away
        ):
            await self._look(self._connections[name], ANSWER_WITHIN)
        for one in wanted:
            if problem := self.away.get(one.server.name):
                if attempt < AWAY_WITHIN:
                    raise WorkerUnavailable(f"tool {one.name!r} cannot be called now: {problem}")
                fix = "start the server, or correct how it is configured and restart the worker, and run the task again"
                raise InvalidTask("tools", f"{one.name!r} cannot be called: {problem}", fix=fix)
            if not self._tools.get(one.name, one).is_known:
                told = f"MCP server {one.server.name!r} has no tool {one.own!r} that can be used"
                raise InvalidTask("tools", told, fix="perdure tools list shows which there are")
            if one.name not in self._served:
                told = f"{one.name!r} was not known when this worker started"
                raise InvalidTask("tools", told, fix="restart the worker, or declare the tool with its server")
        return bool(unknown)

    async def close(self) -> None:
        """End all connections, and the processes that were started for them."""
        await together(*(one.close() for one in self._connections.values()))

    async def _look(self, connection: ServerConnection, within: float) -> None:
        server = connection.server
        try:
            found = await connection.tools(within)
        except NotDone as problem:
            # Without its code, which is a tool's: nobody has called one.
            self.away[server.name] = told = problem.message
            if self._logs:
                _log.warning("MCP server is away", server=server.name, problem=told)
            return
        self.away.pop(server.name, None)
        for one in found:
            if (tool := self._add(connection, one.name)) is not None:
                try:
                    tool.learn(one.description or "", one.input_schema)
                except InvalidInput as problem:
                    self._unusable(tool.name, problem)

    def _add(self, connection: ServerConnection, own: str) -> McpTool | None:
        name = connection.server.prefixed(own)
        if name not in self._tools:
            try:
                tool_name(name)
            except InvalidInput as problem:
                self._unusable(name, problem)
                return None
            self._tools[name] = McpTool(connection, own)
        return self._tools[name]

    def _unusable(self, name: str, problem: InvalidInput) -> None:
        if self._logs and name not in self.unusable:
            _log.warning("tool of an MCP server cannot be used", tool=name, problem=str(problem))
        self.unusable[name] = str(problem)


@asynccontextmanager
async def open_servers(
    servers: Sequence[McpServer], secrets: SecretKeeper, *, logs: bool = True, within: float = ANSWER_WITHIN
) -> AsyncGenerator[McpServers]:
    """Ask servers for their tools, and end what was started for them in the end; see ``McpServers``.

    Args:
        servers: The servers.
        secrets: Has what they are started with.
        logs: Whether to log what cannot be used.
        within: Seconds after which a server that has not answered counts as away.
    """
    opened = McpServers(servers, secrets, logs=logs)
    try:
        await opened.look(within)
        yield opened
    finally:
        await opened.close()
