"""Activities and workflows of others as steps: on their queues, once, under claims, policies and questions."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle

from perdure import AgentTask, Answer, TaskResult
from perdure.agent.steps.foreign import ForeignSteps
from perdure.agent.steps.foreign_calls import workflow_id
from perdure.errors import ExpectationFailed
from perdure.identity import content_digest
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Purpose
from perdure.values.tasks import Phase
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.strangers import strangers
from tests.support.tools import lines_in
from tests.support.waiting import question_of, until, until_true

SYSTEM = Actor(kind=ActorKind.SYSTEM)
QUEUE = f"strangers-{uuid4().hex[:8]}"


@pytest.fixture(autouse=True)
async def theirs(servers: Servers) -> AsyncGenerator[None]:
    async with strangers(servers.temporal, QUEUE):
        yield


def step(name: str, args: str, more: str = "", kind: str = "activity") -> str:
    return f"{{id: call, {kind}: {name}, queue: {QUEUE}, args: {args}{more}}}"


async def failed(handle: WorkflowHandle[Any, Any]) -> TaskResult:
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    details = getattr(caught.value.cause, "details", ())
    return TaskResult.model_validate(details[0] if details else await handle.query("result"))


def child_of(agents: Bench, task: AgentTask, *args: JsonValue) -> WorkflowHandle[Any, Any]:
    """Return the workflow that the step of a task runs with some arguments."""
    tenant = agents.services.tenant_key.tenant_of(task.user_id)
    arguments = content_digest(["workflow", "Ship", {"queue": QUEUE, "args": list(args)}])
    return agents.client.get_workflow_handle(workflow_id(tenant, task.task_id, "call", arguments))


async def test_an_activity_of_others_is_a_step(agents: Bench) -> None:
    ledger = agents.ledger()
    called = step(
        "Charge", f'["{ledger}", {{cents: "${{inputs.cents}}", size: 9000}}]', ', expect: "${output.receipt > 0}"'
    )
    text = f"""
inputs: {{cents: integer}}
steps:
  - {called}
  - {{id: size, tool: echo, args: {{value: "${{steps.call.output.text.size()}}"}}}}
