"""A worker is replaced by one of the next build while tasks run: each goes on, and no effect happens twice."""

import asyncio
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import Client, WorkflowHandle

from localservers.fleet import worker_environment
from perdure import AgentTask, Answer, Receipt, TaskResult
from perdure.temporal.plugin import Plugin
from perdure.values.entries import Entry, Memory, State
from perdure.values.jobs import Fate
from perdure.values.requests import ForgetRequest, RememberRequest, UndoRequest
from tests.conftest import Servers, clean_settings, give_tenant_key, journal_of
from tests.deployment import Deployment, deployment
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


LEARNING = """
steps:
  - for_each: "${{['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12']}}"
    as: line
    steps:
      - id: write
        tool: append
        args: {{ledger: "{ledger}", line: "${{line}}"}}
        remember: [{{memory: "Room ${{line}} of {house} was painted.", type: fact}}]
  - {{id: known, recall: {{text: "which room of {house} was painted?"}}}}
  - {{id: last, remember: [{{memory: "{house} is done.", type: fact}}], critical: true}}
output: "${{steps.line.done}}"
"""

HERE = Path.cwd()


class Builds:
    """Starts the product's own worker process, each time as another build would be."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self._environment = environment
        self._folder = folder
        self._started: list[asyncio.subprocess.Process] = []

    async def start(self, source: Path = HERE) -> asyncio.subprocess.Process:
        """Start a worker of the build whose source is in a folder, and wait until it polls."""
        number = len(self._started)
        log = self._folder / f"worker-{number}.log"
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "worker",
                env=self._environment | {"PYTHONHASHSEED": str(4242 * number), "PYTHONPATH": f"{source}:{HERE}"},
                cwd=source,
                stderr=output,
            )
        self._started.append(process)
        await until_true(lambda: "worker ready" in log.read_text(encoding="utf-8"), 60)
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
        redating_cron="off",
        accesses_cron="off",
        reconciling_cron="off",
        journal=journal_of(servers, folder),
    )
    client = await Client.connect(servers.temporal, plugins=[Plugin()])
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


@pytest.mark.slow
async def test_two_builds_serve_the_same_tasks_jobs_and_sweeps(servers: Servers, tmp_path: Path) -> None:
    newer = newer_build(tmp_path / "newer")
    async with builds(servers, tmp_path) as (workers, bench):
        ledgers = [bench.ledger() for _ in range(4)]
        running = [await workers.start(), await workers.start(newer)]
        tasks = [
            bench.task(bench.skill(LEARNING.format(ledger=ledger, house=f"House {number}")), limits={"steps": 100})
            for number, ledger in enumerate(ledgers)
        ]
        handles = [await bench.start(task) for task in tasks]
        swept = [asyncio.create_task(_forgotten_and_restored(bench, task.user_id)) for task in tasks]
        # Each build in turn goes away in the middle, so that the other has to go on with what it began.
        turns = ((0, newer, signal.SIGKILL), (1, HERE, signal.SIGTERM), (0, HERE, signal.SIGKILL))
        for place, source, number in turns:
            written = sum(len(lines(ledger)) for ledger in ledgers)
            await until_true(
                lambda written=written: sum(len(lines(one)) for one in ledgers) >= min(written + 4, 48), 60
            )
            running[place].send_signal(number)
            assert await running[place].wait() == (0 if number is signal.SIGTERM else -number)
            running[place] = await workers.start(source)
        for handle, ledger in zip(handles, ledgers, strict=True):
            result = await handle.result()
            assert (result.output, result.refused) == (12, ())
            assert lines(ledger) == [str(number) for number in range(1, 13)]
            await bench.replay(handle)
        async with deployment(servers, tmp_path, serving=False) as here:
            found = [await _memories(here, task, handle) for task, handle in zip(tasks, handles, strict=True)]
            newer_once = [
                memory
                for task, memories in zip(tasks, found, strict=True)
                for memory in memories
                if await _once_written_by_the_newer_build(here, task, memory)
            ]
            for sweeping in swept:
                restored = await _stored(here, await sweeping)
                assert [(one.state, one.kept_at is not None) for one in restored] == [(State.CURRENT, True)] * 3
                found.append([one for one in restored if isinstance(one, Memory)])
    assert [len(memories) for memories in found] == [13] * 4 + [3] * 4
    assert any(str(memory.source) == "imported" for memories in found for memory in memories)
    assert newer_once, "the newer build wrote some"
    assert all("from_a_newer_build" in (memory.model_extra or {}) for memory in newer_once)


async def _forgotten_and_restored(bench: Bench, user: str) -> tuple[str, list[str]]:
    """Remember what has expired, forget it and restore it, again and again; returns the user and what is stored."""
    ids: list[str] = []
    for number in range(3):
        item: dict[str, JsonValue] = {
            "kind": "memory",
            "content": f"Gate {number} closes at {number}.",
            "occurrence": str(number),
            "occurred_at": "2026-01-02T00:00:00Z",
            "valid_until": "2026-01-03T00:00:00Z",
        }
        request = RememberRequest(user_id=user, key=f"k{number}", items=(item,))
        job = await bench.execute("RememberItems", request)
        receipt = await bench.client.get_workflow_handle(job, result_type=Receipt).result()
        ids += [one.id for one in receipt.items]
        swept = await bench.execute("ForgetMemory", ForgetRequest(user_id=user, approved=True))
        assert swept["report"]["failed"] == []
        undone = await bench.execute("UndoForgetting", UndoRequest(sweep=swept["sweep"], user_id=user))
        assert undone["restored"] == 1
    return user, ids


async def _stored(here: Deployment, of: tuple[str, list[str]]) -> list[Entry]:
    user, ids = of
    return list((await here.services.longterm.get(here.services.tenant_key.tenant_of(user), ids)).values())


async def _once_written_by_the_newer_build(here: Deployment, task: AgentTask, memory: Memory) -> bool:
    tenant = here.services.tenant_key.tenant_of(task.user_id)
    changes = await here.services.journal.history(tenant, memory.id)
    return any("from_a_newer_build" in (change.entry.model_extra or {}) for change in changes)


async def _memories(here: Deployment, task: AgentTask, handle: WorkflowHandle[Any, TaskResult]) -> list[Memory]:
    result = await handle.result()
    receipts = [await here.client.get_workflow_handle(job, result_type=Receipt).result() for job in result.jobs]
    ids = sorted({item.id for receipt in receipts for item in receipt.items if item.fate is Fate.SEARCHABLE})
    stored = await here.services.longterm.get(here.services.tenant_key.tenant_of(task.user_id), ids)
    return [entry for entry in stored.values() if isinstance(entry, Memory) and entry.state is State.CURRENT]


def newer_build(folder: Path) -> Path:
    """Make a build that knows one field more in each value, and writes one choice more of an enumeration."""
    known, merged = '    model_config = ConfigDict(extra="allow")\n', '    MERGED = "merged"\n'
    edits = {
        "perdure/model.py": (known, f"{known}    from_a_newer_build: str = 'x'\n"),
        "perdure/values/entries.py": (merged, f'{merged}    IMPORTED = "imported"\n'),
    }
    copied_build(folder, edits)
    items = folder / "perdure" / "agent" / "steps" / "items.py"
    text = items.read_text(encoding="utf-8")
    assert "Source.LEARNED" in text
    items.write_text(text.replace("Source.LEARNED", "Source.IMPORTED"), encoding="utf-8")
    return folder


def copied_build(folder: Path, edits: Mapping[str, tuple[str, str]]) -> Path:
    """Make a build from this one; in each of some files, one text is replaced by another."""
    for package in ("perdure", "activities", "workflows", "worker", "localservers", "playbooks"):
        shutil.copytree(HERE / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (old, new) in edits.items():
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    return folder
