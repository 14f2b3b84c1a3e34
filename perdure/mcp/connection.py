"""The connection to one MCP server: made when it is needed, and made anew when it has ended. Knows no step."""

import asyncio
import contextlib
import contextvars
import os
import sys
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from perdure.base_error import PerdureError
from perdure.errors import NotDone
from perdure.mcp.shape import Given, McpServer, SecretName
from perdure.secrets.redaction import KNOWN
from perdure.secrets.sources import SecretKeeper, how_to_give

if TYPE_CHECKING:
    from mcp.client.client import Client
    from mcp_types import CallToolResult, Tool

CONNECTED_WITHIN = 20.0
"""Seconds in which a server has to answer once it is started: those that are fetched first take several; a choice."""

MOST_TOOLS = 1_000
"""Tools of one server; a choice."""

_ENDS_WITHIN = 8.0
"""Seconds in which a server's process has ended: the client waits for two, and then ends it by itself."""

_SAID_WITHIN = 0.2
_LONGEST_CALL = 86_400.0

_REFUSED = (-32601, -32602)
"""JSON-RPC's codes of a method that there is not, and of parameters that do not fit: nothing was called."""

_BROKEN = ((-32000, "Connection closed"), (-32600, "Session terminated"))
"""What the client itself raises where the connection has ended; servers answer with the same codes and other words."""

_DOUBTFUL = ((-32603, "Server returned an error response"),)
"""The same of a server reached by HTTP that may know its session no longer, or of a gateway in front of it."""

_LEASH = Path(__file__).with_name("leash.py")
_LINES_KEPT = 5
_LONGEST_LINE = 300


class Refused(Exception):
    """A server knows no such tool, or takes no such arguments; its message may quote them."""


class AnsweredError(Exception):
    """A server answered a call with an error, or with what its own schema excludes: it may have had its effect."""