output: "${{steps.call.output.receipt}} ${{steps.size.output}} ${{steps.call.status}}"
"""
    handle = await agents.start(agents.task(agents.skill(text), inputs={"cents": 7}))
    assert (await handle.result()).output == "7 9000 done"
    await agents.replay(handle)
    assert lines_in(str(ledger)) == ["charged 7"]


@pytest.mark.slow
async def test_one_that_may_be_repeated_is_retried_and_once_is_not(agents: Bench) -> None:
    ledger = agents.ledger()
    looked = step("Look", f'["{ledger}"]', ", effect: read, retry: 3")
    assert (await agents.run(f'steps: [{looked}]\noutput: "${{steps.call.output}}"')).output == "found"
    assert len(lines_in(str(ledger))) == 3
    ledger = agents.ledger()
    looked = step("Look", f'["{ledger}"]', ", retry: 1")
    result = await failed(await agents.start(agents.task(agents.skill(f"steps: [{looked}]"))))
    assert (len(lines_in(str(ledger))), result.unknown) == (1, ("call",))
    assert "not yet" in result.problem


@pytest.mark.slow
@pytest.mark.parametrize(("fate", "lines"), [("done", 1), ("not_done", 2)])
@pytest.mark.parametrize("name", ["ChargeBadly", "ChargeForLong"])
async def test_of_what_became_of_it_a_person_is_asked(agents: Bench, name: str, fate: str, lines: int) -> None:
    ledger = agents.ledger()
    called = step(name, f'["{ledger}"]', ", timeout: 1s")
    handle = await agents.start(agents.task(agents.skill(f'steps: [{called}]\noutput: "${{steps.call.status}}"')))
    question = await question_of(handle, "call")
    assert question.about is not None
    assert (question.about.tool, question.choices) == (name, ("done", "not_done"))
    await handle.execute_update("answer", Answer(question_id="call", value=fate, by="anna"))
    if name == "ChargeForLong" and fate == "not_done":
        question = await question_of(handle, "call#2")
        await handle.execute_update("answer", Answer(question_id="call#2", value="done", by="anna"))
    assert (await handle.result()).output == "done"
    await agents.replay(handle)
    assert len(lines_in(str(ledger))) == lines


@pytest.mark.slow
async def test_one_that_says_that_nothing_happened_is_not_asked_about(agents: Bench) -> None:
    ledger = agents.ledger()
    called = step("Refuse", f'["{ledger}"]', ", on_failure: ask")
    handle = await agents.start(agents.task(agents.skill(f"steps: [{called}]")))
    question = await question_of(handle, "call")
    assert "the shop is closed" in question.text
    await handle.execute_update("answer", Answer(question_id="call", value="retry", by="anna"))
    assert (await handle.result()).done == 1
    assert lines_in(str(ledger)) == ["asked"] * 2


@pytest.mark.slow
async def test_another_run_of_the_task_takes_the_recorded_result(agents: Bench) -> None:
    ledger = agents.ledger()
    called = step("Charge", f'["{ledger}", {{cents: 7}}]')
    task = agents.task(agents.skill(f"steps: [{called}, {{id: fails, tool: garbles, retry: 1}}]"))
    for _ in range(2):
        assert "step fails: " in (await failed(await agents.start(task))).problem
    assert lines_in(str(ledger)) == ["charged 7"]


async def test_what_is_no_json_fails_the_step_and_not_its_worker(agents: Bench) -> None:
    result = await failed(
        await agents.start(agents.task(agents.skill(f"steps: [{step('Bytes', '[]', ', effect: read')}]")))
    )
    assert "gave back binary/plain, not JSON" in result.problem


@pytest.mark.parametrize("effect", ["read", "once"])
async def test_one_that_fails_with_details_of_its_own_fails_the_step(agents: Bench, effect: str) -> None:
    called = step("Explain", "[]", f", effect: {effect}, retry: 1")
    handle = await agents.start(agents.task(agents.skill(f"steps: [{called}]")))
    async with asyncio.timeout(30):
        assert "the shop is closed: order 7" in (await failed(handle)).problem
    await agents.replay(handle)


@pytest.mark.slow
@pytest.mark.parametrize("consents", [True, False], ids=["consent", "none"])
async def test_what_they_give_back_is_offered_to_memory_with_consent(
    agents: Bench, tmp_path: Path, *, consents: bool
) -> None:
    (seen := tmp_path / "seen.txt").write_text("The staging database runs Postgres 16.", encoding="utf-8")
    text = f"""
steps:
  - {{id: told, activity: Tell, queue: {QUEUE}, args: ["{seen}", "The office is in Ghent."]}}
  - {{id: sent, workflow: Ship, queue: {QUEUE}, args: ["{agents.ledger()}", "a parcel"]}}
"""
    task = agents.task(agents.skill(text))
    tenant = agents.services.tenant_key.tenant_of(task.user_id)
    if consents:
        await agents.services.consents.say(
            tenant, grant=[Purpose.EXTRACTED], withdraw=[], operation="consent", by=SYSTEM, at=datetime.now(UTC)
        )
    await (await agents.start(task)).result()
    found = await agents.services.episodes.told(tenant, task.session, recent=100)
    offered = {one.said for one in found if one.is_promotable}
    stated = {"The staging database runs Postgres 16.", "The depot in Lyon opens on Mondays."}
    assert offered == (stated if consents else set())
    assert not [one for one in found if "Ghent" in one.text]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["activity", "workflow", "unexpected", "too large"])
async def test_it_is_undone_by_a_tool_where_the_task_fails_later(agents: Bench, kind: str) -> None:
    ledger = agents.ledger()
    undoing = f'compensate: {{tool: append, args: {{ledger: "{ledger}", line: "not ${{output.UNDONE}}"}}}}'
    charge, cents = undoing.replace("UNDONE", "receipt"), "{cents: 7}"
    called = step("Charge", f'["{ledger}", {cents}]', f", {charge}")
    if kind == "workflow":
        called = step("Ship", f'["{ledger}", wood]', f", {undoing.replace('UNDONE', 'shipped')}", kind="workflow")
    if kind == "unexpected":
        called = step("Charge", f'["{ledger}", {cents}]', f', {charge}, expect: "${{output.receipt > 9}}"')
    text = f"steps: [{called}, {{id: fails, tool: garbles, retry: 1}}]"
    if kind == "too large":
        called = step("Charge", f'["{ledger}", {{cents: 7, size: 1900000}}]', f', {charge}, when: "${{n != 0}}"')
        text = f"""
