"""Elements at once and steps side by side: as many on their way as the skill says, each once, through rollovers."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError

from perdure import Answer
from perdure.values.tasks import TaskResult
from tests.conftest import Servers
from tests.integration.workflows.resumable_agent.test_branches import most_at_once
from tests.support.harness import Bench, bench
from tests.support.waiting import progress_of, question_of

NUMBERS = list(range(12))


@pytest.fixture(
    params=[(1000, 0), pytest.param((0, 0), marks=pytest.mark.slow), (0, 30)], ids=["cached", "replayed", "rolled"]
)
async def agents(servers: Servers, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[Bench]:
    cached, continue_after = request.param
    more: dict[str, Any] = {"max_cached_workflows": cached, "continue_after": continue_after}
    async with bench(servers, tmp_path, **more) as one:
        yield one


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [pytest.param(1, marks=pytest.mark.slow), 4])
async def test_no_more_elements_are_on_their_way_than_the_skill_says(agents: Bench, at_once: int) -> None:
    ledger = agents.ledger()
    skill = agents.skill(
        f"""
inputs: {{prefix: string}}
steps:
  - {{id: first, tool: echo, args: {{value: "${{inputs.prefix}}"}}}}
  - for_each: "${{{NUMBERS}}}"
    as: n
    at_once: {at_once}
    steps:
      - {{id: stay, tool: dwell, args: {{ledger: "{ledger}", line: "${{steps.first.output}}${{n}}"}}}}
      - {{id: write, tool: append, args: {{ledger: "{ledger}.once", line: "${{steps.stay.output}}/${{index}}"}}}}
output: "${{steps.n.done}}"
"""
    )
    handle = await agents.start(agents.task(skill, inputs={"prefix": "p"}))
    latest = agents.client.get_workflow_handle(handle.id, result_type=TaskResult)
    result = await latest.result()
    assert (result.output, result.done) == (2 * len(NUMBERS), 2 * len(NUMBERS) + 1)
    assert sorted(ledger.read_text().split()) == sorted(f"p{n}" for n in NUMBERS)
    once = ledger.with_name(f"{ledger.name}.once").read_text().split()
    assert sorted(once) == sorted(f"p{n}/{n}" for n in NUMBERS), "each once, and each with what is its own"
    most, run = 0, handle.first_execution_run_id
    while run:
        one = agents.client.get_workflow_handle(handle.id, run_id=run)
        await agents.replay(one)
        events = (await one.fetch_history()).events
        most = max(most, most_at_once(events))
        run = events[-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    assert most <= at_once
    assert most > 1 or at_once == 1


@pytest.mark.slow
async def test_an_element_that_waits_for_a_person_holds_up_no_other(agents: Bench) -> None:
    skill = agents.skill(
        """
steps:
  - for_each: "${[1, 2, 3, 4, 5]}"
    as: n
    at_once: 2
    steps:
      - {id: go, tool: echo, args: {value: "${n}"}, expect: "${n != 2}", ask: "Which?", answer: integer}
      - {id: next, tool: echo, args: {value: "${steps.go.answer == null ? steps.go.output : steps.go.answer}"}}
  - parallel:
      - {id: left, tool: echo, args: {value: l}}
      - - {id: right, tool: echo, args: {value: r}}
        - {id: again, tool: echo, args: {value: "${steps.right.output}r"}}
output: "${[steps.left.output, steps.again.output, steps.n.done, steps.parallel.done]}"
"""
    )
    handle = await agents.start(agents.task(skill))
    latest = agents.client.get_workflow_handle(handle.id, result_type=TaskResult)
    question = await question_of(latest)
    assert question.id == "n[1].go"
    await progress_of(latest, lambda one: one.done == 8, seconds=60)
    await latest.execute_update("answer", Answer(question_id="n[1].go", value=7))
    assert (await latest.result()).output == ["l", "rr", 10, 3]


@pytest.mark.slow
async def test_where_one_element_fails_what_else_is_on_its_way_is_cancelled(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(
        f"""
steps:
  - parallel:
      - {{id: long, tool: linger, args: {{ledger: "{ledger}"}}}}
      - - {{id: wait, tool: dwell, args: {{ledger: "{ledger}", line: x}}}}
        - {{id: fails, tool: echo, args: {{value: 1}}, expect: "${{output == 2}}"}}
"""
    )
    handle = await agents.start(agents.task(skill))
    with pytest.raises(WorkflowFailureError) as caught:
        await agents.client.get_workflow_handle(handle.id).result()
    assert "step fails: " in str(caught.value.cause)


@pytest.mark.slow
async def test_calls_that_are_large_together_follow_each_other(agents: Bench) -> None:
    skill = agents.skill(
        """
inputs: {docs: list}
steps:
  - for_each: "${inputs.docs}"
    as: doc
    steps:
      - for_each: "${doc.pages}"
        as: page
        at_once: 50
        steps:
          - {id: read, tool: echo, args: {value: "${doc.title + page.substring(0, 1)}"}}
output: "${steps.doc.done}"
"""
    )
    docs = [{"title": "t", "pages": [f"{'page ' * 800}{number}" for number in range(50)]}]
    handle = await agents.start(agents.task(skill, inputs={"docs": docs}))
    result = await agents.client.get_workflow_handle(handle.id, result_type=TaskResult).result()
    assert result.output == 50
