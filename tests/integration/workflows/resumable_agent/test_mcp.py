"""Tools of MCP servers, which are real processes: called by tasks, killed in the middle of a call, away and back."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pytest_httpserver import HTTPServer
from temporalio.client import WorkflowFailureError

from perdure import Answer
from perdure.mcp import servers as mcp_servers
from perdure.values.questions import Question
from tests.conftest import Servers
from tests.integration.workflows.resumable_agent.test_failing import refused
from tests.support.goals import agents_on, goal
from tests.support.harness import bench
from tests.support.tools import lines_in
from tests.support.turn_server import Asked, Call, Says
from tests.support.waiting import until, until_true

TOOLS = "{add: read, environment: read, append_and_die: idempotent, dwell: {effect: read, timeout: 1.5}, refuse: read}"


class Configured:
    """An MCP server of the tests, configured in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "mcp"
        self.folder.mkdir()
        self.place = folder / "pid"

    def write(self, tools: str = TOOLS) -> dict[str, Any]:
        """Write how it is started; return the settings with which a worker knows it."""
        how = f"command: {sys.executable}\nargs: [-m, tests.support.mcp_server, {self.place}]\n"
        env = f"env: {{PYTHONPATH: {Path.cwd()}, TOKEN: {{secret: drive-token}}, PLAIN: value}}\n"
        text = f"name: led\n{how}{env}timeout: 4\ntools: {tools}\n"
        (self.folder / "led.yaml").write_text(text, encoding="utf-8")
        return {"mcp_servers": (self.folder,), "tools": ("tests.support.tools",)}

    def away(self) -> None:
        """Have it end whenever it is started."""
        self.place.write_text("no", encoding="utf-8")

    @property
    def pid(self) -> int:
        """The id of the process that was started last."""
        return int(self.place.read_text(encoding="utf-8"))


def runs(pid: int) -> bool:
    """Return whether a process runs, and is not just waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configured:
    monkeypatch.setenv("PERDURE_SECRET_DRIVE_TOKEN", f"sesame-{uuid4().hex}")
    return Configured(tmp_path)


CALLING = """
steps:
  - {id: sum, tool: led.add, args: {one: 2, other: 3}}
  - {id: token, tool: led.environment, args: {name: TOKEN}}
  - {id: plain, tool: led.environment, args: {name: PLAIN}}
  - {id: other, tool: led.environment, args: {name: PERDURE_SECRET_DRIVE_TOKEN}}
  - {id: refuse, tool: led.refuse, args: {why: "no"}, retry: 1, on_failure: continue}
