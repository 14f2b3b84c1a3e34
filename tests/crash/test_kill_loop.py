"""Workers killed again and again at moments that nobody chose: every effect still happens exactly once."""

import random
from pathlib import Path

import pytest

from tests.conftest import Servers
from tests.support.processes import processes
from tests.support.waiting import until_true

KILLS = 12
NUMBERS = [str(number) for number in range(300)]

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