steps:
  - {{id: pad, tool: big, args: {{size: 200000}}}}
  - for_each: "${{[steps.pad.output]}}"
    as: n
    steps: [{called}]
"""
    handle = await agents.start(agents.task(agents.skill(text)))
    result = await failed(handle)
    await agents.replay(handle)
    done = ["packed wood", "shipped wood"] if kind == "workflow" else ["charged 7"]
    if kind == "too large":
        assert lines_in(str(ledger)) == done
        assert result.uncompensated[0].startswith("n[0].call: its output is not known: ")
    else:
        assert lines_in(str(ledger)) == [*done, "not wood" if kind == "workflow" else "not 7"]
        assert (result.compensated, result.uncompensated) == (("call",), ())
    assert ("not what is expected" in result.problem) == (kind == "unexpected")


@pytest.mark.slow
async def test_policies_are_asked_about_it(servers: Servers, tmp_path: Path) -> None:
    (folder := tmp_path / "policies").mkdir()
    (folder / "charging.yaml").write_text(
        "name: charging\nrationale: Above 5 a person looks.\nlevel: hard\n"
        "when: \"${tool == 'Charge' && arguments.args[1].cents > 5}\"\n",
        encoding="utf-8",
    )
    async with bench(servers, tmp_path, more={"policies": (folder,)}) as agents:
        ledger = agents.ledger()
        called = step("Charge", f'["{ledger}", {{cents: "${{inputs.cents}}"}}]')
        text = f"inputs: {{cents: integer}}\nsteps: [{called}]"
        assert (await agents.run(text, inputs={"cents": 5})).done == 1
        result = await failed(await agents.start(agents.task(agents.skill(text), inputs={"cents": 6})))
        assert "PRD305" in result.problem
        assert (lines_in(str(ledger)), result.unknown) == (["charged 5"], ())


@pytest.mark.slow
async def test_a_workflow_of_others_is_a_step(agents: Bench) -> None:
    ledger = agents.ledger()
    called = step("Ship", f'["{ledger}", wood]', kind="workflow")
    task = agents.task(agents.skill(f'steps: [{called}]\noutput: "${{steps.call.output.shipped}}"'))
    handle = await agents.start(task)
    assert (await handle.result()).output == "wood"
    await agents.replay(handle)
    assert lines_in(str(ledger)) == ["packed wood", "shipped wood"]
    assert (await child_of(agents, task, str(ledger), "wood").describe()).status is WorkflowExecutionStatus.COMPLETED


@pytest.mark.slow
async def test_another_run_attaches_to_the_workflow_that_runs_or_takes_its_result(agents: Bench) -> None:
    ledger = agents.ledger()
    called = step("Ship", f'["{ledger}", wood, true]', kind="workflow")
    task = agents.task(agents.skill(f"steps: [{called}, {{id: fails, tool: garbles, retry: 1}}]"))
    handle = await agents.start(task)
    await until_true(lambda: lines_in(str(ledger)) == ["packed wood"])
    await handle.terminate()
    child = child_of(agents, task, str(ledger), "wood", True)
    again = await agents.start(task)
    await child.signal("go")
    assert "step fails: " in (await failed(again)).problem
    await agents.replay(again)
    assert "step fails: " in (await failed(await agents.start(task))).problem, "it took the recorded result"
    assert lines_in(str(ledger)) == ["packed wood", "shipped wood"]


@pytest.mark.slow
async def test_a_rollover_does_not_wait_for_a_workflow_and_loses_none(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path, continue_after=40, max_cached_workflows=0) as agents:
        ledger, beside = agents.ledger(), agents.ledger()
        called = step("Ship", f'["{ledger}", wood, true]', kind="workflow")
        text = f"""
