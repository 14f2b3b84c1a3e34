"""Workers killed again and again, also in a long task: every effect still happens exactly once."""

import random
from pathlib import Path

import pytest
from temporalio.client import WorkflowFailureError

from bench.long import histories
from perdure import TaskResult
from perdure.history import EVENTS
from tests.conftest import Servers
from tests.support.processes import processes
from tests.support.strangers import strangers
from tests.support.waiting import until_true

KILLS = 12
NUMBERS = [str(number) for number in range(300)]

LONG = [str(number) for number in range(1_000)]
EVERY = 50
"""Steps after which the worker of a long task is killed."""

LARGEST_RUN = EVENTS + 200
"""Events of one run: a killed attempt leaves some that the workflow cannot count."""

SKILL = """
inputs: {numbers: list, ledger: string}
steps:
  - for_each: "${inputs.numbers}"
    as: number
    steps:
      - {id: write, tool: append, args: {ledger: "${inputs.ledger}", line: "${number}"}}
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_task_survives_many_kills(servers: Servers, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    chance = random.Random(4)

    def written() -> int:
        return len(ledger.read_text().splitlines()) if ledger.exists() else 0

    async with processes(servers, tmp_path, continue_after=400) as (workers, bench):
        task = bench.task(bench.skill(SKILL), inputs={"numbers": NUMBERS, "ledger": str(ledger)})
        handle = await bench.start(task)
        for _ in range(KILLS):
            worker = await workers.start()
            before = written()
            lines = before + chance.randint(3, 12)
            await until_true(lambda lines=lines: written() >= lines)
            worker.kill()
            await worker.wait()
        assert written() < len(NUMBERS), "it was killed in the middle each time"
        await workers.start()
        assert (await handle.result()).done == len(NUMBERS)
    assert ledger.read_text().splitlines() == NUMBERS


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_task_of_a_thousand_steps_survives_a_kill_every_fifty(servers: Servers, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"

    def written() -> int:
        return len(ledger.read_text().splitlines()) if ledger.exists() else 0

    async with processes(servers, tmp_path) as (workers, bench):
        task = bench.task(bench.skill(SKILL), inputs={"numbers": LONG, "ledger": str(ledger)})
        handle = await bench.start(task)
        for lines in range(EVERY, len(LONG), EVERY):
            worker = await workers.start()
            await until_true(lambda lines=lines: written() >= lines, seconds=60)
            worker.kill()
            await worker.wait()
        assert written() < len(LONG), "it was killed in the middle each time"
        await workers.start()
        assert (await handle.result()).done == len(LONG)
        runs = await histories(bench.client, task.workflow_id, handle.first_execution_run_id or "")
    assert ledger.read_text().splitlines() == LONG
    assert len(runs) > 5
    assert max(map(len, runs)) < LARGEST_RUN


NESTED = """
inputs: {{ledger: string}}
steps:
  - for_each: "${{[{numbers}]}}"
    as: number
    at_once: 3
    steps:
      - {{id: run, skill: {inner}, inputs: {{line: "${{number}}", ledger: "${{inputs.ledger}}"}}}}
"""
INNER = """
inputs: {line: string, ledger: string}
steps:
  - {id: write, tool: append, args: {ledger: "${inputs.ledger}", line: "${inputs.line}"}}
  - {id: again, tool: append, args: {ledger: "${inputs.ledger}", line: "${steps.write.output.line}, again"}}
output: "${steps.again.output.line}"
"""


@pytest.mark.slow
async def test_steps_of_a_skill_that_a_step_runs_survive_kills(servers: Servers, tmp_path: Path) -> None:
    ledger, numbers = tmp_path / "ledger", [str(number) for number in range(24)]

    def written() -> int:
        return len(ledger.read_text().splitlines()) if ledger.exists() else 0

    async with processes(servers, tmp_path, continue_after=60) as (workers, bench):
        text = NESTED.format(inner=bench.skill(INNER), numbers=", ".join(f"'{number}'" for number in numbers))
        handle = await bench.start(bench.task(bench.skill(text), inputs={"ledger": str(ledger)}))
        for _ in range(2):
            worker = await workers.start()
            lines = written() + 7
            await until_true(lambda lines=lines: written() >= lines)
            worker.kill()
            await worker.wait()
        assert written() < 2 * len(numbers), "it was killed in the middle each time"
        await workers.start()
        assert (await handle.result()).done == 2 * len(numbers)
    assert sorted(ledger.read_text().splitlines()) == sorted([*numbers, *(f"{number}, again" for number in numbers)])


UNDOING = """
inputs: {numbers: list, ledger: string}
steps:
  - for_each: "${inputs.numbers}"
    as: number
    steps:
      - id: write
        tool: append
        args: {ledger: "${inputs.ledger}", line: "${number}"}
        compensate: {tool: append, args: {ledger: "${inputs.ledger}", line: "not ${output.line}"}}
  - {id: fails, tool: garbles, retry: 1}
"""


@pytest.mark.slow
async def test_effects_are_undone_once_though_workers_are_killed_meanwhile(servers: Servers, tmp_path: Path) -> None:
    ledger, numbers = tmp_path / "ledger", [str(number) for number in range(20)]

    def written() -> int:
        return len(ledger.read_text().splitlines()) if ledger.exists() else 0

    async with processes(servers, tmp_path, continue_after=60) as (workers, bench):
        task = bench.task(bench.skill(UNDOING), inputs={"numbers": numbers, "ledger": str(ledger)})
        handle = await bench.start(task)
        for lines in (12, 25, 32):
            worker = await workers.start()
            await until_true(lambda lines=lines: written() >= lines)
            worker.kill()
            await worker.wait()
        assert written() < 2 * len(numbers), "it was killed in the middle"
        await workers.start()
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
    result = TaskResult.model_validate(getattr(caught.value.cause, "details")[0])  # noqa: B009
    assert result.compensated == tuple(f"number[{number}].write" for number in reversed(range(20)))
    assert ledger.read_text().splitlines() == [*numbers, *(f"not {number}" for number in reversed(numbers))]


FOREIGN = """
inputs: {{ledger: string}}
steps:
  - for_each: "${{[{numbers}]}}"
    as: number
    at_once: 3
    steps:
      - {{id: charge, activity: Charge, queue: {queue}, args: ["${{inputs.ledger}}", {{cents: "${{number}}"}}]}}
      - {{id: ship, workflow: Ship, queue: {queue}, args: ["${{inputs.ledger}}", "${{string(number)}}"]}}
"""


@pytest.mark.slow
async def test_activities_and_workflows_of_others_survive_kills_of_our_workers(
    servers: Servers, tmp_path: Path
) -> None:
    ledger, queue, numbers = tmp_path / "ledger", f"strangers-{tmp_path.name}", range(12)

    def written() -> int:
        return len(ledger.read_text().splitlines()) if ledger.exists() else 0

    async with strangers(servers.temporal, queue), processes(servers, tmp_path, continue_after=60) as (workers, bench):
        text = FOREIGN.format(numbers=", ".join(map(str, numbers)), queue=queue)
        handle = await bench.start(bench.task(bench.skill(text), inputs={"ledger": str(ledger)}))
        for lines in (8, 20):
            worker = await workers.start()
            await until_true(lambda lines=lines: written() >= lines)
            worker.kill()
            await worker.wait()
        assert written() < 3 * len(numbers), "it was killed in the middle each time"
        await workers.start()
        assert (await handle.result()).done == 2 * len(numbers)
    each = [f"{word} {number}" for number in numbers for word in ("charged", "packed", "shipped")]
    assert sorted(ledger.read_text().splitlines()) == sorted(each)
