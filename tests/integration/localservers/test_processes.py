"""Processes are started beside threads that compute."""

import asyncio
import sys
from pathlib import Path

import pytest

STARTING = """
import asyncio, os, sys, threading
from pathlib import Path
import numpy
from localservers.processes import Child

def multiply():
    matrix = numpy.ones((400, 400), numpy.float32)
    while True:
        matrix @ matrix

async def main():
    threading.Thread(target=multiply, daemon=True).start()
    # The deadlock is a matter of luck: now and then 200 forks met none.
    for _ in range({starts}):
        if {forking}:
            process = await asyncio.create_subprocess_exec("true", preexec_fn=lambda: None)
        else:
            process = await Child.start(["true"], os.environ, Path(sys.argv[1]))
        await process.wait()
    os._exit(0)

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("forking", [False, pytest.param(True, id="control", marks=pytest.mark.slow)])
async def test_a_process_is_started_beside_a_thread_that_multiplies(forking: bool, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        STARTING.format(forking=forking, starts=3_000 if forking else 200),
        str(tmp_path / "logs" / "log"),
    )
    try:
        # Beside another test, 200 starts took more than 20 s (measured): a fork that deadlocks never ends.
        async with asyncio.timeout(20 if forking else 90):
            ended = await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        ended = None
    assert ended == (None if forking else 0)
