"""Tasks with a goal, whose model says what a script says: a worker with an agent on the real servers."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from pytest_httpserver import HTTPServer

from perdure import AgentTask
from perdure.settings import Addresses
from tests.support.harness import Bench, bench
from tests.support.turn_server import Script, TurnServer

AGENT = """\
name: worker
instructions: Be brief.
model: openai:test
tools: [echo, append, dwell, garbles]
turns: 30
"""


class Agents(Protocol):
    """Runs a worker whose agent's model says what a script says."""

    def __call__(
        self, script: Script, agent: str = AGENT, **more: Any
    ) -> AbstractAsyncContextManager[tuple[Bench, TurnServer]]: ...


def settings_of(folder: Path, server: TurnServer, agent: str = AGENT) -> dict[str, Any]:
    """Write an agent; return the settings with which a worker knows it, and asks a server."""
    agents = folder / "agents"
    agents.mkdir(exist_ok=True)
    (agents / "worker.yaml").write_text(agent, encoding="utf-8")
    return {"agents": (agents,), "openai_api_key": "k", "openai_base_url": server.url}


def agents_on(servers: Addresses, folder: Path, httpserver: HTTPServer) -> Agents:
    """Return what runs such workers on these servers."""

    @asynccontextmanager
    async def opened(script: Script, agent: str = AGENT, **more: Any) -> AsyncGenerator[tuple[Bench, TurnServer]]:
        server = TurnServer(httpserver, script)
        model = {**settings_of(folder, server, agent), **more.pop("settings", {})}
        async with bench(servers, folder, more=model, **more) as one:
            yield one, server

    return opened


def goal(text: str = "Find out", **more: Any) -> AgentTask:
    """Return a task with a goal, of a user that no other test uses unless one is given."""
    named: dict[str, Any] = {"task_id": f"t{uuid4().hex[:10]}", "user_id": f"user {uuid4().hex}", "agent": "worker"}
    return AgentTask(goal=text, **named | more)
