"""A task is paused: what is under way ends, nothing new begins, and it goes on from there."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.exceptions import CancelledError

from perdure import Actor, ActorKind, PauseRequest, Progress, TaskFeedback
from perdure.values.steering import InterventionKind
from perdure.values.tasks import Phase
from tests.conftest import Servers
from tests.integration.workflows.resumable_agent.test_questions_to_people import answer
from tests.support.harness import Bench, bench
from tests.support.waiting import progress_of, question_of, until, until_true, update_arrived

ADA = Actor(kind=ActorKind.PERSON, id="ada")


async def steer(handle: WorkflowHandle[Any, Any], update: str, because: str = "", id_: str = "") -> Progress:
    request = PauseRequest(because=because, id=id_, by=ADA)
    return await handle.execute_update(update, request, result_type=Progress)


async def refused(handle: WorkflowHandle[Any, Any], update: str) -> str:
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await steer(handle, update)
    return str(caught.value.cause)


def two_steps(agents: Bench, ledger: Path) -> str:
    return agents.skill(
        f"""
steps:
  - {{id: a, tool: take_time, args: {{ledger: '{ledger}', seconds: 0.5}}}}
  - {{id: b, tool: append, args: {{ledger: '{ledger}', line: b}}}}
output: "${{steps.b.output.line}}"
"""
    )


@pytest.mark.slow
async def test_what_is_under_way_ends_and_nothing_new_begins_until_it_goes_on(agents: Bench) -> None:
    ledger = agents.ledger()
    handle = await agents.start(agents.task(two_steps(agents, ledger)))
    await until_true(ledger.exists)
    told = await steer(handle, "pause", "look first")
    assert told.paused is not None
    assert (told.paused.by, told.paused.because, told.step) == (ADA, "look first", "a")
    paused = await progress_of(handle, lambda one: one.phase is Phase.PAUSED)
    assert (paused.done, paused.step) == (1, "")
    assert "is paused by person ada on 20" in await refused(handle, "pause")
    metadata = str(await handle.query("__temporal_workflow_metadata"))
    assert "paused by person ada on 20" in metadata
    assert f"perdure resume {handle.id}" in metadata
    await agents.replay(handle)
    assert ledger.read_text().split() == ["begun", "ended"]
    assert (await steer(handle, "resume")).paused is None
    result = await handle.result()
    assert (result.output, [one.kind for one in result.interventions]) == (
        "b",
        [InterventionKind.PAUSED, InterventionKind.RESUMED],
    )
    assert ledger.read_text().split() == ["begun", "ended", "b"]
    await agents.replay(handle)


async def test_a_paused_task_does_not_end(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(f"steps: [{{id: a, tool: take_time, args: {{ledger: '{ledger}', seconds: 0.3}}}}]\noutput: 1")
    handle = await agents.start(agents.task(skill))
    await until_true(ledger.exists)
    await steer(handle, "pause")
    await progress_of(handle, lambda one: one.phase is Phase.PAUSED and one.done == 1)
    await steer(handle, "resume")
    assert (await handle.result()).output == 1
    assert (await progress_of(handle, bool)).paused is None
    with pytest.raises(Exception, match="completed"):
        await steer(handle, "pause")
    await agents.replay(handle)


ASK = """
steps:
  - {id: a, tool: look, args: {name: x, known: false}, expect: "${output.licence != null}", ask: "What licence?"}
  - {id: b, tool: append, args: {ledger: LEDGER, line: "${steps.a.answer}"}, approve: "Go on?"}