output: ["${steps.sum.output}", "${steps.token.output}", "${steps.plain.output}", "${steps.other.output}"]
"""


@pytest.mark.slow
async def test_they_are_called_as_others_with_their_own_environment_and_end_with_their_worker(
    servers: Servers, tmp_path: Path, configured: Configured
) -> None:
    async with bench(servers, tmp_path, more=configured.write()) as agents:
        handle = await agents.start(agents.task(agents.skill(CALLING)))
        result = await handle.result()
        await agents.replay(handle)
        pid = configured.pid
        assert runs(pid)
    assert result.output == [5, "[secret drive-token]", "value", "none"]
    assert (result.done, result.failed) == (4, 1)
    assert not runs(pid)


@pytest.mark.slow
async def test_a_call_that_may_be_repeated_is_made_again_when_its_server_dies_in_the_middle(
    servers: Servers, tmp_path: Path, configured: Configured
) -> None:
    async with bench(servers, tmp_path, more=configured.write()) as agents:
        ledger = agents.ledger()
        result = await agents.run(f"steps: [{{id: a, tool: led.append_and_die, args: {{ledger: {ledger}, line: x}}}}]")
    assert result.done == 1
    assert lines_in(str(ledger)) == ["x", "x"]


@pytest.mark.slow
@pytest.mark.parametrize("happened", [True, False])
async def test_of_one_that_must_not_be_repeated_a_person_is_asked(
    servers: Servers, tmp_path: Path, configured: Configured, happened: bool
) -> None:
    async with bench(servers, tmp_path, more=configured.write("{add: read}")) as agents:
        ledger = agents.ledger()
        text = f"steps: [{{id: a, tool: led.append_and_die, args: {{ledger: {ledger}, line: x}}}}]"
        handle = await agents.start(agents.task(agents.skill(text)))

        async def asked() -> list[Question]:
            return list(await handle.query("questions", result_type=list[Question]))

        [question] = await until(asked, lambda found: len(found) == 1, seconds=40)
        assert "Did its effect happen?" in question.text
        assert lines_in(str(ledger)) == ["x"]
        ended = asyncio.create_task(handle.result())
        answered = set[str]()
        while not ended.done():
            for question in await asked():
                # A server that takes too long to start again was not called, and so the person is asked once more.
                if question.id not in answered:
                    answer = Answer(question_id=question.id, value="done" if happened else "not_done")
                    await handle.execute_update("answer", answer)
                    answered.add(question.id)
            await asyncio.wait([ended], timeout=0.2)
        assert (await ended).done == 1
    assert lines_in(str(ledger)) == ["x"] * (1 if happened else 2)


@pytest.mark.slow
async def test_one_that_died_while_nobody_called_is_started_anew_before_a_call_that_must_not_be_lost(
    servers: Servers, tmp_path: Path, configured: Configured
) -> None:
    async with bench(servers, tmp_path, more=configured.write("{}")) as agents:
        ledger, before = agents.ledger(), configured.pid
        os.kill(before, signal.SIGKILL)
        await until_true(lambda: not runs(before))
        result = await agents.run(f"steps: [{{id: a, tool: led.append, args: {{ledger: {ledger}, line: x}}}}]")
        assert (result.done, lines_in(str(ledger))) == (1, ["x"])
        assert configured.pid != before


@pytest.mark.slow
async def test_one_that_is_away_stops_its_tasks_and_no_worker_and_is_used_once_it_is_back(
    servers: Servers, tmp_path: Path, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_servers, "AWAY_WITHIN", 1)
    configured.away()
    async with bench(servers, tmp_path, more=configured.write()) as agents:
        assert (await agents.run("steps: [{id: a, tool: who}]")).done == 1
        declared = "steps: [{id: a, tool: led.add, args: {one: 1}}]\noutput: '${steps.a.output}'"
        problem = await refused(agents, declared)
        assert "PRD101 tools: 'led.add' cannot be called: " in problem
        assert "MCP server 'led' does not answer" in problem
        assert "the server does not want to start" in problem
        configured.place.unlink()
        assert (await agents.run(declared)).output == 2
        undeclared = f"steps: [{{id: a, tool: led.append, args: {{ledger: {agents.ledger()}, line: x}}}}]"
        assert "was not known when this worker started" in await refused(agents, undeclared)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("tool: led.add, args: {one: two}", ".yaml:2: steps[0].args.one: does not fit the tool's schema: type"),
        pytest.param(
            "tool: led.add, args: {other: 2}", ".yaml:2: steps[0].args.one: is missing", marks=pytest.mark.slow
        ),
        ("tool: led.ad, args: {one: 2}", "MCP server 'led' has no tool 'ad'"),
        pytest.param(
            "tool: lad.add, args: {one: 2}",
            "there is no tool 'lad.add' (did you mean 'led.add'?)",
            marks=pytest.mark.slow,
        ),
        ("tool: led.add, args: {one: '${task.id}'}", "step a: PRD104 a.args.one: does not fit"),
    ],
)
async def test_what_does_not_fit_is_refused_with_its_field(
    servers: Servers, tmp_path: Path, configured: Configured, step: str, problem: str
) -> None:
    async with bench(servers, tmp_path, more=configured.write()) as agents:
        assert problem in await refused(agents, f"steps: [{{id: a, {step}}}]")


@pytest.mark.slow
async def test_a_call_that_takes_too_long_is_cut_off_and_its_server_goes_on(
    servers: Servers, tmp_path: Path, configured: Configured
) -> None:
    async with bench(servers, tmp_path, more=configured.write()) as agents:
        ledger, pid = agents.ledger(), configured.pid
        dwell = f"{{id: a, tool: led.dwell, args: {{ledger: {ledger}, seconds: 30}}, retry: 1, on_failure: continue}}"
        result = await agents.run(
            f"steps:\n  - {dwell}\n  - {{id: b, tool: led.add, args: {{one: 1}}}}\n"
            "output: ['${steps.a.problem}', '${steps.b.output}']"
        )
    assert "raised TimeoutError" in result.output[0]  # type: ignore[index]
    assert result.output[1] == 2  # type: ignore[index]
    assert configured.pid == pid


@pytest.mark.slow
async def test_a_model_calls_them_by_names_that_it_can_be_told(
    servers: Servers, tmp_path: Path, configured: Configured, httpserver: HTTPServer
) -> None:
    def script(asked: Asked) -> Says:
        return Says(asked.outputs[-1]) if asked.outputs else Says(calls=(Call("led_add", {"one": 20, "other": 1}),))

    agent = "name: worker\ninstructions: Be brief.\nmodel: openai:test\ntools: [led.add]\n"
    async with agents_on(servers, tmp_path, httpserver)(script, agent, settings=configured.write()) as (one, server):
        result = await (await one.start(goal())).result()
    assert result.output == "21"
    assert "led_add" in server.asked[0].tools


def started(*arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, *arguments], env=os.environ | {"PYTHONPATH": str(Path.cwd())})


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.slow
async def test_one_by_http_that_is_killed_and_comes_back_is_connected_anew(
    servers: Servers, tmp_path: Path, configured: Configured
) -> None:
    port, ledger = free_port(), tmp_path / "http-ledger"
    text = (
        f"name: web\nurl: http://127.0.0.1:{port}/mcp\ntimeout: 8\ntools: {{append_and_die: idempotent, add: read}}\n"
    )
    (configured.folder / "web.yaml").write_text(text, encoding="utf-8")

    def start() -> "subprocess.Popen[bytes]":
        return started("-m", "tests.support.mcp_server", str(tmp_path / "web"), "http", str(port))

    async def listens() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return False
        writer.close()
        return True

    process = start()
    try:
        await until(listens, bool)
        async with bench(servers, tmp_path, more={"mcp_servers": (configured.folder,)}) as agents:
            skill = agents.skill(f"steps: [{{id: a, tool: web.append_and_die, args: {{ledger: {ledger}, line: x}}}}]")
            handle = await agents.start(agents.task(skill))
            await asyncio.to_thread(process.wait)
            process = start()
            assert (await handle.result()).done == 1
        assert lines_in(str(ledger)) == ["x", "x"]
    finally:
        process.kill()
        process.wait()


PARENT = """
import asyncio, sys
from pathlib import Path
from perdure.mcp.servers import McpServers
from perdure.mcp.shape import read_server
from perdure.secrets.sources import SecretKeeper

