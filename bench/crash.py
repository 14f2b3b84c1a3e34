"""The crash that other systems were measured with: 25 steps append a line each; SIGKILL in step 13 after its append."""

import tempfile
import time
from pathlib import Path

from perdure.settings import Addresses
from tests.support.processes import processes

STEPS = 25

SKILL = """
inputs: {numbers: list, ledger: string}
steps:
  - for_each: "${inputs.numbers}"
    as: number
    steps:
      - {id: write, tool: append_and_die, args: {ledger: "${inputs.ledger}", line: "${number}"}}
"""


async def run(addresses: Addresses) -> dict[str, float]:
    """Kill a worker right after an effect, start another at once, and count the effects."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        async with processes(addresses, Path(folder), from_the_beginning=True) as (workers, agents):
            doomed = await workers.start()
            numbers = [str(number) for number in range(1, STEPS + 1)]
            task = agents.task(agents.skill(SKILL), inputs={"numbers": numbers, "ledger": str(ledger)})
            handle = await agents.start(task)
            await doomed.wait()
            restarted = time.perf_counter()
            await workers.start()
            await handle.result()
            seconds = time.perf_counter() - restarted
        return {"crash.lines": float(len(ledger.read_text().splitlines())), "crash.seconds": seconds}
