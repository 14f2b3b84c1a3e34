"""A task is a user and a task id: what its first claim binds the id to, who may run it, and when it starts anew."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError

from activities.task_runs import TaskRuns
from perdure import Actor, ActorKind, AgentTask, Answer
from perdure.errors import InvalidTask
from perdure.names import STARTED_BY
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.values.bindings import TaskBinding
from perdure.values.task_status import StartedTask
from tests.conftest import Servers
from tests.crash.test_tool_steps import reset
from tests.support.harness import Bench, bench
from tests.support.waiting import question_of, until
from worker.gateway import Gateway, tasks
from workflows import rollover

ME = Actor(kind=ActorKind.PERSON, id="me")

SEND = """
inputs: {ledger: string, line: string}
steps: [{id: send, tool: append, args: {ledger: "${inputs.ledger}", line: "${inputs.line}"}}]
output: "${steps.send.output.line}"
"""

SEND_THEN_ASK = """
inputs: {ledger: string, line: string}
steps:
  - {id: send, tool: append, args: {ledger: "${inputs.ledger}", line: "${inputs.line}"}}
  - {id: then, tool: echo, args: {value: 1}, approve: "Go on?"}
"""

READ = """
inputs: {value: any}
steps: [{id: a, tool: echo, args: {value: "${inputs.value}"}}]
output: "${steps.a.output}"
"""

READ_THEN_ASK = """
inputs: {value: any}
steps:
  - {id: a, tool: echo, args: {value: "${inputs.value}"}}
  - {id: b, tool: echo, args: {value: 1}, approve: "Go on?"}
"""

READ_OFTEN = """
inputs: {tries: string, fails: integer}
steps: [{id: a, tool: flaky, args: {ledger: "${inputs.tries}", fails: "${inputs.fails}"}}]
"""

SEND_THEN_FAIL = """
inputs: {ledger: string, tries: string}
steps:
  - {id: send, tool: append, args: {ledger: "${inputs.ledger}", line: x}}
  - {id: then, tool: flaky, args: {ledger: "${inputs.tries}", fails: 3}}
