"""A skill as a step of another: in lists and side by side, rolled over in the middle, pinned and bound as a whole."""

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError

from perdure import Actor, ActorKind, Answer
from perdure.errors import InvalidTask
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.waiting import question_of
from worker.gateway import Gateway

pytestmark = pytest.mark.slow

INNER = """
inputs: {who: string, ledger: string, size: {type: integer, default: 9000}}
checks: [{check: "${inputs.who != 'nobody'}", otherwise: somebody has to be named}]
requires: {tools: [echo]}
steps:
  - {id: large, tool: big, args: {size: "${inputs.size}"}}
  - let: {length: "${steps.large.output.size()}"}
  - for_each: "${[1, 2, 3]}"
    as: n
    at_once: 2
    steps:
      - {id: write, tool: append, args: {ledger: "${inputs.ledger}", line: "${inputs.who} ${n} ${length}"}}
  - {id: last, tool: echo, args: {value: "${length}"}}
output: {text: "${steps.large.output}", done: "${steps.n.done}", last: "${steps.last.output}"}
expect: "${output.done == 3}"
"""


def outer(inner: str) -> str:
    return f"""
inputs: {{ledger: string}}
steps:
  - {{id: large, tool: echo, args: {{value: mine}}}}
  - parallel:
      - for_each: "${{['a', 'b', 'c']}}"
        as: who
        at_once: 2
        steps:
          - id: run
            skill: {inner}
            inputs: {{who: "${{who}}", ledger: "${{inputs.ledger}}"}}
            remember: [{{memory: "${{who}} wrote ${{output.done}} lines."}}]
          - {{id: count, tool: echo, args: {{value: "${{steps.run.output.text.size() + steps.run.output.last}}"}}}}
      - {{id: alone, skill: {inner}, inputs: {{who: d, ledger: "${{inputs.ledger}}", size: 5}}}}
output: "${{steps.alone.output.text}} ${{steps.who.done}} ${{steps.large.output}}"
"""


EXPECTED = sorted([f"{who} {n} 9000" for who in "abc" for n in (1, 2, 3)] + [f"d {n} 5" for n in (1, 2, 3)])


async def test_a_skill_runs_in_lists_and_side_by_side(agents: Bench) -> None:
    ledger, inner = agents.ledger(), agents.skill(INNER)
    handle = await agents.start(agents.task(agents.skill(outer(inner)), inputs={"ledger": str(ledger)}))
    result = await handle.result()
    await agents.replay(handle)
    # Five steps in each run of it; in the list each run is one element, with a step behind it.
    assert result.output == f"xxxxx {3 * 5 + 3} mine"
    assert (result.done, result.failed, len(result.jobs)) == (1 + 4 * 5 + 3, 0, 1)
    assert sorted(ledger.read_text().splitlines()) == EXPECTED
    history = await handle.fetch_history()
    assert max(event.ByteSize() for event in history.events) < 30_000, "what is large is kept elsewhere"


@pytest.mark.parametrize("cache", [1000, 0])
async def test_it_goes_on_where_it_was_when_the_history_is_rolled_over(
    servers: Servers, tmp_path: Path, cache: int
) -> None:
    async with bench(servers, tmp_path, continue_after=30, max_cached_workflows=cache) as agents:
        ledger, inner = agents.ledger(), agents.skill(INNER)
        handle = await agents.start(agents.task(agents.skill(outer(inner)), inputs={"ledger": str(ledger)}))
        assert (await handle.result()).output == "xxxxx 18 mine"
        described = await agents.client.get_workflow_handle(handle.id).describe()
        assert described.run_id != handle.first_execution_run_id
    assert sorted(ledger.read_text().splitlines()) == EXPECTED


