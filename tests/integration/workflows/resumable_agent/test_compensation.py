"""Undoing what a task has done, once it has failed or was cancelled: in reverse, once, and named in the result."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowFailureError, WorkflowHandle

from perdure import Answer, TaskResult
from perdure.values.tasks import Phase
from tests.conftest import Servers
from tests.support.announcements import announced
from tests.support.harness import Bench, bench
from tests.support.tools import lines_in
from tests.support.waiting import progress_of, question_of, until_true

INNER = """
inputs: {ledger: string}
steps:
  - id: write
    tool: append
    args: {ledger: "${inputs.ledger}", line: inner}
    compensate: {tool: append, args: {ledger: "${inputs.ledger}", line: "not ${output.line}"}}
"""


def skill(agents: Bench, ending: str, *, undo: str = "append") -> str:
    """Return a skill that writes three lines, which are undone by writing that they are not."""
    inner = agents.skill(INNER)
    return agents.skill(
        f"""
inputs: {{ledger: string}}
steps:
  - {{id: large, tool: big, args: {{size: 5000}}}}
  - for_each: "${{['a', 'b']}}"
    as: word
    steps:
      - id: write
        tool: append
        args: {{ledger: "${{inputs.ledger}}", line: "${{word}}"}}
        compensate:
          tool: {undo}
          args: {{ledger: "${{inputs.ledger}}", line: "not ${{output.line}} ${{steps.large.output.size()}}"}}
  - {{id: run, skill: {inner}, inputs: {{ledger: "${{inputs.ledger}}"}}}}
  - {ending}
"""
    )


FAILS = "{id: fails, tool: garbles, retry: 1}"
WRITTEN = ["a", "b", "inner"]
UNDONE = ["not inner", "not b 5000", "not a 5000"]


async def failed(handle: WorkflowHandle[Any, Any]) -> TaskResult:
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    details = getattr(caught.value.cause, "details", ())
    found = details[0] if details else await handle.query("result")
    return TaskResult.model_validate(found)


@pytest.mark.slow
async def test_a_task_that_fails_undoes_what_it_did_the_last_first(agents: Bench) -> None:
    ledger = agents.ledger()
    handle = await agents.start(agents.task(skill(agents, FAILS), inputs={"ledger": str(ledger)}))
    result = await failed(handle)
    await agents.replay(handle)
    assert lines_in(str(ledger)) == WRITTEN + UNDONE
    assert result.compensated == ("run.write", "word[1].write", "word[0].write")
    assert (result.status, result.uncompensated, result.unknown) == (Phase.FAILED, (), ())
    assert result.problem.startswith("step fails: ")
    assert (await progress_of(handle, lambda one: True)).compensated == result.compensated


@pytest.mark.slow
async def test_so_does_one_that_is_cancelled(agents: Bench) -> None:
    ledger, waits = agents.ledger(), agents.ledger()
    ending = f'{{id: waits, tool: linger, args: {{ledger: "{waits}"}}}}'
    handle = await agents.start(agents.task(skill(agents, ending), inputs={"ledger": str(ledger)}))
    await until_true(lambda: lines_in(str(waits)) == ["started"])
    await handle.cancel()
    result = await failed(handle)
    await agents.replay(handle)
    assert lines_in(str(ledger)) == WRITTEN + UNDONE
    assert (result.status, len(result.compensated)) == (Phase.CANCELLED, 3)


@pytest.mark.slow
async def test_one_that_completes_or_is_terminated_undoes_nothing(agents: Bench) -> None:
    ledger, waits = agents.ledger(), agents.ledger()
    done = "{id: done, tool: echo, args: {value: 1}}"
    result = await (await agents.start(agents.task(skill(agents, done), inputs={"ledger": str(ledger)}))).result()
    assert (result.compensated, lines_in(str(ledger))) == ((), WRITTEN)
    ending = f'{{id: waits, tool: linger, args: {{ledger: "{waits}"}}}}'
    handle = await agents.start(agents.task(skill(agents, ending), inputs={"ledger": str(ledger)}))
    await until_true(lambda: lines_in(str(waits)) == ["started"])
    await handle.terminate()
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    assert lines_in(str(ledger)) == WRITTEN * 2


@pytest.mark.slow
async def test_what_is_carried_when_the_history_is_rolled_over_is_undone(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path, continue_after=20, max_cached_workflows=0) as agents:
        ledger = agents.ledger()
        handle = await agents.start(agents.task(skill(agents, FAILS), inputs={"ledger": str(ledger)}))
        latest = agents.client.get_workflow_handle(handle.id)
        assert len((await failed(handle)).compensated) == 3
        assert (await latest.describe()).run_id != handle.first_execution_run_id
        assert lines_in(str(ledger)) == WRITTEN + UNDONE


@pytest.mark.slow
async def test_its_id_is_spent_once_effects_were_undone(agents: Bench) -> None:
    ledger = agents.ledger()
    task = agents.task(skill(agents, FAILS), inputs={"ledger": str(ledger)})
    await failed(await agents.start(task))
    with pytest.raises(WorkflowFailureError) as caught:
        await (await agents.start(task)).result()
    assert f"task_id: the effects of {task.task_id!r} were undone (choose a new task_id)" in str(caught.value.cause)
    assert lines_in(str(ledger)) == WRITTEN + UNDONE
    # One that had nothing to undo may be run again.
    bare = agents.task(agents.skill(f"steps: [{FAILS}]"))
    for _ in range(2):
        assert "step fails" in (await failed(await agents.start(bare))).problem


@pytest.mark.slow
async def test_a_reset_to_before_it_does_not_take_for_done_what_was_undone(agents: Bench) -> None:
    ledger = agents.ledger()
    handle = await agents.start(agents.task(skill(agents, FAILS), inputs={"ledger": str(ledger)}))
    await failed(handle)
    history = await handle.fetch_history()
    completed = [one.event_id for one in history.events if one.HasField("workflow_task_completed_event_attributes")]
    await agents.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=agents.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=handle.first_execution_run_id or ""),
            reason="a test",
            workflow_task_finish_event_id=completed[4],
            request_id="reset",
        )
    )
    result = await failed(agents.client.get_workflow_handle(handle.id))
    assert "were undone" in result.problem
    assert lines_in(str(ledger)) == WRITTEN + UNDONE, "nothing was done or undone a second time"


@pytest.mark.slow
async def test_what_cannot_be_undone_is_named_and_the_rest_is_undone(agents: Bench) -> None:
    ledger = agents.ledger()
    name = skill(agents, FAILS, undo="append_blindly")
    more = agents.folder / "skills" / f"{name}.yaml"
    text = more.read_text().replace("not ${output.line} ${steps.large", "${1 / (output.line.size() - 1)} ${steps.large")
    more.write_text(text)
    result = await failed(await agents.start(agents.task(name, inputs={"ledger": str(ledger)})))
    # The first effect cannot be undone, so the task does not go on after it.
    assert result.problem.startswith("step word[0].write: PRD103")
    assert result.uncompensated[0].startswith("word[0].write: PRD103 args.line")
    assert (result.compensated, lines_in(str(ledger))) == ((), ["a"])


@pytest.mark.slow
async def test_an_effect_of_unknown_fate_is_named_and_not_undone(agents: Bench) -> None:
    ledger = agents.ledger()
    text = f"""
