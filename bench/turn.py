"""The cost of an agent's turn, next to a bare workflow that asks the same model and calls the same tool.

What the model's server and its client take is measured in the same rounds, and taken from both.
"""

import functools
import statistics
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from temporalio import activity, workflow

with workflow.unsafe.imports_passed_through():
    from pytest_httpserver import HTTPServer

    from bench.step import bare_echo, milliseconds, ratio_of
    from perdure import AgentTask
    from perdure.models.language.conversation import Instruction, Message, Reply, ToolOutput, ToolSpec, ToolUse
    from perdure.models.language.openai import OpenAILanguageModel
    from perdure.settings import Addresses
    from perdure.values.tasks import MemoryMode
    from tests.support.harness import Bench, bench
    from tests.support.turn_server import Asked, Call, Says, TurnServer

TURNS = 15
"""Fewer than working memory holds: a summary, which the floor does not make, would be counted as overhead."""
ROUNDS = 5

AGENT = """\
name: turning
instructions: Count.
model: openai:test
tools: [echo]
"""


@functools.cache
def _model(url: str) -> OpenAILanguageModel:
    """Return a model, made once for a server as a worker does: its client takes longer than a turn."""
    return OpenAILanguageModel("test", api_key="none", base_url=url)


def count(asked: Asked) -> Says:
    """Call the tool with the next number, and end after the last one."""
    last = int(asked.outputs[-1]) if asked.outputs else 0
    return Says("counted") if last >= TURNS else Says(calls=(Call("echo", {"value": last + 1}),))


@activity.defn
async def bare_turn(url: str, number: int) -> int:
    """Ask the model what to call, as a hand-written agent does, with what the last five calls gave."""
    said: list[Message] = [Instruction(text="Count.")]
    for before in range(max(1, number - 4), number + 1):
        said.append(Reply(calls=(ToolUse(id=f"c{before}", tool="echo", arguments=f'{{"value": {before}}}'),)))
        said.append(ToolOutput(id=f"c{before}", text=str(before)))
    tools = [ToolSpec(name="echo", description="Return the value.", parameters={"type": "object", "properties": {}})]
    replied = await _model(url).reply("Count.", said, tools)
    return number + len(replied.reply.calls)


@workflow.defn(sandboxed=False)
class BareAgent:
    """The floor: a hand-written loop over a model and a tool."""

    @workflow.run
    async def run(self, url: str) -> int:
        """Take as many turns, and a last one that calls nothing."""
        limits: dict[str, Any] = {
            "start_to_close_timeout": timedelta(seconds=30),
            "heartbeat_timeout": timedelta(seconds=2),
        }
        number = 0
        while True:
            wanted = await workflow.execute_activity(bare_turn, args=[url, number], **limits)
            if wanted == number:
                return number
            number = await workflow.execute_activity(bare_echo, wanted, **limits)


async def run(addresses: Addresses) -> dict[str, float]:
    """Measure both in turn, so that other load on the machine affects both."""
    with tempfile.TemporaryDirectory() as folder, HTTPServer() as server:
        url = TurnServer(server, count).url
        more = {"agents": (_agents(Path(folder)),), "openai_base_url": url, "openai_api_key": "none"}
        own: dict[str, Any] = {"more_workflows": (BareAgent,), "more_activities": (bare_echo, bare_turn)}
        async with bench(addresses, Path(folder), more=more, **own) as agents:

            async def ours() -> None:
                task = AgentTask(
                    task_id=uuid4().hex, user_id="u", goal="Count.", agent="turning", memory=MemoryMode.OFF
                )
                await (await agents.start(task)).result()

            async def floor() -> None:
                await _bare(agents, url)

            async def model() -> None:
                for number in range(TURNS + 1):
                    await bare_turn(url, number)

            await ours()
            await floor()
            await model()
            rounds = [
                (await milliseconds(ours), await milliseconds(floor), await milliseconds(model)) for _ in range(ROUNDS)
            ]
    alone = statistics.median(own for _, _, own in rounds)
    pairs = [(mine - alone, bare - alone) for mine, bare, _ in rounds]
    return ratio_of(pairs, TURNS, "turn") | {"turn.model_ms": alone / (TURNS + 1)}


def _agents(folder: Path) -> Path:
    agents = folder / "agents"
    agents.mkdir()
    agents.joinpath("turning.yaml").write_text(AGENT, encoding="utf-8")
    return agents


async def _bare(agents: Bench, url: str) -> None:
    await agents.client.execute_workflow(BareAgent.run, url, id=f"bare-{uuid4().hex}", task_queue=agents.queue)