async def test_its_version_is_pinned_and_what_the_task_is_bound_to(agents: Bench) -> None:
    ledger = agents.ledger()
    text = """
inputs: {ledger: string}
steps:
  - {id: write, tool: append, args: {ledger: "${inputs.ledger}", line: first}}
  - {id: ask, tool: echo, args: {value: WORD}, approve: "Go on?"}
output: "${steps.ask.output}"
"""
    inner = agents.skill(text)
    skill = agents.skill(
        "inputs: {ledger: string}\nsteps:\n"
        f'  - {{id: run, skill: {inner}, inputs: {{ledger: "${{inputs.ledger}}"}}}}\n'
        "  - {id: fails, tool: garbles, retry: 1}\n"
        'output: "${steps.run.output}"\n'
    )
    task = agents.task(skill, inputs={"ledger": str(ledger)})
    handle = await agents.start(task)
    await question_of(handle, "run.ask")
    file = agents.folder / "skills" / f"{inner}.yaml"
    file.write_text(f"name: {inner}\n{text.replace('WORD', 'another')}", encoding="utf-8")
    await handle.execute_update("answer", Answer(question_id="run.ask", value="yes"))
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    result: Any = caught.value.cause.details[0]  # type: ignore[union-attr]
    assert "step fails: " in str(caught.value.cause)
    assert result["done"] == 2
    # What it runs has changed since: the same id stands for another task.
    again = await agents.start(task)
    with pytest.raises(WorkflowFailureError) as caught:
        await again.result()
    assert "has changed since" in str(caught.value.cause)
    assert ledger.read_text().splitlines() == ["first"]


@pytest.mark.parametrize(
    ("inner", "step", "problem"),
    [
        ("requires: {tools: [echo_not]}\nsteps: [{id: a, tool: who}]", "", "requires.tools[0]: there is no tool"),
        ("inputs: {n: integer}\nsteps: [{id: a, tool: who}]", ", inputs: {n: x}", "steps[1].inputs.n: is text"),
        ("steps: [{id: a, skill: SELF}]", "", "a skill cannot run itself"),
    ],
)
async def test_what_is_wrong_inside_is_found_before_the_first_step(
    agents: Bench, inner: str, step: str, problem: str
) -> None:
    ledger = agents.ledger()
    name = agents.skill(inner)
    file = agents.folder / "skills" / f"{name}.yaml"
    file.write_text(file.read_text().replace("SELF", name), encoding="utf-8")
    with pytest.raises(WorkflowFailureError) as caught:
        await agents.run(
            f'steps: [{{id: w, tool: append, args: {{ledger: "{ledger}", line: x}}}}, {{id: x, skill: {name}{step}}}]'
        )
    assert problem in str(caught.value.cause)
    assert not ledger.exists()


async def test_a_refused_input_fails_the_step_when_its_value_is_known(agents: Bench) -> None:
    ledger, inner = agents.ledger(), agents.skill(INNER)
    text = f"""
steps:
  - id: run
    skill: {inner}
    inputs: {{who: "${{'no' + 'body'}}", ledger: "{ledger}"}}
    on_failure: continue
output: "${{steps.run.status}}: ${{steps.run.problem}}"
"""
    result = await agents.run(text)
    assert "failed: PRD104 run: checks[0]: " in str(result.output)
    assert "somebody has to be named" in str(result.output)
    assert not ledger.exists()


async def test_a_task_whose_skill_runs_another_is_attached_to(agents: Bench, servers: Servers) -> None:
    inner = agents.skill("steps: [{id: a, tool: echo, args: {value: 1}}]")
    task = agents.task(agents.skill(f"steps: [{{id: b, skill: {inner}}}]"))
    by = Actor(kind=ActorKind.PERSON, id="ada")
    async with Gateway(agents.settings, servers) as gateway:
        first = await gateway.start(task, by=by)
        await gateway.result(first.workflow_id, by=by)
        assert not (await gateway.start(task, by=by)).new
        file = agents.folder / "skills" / f"{inner}.yaml"
        file.write_text(file.read_text(encoding="utf-8").replace("value: 1", "value: 2"), encoding="utf-8")
        with pytest.raises(InvalidTask, match="has changed since"):
            await gateway.start(task, by=by)
