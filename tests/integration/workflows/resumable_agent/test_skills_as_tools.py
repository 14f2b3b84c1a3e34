"""Skills that an agent calls as tools: each call is a task of its own, and counts as a trial of its skill."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pytest_httpserver import HTTPServer
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from perdure import AgentTask, Answer
from perdure.agent.offered_skills import OfferedSkill, task_of_call
from perdure.agent.preparation import PreparedTask
from perdure.errors import InvalidTask
from perdure.values.changes import Actor, ActorKind
from perdure.values.tasks import TaskResult
from perdure.values.trials import Trials
from tests.conftest import Servers
from tests.support.goals import AGENT, Agents, agents_on, goal
from tests.support.tools import lines_in
from tests.support.turn_server import Asked, Call, Says, Script
from tests.support.waiting import question_of, until
from worker.gateway import Gateway

pytestmark = pytest.mark.slow

TESTER = Actor(kind=ActorKind.PERSON, id="tester")

WRITES = """
inputs: {ledger: string, line: string}
steps: [{id: write, tool: append, args: {ledger: "${inputs.ledger}", line: "${inputs.line}"}}]
output: {wrote: "${inputs.line}"}
"""


@pytest.fixture
def agents(servers: Servers, tmp_path: Path, httpserver: HTTPServer) -> Agents:
    return agents_on(servers, tmp_path, httpserver)


def skilled(folder: Path, name: str, text: str) -> str:
    """Write a skill where the worker looks for them; return an agent that may call it."""
    (folder / "skills").mkdir(exist_ok=True)
    (folder / "skills" / f"{name}.yaml").write_text(f"name: {name}\n{text}", encoding="utf-8")
    return f"{AGENT}skills: [{name}]\n"


def calls_once(skill: str, **inputs: str) -> Script:
    def script(asked: Asked) -> Says:
        if not asked.turns:
            assert skill in asked.tools
            return Says(calls=(Call(skill, inputs),))
        return Says(asked.outputs[-1])

    return script


def called(task: AgentTask, skill: str) -> AgentTask:
    found = task_of_call(task, OfferedSkill(name=skill, version=""), 1, 0, tokens=1)
    return AgentTask.model_validate({name: value for name, value in found.items() if name != "pinned"})


async def status_of(handle: WorkflowHandle[Any, Any]) -> WorkflowExecutionStatus | None:
    try:
        return (await handle.describe()).status
    except RPCError:
        return None


def calling_twice(name: str, arguments: Any) -> Script:
    """Return a script that calls a skill in each of two turns, and then says what both gave back."""

    def script(asked: Asked) -> Says:
        if asked.turns < 2:
            return Says(calls=(Call(name, arguments),))
        return Says(" | ".join(asked.outputs))

    return script


async def test_a_call_of_a_skill_is_a_task_of_its_own_whose_output_the_model_sees(
    agents: Agents, tmp_path: Path
) -> None:
    ledger, line = tmp_path / "ledger", "${1 + 1}"
    agent = skilled(tmp_path, "writes", WRITES)
    async with agents(calls_once("writes", ledger=str(ledger), line=line), agent) as (one, _):
        task = goal("Write it down", user_id="${who} is this")
        handle = await one.start(task)
        result = await handle.result()
        await one.replay(handle)
        assert result.output == f'{{"wrote": "{line}"}}', "nothing is evaluated in what the model writes"
        assert lines_in(str(ledger)) == [line]
        inner = one.client.get_workflow_handle(called(task, "writes").workflow_id, result_type=TaskResult)
        assert (await inner.result()).done == 1
        linked = one.services.skills.linked("writes")
        assert result.versions["skill writes"] == linked.skill.digest, "offered, it is a part of what the task used"
        assert result.versions["model openai:test"] == ""
        assert await one.services.trials.of([linked.version]) == {linked.version: Trials(tasks=1, successes=1)}


async def test_a_call_is_not_taken_for_another_task_that_has_its_id_and_is_made_in_the_next_turn(
    agents: Agents, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    agent = skilled(tmp_path, "writes", WRITES)

    script = calling_twice("writes", {"ledger": str(ledger), "line": "new"})

    async with agents(script, agent) as (one, _):
        task = goal("Write it down")
        taken = called(task, "writes").changed(inputs={"ledger": str(ledger), "line": "old"})
        await (await one.start(taken)).result()
        handle = await one.start(task)
        first, second = str((await handle.result()).output).split(" | ")
        assert f"not called: {taken.workflow_id} is another task, which differs in inputs.line" in first
        assert second == '{"wrote": "new"}'
        assert lines_in(str(ledger)) == ["old", "new"]
        await one.replay(handle)


async def test_what_a_skill_asks_is_asked_by_its_task_and_a_failure_is_told_to_the_model(
    agents: Agents, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    text = WRITES.replace("tool: append,", 'tool: append, approve: "Write?",') + "expect: \"${output.wrote == 'x'}\"\n"
    text = text.replace("]\noutput", ", {id: fails, tool: garbles, retry: 1}]\noutput")
    agent = skilled(tmp_path, "asks", text)

    script = calling_twice("asks", {"ledger": str(ledger), "line": "x"})

    async with agents(script, agent) as (one, _):
        task = goal("Write it down")
        handle = await one.start(task)
        inner = one.client.get_workflow_handle(called(task, "asks").workflow_id)
        await until(lambda: status_of(inner), lambda found: found is WorkflowExecutionStatus.RUNNING)
        question = await question_of(inner, "write")
        await inner.execute_update("answer", Answer(question_id=question.id, value="yes", by="anna"))
        first, second = str((await handle.result()).output).split(" | ")
        assert "step fails" in first
        assert "not called: this same call failed before, and its effect may have happened" in second
        assert lines_in(str(ledger)) == ["x"]
        version = one.services.skills.linked("asks").version
        assert await one.services.trials.of([version]) == {version: Trials(tasks=1)}


async def test_the_skill_that_did_best_is_offered_first(agents: Agents, tmp_path: Path) -> None:
    skilled(tmp_path, "b-fails", "steps: [{id: fails, tool: garbles, retry: 1}]\n")
    skilled(tmp_path, "a-fails", "steps: [{id: fails, tool: garbles, retry: 1}]\n")
    skilled(tmp_path, "c-works", "steps: [{id: works, tool: echo, args: {value: 1}}]\n")
    agent = f"{AGENT}skills: [a-fails, b-fails, c-works]\n"

    async with agents(lambda _: Says("done"), agent) as (one, _):
        for _ in range(2):
            await (await one.start(one.task("c-works"))).result()
        again = one.task("a-fails")
        for _ in range(2):
            with pytest.raises(WorkflowFailureError):
                await (await one.start(again)).result()
        versions = [one.services.skills.linked(name).version for name in ("a-fails", "b-fails", "c-works")]
        found = await one.services.trials.of(versions)
        assert [(found[version].tasks, found[version].successes) for version in versions] == [(1, 0), (0, 0), (2, 2)]
        handle = await one.start(goal("Anything"))
        await handle.result()
        [prepared] = [
            event
            async for event in handle.fetch_history_events()
            if event.HasField("activity_task_completed_event_attributes")
        ][1:2]
        [payload] = prepared.activity_task_completed_event_attributes.result.payloads
        offered = PreparedTask.model_validate_json(payload.data).offered
        assert [found.name for found in offered] == ["c-works", "b-fails", "a-fails"]


async def test_cancelling_the_task_cancels_that_of_its_skill(agents: Agents, tmp_path: Path) -> None:
    agent = skilled(tmp_path, "waits", "steps: [{id: later, wait: 1h}]\n")
    async with agents(calls_once("waits"), agent) as (one, _):
        task = goal("Wait")
        handle = await one.start(task)
        inner = one.client.get_workflow_handle(called(task, "waits").workflow_id)

        await until(lambda: status_of(inner), lambda found: found is WorkflowExecutionStatus.RUNNING)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        await until(lambda: status_of(inner), lambda found: found is WorkflowExecutionStatus.CANCELED)


async def test_what_worked_is_proposed_as_a_skill_that_does_it_again(
    agents: Agents, servers: Servers, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    agent = skilled(tmp_path, "writes", WRITES)

    def script(asked: Asked) -> Says:
        match asked.turns:
            case 0:
                return Says(calls=(Call("echo", {"value": {"said": "hello there"}}),))
            case 1:
                return Says(calls=(Call("writes", {"ledger": str(ledger), "line": "hello there"}),))
            case _:
                return Says("Written.")

    async with agents(script, agent) as (one, _):
        task = goal(f"Write it to {ledger}")
        await (await one.start(task)).result()
        gateway = Gateway(one.settings, servers)
        kinds = {"echo": "tool", "append": "tool", "writes": "skill"}
        draft = await gateway.propose(task.workflow_id, "drafted", kinds, by=TESTER)
        skilled(tmp_path, "drafted", draft.partition("\n")[2])
        drafted = one.task("drafted", inputs={"ledger": f"{ledger}.2"})
        assert (await (await one.start(drafted)).result()).output == {"wrote": "hello there"}
        assert lines_in(f"{ledger}.2") == ["hello there"]
        with pytest.raises(InvalidTask, match="ran a skill"):
            await gateway.propose(drafted.workflow_id, "again", kinds, by=TESTER)


async def test_policies_know_a_call_by_its_skill_and_inputs_and_wrong_inputs_have_done_nothing(
    agents: Agents, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    agent = skilled(tmp_path, "writes", WRITES)
    folder = tmp_path / "policies"
    folder.mkdir()
    when = "${tool == 'writes' && 'line' in arguments && arguments.line == 'secret'}"
    rule = f'level: hard\nrationale: They leak.\nwhen: "{when}"\n'
    (folder / "no-secrets.yaml").write_text(f"name: no-secrets\n{rule}", encoding="utf-8")

    def script(asked: Asked) -> Says:
        wanted = [{"line": "secret"}, {"lyne": "x"}, {"line": "fine"}]
        if asked.turns < len(wanted):
            return Says(calls=(Call("writes", {"ledger": str(ledger), **wanted[asked.turns]}),))
        return Says(" | ".join(asked.outputs))

    async with agents(script, agent, settings={"policies": (folder,)}) as (one, _):
        handle = await one.start(goal("Write it down"))
        blocked, wrong, fine = str((await handle.result()).output).split(" | ")
    assert "PRD305" in blocked
    assert "no such input" in wrong
    assert "may have happened" not in blocked + wrong
    assert fine == '{"wrote": "fine"}'
    assert lines_in(str(ledger)) == ["fine"]


async def test_a_call_that_was_never_made_is_not_taken_for_one_that_may_have_acted(
    agents: Agents, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    agent = skilled(tmp_path, "writes", WRITES)
    wanted = [{"line": "x" * 300_000}, {"line": "x" * 300_000}]

    def script(asked: Asked) -> Says:
        if asked.turns < len(wanted):
            return Says(calls=(Call("writes", {"ledger": str(ledger), **wanted[asked.turns]}),))
        return Says(" | ".join(asked.outputs))

    async with agents(script, agent) as (one, _):
        handle = await one.start(goal("Write it down"))
        large, again = str((await handle.result()).output).split(" | ")
    assert large.startswith("It failed: PRD110")
    assert again.startswith("It failed: PRD110")
    assert "may have happened" not in large


async def test_tokens_of_a_called_skill_are_its_callers_whether_it_ends_well_or_not(
    agents: Agents, tmp_path: Path
) -> None:
    agent = skilled(
        tmp_path, "asks", "inputs: {yes: string}\nsteps: [{id: a, prompt: P, expect: \"${inputs.yes != ''}\"}]"
    )

    def script(asked: Asked) -> Says:
        if asked.first == "P":
            return Says("Something")
        if asked.turns < 2:
            return Says(calls=(Call("asks", {"yes": "yes" if asked.turns else ""}),))
        return Says(" | ".join(asked.outputs))

    async with agents(script, agent, settings={"model": "openai:test"}) as (one, server):
        result = await (await one.start(goal("Ask"))).result()
    assert "PRD111" in str(result.output)
    assert (result.tokens, len(server.asked)) == (server.tokens, 5)


async def test_what_is_left_of_the_agent_s_tokens_bounds_a_skill_that_it_calls(agents: Agents, tmp_path: Path) -> None:
    each = "${[1, 2, 3, 4, 5, 6, 7, 8]}"
    prompt = f"P {'x' * 18_000}"
    agent = skilled(tmp_path, "asks", f'steps: [{{for_each: "{each}", as: n, steps: [{{id: a, prompt: {prompt}}}]}}]\n')

    def script(asked: Asked) -> Says:
        if asked.first.startswith("P "):
            return Says("Something")
        return Says(calls=(Call("asks", {}),))

    async with agents(script, f"{agent}tokens: 12000\n", settings={"model": "openai:test"}) as (one, server):
        handle = await one.start(goal("Ask"))
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
        failure = caught.value.cause
        assert isinstance(failure, ApplicationError)
        assert "agent 'worker' may use 12,000 (tokens)" in str(failure)
        assert sum(asked.first.startswith("P ") for asked in server.asked) == 3
        [result] = failure.details
        assert result["tokens"] == server.tokens
        assert "(limits.tokens)" in result["incomplete"][0]["problem"]
        await one.replay(handle)


@pytest.mark.parametrize("becomes", ["steps: [{id: no, tool: garbles, retry: 1}]\n", ""])
async def test_a_skill_that_is_changed_or_removed_after_it_was_offered_runs_as_it_was_offered(
    agents: Agents, tmp_path: Path, becomes: str
) -> None:
    ledger = tmp_path / "ledger"
    inner = 'steps: [{id: say, tool: echo, args: {value: then}}]\noutput: "${steps.say.output}"\n'
    skilled(tmp_path, "says", inner)
    agent = skilled(
        tmp_path,
        "writes",
        "inputs: {ledger: string}\nsteps:\n  - {id: say, skill: says}\n"
        '  - {id: write, tool: append, args: {ledger: "${inputs.ledger}", line: "${steps.say.output}"}}\n',
    )

    def script(asked: Asked) -> Says:
        if asked.turns:
            return Says("done")
        skilled(tmp_path, "says", inner.replace("then", "now"))
        if becomes:
            skilled(tmp_path, "writes", becomes)
        else:
            (tmp_path / "skills" / "writes.yaml").unlink()
        return Says(calls=(Call("writes", {"ledger": str(ledger)}),))

    async with agents(script, agent) as (one, _):
        version = one.services.skills.get("writes").digest
        task = goal("Write it down")
        handle = await one.start(task)
        await handle.result()
        assert lines_in(str(ledger)) == ["then"]
        inner_task = called(task, "writes")
        result = await one.client.get_workflow_handle(inner_task.workflow_id, result_type=TaskResult).result()
        assert (result.done, result.versions["skill writes"]) == (2, version)


async def test_nobody_but_a_task_says_which_version_of_a_skill_runs(agents: Agents, tmp_path: Path) -> None:
    agent = skilled(tmp_path, "writes", WRITES)
    async with agents(lambda _: Says("done"), agent) as (one, _):
        found = task_of_call(goal("Write it down"), OfferedSkill(name="writes", version="1"), 1, 0, tokens=1)
        with pytest.raises(WorkflowFailureError) as caught:
            await one.client.execute_workflow("ResumableAgent", found, id=f"w{uuid4().hex}", task_queue=one.queue)
        assert "pinned: is not a field here" in str(caught.value.cause)
        args = "[{task_id: x, skill: writes, pinned: {version: v}}]"
        with pytest.raises(WorkflowFailureError) as caught:
            await one.run(f"steps: [{{id: run, workflow: ResumableAgent, queue: {one.queue}, args: {args}}}]")
        assert "pinned: is not a field here" in str(caught.value.cause)
