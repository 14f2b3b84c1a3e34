"""Worker processes that the demonstration starts, kills and replaces."""

from pathlib import Path

from localservers.fleet import child_environment, start_worker
from localservers.processes import Child
from perdure.crashpoints import VARIABLE
from perdure.settings import Addresses, Settings


async def start_mortal(settings: Settings, addresses: Addresses, log: Path, *, crash_at: str = "") -> Child:
    """Start a worker that dies with this process.

    Args:
        settings: Its settings, with a task queue that only it serves.
        addresses: The servers to use.
        log: The file that its output goes to.
        crash_at: The commit point at which it kills itself, if any.
    """
    # No forgetting schedule: it would outlive the queue, and nobody would serve it.
    environment = child_environment(settings.changed(forgetting_cron="off"))
    return await start_worker(environment | ({VARIABLE: crash_at} if crash_at else {}), addresses, log)