steps:
  - parallel:
      - {called}
      - - for_each: "${{[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}}"
          as: n
          steps: [{{id: write, tool: append, args: {{ledger: "{beside}", line: "n${{n}}"}}}}]
output: "${{steps.call.output.shipped}} ${{steps.n.done}}"
"""
        task = agents.task(agents.skill(text))
        handle = await agents.start(task)
        await until_true(lambda: len(lines_in(str(beside))) == 12, seconds=60)
        latest = agents.client.get_workflow_handle(handle.id)
        assert (await latest.describe()).run_id != handle.first_execution_run_id
        await child_of(agents, task, str(ledger), "wood", True).signal("go")
        assert (await handle.result()).output == "wood 12"
        assert lines_in(str(ledger)) == ["packed wood", "shipped wood"]


@pytest.mark.slow
async def test_a_run_that_waits_for_many_workflows_is_not_rolled_over_for_that(
    servers: Servers, tmp_path: Path
) -> None:
    async with bench(servers, tmp_path, continue_after=60, max_cached_workflows=0) as agents:
        ledger = agents.ledger()
        called = step("Ship", f'["{ledger}", "wood ${{n}}", true]', kind="workflow")
        text = f"""
steps:
  - for_each: "${{[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}}"
    as: n
    at_once: 12
    steps: [{called}]
output: "${{steps.n.done}}"
"""
        handle = await agents.start(agents.task(agents.skill(text)))
        await until_true(lambda: len(lines_in(str(ledger))) == 12, seconds=60)
        ids = f"WorkflowType = 'Ship' AND ParentWorkflowId = '{handle.id}'"

        async def children() -> list[str]:
            return [one.id async for one in agents.client.list_workflows(ids)]

        for one in await until(children, lambda found: len(found) == 12):
            await agents.client.get_workflow_handle(one).signal("go")
        assert (await handle.result()).output == 12
        assert len(lines_in(str(ledger))) == 24
        assert await runs_of(agents, handle.id) <= 5


async def runs_of(agents: Bench, workflow_id: str) -> int:
    """Return how many runs a task has had."""
    first = agents.client.get_workflow_handle(workflow_id)
    run_id, count = (await first.describe()).run_id, 0
    while run_id:
        count += 1
        began = await anext(
            agents.client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history_events(page_size=1)
        )
        run_id = began.workflow_execution_started_event_attributes.continued_execution_run_id
    return count


@pytest.mark.slow
async def test_what_is_called_with_other_arguments_is_another_workflow(agents: Bench, tmp_path: Path) -> None:
    ledger, order = agents.ledger(), tmp_path / "order"
    order.write_text("wood\n")
    called = step("Ship", f'["{ledger}", "${{steps.order.output[0]}}"]', kind="workflow")
    text = f"""
steps:
  - {{id: order, tool: lines_of, args: {{file: "{order}"}}}}
  - {called}
  - {{id: fails, tool: garbles, retry: 1}}
"""
    task = agents.task(agents.skill(text))
    assert "step fails: " in (await failed(await agents.start(task))).problem
    order.write_text("stone\n")
    again = await agents.start(task)
    await question_of(again, "call")
    await again.execute_update("answer", Answer(question_id="call", value="not_done", by="anna"))
    assert "step fails: " in (await failed(again)).problem
    assert lines_in(str(ledger)) == ["packed wood", "shipped wood", "packed stone", "shipped stone"]


def charging(file: Path, ledger: Path, more: str = "") -> str:
    """Return a skill that charges what a file says, and fails afterwards."""
    charge = step("Charge", f'["{ledger}", {{cents: "${{steps.price.output[0]}}"}}]', more)
    return f"""
