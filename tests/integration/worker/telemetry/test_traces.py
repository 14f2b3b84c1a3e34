"""Spans of a client, a workflow and an activity in one trace, in real processes against a real Temporal."""

import asyncio
import sys
import textwrap
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conftest import Servers
from worker.telemetry import SpanLine, spans_of

PROGRAM = textwrap.dedent(
    """
    import asyncio, sys
    from datetime import timedelta
    from pathlib import Path
    from opentelemetry import trace
    from temporalio import activity, workflow
    from temporalio.client import Client
    from temporalio.worker import Worker

    with workflow.unsafe.imports_passed_through():
        from worker.exit import leave_after
        from perdure.settings import Settings
        from worker.telemetry import Telemetry

    @activity.defn
    async def look_up() -> None:
        with trace.get_tracer("test").start_as_current_span("memory.recall"):
            pass

    @workflow.defn
    class Task:
        @workflow.run
        async def run(self) -> None:
            with trace.get_tracer("test").start_as_current_span("step"):
                for _ in range(3):
                    await workflow.execute_activity(look_up, start_to_close_timeout=timedelta(seconds=10))

    async def main(address: str, home: str, queue: str) -> None:
        telemetry = Telemetry.start(Settings(home=Path(home)), service="test")
        client = await Client.connect(address, plugins=[telemetry.plugin])
        # Without a cache every workflow task is a replay from the start.
        async with Worker(client, task_queue=queue, workflows=[Task], activities=[look_up], max_cached_workflows=0):
            with telemetry.root("perdure.run") as trace_id:
                await client.execute_workflow(Task.run, id=queue, task_queue=queue)
        telemetry.stop()
        print(trace_id)

    if __name__ == "__main__":
        leave_after(lambda: asyncio.run(main(*sys.argv[1:])))
    """
)


async def traced(servers: Servers, folder: Path) -> tuple[str, list[SpanLine]]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(program),
        servers.temporal,
        str(folder),
        f"telemetry-{uuid4()}",
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    trace_id = output.decode().strip()
    return trace_id, spans_of(folder / "traces", trace_id)


@pytest.mark.slow
async def test_an_activitys_span_is_in_the_callers_trace_and_replays_add_none(servers: Servers, tmp_path: Path) -> None:
    trace_id, spans = await traced(servers, tmp_path)

    names = [span.name for span in spans]
    assert sorted(names) == ["memory.recall"] * 3 + ["perdure.run", "step"]
    root = next(span for span in spans if span.name == "perdure.run")
    step = next(span for span in spans if span.name == "step")
    assert step.parent == root.span
    assert {span.parent for span in spans if span.name == "memory.recall"} == {step.span}
    # In the file itself too: spans_of would hide a span that was emitted twice under one id.
    assert (tmp_path / "traces/spans.jsonl").read_text().count(trace_id) == 5
