"""What really happened, according to the report itself and to Temporal's history."""

import csv
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from perdure.model import Model
from playbooks.dependency_audit.lockfiles import LockedPackage


class Ledger(Model):
    """The rows of a report compared with the packages of the lock file."""

    rows: int
    packages: int
    duplicates: int
    missing: int
    inspected: int
    """Rows whose package was inspected; the others come from memory."""


def read_ledger(report: Path, packages: Collection[LockedPackage]) -> Ledger:
    """Compare a report with the packages it should list."""
    with report.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    written = Counter((row["package"], row["locked"]) for row in rows)
    wanted = {(package.name, package.version) for package in packages}
    return Ledger(
        rows=len(rows),
        packages=len(wanted),
        duplicates=sum(written.values()) - len(written),
        missing=len(wanted - written.keys()),
        inspected=sum(row["basis"] == "inspected" for row in rows),
    )


async def attempts_again(client: Client, workflow_id: str) -> int:
    """Return how many activities of a task were started again, in all its runs."""
    again, run = 0, ""
    while True:
        handle, earlier = client.get_workflow_handle(workflow_id, run_id=run or None), ""
        async for event in handle.fetch_history_events():
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
                earlier = event.workflow_execution_started_event_attributes.continued_execution_run_id
            elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
                again += event.activity_task_started_event_attributes.attempt > 1
        if not earlier:
            return again
        run = earlier


def with_one_version_changed(packages: Collection[LockedPackage], changed: LockedPackage) -> str:
    """Return the lock file after an update of one package."""
    pins = ((one.name, f"{one.version}.post1" if one == changed else one.version) for one in packages)
    return "".join(f"{name}=={version}\n" for name, version in pins)
