"""What a skill names with let: worked out once, kept small in the history, and read by those behind it."""

from collections import Counter
from pathlib import Path

import pytest
from temporalio.client import WorkflowFailureError

from perdure.names import Activity
from tests.conftest import Servers
from tests.support.harness import Bench, bench

pytestmark = pytest.mark.slow


async def test_names_are_read_behind_their_let_and_in_the_blocks_behind_it(agents: Bench) -> None:
    skill = agents.skill(
        """
inputs: {names: list, size: integer}
steps:
  - let: {limit: 2, unit: kB}
  - {id: large, tool: big, args: {size: "${inputs.size}"}}
  - let: {twice: "${steps.large.output + steps.large.output}", mixed: {list: ["${limit + 1}", "$${x}"]}}
  - for_each: "${inputs.names}"
    as: name
    at_once: 2
    steps:
      - let: {greeting: "${name} ${index + limit} ${unit}"}
      - {id: say, tool: append, args: {ledger: LEDGER, line: "${greeting} ${twice.size()}"}}
output: {mixed: "${mixed}", size: "${twice.size()}", done: "${steps.name.done}"}
expect: "${output.size == twice.size() && limit == 2}"
""".replace("LEDGER", str(ledger := agents.ledger()))
    )
    handle = await agents.start(agents.task(skill, inputs={"names": ["a", "b", "c"], "size": 9_000}))
    result = await handle.result()
    await agents.replay(handle)
    assert result.output == {"mixed": {"list": [3, "${x}"]}, "size": 18_000, "done": 3}
    assert result.evaluation is not None
    assert result.evaluation.passed
    assert result.done == 4, "names are no steps"
    assert sorted(ledger.read_text().splitlines()) == ["a 2 kB 18000", "b 3 kB 18000", "c 4 kB 18000"]
    history = await handle.fetch_history()
    ran = Counter(event.activity_task_scheduled_event_attributes.activity_type.name for event in history.events)
    assert ran[Activity.LET_STEP] == 1 + 3, "what is written without an expression needs no activity"
    assert max(event.ByteSize() for event in history.events) < 20_000, "a large value is kept elsewhere"


async def test_names_travel_with_a_task_that_is_rolled_over(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path, continue_after=30, max_cached_workflows=0) as agents:
        skill = agents.skill(
            f"""
steps:
  - let: {{small: "${{task.id}}", unread: "${{'x'}}"}}
  - {{id: large, tool: big, args: {{size: 9000}}}}
  - let: {{kept: "${{steps.large.output}}"}}
  - for_each: "${{[1,2,3,4,5,6,7,8,9,10,11,12]}}"
    as: n
    steps:
      - let: {{line: "${{n}} ${{small.size()}} ${{kept.size()}}"}}
      - {{id: write, tool: append, args: {{ledger: "{(ledger := tmp_path / "ledger")}", line: "${{line}}"}}}}
output: "${{small}}"
"""
        )
        handle = await agents.start(agents.task(skill, task_id="rolls"))
        assert (await handle.result()).output == "rolls"
        described = await agents.client.get_workflow_handle(handle.id).describe()
        assert described.run_id != handle.first_execution_run_id
    assert ledger.read_text().splitlines() == [f"{number} 5 9000" for number in range(1, 13)]


@pytest.mark.parametrize(
    ("let", "problem"),
    [
        ("{ok: '${1}', wrong: '${inputs.n / 0}'}", "step let ok: PRD103 let.wrong: "),
        ("{large: '${steps.big.output + steps.big.output}'}", "let.large has 2,400,002 bytes"),
        ("{deep: ['${steps.deep.output}']}", "let.deep: is nested 129 deep"),
    ],
)
async def test_a_value_that_no_task_could_carry_fails_where_it_stands(agents: Bench, let: str, problem: str) -> None:
    with pytest.raises(WorkflowFailureError) as caught:
        await agents.run(
            f"""
inputs: {{n: integer}}
steps:
  - {{id: big, tool: big, args: {{size: 1200000}}}}
  - {{id: deep, tool: nest, args: {{levels: 128}}}}
  - let: {let}
output: "${{inputs.n}}"
""",
            inputs={"n": 1},
        )
    assert problem in str(caught.value.cause)
