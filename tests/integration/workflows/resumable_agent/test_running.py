"""A task runs its skill: values flow, blocks are walked, results stay small."""

import pytest

from tests.support.harness import Bench


async def test_values_flow_from_step_to_step(agents: Bench) -> None:
    result = await agents.run(
        """
inputs: {names: list, greeting: {default: hello}}
steps:
  - {id: first, tool: echo, args: {value: "${inputs.names.size()}"}}
  - {id: second, tool: echo, args: {value: "${inputs.greeting} ${steps.first.output} of ${task.id}"}}
  - {id: never, tool: echo, args: {value: 1}, when: "${steps.first.output > 5}"}
output: {text: "${steps.second.output}", never: "${steps.never.status}", nothing: "${steps.never.output}"}
expect: "${output.text.startsWith('hello 2')}"
""",
        task_id="flow",
        inputs={"names": ["a", "b"]},
    )
    assert result.output == {"text": "hello 2 of flow", "never": "skipped", "nothing": None}
    assert (result.status, result.done, result.skipped) == ("completed", 2, 1)
    assert result.evaluation is not None
    assert result.evaluation.passed


async def test_a_block_walks_its_list_and_a_block_inside_it(agents: Bench) -> None:
    ledger = agents.ledger()
    result = await agents.run(
        f"""
inputs: {{rows: list}}
steps:
  - for_each: "${{inputs.rows}}"
    as: row
    steps:
      - {{id: head, tool: append, args: {{ledger: "{ledger}", line: "${{index}} ${{row.name}}"}}}}
      - for_each: "${{row.cells}}"
        as: cell
        steps:
          - {{id: cells, tool: append, args: {{ledger: "{ledger}", line: "${{steps.head.output.line}} ${{cell}}"}}}}
  - for_each: "${{[]}}"
    as: nothing
    steps: [{{id: none, tool: echo, args: {{value: 1}}}}]
output: "${{steps.row.done}}"
""",
        inputs={"rows": [{"name": "a", "cells": [1, 2]}, {"name": "b", "cells": []}, {"name": "c", "cells": [3]}]},
    )
    assert ledger.read_text().splitlines() == ["0 a", "0 a 1", "0 a 2", "1 b", "2 c", "2 c 3"]
    assert result.output == 6


@pytest.mark.slow
async def test_large_results_travel_by_reference(agents: Bench) -> None:
    skill = agents.skill(
        """
steps:
  - {id: large, tool: big, args: {size: 100000}}
  - for_each: "${[1, 2, 3, 4, 5, 6, 7, 8]}"
    as: n
    steps: [{id: size, tool: echo, args: {value: "${steps.large.output.size() + n}"}}]
output: "${steps.large.output.size()}"
"""
    )
    handle = await agents.start(agents.task(skill))
    assert (await handle.result()).output == 100_000
    history = await handle.fetch_history()
    assert sum(event.ByteSize() for event in history.events) < 60_000


async def test_a_tool_knows_its_call_and_its_key_is_the_same_for_each_attempt(agents: Bench) -> None:
    result = await agents.run("steps: [{id: me, tool: who}]\noutput: '${steps.me.output}'")
    output = result.output
    assert isinstance(output, dict)
    assert output["step"] == "me"
    assert len(str(output["idempotency_key"])) == 64
