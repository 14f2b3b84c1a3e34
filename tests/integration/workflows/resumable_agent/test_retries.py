"""How often a step tries its tool, and for how long: as it says, and never at the cost of an effect's promise."""

import asyncio

import pytest
from temporalio.client import WorkflowFailureError

from perdure import Actor, ActorKind
from tests.conftest import Servers
from tests.support.harness import Bench
from worker.gateway import Gateway

MOST = 3
"""How often a tool is tried where its step does not say: see ``bench``."""


async def failed(agents: Bench, steps: str) -> str:
    with pytest.raises(WorkflowFailureError) as caught:
        await agents.run(f"steps: [{steps}]")
    return str(caught.value.cause)


@pytest.mark.slow
@pytest.mark.parametrize(("retry", "tries"), [("", MOST), (", retry: 0", 1), (", retry: 1", 1), (", retry: 2", 2)])
async def test_a_tool_that_fails_is_tried_as_often_as_its_step_says(agents: Bench, retry: str, tries: int) -> None:
    ledger = agents.ledger()
    told = await failed(agents, f'{{id: a, tool: flaky, args: {{ledger: "{ledger}", fails: 9}}{retry}}}')
    assert "step a: " in told
    assert len(ledger.read_text().splitlines()) == tries


@pytest.mark.slow
async def test_a_step_may_try_more_often_than_the_installation(agents: Bench) -> None:
    arguments = f'{{ledger: "{agents.ledger()}", fails: {MOST}}}'
    skill = f'steps: [{{id: a, tool: flaky, args: {arguments}, retry: {MOST + 1}}}]\noutput: "${{steps.a.output}}"'
    assert (await agents.run(skill)).output == MOST + 1


async def test_an_attempt_that_did_nothing_counts_where_the_step_says_how_often(agents: Bench) -> None:
    ledger = agents.ledger()
    told = await failed(agents, f'{{id: a, tool: hesitant, args: {{ledger: "{ledger}"}}, retry: 1}}')
    assert "PRD303 the service was busy" in told
    assert ledger.read_text().splitlines() == ["try"]


async def test_a_failed_effect_is_not_tried_again_and_is_named_as_unknown(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = f"""
steps:
  - {{id: a, tool: breaks, args: {{ledger: "{ledger}", line: x}}, retry: 1, on_failure: continue}}
output: "${{steps.a.status}}"
"""
    result = await agents.run(skill)
    assert (result.output, result.unknown) == ("failed", ("a",))
    assert ledger.read_text().splitlines() == ["x"]


@pytest.mark.slow
async def test_a_step_cuts_a_call_off_sooner_than_its_tool_does(agents: Bench) -> None:
    skill = agents.skill(
        f"""
steps:
  - {{id: me, tool: who, timeout: 1s}}
  - {{id: a, tool: linger, args: {{ledger: "{(ledger := agents.ledger())}"}}, timeout: 1s, retry: 1}}
"""
    )
    handle = await agents.start(agents.task(skill))
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert "step a: " in str(caught.value.cause)
    assert "longer than 1 s" in str(caught.value.cause)
    assert ledger.read_text().splitlines() == ["started"]


@pytest.mark.slow
async def test_an_effect_that_goes_on_after_its_call_was_cut_off_happens_once(agents: Bench) -> None:
    """The next attempt looks when the tool's own time is over: sooner, it would find nothing and act again."""
    ledger = agents.ledger()
    arguments = f'{{ledger: "{ledger}", line: x, seconds: 3.4}}'
    skill = f'steps: [{{id: a, tool: request_late, args: {arguments}, timeout: 1s}}]\noutput: "${{steps.a.output}}"'
    assert (await agents.run(skill)).output == "x"
    assert ledger.read_text().splitlines() == ["asked for x", "x"]


async def test_where_a_task_is_shows_what_is_tried_again(agents: Bench, servers: Servers) -> None:
    task = agents.task(agents.skill("steps: [{id: a, tool: raises, args: {text: of a parcel}, retry: 9}]"))
    handle = await agents.start(task)
    by = Actor(kind=ActorKind.PERSON, id="tester")
    async with Gateway(agents.settings, servers) as gateway, asyncio.timeout(20):
        while not (progress := await gateway.progress(task.workflow_id, by=by)) or not progress.retries:
            await asyncio.sleep(0.1)
        [listed] = (await gateway.listed(task.workflow_id, by=by)).retries
    [retry] = progress.retries
    assert (retry.called, retry.problem, retry.place.endswith(" in raises")) == ("raises", "ValueError", True)
    assert (listed.called, listed.problem) == ("raises", "ValueError")
    assert "parcel" not in f"{progress.retries}{listed}"
    await handle.terminate()
