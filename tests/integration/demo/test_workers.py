"""The workers of the demonstration die with it, however it ends."""

import asyncio
import os
import sys
from pathlib import Path

from localservers.fleet import worker_environment
from tests.conftest import Servers, clean_settings, give_tenant_key

PROGRAM = """
import asyncio, sys
from pathlib import Path
from demo.workers import start_mortal
from localservers import running
from perdure.settings import Settings

async def main():
    settings = Settings().changed(task_queue="demo-orphan")
    worker = await start_mortal(settings, running(settings), settings.home / "worker.log")
    print(worker.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_a_killed_demonstration_leaves_no_worker(servers: Servers, tmp_path: Path) -> None:
    give_tenant_key(tmp_path)
    demo = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        env=worker_environment(clean_settings(tmp_path), servers),
        stdout=asyncio.subprocess.PIPE,
    )
    assert demo.stdout
    worker = int(await demo.stdout.readline())
    handle = os.pidfd_open(worker)
    try:
        demo.kill()
        await demo.wait()

        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(handle, ended.set)
        await asyncio.wait_for(ended.wait(), 10)
    finally:
        asyncio.get_running_loop().remove_reader(handle)
        os.close(handle)
