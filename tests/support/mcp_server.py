"""An MCP server in a process of its own, written with the official SDK: every effect is a line in a ledger."""

import os
import signal
import sys
import time
from pathlib import Path

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

from tests.support.tools import append_line, lines_in

server = MCPServer("ledger")


@server.tool()
def add(one: int, other: int = 1) -> int:
    """Add two numbers."""
    return one + other


@server.tool()
def append(ledger: str, line: str) -> str:
    """Append a line."""
    append_line(ledger, line)
    return line


@server.tool()
def append_and_die(ledger: str, line: str, times: int = 1) -> str:
    """Append a line, and so often take this process along before it is answered."""
    append_line(ledger, line)
    if lines_in(ledger).count(line) <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return line


@server.tool()
def environment(name: str) -> str:
    """Return a variable of this process."""
    return os.environ.get(name, "none")


@server.tool()
def dwell(ledger: str, seconds: float) -> str:
    """Take some time, and write down that it began."""
    append_line(ledger, "began")
    time.sleep(seconds)
    return "rested"


@server.tool()
def refuse(why: str) -> str:
    """Report an error."""
    raise ValueError(why)


@server.tool()
def breaks(why: str) -> str:
    """Answer with an error of the protocol itself."""
    raise MCPError(INTERNAL_ERROR, why)


@server.tool()
def misreports(ledger: str) -> dict[str, str]:
    """Append a line, and return what the schema that this server tells excludes."""
    append_line(ledger, "misreported")
    return {}


@server.tool()
async def rest(ledger: str, until: int) -> str:
    """Rest until a ledger has so many lines."""
    while len(lines_in(ledger)) < until:
        await anyio.sleep(0.05)
    return "rested"


@server.tool()
async def block(ledger: str) -> str:
    """Serve nobody, from a line in a ledger until there is another one."""
    append_line(ledger, "began")
    while len(lines_in(ledger)) < 2:
        time.sleep(0.05)  # noqa: ASYNC251  that is what it is for
    return "unblocked"


@server.tool(name="with space")
def unusable() -> str:
    """Have a name that no tool may have here."""
    return ""


def _promise(name: str, field: str) -> None:
    """Have the schema of a tool promise a field that it does not return."""
    tool = server._tool_manager.get_tool(name)  # pyright: ignore[reportPrivateUsage]  no other way to lie
    assert tool is not None
    tool.fn_metadata.output_schema = {"type": "object", "required": [field]}


def main() -> None:
    """Serve; the first argument is a file that gets this process's id, and where it says "no", there is no server."""
    place = Path(sys.argv[1])
    if place.exists() and place.read_text(encoding="utf-8") == "no":
        sys.exit("the server does not want to start")
    place.write_text(str(os.getpid()), encoding="utf-8")
    _promise("misreports", "count")
    if "http" in sys.argv:
        server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[-1]))
    else:
        server.run()


if __name__ == "__main__":
    main()