asyncio.run(McpServers([read_server(Path(sys.argv[1]).read_text())], SecretKeeper()).look(600))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends the children of a killed process")
async def test_a_program_that_listens_to_nobody_ends_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    place, stubborn = tmp_path / "pid", tmp_path / "stubborn.sh"
    stubborn.write_text(f"trap '' TERM HUP INT\necho $$ > {place}\nwhile :; do sleep 1; done\n", encoding="utf-8")
    (tmp_path / "a.yaml").write_text(f"name: a\ncommand: sh\nargs: [{stubborn}]\n", encoding="utf-8")
    process = started("-c", PARENT, str(tmp_path / "a.yaml"))
    try:
        await until_true(lambda: place.exists() and bool(place.read_text(encoding="utf-8").strip()))
        pid = int(place.read_text(encoding="utf-8"))
        assert runs(pid)
    finally:
        process.kill()
        process.wait()
    await until_true(lambda: not runs(pid))


async def test_the_secret_of_a_server_is_missed_before_the_first_step(
    servers: Servers, tmp_path: Path, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PERDURE_SECRET_DRIVE_TOKEN")
    async with bench(servers, tmp_path, more=configured.write()) as agents:
        with pytest.raises(WorkflowFailureError) as caught:
            await agents.run("steps: [{id: a, tool: led.add, args: {one: 1}}]")
    assert "tool 'led.add' needs the secret 'drive-token'" in str(caught.value.cause)
