"""Replays histories in a process of its own: ``python -m tests.replay.replay_main [--control] FILE…``.

Writes one line of JSON for each file: its name, its workflow, and the failure, if there is one. With ``--control``
a second line follows for each, of a replay with workflows that were changed without care.
"""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from opentelemetry import trace
from temporalio.client import WorkflowHistory
from temporalio.contrib.opentelemetry import OpenTelemetryPlugin, create_tracer_provider
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.worker import Replayer

from perdure.temporal.plugin import Plugin
from tests.replay import histories
from tests.replay.changed import CHANGED
from worker.exit import leave_after
from worker.plugin import WORKFLOWS

_QUIET = Runtime(telemetry=TelemetryConfig(logging=None))
"""The library would log failures to standard output, among our lines."""


async def replay(files: Sequence[Path], workflows: Sequence[type], *, control: bool) -> None:
    """Replay each file with these workflows."""
    replayer = Replayer(workflows=workflows, plugins=[Plugin(), OpenTelemetryPlugin()], runtime=_QUIET)
    found = {file.stem: histories.read(file) for file in files}
    names = {history.run_id: name for name, history in found.items()}

    async def read() -> AsyncIterator[WorkflowHistory]:
        for history in found.values():
            yield history

    # One worker for all of them: making one takes longer than replaying a history.
    async with replayer.workflow_replay_iterator(read()) as results:
        async for result in results:
            failure = str(result.replay_failure) if result.replay_failure else ""
            workflow = histories.workflow_type(result.history)
            line = {"name": names[result.history.run_id], "workflow": workflow, "control": control, "failure": failure}
            sys.stdout.write(json.dumps(line) + "\n")


async def _main(arguments: Sequence[str]) -> None:
    trace.set_tracer_provider(create_tracer_provider())
    files = [Path(name) for name in arguments if name != "--control"]
    await replay(files, WORKFLOWS, control=False)
    if "--control" in arguments:
        await replay(files, CHANGED, control=True)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # the failures are in the lines
    leave_after(lambda: asyncio.run(_main(sys.argv[1:])))
