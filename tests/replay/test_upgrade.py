"""A worker is replaced by one of the next build while tasks run: each goes on, and no effect happens twice."""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

from temporalio.client import Client

from localservers.fleet import worker_environment
from perdure import Answer
from perdure.temporal.converter import DATA_CONVERTER
from tests.conftest import Servers, clean_settings, give_tenant_key
from tests.support.harness import Bench
from tests.support.waiting import question_of, until_true

WAITING = """
inputs: {{}}
steps:
  - for_each: "${{['1', '2', '3']}}"
    as: early
    steps: [{{id: before, tool: append, args: {{ledger: "{ledger}", line: "${{early}}"}}}}]
  - {{id: ask, tool: look, args: {{name: x, known: false}}, expect: "${{output.licence != null}}", ask: "Which?"}}
  - for_each: "${{['4', '5', '6']}}"
    as: late
    steps:
      - {{id: after, tool: append, args: {{ledger: "{ledger}", line: "${{late}} ${{steps.ask.answer}}"}}}}
output: "${{steps.early.done + steps.late.done}}"
"""

WORKING = """
steps:
  - for_each: "${{{numbers}}}"
    as: line
    steps: [{{id: write, tool: append, args: {{ledger: "{ledger}", line: "${{line}}"}}}}]
output: "${{steps.line.done}}"
"""

NUMBERS = [str(number) for number in range(80)]


class Builds:
    """Starts the product's own worker process, each time as another build would be."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self._environment = environment
        self._folder = folder
        self._started: list[asyncio.subprocess.Process] = []

    async def start(self) -> asyncio.subprocess.Process:
        """Start a worker, and wait until it polls."""
        number = len(self._started)
        log = self._folder / f"worker-{number}.log"
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "worker.process",
                env=self._environment | {"PYTHONHASHSEED": str(4242 * number)},
                stderr=output,
            )
        self._started.append(process)
        await until_true(lambda: "worker ready" in log.read_text(encoding="utf-8"))
        return process

    async def stop(self) -> None:
        """Kill what is left."""
        for process in self._started:
            if process.returncode is None:
                process.kill()
                await process.wait()


@asynccontextmanager
async def builds(servers: Servers, folder: Path) -> AsyncGenerator[tuple[Builds, Bench]]:
    (folder / "skills").mkdir()
    give_tenant_key(folder)
    settings = clean_settings(
        folder,
        task_queue=f"q-{uuid4().hex[:12]}",
        tools=("tests.support.tools",),
        skills=(folder / "skills",),
        forgetting_cron="off",
    )
    client = await Client.connect(servers.temporal, data_converter=DATA_CONVERTER)
    group = Builds(worker_environment(settings, servers), folder)
    try:
        yield group, Bench(client=client, queue=settings.task_queue, folder=folder)
    finally:
        await group.stop()


def lines(ledger: Path) -> list[str]:
    return ledger.read_text(encoding="utf-8").splitlines() if ledger.exists() else []


async def test_tasks_go_on_in_the_next_build(servers: Servers, tmp_path: Path) -> None:
    async with builds(servers, tmp_path) as (workers, bench):
        asked, worked = bench.ledger(), bench.ledger()
        old = await workers.start()
        waiting = await bench.start(bench.task(bench.skill(WAITING.format(ledger=asked))))
        question = await question_of(waiting)
        working = await bench.start(bench.task(bench.skill(WORKING.format(ledger=worked, numbers=NUMBERS))))
        await until_true(lambda: len(lines(worked)) >= 5)
        old.send_signal(signal.SIGTERM)
        assert await old.wait() == 0
        assert lines(asked) == ["1", "2", "3"]
        assert 5 <= len(lines(worked)) < len(NUMBERS), "it was stopped in the middle"

        await workers.start()
        await waiting.execute_update("answer", Answer(question_id=question.id, value="this"))
        assert (await waiting.result()).output == 6
        assert (await working.result()).output == len(NUMBERS)
        await bench.replay(waiting)
        await bench.replay(working)
    assert lines(asked) == ["1", "2", "3", "4 this", "5 this", "6 this"]
    assert lines(worked) == NUMBERS
