"""A worker killed, or put to sleep, around an effect: the task goes on in seconds, and nothing happens twice."""

import signal
import time
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowHandle

from perdure import Answer
from perdure.agent.quick_steps import AT_MOST
from tests.conftest import Servers
from tests.support.harness import Bench
from tests.support.processes import processes
from tests.support.waiting import question_of, until_true

EXPECTED = [str(number) for number in range(1, 26)]

RESUMED_WITHIN = 10.0
"""Seconds from when a new worker is ready to the next effect: a choice, above what Temporal takes to give up the killed
one. From the kill it is six seconds with nothing beside it, as the demo prints: most of them load the new worker."""


def skill(tool: str, ledger: Path, count: int = 25) -> str:
    return f"""
steps:
  - for_each: "${{[{", ".join(f"'{number}'" for number in range(1, count + 1))}]}}"
    as: line
    steps:
      - {{id: write, tool: {tool}, args: {{ledger: "{ledger}", line: "${{line}}"}}}}
"""


def lines(ledger: Path) -> list[str]:
    return ledger.read_text().splitlines() if ledger.exists() else []


@pytest.mark.parametrize(
    ("point", "count"),
    [
        pytest.param("tool.claimed", 12, marks=pytest.mark.slow),
        pytest.param("tool.acted", 13, marks=pytest.mark.slow),
        pytest.param("tool.stored", 13, marks=pytest.mark.slow),
    ],
)
async def test_a_worker_killed_around_an_effect(servers: Servers, tmp_path: Path, point: str, count: int) -> None:
    ledger = tmp_path / "ledger"
    async with processes(servers, tmp_path) as (workers, bench):
        doomed = await workers.start(f"{point}:13")
        handle = await bench.start(bench.task(bench.skill(skill("append", ledger))))
        assert await doomed.wait() == -signal.SIGKILL
        assert len(lines(ledger)) == count
        await workers.start()
        ready = time.monotonic()
        await until_true(lambda: len(lines(ledger)) > count)
        assert time.monotonic() - ready < RESUMED_WITHIN
        assert (await handle.result()).done == 25
        await bench.replay(handle)
    assert lines(ledger) == EXPECTED


@pytest.mark.parametrize(
    ("tool", "expected"), [("append_and_die", 25), ("append_unguarded", 26)], ids=["once", "control"]
)
async def test_a_kill_right_after_an_effect(servers: Servers, tmp_path: Path, tool: str, expected: int) -> None:
    ledger = tmp_path / "ledger"
    async with processes(servers, tmp_path) as (workers, bench):
        doomed = await workers.start()
        handle = await bench.start(bench.task(bench.skill(skill(tool, ledger))))
        assert await doomed.wait() == -signal.SIGKILL
        await workers.start()
        assert (await handle.result()).happened_before == (tool == "append_and_die")
    assert len(lines(ledger)) == expected