steps:
  - id: first
    tool: append
    args: {{ledger: "{ledger}", line: first}}
    compensate: {{tool: append, args: {{ledger: "{ledger}", line: not first}}}}
  - id: torn
    tool: breaks
    args: {{ledger: "{agents.ledger()}", line: x}}
    retry: 1
    compensate: {{tool: append, args: {{ledger: "{ledger}", line: not torn}}}}
"""
    result = await failed(await agents.start(agents.task(agents.skill(text))))
    assert (result.unknown, result.compensated) == (("torn",), ("first",))
    assert lines_in(str(ledger)) == ["first", "not first"]


def asked_before_undoing(folder: Path) -> Path:
    """Write the policy that a person approves what undoes an effect; returns its folder."""
    (policies := folder / "policies").mkdir()
    (policies / "undoing.yaml").write_text(
        "name: undoing\nrationale: It is looked at first.\nlevel: hard\napprove: Undo it?\n"
        "when: \"${state.step.endsWith('.compensate') && arguments.line.startsWith('not')}\"\n",
        encoding="utf-8",
    )
    return policies


@pytest.mark.slow
async def test_what_nobody_permits_to_be_undone_is_left_and_named(servers: Servers, tmp_path: Path) -> None:
    soon = timedelta(seconds=1) / timedelta(hours=1)
    async with bench(servers, tmp_path, more={"policies": (asked_before_undoing(tmp_path),)}) as agents:
        task = agents.task(skill(agents, FAILS), inputs={"ledger": str(agents.ledger())}, limits={"answer_hours": soon})
        handle = await agents.start(task)
        result = await failed(handle)
        asked = {one.question.otherwise for one in await announced(handle)}
        assert asked == {"the effect is left as it is, and named"}
        await agents.replay(handle)
    unanswered = f"nobody answered within {soon:g} h"
    assert result.compensated == ()
    assert result.uncompensated == tuple(
        f"{path}: {unanswered}" for path in ("run.write", "word[1].write", "word[0].write")
    )


@pytest.mark.slow
async def test_policies_and_people_have_a_word_in_it(servers: Servers, tmp_path: Path) -> None:
    folder = asked_before_undoing(tmp_path)
    async with bench(servers, tmp_path, more={"policies": (folder,)}) as agents:
        ledger = agents.ledger()
        handle = await agents.start(agents.task(skill(agents, FAILS), inputs={"ledger": str(ledger)}))
        for path, answer in (("run.write", "yes"), ("word[1].write", "no"), ("word[0].write", "yes")):
            question = await question_of(handle, f"{path}.compensate")
            await handle.execute_update("answer", Answer(question_id=question.id, value=answer, by="anna"))
        result = await failed(handle)
        await agents.replay(handle)
        assert result.compensated == ("run.write", "word[0].write")
        assert result.uncompensated == ("word[1].write: it was not permitted",)
        assert lines_in(str(ledger)) == [*WRITTEN, UNDONE[0], UNDONE[2]]