steps:
  - {{id: price, tool: lines_of, args: {{file: "{file}"}}}}
  - {charge}
  - {{id: fails, tool: garbles, retry: 1}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("fate", ["done", "not_done"])
async def test_a_call_with_other_arguments_is_made_only_where_a_person_says_that_it_was_not(
    agents: Bench, tmp_path: Path, fate: str
) -> None:
    ledger, price = agents.ledger(), tmp_path / "price"
    price.write_text("7\n")
    task = agents.task(agents.skill(charging(price, ledger, ', approve: "Charge ${steps.price.output[0]}?"')))
    handle = await agents.start(task)
    await question_of(handle, "call")
    await handle.execute_update("answer", Answer(question_id="call", value="yes", by="anna"))
    assert "step fails: " in (await failed(handle)).problem
    price.write_text("900\n")
    again = await agents.start(task)
    question = await question_of(again, "call")
    assert question.text == "Charge 900?", "the yes to 7 is none to 900"
    await again.execute_update("answer", Answer(question_id="call", value="yes", by="anna"))
    question = await question_of(again, "call#2")
    assert "with other arguments" in question.text
    await again.execute_update("answer", Answer(question_id="call#2", value=fate, by="anna"))
    assert "step fails: " in (await failed(again)).problem
    assert lines_in(str(ledger)) == (["charged 7"] if fate == "done" else ["charged 7", "charged 900"])
    third = await agents.start(task)
    assert "step fails: " in (await failed(third)).problem, "what is recorded is asked about no more"
    await agents.replay(again)
    tenant = agents.services.tenant_key.tenant_of(task.user_id)
    told = [one.text for one in await agents.services.episodes.told(tenant, task.session, recent=50)]
    for decided in ("call: yes (answered by anna at 20", f"call: {fate} (answered by anna at 20"):
        assert any(text.startswith(decided) for text in told), told


@pytest.mark.slow
async def test_what_was_called_with_other_arguments_stays_recorded_where_policies_stop_the_call(
    servers: Servers, tmp_path: Path
) -> None:
    (folder := tmp_path / "policies").mkdir()
    (folder / "charging.yaml").write_text(
        "name: charging\nrationale: Above 500 nobody charges.\nlevel: hard\n"
        "when: \"${tool == 'Charge' && int(arguments.args[1].cents) > 500}\"\n",
        encoding="utf-8",
    )
    async with bench(servers, tmp_path, more={"policies": (folder,)}) as agents:
        ledger, price = agents.ledger(), tmp_path / "price"
        task = agents.task(agents.skill(charging(price, ledger)))
        price.write_text("7\n")
        assert "step fails: " in (await failed(await agents.start(task))).problem
        price.write_text("900\n")
        again = await agents.start(task)
        await question_of(again, "call")
        await again.execute_update("answer", Answer(question_id="call", value="not_done", by="anna"))
        assert "PRD305" in (await failed(again)).problem
        price.write_text("7\n")
        assert "step fails: " in (await failed(await agents.start(task))).problem, "and nobody was asked"
        assert lines_in(str(ledger)) == ["charged 7"]


@pytest.mark.slow
async def test_a_call_whose_outcome_was_not_noted_is_not_made_again_unasked(
    agents: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = agents.ledger()

    async def broken(*_: object) -> None:
        raise ExpectationFailed("cannot be taken up")

    with monkeypatch.context() as patch:
        patch.setattr(ForeignSteps, "end", broken)
        called = step("Charge", f'["{ledger}", {{cents: 7}}]', ", on_failure: ask")
        handle = await agents.start(agents.task(agents.skill(f"steps: [{called}]")))
        question = await question_of(handle, "call")
    assert "cannot be taken up" in question.text
    await handle.execute_update("answer", Answer(question_id="call", value="retry", by="anna"))
    question = await question_of(handle, "call#2")
    assert question.choices == ("done", "not_done")
    await handle.execute_update("answer", Answer(question_id="call#2", value="done", by="anna"))
    await handle.result()
    assert lines_in(str(ledger)) == ["charged 7"]


@pytest.mark.slow
async def test_what_is_too_large_to_be_taken_up_was_called_all_the_same(agents: Bench) -> None:
    ledger = agents.ledger()
    called = step("Charge", f'["{ledger}", {{cents: 7, size: 1900000}}]', ', when: "${n != 0}", on_failure: ask')
    text = f"""
steps:
  - {{id: pad, tool: big, args: {{size: 200000}}}}
  - for_each: "${{[steps.pad.output]}}"
    as: n
    steps: [{called}]
"""
    handle = await agents.start(agents.task(agents.skill(text)))
    question = await question_of(handle, "n[0].call")
    assert "more than can be taken up" in question.text
    await handle.execute_update("answer", Answer(question_id=question.id, value="retry", by="anna"))
    question = await question_of(handle, "n[0].call#2")
    assert "more than can be taken up" in question.text
    assert lines_in(str(ledger)) == ["charged 7"]


@pytest.mark.slow
async def test_a_workflow_that_failed_fails_the_step_in_each_run(agents: Bench) -> None:
    ledger = agents.ledger()
    called = step("Ship", f'["{ledger}", glass]', kind="workflow")
    task = agents.task(agents.skill(f"steps: [{called}]"))
    for _ in range(2):
        result = await failed(await agents.start(task))
        assert "it broke" in result.problem
    assert lines_in(str(ledger)) == ["packed glass"], "it was not started a second time"


async def test_a_cancelled_task_has_its_workflow_cancelled(agents: Bench) -> None:
    ledger = agents.ledger()
    called = step("Ship", f'["{ledger}", wood, true]', kind="workflow")
    task = agents.task(agents.skill(f"steps: [{called}]"))
    handle = await agents.start(task)
    await until_true(lambda: lines_in(str(ledger)) == ["packed wood"])
    await handle.cancel()
    result = await failed(handle)
    assert (result.status, result.unknown) == (Phase.CANCELLED, ("call",))
    child = child_of(agents, task, str(ledger), "wood", True)

    async def status() -> WorkflowExecutionStatus | None:
        return (await child.describe()).status

    await until(status, lambda one: one is WorkflowExecutionStatus.CANCELED)


@pytest.mark.slow
async def test_large_calls_side_by_side_are_sent_one_after_the_other(agents: Bench) -> None:
    # 24 calls of 240 kB each, whose results are as large: one message takes 4 MB.
    ledger = agents.ledger()
    called = step("Charge", f'["{ledger}", {{cents: "${{n}}", size: 240000, pad: "${{steps.pad.output}}"}}]')
    text = f"""
steps:
  - {{id: pad, tool: big, args: {{size: 240000}}}}
  - for_each: "${{[{", ".join(map(str, range(24)))}]}}"
    as: n
    at_once: 24
    steps: [{called}]
output: "${{steps.n.done}}"
"""
    assert (await agents.run(text)).output == 24
    assert sorted(lines_in(str(ledger))) == sorted(f"charged {number}" for number in range(24))


@pytest.mark.parametrize(
    ("called", "problem"),
    [
        ("activity: append", "'append' is a tool"),
        ("activity: quick_step", "'quick_step' belongs to Perdure itself"),
        ("workflow: EraseMemory", "'EraseMemory' belongs to Perdure itself"),
    ],
)
async def test_no_tool_and_nothing_of_perdure_itself_is_called_past_the_policies(
    agents: Bench, called: str, problem: str
) -> None:
    text = f"steps: [{{id: call, {called}, queue: {agents.queue}, args: [{{}}]}}]"
    result = await failed(await agents.start(agents.task(agents.skill(text))))
    assert problem in result.problem
    assert result.unknown == ()


@pytest.mark.slow
async def test_another_agents_task_is_the_same_users(agents: Bench) -> None:
    inner = agents.skill("steps: [{id: a, tool: echo, args: {value: 1}}]\noutput: '${steps.a.output}'")
    text = f"""
inputs: {{task: object}}
steps: [{{id: a, workflow: ResumableAgent, queue: {agents.queue}, args: ["${{inputs.task}}"]}}]
output: '${{steps.a.output.output}}'
"""
    skill, asked = agents.skill(text), {"task_id": uuid4().hex, "skill": inner}
    other = agents.task(skill, inputs={"task": {**asked, "user_id": "somebody else"}})
    problem = (await failed(await agents.start(other))).problem
    assert "a.args[0].user_id: is another user than that of this task" in problem
    for given in (asked, {**asked, "user_id": other.user_id}):
        task = other.changed(task_id=uuid4().hex, inputs={"task": {**given, "task_id": uuid4().hex}})
        assert (await (await agents.start(task)).result()).output == 1