"""


def lines(ledger: Path) -> list[str]:
    return ledger.read_text().splitlines()


def another() -> str:
    """Return a workflow id that nothing else has."""
    return f"w-{uuid4().hex}"


async def refused(agents: Bench, task: AgentTask, id_: str = "") -> str:
    with pytest.raises(WorkflowFailureError) as caught:
        await (await agents.start(task, id_=id_)).result()
    assert isinstance(caught.value.cause, ApplicationError)
    return caught.value.cause.message


@pytest.mark.slow
@pytest.mark.parametrize("bound", [True, False], ids=["bound", "control"])
async def test_other_inputs_under_an_id_that_claimed_are_refused_with_the_difference(
    agents: Bench, bound: bool
) -> None:
    ledger = agents.ledger()
    first = agents.task(agents.skill(SEND), inputs={"ledger": str(ledger), "line": "May"})
    other = first.changed(inputs={"ledger": str(ledger), "line": "June"})
    await (await agents.start(first)).result()
    if bound:
        message = await refused(agents, other, another())
        assert (
            f"PRD101 task_id: {first.task_id!r} is already used by another task, which differs in inputs.line"
            in message
        )
    else:
        tenant = agents.services.tenant_key.tenant_of(first.user_id)
        await ask(agents.services.redis, "DEL", *keys.task(tenant, first.task_id))
        # What is left is the claim's own digest of its arguments.
        handle = await agents.start(other, id_=another())
        asked = await question_of(handle)
        assert asked.text == "append was called at this step before, with other arguments. Did this effect happen?"
        await handle.execute_update("answer", Answer(question_id=asked.id, value="not_done"))
        assert (await handle.result()).output == "June"
    assert lines(ledger) == ["May"] + ["June"] * (not bound)


@pytest.mark.slow
async def test_another_day_or_a_mended_skill_is_refused_once_something_was_claimed(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(SEND)
    task = agents.task(skill, inputs={"ledger": str(ledger), "line": "May"})
    await (await agents.start(task)).result()
    dated = AgentTask.model_validate({**task.model_dump(), "date": "2026-05-01"})
    assert "differs in date (was not given and is now 2026-05-01)" in await refused(agents, dated, another())
    (agents.folder / "skills" / f"{skill}.yaml").write_text(f"name: {skill}\n{SEND}\nexpect: ${{true}}")
    assert f"differs in skill ({skill!r} has changed since)" in await refused(agents, task, another())


@pytest.mark.slow
async def test_a_task_goes_on_with_a_skill_that_only_describes_itself_in_other_words(agents: Bench) -> None:
    ledger, tries = agents.ledger(), agents.ledger()
    skill = agents.skill(SEND_THEN_FAIL)
    task = agents.task(skill, inputs={"ledger": str(ledger), "tries": str(tries)})
    assert "tool 'flaky' raised" in await refused(agents, task)
    described = "description: sends once\nchangelog: [{date: 2026-01-02, change: First version.}]"
    (agents.folder / "skills" / f"{skill}.yaml").write_text(f"name: {skill}\n{SEND_THEN_FAIL}\n{described}")
    assert (await (await agents.start(task)).result()).done == 2
    assert len(lines(ledger)) == 1


async def test_before_the_first_claim_a_failed_task_starts_again_with_other_inputs(agents: Bench) -> None:
    ledger = agents.ledger()
    task = agents.task(agents.skill(SEND), inputs={"ledger": str(ledger)})
    assert "inputs.line: is missing" in await refused(agents, task)
    mended = task.changed(inputs={"ledger": str(ledger), "line": "May"})
    assert (await (await agents.start(mended)).result()).output == "May"


@pytest.mark.slow
async def test_a_failed_task_that_claimed_nothing_starts_again_with_other_inputs_or_a_mended_skill(
    agents: Bench,
) -> None:
    skill, tries = agents.skill(READ_OFTEN), agents.ledger()
    task = agents.task(skill, inputs={"tries": str(tries), "fails": 99})
    other = agents.task(skill, inputs={"tries": str(tries), "fails": 99})
    for one in (task, other):
        assert "tool 'flaky' raised" in await refused(agents, one)
    again = await agents.start(task.changed(inputs={"tries": str(tries), "fails": 0}))
    assert (await again.result()).done == 1
    mended = "inputs: {tries: string, fails: integer}\nsteps: [{id: a, tool: echo, args: {value: mended}}]"
    (agents.folder / "skills" / f"{skill}.yaml").write_text(f"name: {skill}\n{mended}")
    assert (await (await agents.start(other)).result()).done == 1


async def test_somebody_else_under_the_id_of_an_ended_workflow_gets_nothing_of_it(agents: Bench) -> None:
    skill, id_ = agents.skill(READ), another()
    hers = agents.task(skill, inputs={"value": "ada's"})
    await (await agents.start(hers, id_=id_)).result()
    his = agents.task(skill, inputs={"value": "bob's"}, task_id=hers.task_id)
    with pytest.raises(WorkflowAlreadyStartedError):
        await agents.start(his, id_=id_)
    # The control: under another id, the same task of theirs runs.
    assert (await (await agents.start(his, id_=another())).result()).output == "bob's"


@pytest.mark.slow
async def test_after_a_failure_the_same_task_goes_on_from_the_recorded_effects(agents: Bench) -> None:
    ledger, tries = agents.ledger(), agents.ledger()
    task = agents.task(agents.skill(SEND_THEN_FAIL), inputs={"ledger": str(ledger), "tries": str(tries)})
    assert "tool 'flaky' raised" in await refused(agents, task)
    assert "inputs.ledger" in await refused(agents, task.changed(inputs={"ledger": "x", "tries": "y"}))
    gone_on = await (await agents.start(task)).result()
    assert (gone_on.done, gone_on.happened_before) == (2, 1)
    assert (len(lines(ledger)), len(lines(tries))) == (1, 4)


@pytest.mark.slow
async def test_a_task_that_claims_nothing_is_bound_once_it_has_completed(agents: Bench) -> None:
    task = agents.task(agents.skill(READ), inputs={"value": 1})
    await (await agents.start(task)).result()
    assert "differs in inputs.value" in await refused(agents, task.changed(inputs={"value": 2}), another())
    assert (await (await agents.start(task, id_=another())).result()).done == 1


@pytest.mark.slow
async def test_a_second_open_workflow_for_one_task_is_refused(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(SEND)
    task = agents.task(agents.skill(SEND_THEN_ASK), inputs={"ledger": str(ledger), "line": "May"})
    first = await agents.start(task, id_=another())
    asked = await question_of(first)
    assert f"{task.task_id!r} is run by the workflow {first.id}" in await refused(agents, task, another())
    # Another user's task of that name is another task.
    await first.execute_update("answer", Answer(question_id=asked.id, value="yes"))
    await first.result()
    theirs = AgentTask.model_validate({**task.model_dump(), "user_id": "somebody else", "skill": skill})
    assert (await (await agents.start(theirs, id_=another())).result()).output == "May"
    assert lines(ledger) == ["May", "May"]
    # The first workflow has ended, so another one may go on with the task.
    again = await agents.start(task, id_=another())
    await again.execute_update("answer", Answer(question_id=(await question_of(again)).id, value="yes"))
    assert (await again.result()).done == 2
    assert lines(ledger) == ["May", "May"]


@pytest.mark.slow
@pytest.mark.parametrize("told_by", ["holder", "list", "nobody"], ids=["holder", "listed", "control"])
async def test_a_second_open_workflow_is_refused_also_where_the_first_was_reset_to_its_beginning(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told_by: str
) -> None:
    async def knows_nothing(*_: object, **__: object) -> list[object]:
        return []

    if told_by != "holder":
        monkeypatch.setattr(TaskRuns, "is_open", knows_nothing)
    if told_by != "list":
        monkeypatch.setattr(TaskRuns, "earlier", knows_nothing)
    async with bench(servers, tmp_path) as agents:
        task = agents.task(agents.skill("steps: [{id: a, tool: echo, args: {value: 1}, approve: 'Go on?'}]"))
        started = await agents.start(task)
        await question_of(started)
        first = await reset(agents, agents.client.get_workflow_handle(started.id, run_id=started.result_run_id))
        await question_of(first)
        tenant = agents.services.tenant_key.tenant_of(task.user_id)
        query = f"PerdureTenant = '{tenant}' AND ExecutionStatus = 'Running' AND PerdurePhase = 'waiting'"
        await until(lambda: agents.client.count_workflows(query), lambda found: found.count == 1)
        if told_by == "nobody":
            second = await agents.start(task, id_=another())
            await question_of(second)
            await second.terminate()
        else:
            assert f"{task.task_id!r} is run by the workflow {first.id}" in await refused(agents, task, another())
        await first.terminate()


@pytest.mark.slow
@pytest.mark.parametrize("carried", [True, False], ids=["carried", "control"])
async def test_a_task_whose_history_was_rolled_over_is_attached_to_by_the_same_task_alone(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, carried: bool
) -> None:
    if not carried:
        monkeypatch.setattr(rollover, "unread_memo", dict)
    async with bench(servers, tmp_path, continue_after=1) as agents:
        skill = agents.skill(READ_THEN_ASK)
        task = agents.task(skill, inputs={"value": 1})
        async with Gateway(agents.settings, servers) as gateway:
            started = await gateway.start(task, by=ME)
            handle = agents.client.get_workflow_handle(started.workflow_id)
            question = await question_of(handle)
            found = await handle.describe()
            assert found.run_id != found.raw_info.first_run_id
            if not carried:
                with pytest.raises(InvalidTask, match=r"differs in inputs\.value"):
                    await gateway.start(task, by=ME)
                await handle.terminate()
                return
            assert await found.memo_value(STARTED_BY) == ME.model_dump(mode="json")
            assert not (await gateway.start(task, by=ME)).new
            await handle.execute_update("answer", Answer(question_id=question.id, value="yes"))
            await gateway.result(started.workflow_id, by=ME)
            assert (await gateway.start(task, by=ME)).ended_at is not None
            (agents.folder / "skills" / f"{skill}.yaml").write_text(
                f"name: {skill}\n{READ_THEN_ASK}\nexpect: ${{true}}"
            )
            with pytest.raises(InvalidTask, match="has changed since"):
                await gateway.start(task, by=ME)


async def test_a_task_started_again_is_attached_to_refused_or_run_anew(agents: Bench, servers: Servers) -> None:
    ledger = agents.ledger()
    skill = agents.skill(SEND)
    task = agents.task(skill, inputs={"ledger": str(ledger), "line": "May"})
    async with Gateway(agents.settings, servers) as gateway:
        first = await gateway.start(task, by=ME)
        assert (first.new, first.ended_at) == (True, None)
        assert (await gateway.result(first.workflow_id, by=ME)).output == "May"
        attached = await gateway.start(task, by=ME)
        assert not attached.new
        assert attached.ended_at is not None
        with pytest.raises(InvalidTask, match=r"differs in inputs\.line \(choose a new task_id"):
            await gateway.start(task.changed(inputs={"ledger": str(ledger), "line": "June"}), by=ME)
        before = await run_of(gateway, first)
        again = await gateway.start(task, by=ME, again=True)
        assert again.new
        assert (await run_of(gateway, again)) != before
        assert (await gateway.result(again.workflow_id, by=ME)).output == "May"
        (agents.folder / "skills" / f"{skill}.yaml").write_text(f"name: {skill}\n{SEND}\nexpect: ${{true}}")
        with pytest.raises(InvalidTask, match="has changed since"):
            await gateway.start(task, by=ME)
    assert lines(ledger) == ["May"]


@pytest.mark.parametrize("compared", [True, False], ids=["compared", "control"])
async def test_a_task_that_is_not_prepared_yet_is_attached_to_only_by_the_same_task(
    agents: Bench, servers: Servers, monkeypatch: pytest.MonkeyPatch, compared: bool
) -> None:
    task = agents.task(agents.skill(SEND), inputs={"ledger": "l", "line": "May"})
    other = task.changed(inputs={"ledger": "l", "line": "June"})
    if not compared:

        async def as_asked(handle: object, found: object) -> AgentTask:
            return other

        monkeypatch.setattr("worker.attachment._started_with", as_asked)
    unserved = agents.settings.model_copy(update={"task_queue": f"nobody-{uuid4().hex[:8]}"})
    async with Gateway(unserved, servers) as gateway:
        first = await gateway.start(task, by=ME)
        with pytest.raises(InvalidTask, match=r"differs in inputs\.line") if compared else nullcontext():
            assert not (await gateway.start(other, by=ME)).new
        if compared:
            assert not (await gateway.start(task, by=ME)).new
        await (await gateway.task(first.workflow_id, by=ME)).terminate()


@pytest.mark.slow
async def test_a_task_without_a_date_keeps_the_day_of_its_first_claim(agents: Bench) -> None:
    ledger = agents.ledger()
    text = f"steps: [{{id: a, tool: append, args: {{ledger: '{ledger}', line: '${{task.date}}'}}}}]"
    task = agents.task(agents.skill(text))
    await (await agents.start(task)).result()
    tenant = agents.services.tenant_key.tenant_of(task.user_id)
    key, _ = keys.task(tenant, task.task_id)
    stored: str = await ask(agents.services.redis, "HGET", key, "binding")
    [today] = lines(ledger)
    assert today in stored
    bound = TaskBinding.model_validate_json(stored.replace(today, "2020-02-29"))
    await ask(agents.services.redis, "HSET", key, "binding", bound.model_dump_json(), "digest", bound.digest)
    handle = await agents.start(task, id_=another())
    assert (await question_of(handle)).about.arguments.endswith('"line": "2020-02-29"}')  # pyright: ignore[reportOptionalMemberAccess]
    await handle.cancel()


async def run_of(gateway: Gateway, started: StartedTask) -> str | None:
    return (await (await gateway.task(started.workflow_id, by=ME)).describe()).run_id


@pytest.mark.slow
async def test_who_starts_a_task_that_somebody_has_just_started_is_attached_to_it(
    servers: Servers, agents: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_not_seen_yet(*_: object) -> None:
        return None

    task = agents.task(agents.skill(SEND_THEN_ASK), inputs={"ledger": str(agents.ledger()), "line": "x"})
    async with Gateway(agents.settings, servers) as gateway:
        started = await gateway.start(task, by=ME)
        handle = agents.client.get_workflow_handle(started.workflow_id)
        await question_of(handle)
        monkeypatch.setattr(tasks, "last_run_of", is_not_seen_yet)
        again = await gateway.start(task, by=ME)
        assert (again.workflow_id, again.new) == (started.workflow_id, False)
        with pytest.raises(InvalidTask, match=r"differs in inputs\.line"):
            await gateway.start(task.changed(inputs={**task.inputs, "line": "y"}), by=ME)
        await handle.terminate()
        # The control: a workflow of another id runs it, and nobody can be attached to that.
        other = await agents.start(task, id_=another())
        await question_of(other)
        with pytest.raises(InvalidTask, match="is run by the workflow"):
            await gateway.start(task, by=ME)
        await other.terminate()


@pytest.mark.slow
async def test_a_check_looks_through_no_more_of_a_users_tasks_than_the_preparation(
    servers: Servers, agents: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[str] = []
    listed = Client.list_workflows

    def listing(self: Client, query: str | None = None, **more: Any) -> Any:
        queries.append(query or "")
        return listed(self, query, **more)

    monkeypatch.setattr(Client, "list_workflows", listing)
    async with Gateway(agents.settings, servers) as gateway:
        started = await gateway.start(agents.task(agents.skill(READ), inputs={"value": 1}), by=ME)
        await gateway.result(started.workflow_id, by=ME)
    own = [query for query in queries if "WorkflowType = 'ResumableAgent'" in query]
    assert own
    assert all("StartTime < " in query for query in own)
