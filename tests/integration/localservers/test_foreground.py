"""A worker in a terminal is the worker there is: nothing starts another one behind it."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from localservers import state, stop
from perdure.settings import Settings
from tests.conftest import Servers, clean_settings
from tests.integration.worker.cli.installation import forked
from tests.support.waiting import until

TOOL = """
from perdure import tool

@tool(effect="read")
async def look() -> str:
    return "{}"
"""


@pytest.fixture
def beside(tmp_path: Path) -> Settings:
    """Settings of an installation beside that of the test run, on the same Temporal."""
    (tmp_path / "shop.py").write_text(TOOL.format("once"))
    crons = ("forgetting_cron", "redating_cron", "accesses_cron", "reconciling_cron")
    return clean_settings(
        tmp_path / "home",
        task_queue=f"foreground-{uuid4().hex[:10]}",
        http_port=0,
        tools=(str(tmp_path / "shop.py"),),
        **dict.fromkeys(crons, "off"),
    )


PROCESS = (sys.executable, "-P", "-m", "worker.cli")
"""The command as the process that is started: a fork has another id."""


async def started(
    command: tuple[str, ...], settings: Settings, servers: Servers, *arguments: str, **variables: str
) -> Process:
    environment = os.environ | settings.environment() | {"TEMPORAL_ADDRESS": servers.temporal} | variables
    command = (*command, *arguments)
    return await asyncio.create_subprocess_exec(*command, env=environment, stdout=PIPE, stderr=PIPE)


async def ran(settings: Settings, servers: Servers, *arguments: str, **variables: str) -> tuple[int | None, str, str]:
    process = await started(forked(), settings, servers, *arguments, **variables)
    out, err = await asyncio.wait_for(process.communicate(), 90)
    return process.returncode, out.decode(), err.decode()


async def says(process: Process, text: str) -> None:
    assert process.stderr
    seen = ""
    while text not in seen:
        line = (await asyncio.wait_for(process.stderr.readline(), 120)).decode()
        assert line, f"never said {text!r}: {seen}"
        seen += line


@asynccontextmanager
async def in_terminal(settings: Settings, servers: Servers, *options: str) -> AsyncGenerator[Process]:
    process = await started(PROCESS, settings, servers, "worker", *options)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_it_is_the_worker_there_is_until_it_is_killed(servers: Servers, beside: Settings, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEMPORAL_ADDRESS", servers.temporal)
        try:
            status, out, err = await ran(beside, servers, "up", "--no-worker")
            assert status == 0, err
            assert "not started" in out
            async with in_terminal(beside, servers, "--reload") as worker:
                await says(worker, "worker ready")
                status, out, err = await ran(beside, servers, "up")
                assert (status, "starting a worker" in err) == (0, False), err
                assert f"worker       running in a terminal, process {worker.pid}" in out

                status, _, err = await ran(beside, servers, "chat", "Hello", "--user", "ada")
                assert (
                    status,
                    "PRD108 agent: is missing, and there is no agent 'agent' (none is configured" in err,
                ) == (2, True), err

                (tmp_path / "task.yaml").write_text("task_id: t\nuser_id: ada\nskill: no-such\n")
                other = {"PERDURE_HEARTBEAT_TIMEOUT": "3"}
                status, _, err = await ran(beside, servers, "run", str(tmp_path / "task.yaml"), **other)
                assert (status, "nothing was started" in err) == (2, True), err
                assert f"stop process {worker.pid} in its terminal, and start it anew" in err
                status, _, err = await ran(beside, servers, "remember", "Kim leads.", "--user", "ada", **other)
                terminal = f"the worker of {beside.home} in a terminal (process {worker.pid})"
                assert f"decided otherwise than you expect: {terminal} has other settings; to apply these, stop" in err
                status, _, err = await ran(beside, servers, "restart")
                assert (status, f"as process {worker.pid}: stop it there" in err) == (1, True), err

                (tmp_path / "shop.py").write_text(TOOL.format("twice"))
                anew = asyncio.create_task(says(worker, "worker ready"))
                while not anew.done():
                    assert (current := state(beside))
                    assert (current.worker, [one.pid for one in current.workers]) == (None, [worker.pid])
                    await asyncio.sleep(0.01)
                await anew

                (tmp_path / "shop.py").write_text("retrun")
                await says(worker, "PRD100")
                status, _, err = await ran(beside, servers, "up")
                assert (status, "starting a worker" in err) == (0, False), err

                worker.kill()
                await worker.wait()
                assert (current := state(beside))
                assert current.workers == ()
            (tmp_path / "shop.py").write_text(TOOL.format("again"))
            status, _, err = await ran(beside, servers, "up")
            assert (status, "starting a worker" in err) == (0, True), err

            async def told() -> str:
                return (await ran(beside, servers, "up"))[1]

            # Beside other tests it may serve only after the first one has said that it does not yet.
            await until(told, lambda out: "worker       running\n" in out)
            async with in_terminal(beside, servers) as worker:
                await says(worker, "another worker runs in the background")
        finally:
            await asyncio.to_thread(stop, beside)


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_servers_that_come_back_have_the_worker_that_waits_for_them(servers: Servers, beside: Settings) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEMPORAL_ADDRESS", servers.temporal)
        try:
            await ran(beside, servers, "up", "--no-worker")
            async with in_terminal(beside, servers) as worker:
                await says(worker, "worker ready")
                await asyncio.to_thread(stop, beside)
                status, out, err = await ran(beside, servers, "up")
                assert status == 0, err
                assert f"running in a terminal, process {worker.pid}" in out
        finally:
            await asyncio.to_thread(stop, beside)