class ServerConnection:
    """The connection to a server.

    Args:
        server: The server.
        secrets: Those that it needs.
    """

    def __init__(self, server: McpServer, secrets: SecretKeeper) -> None:
        self.server = server
        self._secrets = secrets
        self._keeper: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Client] | None = None
        self._ended = asyncio.Event()
        self._in_flight = 0

    async def tools(self, within: float = CONNECTED_WITHIN) -> "list[Tool]":
        """Return the tools that the server has now; also finds out whether it is there.

        Args:
            within: Seconds in which it has to answer.

        Raises:
            NotDone: It does not answer.
        """
        ready: asyncio.Future[Client] | None = None
        try:
            async with asyncio.timeout(within):
                ready = self._connecting()
                return await _tools_of(await asyncio.shield(ready))
        except Exception as problem:  # noqa: BLE001  whatever the client raises
            self._drop_broken(ready, problem)
            raise self._away(problem, within) from None

    async def call(
        self, tool: str, arguments: Mapping[str, Any], *, until: datetime, is_once: bool
    ) -> "CallToolResult":
        """Call a tool.

        Args:
            tool: Its name on the server.
            arguments: Its arguments.
            until: When the call is cut off: a server that has not answered by then was not called.
            is_once: Whether nothing may be lost in a connection that has ended: it is tried out first.

        Raises:
            NotDone: The server does not answer; nothing was called.
            Refused: The server knows no such tool, or takes no such arguments; nothing was called.
            AnsweredError: It answers with an error, or its answer is not what it promises.
            ConnectionError: It ended in the middle of the call, which may have had its effect.
        """
        if is_once:
            await self.tools(_left(until))
        within = _left(until)
        ready: asyncio.Future[Client] | None = None
        try:
            async with asyncio.timeout(within):
                ready = self._connecting()
                client = await asyncio.shield(ready)
        except Exception as problem:  # noqa: BLE001  whatever the client raises
            self._drop_broken(ready, problem)
            raise self._away(problem, within) from None
        self._in_flight += 1
        try:
            return await client.call_tool(tool, dict(arguments))
        except Exception as problem:
            if getattr(problem, "code", None) in _REFUSED:
                raise Refused(KNOWN.text(str(getattr(problem, "message", "")))) from problem
            if _is_broken(problem):
                self._drop(ready)
                raise ConnectionError(f"MCP server {self.server.name!r} ended in the middle of the call") from problem
            if _is_doubtful(problem) and self._in_flight == 1:
                self._drop(ready)
            raise AnsweredError(str(getattr(problem, "message", "") or problem)) from problem
        finally:
            self._in_flight -= 1

    async def close(self) -> None:
        """End the connection, and with it the server's process if it was started."""
        self._drop(self._ready)
        if self._keeper is not None:
            await asyncio.wait([self._keeper], timeout=_ENDS_WITHIN)
            self._keeper.cancel()

    def _connecting(self) -> "asyncio.Future[Client]":
        """Return the client, or when there will be one."""
        if self._ready is None:
            self._ready, self._ended = asyncio.get_running_loop().create_future(), asyncio.Event()
            keeping = self._keep(self._ready, self._ended, self._keeper)
            # Not in the context of the call that happens to come first: it outlives that.
            name, context = f"mcp {self.server.name}", contextvars.Context()
            self._keeper = asyncio.create_task(keeping, name=name, context=context)
        return self._ready

    def _drop_broken(self, ready: "asyncio.Future[Client] | None", problem: Exception) -> None:
        """Make the next call connect anew where there is no connection any more, and leave alone what is in use.

        One that is being made ends by itself. A server that is silent may be busy with other calls, which would be lost
        with it; with none, it hangs.
        """
        if ready is None or not ready.done():
            return
        hangs = (isinstance(problem, TimeoutError) or _is_doubtful(problem)) and not self._in_flight
        if ready.exception() is not None or _is_broken(problem) or hangs:
            self._drop(ready)

    def _drop(self, ready: "asyncio.Future[Client] | None") -> None:
        """Make the next call connect anew."""
        if ready is not None and self._ready is ready:
            self._ready = None
            self._ended.set()

    async def _keep(
        self, ready: "asyncio.Future[Client]", ended: asyncio.Event, before: "asyncio.Task[None] | None"
    ) -> None:
        """Hold the connection, in one task from beginning to end, as its groups of tasks want it."""
        if before is not None:
            # Its process has ended before another one is started, unless the end of its client hangs.
            await asyncio.wait([before], timeout=_ENDS_WITHIN)
            if before.cancel():
                await asyncio.wait([before], timeout=_ENDS_WITHIN)
        said = deque[str](maxlen=_LINES_KEPT)
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(CONNECTED_WITHIN):
                    client = await stack.enter_async_context(self._opened(said))
                ready.set_result(client)
                await ended.wait()
        except BaseException as problem:
            if not ready.done():
                ready.set_exception(ConnectionError(_told(problem, said)))
                # Whoever waited may be gone.
                ready.exception()
            if isinstance(problem, asyncio.CancelledError):
                raise

    @contextlib.asynccontextmanager
    async def _opened(self, said: deque[str]) -> "AsyncGenerator[Client]":
        # It takes 0.8 s to load (measured), which an installation without MCP servers need not wait for.
        import httpx2  # noqa: PLC0415
        from mcp.client.client import Client  # noqa: PLC0415
        from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

        server = self.server
        async with contextlib.AsyncExitStack() as stack:
            if server.url:
                headers = await self._given(server.headers)
                # An answer may take as long as its call, which is cut off by whoever makes it.
                times = httpx2.Timeout(CONNECTED_WITHIN, read=_LONGEST_CALL)
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=times))
                transport: Any = streamable_http_client(server.url, http_client=http)
            else:
                leash = [sys.executable, "-I", "-S", str(_LEASH), str(os.getpid())] if sys.platform == "linux" else []
                command, *args = [*leash, server.command, *server.args]
                how: dict[str, Any] = {"args": args, "env": await self._given(server.env), "cwd": server.folder or None}
                errors = await stack.enter_async_context(_error_lines(said))
                transport = stdio_client(StdioServerParameters(command=command, **how), errlog=errors)
            # Longer than any call: each has a time of its own.
            yield await stack.enter_async_context(Client(transport, raise_exceptions=False))

    async def _given(self, values: Mapping[str, Given]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, value in values.items():
            if isinstance(value, SecretName):
                secret = await self._secrets.get(value.secret)
                if secret is None:
                    told = f"the secret {value.secret!r} is missing ({how_to_give(value.secret)})"
                    raise ConnectionError(told)
                found[name] = secret.get_secret_value()
            else:
                found[name] = value
        return found

    def _away(self, problem: BaseException, within: float) -> NotDone:
        told = f"took longer than {within:.3g} s" if isinstance(problem, TimeoutError) else _told(problem, ())
        return NotDone(f"MCP server {self.server.name!r} does not answer: {told}")


def _is_broken(problem: Exception) -> bool:
    """Return whether a connection has ended, which is no answer."""
    ended = isinstance(problem, OSError) and not isinstance(problem, TimeoutError)
    return ended or _code_of(problem) in _BROKEN


def _is_doubtful(problem: Exception) -> bool:
    return _code_of(problem) in _DOUBTFUL


def _code_of(problem: Exception) -> tuple[object, object]:
    return getattr(problem, "code", None), getattr(problem, "message", None)


def _left(until: datetime) -> float:
    """Return the seconds until a call is cut off, less some in which it can still say that nothing happened."""
    return max(_SAID_WITHIN, (until - datetime.now(UTC)).total_seconds() - _SAID_WITHIN)


async def _tools_of(client: "Client") -> "list[Tool]":
    found, cursor = list["Tool"](), None
    while len(found) < MOST_TOOLS:
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        found += page.tools
        if not (cursor := page.next_cursor):
            break
    return found[:MOST_TOOLS]


def _told(problem: BaseException, said: "deque[str] | tuple[str, ...]") -> str:
    """Return why a server could not be reached, with the last lines that it wrote before it had answered once."""
    first = problem
    while isinstance(first, BaseExceptionGroup):
        first = cast("BaseExceptionGroup[BaseException]", first).exceptions[0]
    message = str(first) if isinstance(first, OSError | PerdureError) else getattr(first, "message", "")
    last = f"; it says: {' | '.join(said)}" if said else ""
    return KNOWN.text(f"{str(message)[:_LONGEST_LINE] or type(first).__name__}{last}")


@contextlib.asynccontextmanager
async def _error_lines(said: deque[str]) -> AsyncGenerator[Any]:
    """Open what a server writes errors to, of which the last lines are kept. Nothing of it is logged: it is content."""
    read, write = os.pipe()
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=2**20)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read, "rb"))

    async def keep() -> None:
        while chunk := await reader.read(65_536):
            lines = chunk.decode(errors="replace").splitlines()
            said.extend(line.strip()[:_LONGEST_LINE] for line in lines if line.strip())

    keeping = asyncio.create_task(keep())
    with os.fdopen(write, "w", encoding="utf-8") as errors:
        try:
            yield errors
        finally:
            errors.close()
            # The last of it says why the server ended.
            await asyncio.wait([keeping], timeout=_SAID_WITHIN)
            keeping.cancel()
            transport.close()