"""


@pytest.mark.slow
async def test_questions_are_answered_while_it_pauses_and_none_is_put(agents: Bench) -> None:
    ledger = agents.ledger()
    handle = await agents.start(agents.task(agents.skill(ASK.replace("LEDGER", f"'{ledger}'"))))
    await question_of(handle)
    assert (await steer(handle, "pause")).phase is Phase.WAITING
    await answer(handle, "a", "MIT")
    paused = await progress_of(handle, lambda one: one.phase is Phase.PAUSED)
    assert (paused.questions, paused.paused is not None) == ((), True)
    await steer(handle, "resume")
    await question_of(handle, "b")
    await answer(handle, "b", "yes")
    assert (await handle.result()).done == 2
    assert ledger.read_text() == "MIT\n"
    await agents.replay(handle)


@pytest.mark.slow
async def test_a_moment_passes_while_it_pauses_and_the_step_behind_it_waits(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(
        f"steps: [{{id: a, wait: 1s}}, {{id: b, tool: append, args: {{ledger: '{ledger}', line: b}}}}]"
    )
    handle = await agents.start(agents.task(skill))
    await progress_of(handle, lambda one: bool(one.waits))
    await steer(handle, "pause")
    paused = await progress_of(handle, lambda one: one.done == 1)
    assert (paused.phase, paused.waits, ledger.exists()) == (Phase.PAUSED, (), False)
    await steer(handle, "resume")
    assert (await handle.result()).done == 2


async def test_a_paused_task_is_cancelled_at_once(agents: Bench) -> None:
    ledger = agents.ledger()
    handle = await agents.start(agents.task(two_steps(agents, ledger)))
    await until_true(ledger.exists)
    await steer(handle, "pause")
    await progress_of(handle, lambda one: one.phase is Phase.PAUSED)
    await handle.cancel()
    async with asyncio.timeout(10):
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
    assert isinstance(caught.value.cause, CancelledError)
    ended = await progress_of(handle, lambda one: one.phase is Phase.CANCELLED)
    assert (ended.paused, ledger.read_text().split()) == (None, ["begun", "ended"])
    await agents.replay(handle)


async def test_a_task_that_does_not_pause_has_nothing_to_go_on_with(agents: Bench) -> None:
    handle = await agents.start(agents.task(agents.skill("steps: [{id: a, wait: 1d}]")))
    await progress_of(handle, lambda one: bool(one.waits))
    assert "PRD117 task: is not paused" in await refused(handle, "resume")
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await handle.execute_update("pause", {"becuase": "x"})
    assert "becuase: is not a field here (did you mean 'because'?)" in str(caught.value.cause)
    for _ in range(2):
        assert (await steer(handle, "pause", id_="one")).paused is not None
    await steer(handle, "resume", id_="two")
    assert (await steer(handle, "pause", id_="one")).paused is None, "it came before"
    await handle.cancel()


@pytest.mark.slow
async def test_a_task_that_is_paused_before_a_worker_has_it_begins_nothing(servers: Servers, tmp_path: Path) -> None:
    queue = f"q{uuid4().hex}"
    async with bench(servers, tmp_path) as elsewhere:
        agents = Bench(client=elsewhere.client, queue=queue, folder=tmp_path)
        ledger = agents.ledger()
        handle = await agents.start(agents.task(two_steps(agents, ledger)))
        request = PauseRequest(by=ADA)
        early = asyncio.create_task(handle.execute_update("pause", request, id="early", result_type=Progress))
        await update_arrived(agents.client, handle.id, "early")
        async with bench(servers, tmp_path, queue=queue):
            assert (await early).paused is not None
            await progress_of(handle, lambda one: one.phase is Phase.PAUSED)
            assert not ledger.exists()
            await steer(handle, "resume")
            assert (await handle.result()).output == "b"


@pytest.mark.slow
@pytest.mark.parametrize("cache", [1000, pytest.param(0, marks=pytest.mark.slow)])
async def test_a_pause_travels_with_the_task_when_its_history_is_rolled_over_and_to_another_worker(
    servers: Servers, tmp_path: Path, cache: int
) -> None:
    queue = f"q{uuid4().hex}"
    async with bench(servers, tmp_path, queue=queue, continue_after=40, max_cached_workflows=cache) as agents:
        ledger = agents.ledger()
        handle = await agents.start(agents.task(two_steps(agents, ledger)))
        await until_true(ledger.exists)
        await steer(handle, "pause", "for long", "one")
        latest = agents.client.get_workflow_handle(handle.id)
        await progress_of(latest, lambda one: one.phase is Phase.PAUSED)
        for _ in range(12):
            await steer(latest, "pause", "for long", "one")

        async def rolled() -> bool:
            return (await latest.describe()).run_id != handle.first_execution_run_id

        await until(rolled, bool)
        told = await progress_of(latest, lambda one: one.phase is Phase.PAUSED)
        assert told.paused is not None
        assert (told.paused.because, told.done) == ("for long", 1)
    async with bench(servers, tmp_path, queue=queue, max_cached_workflows=cache):
        assert (await steer(latest, "pause", "for long", "one")).paused == told.paused
        assert ledger.read_text().split() == ["begun", "ended"]
        await steer(latest, "resume", id_="two")
        assert (await handle.result()).output == "b"


async def test_what_a_person_says_of_a_step_counts_in_the_evaluation(agents: Bench) -> None:
    skill = agents.skill("steps: [{id: a, tool: echo, args: {value: 1}}]\noutput: 1\nexpect: '${output == 1}'")
    handle = await agents.start(agents.task(skill))
    await steer(handle, "pause")
    program = TaskFeedback(passed=True)
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await handle.execute_update("feedback", program)
    assert "only people judge a task" in str(caught.value.cause)
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await handle.execute_update("feedback", TaskFeedback(passed=False, step="b", by=ADA))
    assert "the task has no step 'b'" in str(caught.value.cause)
    said = TaskFeedback(passed=False, step="a", text="It should be two.", by=ADA)
    await handle.execute_update("feedback", said)
    await steer(handle, "resume")
    result = await handle.result()
    await agents.replay(handle)
    assert result.evaluation is not None
    assert [(one.by, one.passed) for one in result.evaluation.judgements] == [("expect", True), ("person", False)]
    assert result.evaluation.judgements[1].reason.startswith("step a: It should be two. (person ada, 20")
    assert not result.evaluation.passed