@pytest.mark.slow
async def test_a_kill_among_quick_steps_repeats_twenty_of_them_at_most(servers: Servers, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    async with processes(servers, tmp_path) as (workers, bench):
        doomed = await workers.start()
        handle = await bench.start(bench.task(bench.skill(skill("append_quickly_and_die", ledger, 60))))
        assert await doomed.wait() == -signal.SIGKILL
        await workers.start()
        assert (await handle.result()).done == 60
        await bench.replay(handle)
    assert {*lines(ledger)} == {str(number) for number in range(1, 61)}
    assert 60 < len(lines(ledger)) <= 60 + AT_MOST


@pytest.mark.parametrize(("without_deadline", "twice"), [(0, 1), (1, 2)], ids=["deadline", "control"])
@pytest.mark.slow
async def test_an_attempt_that_slept_through_its_deadline(
    servers: Servers, tmp_path: Path, without_deadline: int, twice: int
) -> None:
    ledger = tmp_path / "ledger"
    async with processes(servers, tmp_path) as (workers, bench):
        # With one slot it asks for no more work while it sleeps; the server would give it some for as long as it asks.
        zombie = await workers.start(
            "tool.claimed:3:stop",
            activities_at_once=1,
            max_cached_workflows=0,
            without_deadline=without_deadline,
        )
        handle = await bench.start(bench.task(bench.skill(skill("append", ledger, 5))))
        await until_true(lambda: Path(f"/proc/{zombie.pid}/stat").read_text().split()[2] == "T")
        fresh = await workers.start()
        await until_true(lambda: len(lines(ledger)) >= 5)
        zombie.send_signal(signal.SIGCONT)
        assert (await handle.result()).done == 5
        # Its only slot was taken by the attempt that slept: once it works for another task, it is past that.
        fresh.kill()
        other = await bench.start(bench.task(bench.skill(skill("append", tmp_path / "other", 1))))
        await other.result()
    assert sorted(lines(ledger)) == sorted([*EXPECTED[:5], *["3"] * (twice - 1)])


@pytest.mark.slow
async def test_a_dead_attempt_that_nothing_can_tell_about_is_asked_about(servers: Servers, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    async with processes(servers, tmp_path) as (workers, bench):
        doomed = await workers.start("tool.acted:2")
        handle = await bench.start(bench.task(bench.skill(skill("append_blindly", ledger, 3))))
        assert await doomed.wait() == -signal.SIGKILL
        await workers.start()
        question = await question_of(handle)
        assert lines(ledger) == ["1", "2"]
        answer = Answer(question_id=question.id, value="done")
        await handle.execute_update("answer", answer)
        assert (await handle.result()).done == 3
        await bench.replay(handle)
    assert lines(ledger) == EXPECTED[:3]


@pytest.mark.slow
async def test_a_word_about_one_attempt_says_nothing_about_the_next(servers: Servers, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    async with processes(servers, tmp_path) as (workers, bench):
        first = await workers.start("tool.claimed:1")
        handle = await bench.start(bench.task(bench.skill(skill("append_blindly", ledger, 1))))
        assert await first.wait() == -signal.SIGKILL
        for asked in (1, 2):
            # The second worker dies after the effect that a person has just sent it to make.
            worker = await workers.start("tool.acted:1" if asked == 1 else "")
            question = await question_of(handle)
            value = "not_done" if asked == 1 else "done"
            await handle.execute_update("answer", Answer(question_id=question.id, value=value))
            if asked == 1:
                assert await worker.wait() == -signal.SIGKILL
        assert (await handle.result()).done == 1
        await bench.replay(handle)
    assert lines(ledger) == ["1"]


@pytest.mark.parametrize(("tool", "expected"), [("append", 5), ("append_unguarded", 10)], ids=["once", "control"])
async def test_a_workflow_reset_behind_an_effect(servers: Servers, tmp_path: Path, tool: str, expected: int) -> None:
    ledger = tmp_path / "ledger"
    async with processes(servers, tmp_path) as (workers, bench):
        await workers.start()
        handle = await bench.start(bench.task(bench.skill(skill(tool, ledger, 5))))
        await handle.result()
        again = await reset(bench, handle)
        await again.result()
    assert len(lines(ledger)) == expected


async def test_a_workflow_reset_before_a_list_that_has_changed_asks_what_became_of_each(
    servers: Servers, tmp_path: Path
) -> None:
    ledger, names = tmp_path / "ledger", tmp_path / "names"
    names.write_text("Kim\nLee\n")
    text = f"""
steps:
  - {{id: names, tool: lines_of, args: {{file: "{names}"}}}}
  - for_each: "${{steps.names.output}}"
    as: name
    steps: [{{id: send, tool: append, args: {{ledger: "{ledger}", line: "${{name}}"}}}}]
"""
    async with processes(servers, tmp_path) as (workers, bench):
        await workers.start()
        handle = await bench.start(bench.task(bench.skill(text)))
        await handle.result()
        names.write_text("Ada\nKim\nLee\n")
        again = await reset(bench, handle)
        question = await question_of(again)
        assert (question.id, question.choices) == ("name[0].send", ("done", "not_done"))
        assert question.text == "append was called at this step before, with other arguments. Did this effect happen?"
        await again.execute_update("answer", Answer(question_id=question.id, value="not_done"))
        assert (await question_of(again, "name[1].send")).about is not None
        await again.cancel()
    assert lines(ledger) == ["Kim", "Lee", "Ada"]


async def reset(bench: Bench, handle: WorkflowHandle[Any, Any], *, before: str = "") -> WorkflowHandle[Any, Any]:
    """Reset a workflow to before its first step, or to before the activity of that summary was scheduled."""
    events = (await handle.fetch_history()).events
    tasks = [event.event_id for event in events if event.HasField("workflow_task_completed_event_attributes")]
    first = tasks[0]
    if before:
        [scheduled] = [one.event_id for one in events if one.user_metadata.summary.data.decode() == f'"{before}"']
        first = max(event for event in tasks if event < scheduled)
    await bench.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace="default",
            workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=handle.result_run_id or ""),
            workflow_task_finish_event_id=first,
            reason="a test",
            request_id="reset",
        )
    )
    return bench.client.get_workflow_handle(handle.id)
