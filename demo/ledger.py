"""What really happened, according to the report itself and to Temporal's history."""

import csv
import math
from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from perdure.model import Model
from playbooks.dependency_audit.lockfiles import LockedPackage


class Kill(Model):
    """A worker that was killed."""

    process: str
    """Its process id."""
    at: datetime


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


class Course(Model):
    """What the history of a task, in all its runs, tells of its activities."""

    again: int
    """How many were started again."""
    completed: tuple[tuple[datetime, str], ...]
    """When each was completed, by Temporal's clock, and the process that completed it."""

    def resumed_after(self, kill: Kill) -> float:
        """Return after how many seconds another process completed the first activity; never: infinity."""
        later = [at for at, process in self.completed if at > kill.at and process != kill.process]
        return min(((at - kill.at).total_seconds() for at in later), default=math.inf)


async def course_of(client: Client, workflow_id: str) -> Course:
    """Read the history of a task."""
    again, run, completed = 0, "", list[tuple[datetime, str]]()
    while True:
        handle, earlier = client.get_workflow_handle(workflow_id, run_id=run or None), ""
        async for event in handle.fetch_history_events():
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
                earlier = event.workflow_execution_started_event_attributes.continued_execution_run_id
            elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
                again += event.activity_task_started_event_attributes.attempt > 1
            elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
                # The SDK names a worker's process "pid@host".
                process = event.activity_task_completed_event_attributes.identity.partition("@")[0]
                completed.append((event.event_time.ToDatetime(UTC), process))
        if not earlier:
            return Course(again=again, completed=tuple(completed))
        run = earlier


def with_one_version_changed(packages: Collection[LockedPackage], changed: LockedPackage) -> str:
    """Return the lock file after an update of one package."""
    pins = ((one.name, f"{one.version}.post1" if one == changed else one.version) for one in packages)
    return "".join(f"{name}=={version}\n" for name, version in pins)
