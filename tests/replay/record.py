"""Records the histories anew: ``python -m tests.replay.record [FOLDER]``, on the servers that the environment names.

Without addresses it starts local ones in a folder of their own, and stops them in the end. A history is written
only when every run went as expected, so a failure leaves the ones there are.
"""

import argparse
import asyncio
import contextlib
import tempfile
from pathlib import Path
from typing import Any

from pytest_httpserver import HTTPServer

from localservers import ensure, stop
from perdure.settings import Addresses, Settings
from tests.replay import histories
from tests.replay.beginning_runs import record_beginnings
from tests.replay.foreign_runs import record_foreign
from tests.replay.memory_runs import (
    record_consolidation,
    record_erasures,
    record_jobs_and_sweeps,
    record_reconciliations,
    record_redating,
)
from tests.replay.people_runs import record_people
from tests.replay.recorder import POLICIES, recorder
from tests.replay.ruled_runs import record_ruled, write_policies
from tests.replay.task_runs import record_tasks, script
from tests.support.turn_server import TurnServer
from worker.exit import leave_after


async def _record(home: Path, folder: Path, *, cached: bool) -> None:
    addresses = await asyncio.to_thread(ensure, Settings(home=home / "servers"), worker=False, progress=print)
    worker = {} if cached else {"max_cached_workflows": 0}
    data = home / "data"
    data.mkdir()
    # Tools are given names of files instead of paths, so that no path gets into a history.
    with contextlib.chdir(data), HTTPServer() as server:
        model = TurnServer(server, script).url
        await _runs(addresses, data, folder, model=model, **worker)


async def _runs(addresses: Addresses, data: Path, folder: Path, **how: Any) -> None:
    # Before anything runs: a call that sees policies change waits until they have settled.
    write_policies(data / POLICIES)
    async with recorder(addresses, data, folder, **how) as here:
        async with asyncio.TaskGroup() as group:
            group.create_task(record_tasks(here))
            group.create_task(record_jobs_and_sweeps(here))
            group.create_task(record_people(here))
            group.create_task(record_ruled(here))
        await record_foreign(here)
        await record_beginnings(here)
        # It looks at everybody.
        await record_reconciliations(here)
        await record_redating(here)
        await record_consolidation(here)
        await record_erasures(here)


def _replace(folder: Path, fresh: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.json"):
        path.unlink()
    for path in fresh.glob("*.json"):
        (folder / path.name).write_bytes(path.read_bytes())


def main() -> int:
    """Record, and say what was written."""
    parser = argparse.ArgumentParser(prog="python -m tests.replay.record", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=histories.FOLDER)
    parser.add_argument("--uncached", action="store_true", help="with workers that replay before every step")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    with tempfile.TemporaryDirectory(prefix="perdure-record-") as temporary:
        home, fresh = Path(temporary), Path(temporary, "histories")
        fresh.mkdir()
        try:
            asyncio.run(_record(home, fresh, cached=not arguments.uncached))
        finally:
            stop(Settings(home=home / "servers"))
        _replace(folder, fresh)
    size = sum(path.stat().st_size for path in folder.glob("*.json"))
    print(f"{len(histories.names(folder))} histories in {folder}, {size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    leave_after(main)
