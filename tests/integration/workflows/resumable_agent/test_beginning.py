"""Tasks that begin at a step: the steps before it keep their results, and none of their effects happens again."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest

from activities.beginnings import Asker, TaskBeginnings
from perdure import Actor, ActorKind, AgentTask, Answer, TaskResult
from perdure.agent.steps.calls import Value
from perdure.errors import InvalidTask, PerdureError, Unconfirmed
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.values.beginnings import ANY, BeginRequest
from perdure.values.steering import TaskFeedback
from perdure.values.tasks import Phase
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.strangers import strangers
from tests.support.tools import lines_in
from tests.support.waiting import question_of, until
from worker.gateway import Gateway

ME = Actor(kind=ActorKind.PERSON, id="ada")

FAILS = """
inputs: {ledger: string, line: string}
steps:
  - {id: looked, tool: lines_of, args: {file: "${inputs.ledger}"}}
  - {id: first, tool: append, args: {ledger: "${inputs.ledger}", line: first}}
  - parallel:
      - {id: large, tool: big, args: {size: 9000}}
      - {id: small, tool: echo, args: {value: 1}}
  - {id: second, tool: append, args: {ledger: "${inputs.ledger}", line: "${inputs.line}"}, expect: "${false}"}
  - {id: third, tool: append, args: {ledger: "${inputs.ledger}", line: "third"}}
"""

# It reads what nothing read before.
HOLDS = (
    FAILS.replace("false", "true")
    + 'output: ["${steps.first.output.line}", "${steps.large.output.size()}", "${steps.looked.output.size()}"]\n'
)

OUTPUT = ["first", 9000, 0]


def mended(agents: Bench, skill: str, text: str) -> None:
    (agents.folder / "skills" / f"{skill}.yaml").write_text(f"name: {skill}\n{text}", encoding="utf-8")


async def ended(gateway: Gateway, task: AgentTask, **begin: Any) -> TaskResult:
    """Run a task to its end, and give its result or raise why it was refused."""
    started = await gateway.start(task, by=ME, begin=BeginRequest(**begin) if begin else None)
    try:
        return await gateway.result(started.workflow_id, by=ME)
    except InvalidTask:
        raise
    except PerdureError:
        found = await gateway.ended(started.workflow_id, by=ME)
        assert found is not None
        return found


@pytest.fixture
async def gateway(agents: Bench, servers: Servers) -> Any:
    async with Gateway(agents.settings, servers) as one:
        yield one


@pytest.fixture
async def failed(agents: Bench, gateway: Gateway) -> tuple[AgentTask, Path]:
    """A task that failed at its fourth step, after two effects."""
    ledger = agents.ledger()
    task = agents.task(agents.skill(FAILS), inputs={"ledger": str(ledger), "line": "second"})
    assert (await ended(gateway, task)).status is Phase.FAILED
    assert lines_in(str(ledger)) == ["first", "second"]
    return task, ledger


@pytest.mark.slow
async def test_a_mended_skill_goes_on_at_the_failed_step(
    agents: Bench, gateway: Gateway, failed: tuple[AgentTask, Path]
) -> None:
    task, ledger = failed
    mended(agents, task.skill, HOLDS)
    with pytest.raises(Unconfirmed, match=f"differs from what it was in skill .'{task.skill}' has changed since"):
        await ended(gateway, task, step="second")
    result = await ended(gateway, task, step="second", confirmed=ANY)
    # What was looked up is what it was then, before the first line.
    assert (result.status, result.output, result.done) == (Phase.COMPLETED, OUTPUT, 2)
    assert lines_in(str(ledger)) == ["first", "second", "third"]
    [begun] = result.interventions
    assert begun.told.startswith("begun by person ada on ")
    assert f"(from second; differs in skill ('{task.skill}' has changed since))" in begun.told


@pytest.mark.slow
async def test_only_the_difference_that_was_shown_is_confirmed(
    agents: Bench, gateway: Gateway, failed: tuple[AgentTask, Path]
) -> None:
    task, ledger = failed
    mended(agents, task.skill, HOLDS)
    with pytest.raises(Unconfirmed) as shown:
        await ended(gateway, task, step="second")
    mended(agents, task.skill, HOLDS.replace('"third"', '"fourth"'))
    with pytest.raises(Unconfirmed) as other:
        await ended(gateway, task, step="second", confirmed=shown.value.confirmation)
    assert other.value.confirmation != shown.value.confirmation
    assert lines_in(str(ledger)) == ["first", "second"]
    result = await ended(gateway, task, step="second", confirmed=other.value.confirmation)
    assert result.status is Phase.COMPLETED


@pytest.mark.slow
async def test_a_refused_beginning_leaves_the_end_of_a_task_as_it_was(agents: Bench, gateway: Gateway) -> None:
    task = agents.task(agents.skill("steps: [{id: a, tool: echo, args: {value: 1}}]"))
    assert (await ended(gateway, task)).status is Phase.COMPLETED
    mended(agents, task.skill, "steps: [{id: a, tool: echo, args: {value: 2}}]")
    with pytest.raises(Unconfirmed):
        await gateway.start(task, by=ME, begin=BeginRequest(step="a"))
    by = Actor(kind=ActorKind.AGENT, id="planner")
    with pytest.raises(Unconfirmed, match="only a person can confirm it"):
        await gateway.start(task, by=by, begin=BeginRequest(step="a", confirmed=ANY))
    with pytest.raises(InvalidTask, match="nowhere"):
        await gateway.start(task, by=ME, begin=BeginRequest(step="nowhere", confirmed=ANY))
    mended(agents, task.skill, "steps: [{id: a, tool: echo, args: {value: 1}}]")
    again = await gateway.start(task, by=ME)
    assert (again.new, again.ended_at is not None) == (False, True)
    judged = await gateway.feedback(task.workflow_id, TaskFeedback(passed=False), by=ME)
    assert judged is not None
    assert not judged.succeeded


@pytest.mark.slow
async def test_an_effect_with_other_arguments_is_asked_about(
    agents: Bench, gateway: Gateway, failed: tuple[AgentTask, Path]
) -> None:
    task, ledger = failed
    mended(agents, task.skill, HOLDS)
    other = task.changed(inputs={**task.inputs, "line": "2nd"})
    begin = BeginRequest(step="second", confirmed=ANY)
    started = await gateway.start(other, by=ME, begin=begin)
    handle = agents.client.get_workflow_handle(started.workflow_id, result_type=TaskResult)
    asked = await question_of(handle)
    assert asked.text == "append was called at this step before, with other arguments. Did this effect happen?"
    await gateway.answer(started.workflow_id, Answer(question_id=asked.id, value="not_done"), by=ME)
    assert (await handle.result()).status is Phase.COMPLETED
    assert lines_in(str(ledger)) == ["first", "second", "2nd", "third"]


@pytest.mark.slow
async def test_a_task_that_began_at_a_step_begins_there_again(
    agents: Bench, gateway: Gateway, failed: tuple[AgentTask, Path]
) -> None:
    task, ledger = failed
    mended(
        agents,
        task.skill,
        HOLDS.replace('tool: append, args: {ledger: "${inputs.ledger}", line: "third"}', "tool: garbles"),
    )
    assert (await ended(gateway, task, step="second", confirmed=ANY)).status is Phase.FAILED
    result = await ended(gateway, task)
    assert (result.status, result.done) == (Phase.FAILED, 1)
    mended(agents, task.skill, HOLDS)
    result = await ended(gateway, task, step="third", confirmed=ANY)
    assert (result.output, result.done) == (OUTPUT, 1)
    assert lines_in(str(ledger)) == ["first", "second", "third"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "text", "problem"),
    [
        (
            "third",
            HOLDS,
            "'second', which stands before 'third', has not ended in an earlier run of .* .begin at 'second'",
        ),
        ("thrid", HOLDS, "has no step 'thrid' .did you mean 'third'"),
        (
            "second",
            HOLDS.replace("id: large, tool: big, args: {size: 9000}", "id: large, activity: Look, queue: q, args: []"),
            "'large', which stands before 'second', was a step of another kind",
        ),
        (
            "second",
            HOLDS.replace("  - {id: second", "  - {let: {new: 1}}\n  - {id: second"),
            "'let new', which stands before 'second', has not ended",
        ),
        ("large", HOLDS, "'large' stands inside 'parallel', which begins as a whole .begin at 'parallel'"),
    ],
    ids=["not ended", "unknown", "another kind", "new", "inside"],
)
async def test_where_a_result_is_missing_it_is_refused_with_where_to_begin(
    agents: Bench, gateway: Gateway, failed: tuple[AgentTask, Path], step: str, text: str, problem: str
) -> None:
    task, ledger = failed
    mended(agents, task.skill, text)
    with pytest.raises(InvalidTask, match=problem):
        await ended(gateway, task, step=step, confirmed=ANY)
    assert lines_in(str(ledger)) == ["first", "second"]


@pytest.mark.slow
async def test_a_fork_copies_results_and_acts_from_its_step_on(
    agents: Bench, gateway: Gateway, failed: tuple[AgentTask, Path]
) -> None:
    task, ledger = failed
    mended(agents, task.skill, HOLDS)
    forked = AgentTask.model_validate({**task.model_dump(), "task_id": f"f{uuid4().hex[:8]}"})
    result = await ended(gateway, forked, step="second", of=task.task_id)
    assert (result.status, result.output) == (Phase.COMPLETED, OUTPUT)
    assert lines_in(str(ledger)) == ["first", "second", "second", "third"]
    # The first task is what it was, and the fork cannot do over what is the first one's.
    with pytest.raises(InvalidTask, match="'first' would act again: another task has run it"):
        await ended(gateway, forked, step="first")
    again = await gateway.start(forked, by=ME, begin=BeginRequest(step="second", of=task.task_id))
    assert not again.new or (await gateway.result(again.workflow_id, by=ME)).status is Phase.COMPLETED
    theirs = AgentTask.model_validate({**forked.model_dump(), "user_id": "somebody else"})
    with pytest.raises(InvalidTask, match="this user has no task"):
        await ended(gateway, theirs, step="second", of=task.task_id)
    assert lines_in(str(ledger)) == ["first", "second", "second", "third"]


@pytest.mark.slow
@pytest.mark.parametrize("confirmed", [True, False], ids=["asked", "control"])
async def test_what_differs_is_refused_until_a_person_confirms_it(
    agents: Bench,
    gateway: Gateway,
    failed: tuple[AgentTask, Path],
    monkeypatch: pytest.MonkeyPatch,
    confirmed: bool,
) -> None:
    if not confirmed:

        def confirmed_already(*_: object) -> tuple[str, ...]:
            return ("the skill",)

        monkeypatch.setattr("activities.beginnings._confirmed", confirmed_already)
    task, ledger = failed
    mended(agents, task.skill, HOLDS)
    if confirmed:
        with pytest.raises(Unconfirmed, match="confirm it with --yes"):
            await ended(gateway, task, step="second")
    else:
        assert (await ended(gateway, task, step="second")).status is Phase.COMPLETED
    assert lines_in(str(ledger)) == ["first", "second"] + ["third"] * (not confirmed)


@pytest.mark.slow
@pytest.mark.parametrize("kept", [True, False], ids=["kept", "control"])
async def test_a_fork_that_is_run_again_begins_where_it_began(
    agents: Bench,
    gateway: Gateway,
    failed: tuple[AgentTask, Path],
    monkeypatch: pytest.MonkeyPatch,
    kept: bool,
) -> None:
    if not kept:

        async def nowhere(*_: object) -> None:
            return None

        monkeypatch.setattr(TaskBeginnings, "position", nowhere)
    task, ledger = failed
    forked = AgentTask.model_validate({**task.model_dump(), "task_id": f"f{uuid4().hex[:8]}"})
    assert (await ended(gateway, forked, step="second", of=task.task_id)).status is Phase.FAILED
    assert (await ended(gateway, forked)).status is Phase.FAILED
    assert lines_in(str(ledger)).count("first") == 1 + (not kept)
    with pytest.raises(InvalidTask, match="is already used by another task"):
        await ended(gateway, forked, step="third", of=task.task_id)


@pytest.mark.slow
async def test_who_starts_a_fork_that_somebody_has_just_started_is_attached_to_it(
    agents: Bench, gateway: Gateway, failed: tuple[AgentTask, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_not_seen_yet(*_: object) -> None:
        return None

    task, _ = failed
    mended(agents, task.skill, HOLDS.replace('line: "third"}', 'line: "third"}, approve: "Go on?"'))
    forked = AgentTask.model_validate({**task.model_dump(), "task_id": f"f{uuid4().hex[:8]}"})
    begin = BeginRequest(step="second", of=task.task_id)
    started = await gateway.start(forked, by=ME, begin=begin)
    handle = agents.client.get_workflow_handle(started.workflow_id)
    asked = await question_of(handle)
    monkeypatch.setattr("worker.gateway.tasks.last_run_of", is_not_seen_yet)
    again = await gateway.start(forked, by=ME, begin=begin)
    assert (again.workflow_id, again.new) == (started.workflow_id, False)
    with pytest.raises(InvalidTask, match="is already used by another task"):
        await gateway.start(forked, by=ME, begin=BeginRequest(step="third", of=task.task_id))
    with pytest.raises(InvalidTask, match="is run by the workflow"):
        await gateway.start(forked, by=ME, begin=BeginRequest(step="second", confirmed=ANY))
    await handle.terminate()
    # A run that was killed a moment ago may still be listed as running.
    another = await gateway.start(forked, by=ME, begin=begin)
    assert another.new
    asked = await question_of(agents.client.get_workflow_handle(another.workflow_id))
    await gateway.answer(another.workflow_id, Answer(question_id=asked.id, value="yes"), by=ME)
    assert (await gateway.result(another.workflow_id, by=ME)).output == OUTPUT


@pytest.mark.slow
@pytest.mark.parametrize("copied", [True, False], ids=["copied", "control"])
async def test_a_fork_outlives_what_it_was_forked_from(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied: bool
) -> None:
    monkeypatch.setattr("perdure.stores.redis.outputs.CACHED_FOR", 0.0)
    if not copied:

        async def moved(self: TaskBeginnings, asker: Asker, source: str, step: str, value: Value, limit: int) -> Value:
            return value

        monkeypatch.setattr(TaskBeginnings, "_moved", moved)
    async with bench(servers, tmp_path) as agents, Gateway(agents.settings, servers) as gateway:
        ledger = agents.ledger()
        task = agents.task(agents.skill(FAILS), inputs={"ledger": str(ledger), "line": "second"})
        await ended(gateway, task)
        asking = HOLDS.replace('line: "third"}', 'line: "third"}, approve: "Go on?"')
        mended(agents, task.skill, asking)
        forked = AgentTask.model_validate({**task.model_dump(), "task_id": f"f{uuid4().hex[:8]}"})
        started = await gateway.start(forked, by=ME, begin=BeginRequest(step="second", of=task.task_id))
        handle = agents.client.get_workflow_handle(started.workflow_id, result_type=TaskResult)
        asked = await question_of(handle)
        await forget(agents, task, forked)
        await gateway.answer(started.workflow_id, Answer(question_id=asked.id, value="yes"), by=ME)
        if copied:
            assert (await handle.result()).output == OUTPUT
        else:
            with pytest.raises(PerdureError, match="is no longer kept"):
                await gateway.result(started.workflow_id, by=ME)


async def forget(agents: Bench, task: AgentTask, forked: AgentTask) -> None:
    """Have the time of all that is kept for a task run out, and of nothing that is kept for its fork."""
    redis, tenant = agents.services.redis, agents.services.tenant_key.tenant_of(task.user_id)
    gone, left = [{*await ask(redis, "SMEMBERS", keys.task(tenant, one.task_id)[1])} for one in (task, forked)]
    await ask(redis, "DEL", *keys.task(tenant, task.task_id), *(gone - left))
    for file in agents.settings.journal_folder.glob(f"**/{keys.task_name(task.task_id)}.*"):
        file.unlink()


@pytest.mark.slow
async def test_results_are_found_in_each_run_of_a_history_that_was_rolled_over(
    servers: Servers, tmp_path: Path
) -> None:
    async with bench(servers, tmp_path, continue_after=1) as agents, Gateway(agents.settings, servers) as gateway:
        ledger = agents.ledger()
        task = agents.task(agents.skill(FAILS), inputs={"ledger": str(ledger), "line": "second"})
        await ended(gateway, task)
        mended(agents, task.skill, HOLDS)
        result = await ended(gateway, task, step="second", confirmed=ANY)
        assert (result.output, lines_in(str(ledger))) == (OUTPUT, ["first", "second", "third"])


UNDOABLE = """
inputs: {ledger: string, fails: boolean}
steps:
  - id: first
    tool: append
    args: {ledger: "${inputs.ledger}", line: a}
    compensate: {tool: append, args: {ledger: "${inputs.ledger}", line: "not a"}}
  - {id: then, tool: echo, args: {value: 1}, expect: "${!inputs.fails}"}
"""


@pytest.mark.slow
async def test_what_was_done_before_the_step_is_undone_with_the_task_and_not_with_its_fork(
    agents: Bench, gateway: Gateway
) -> None:
    ledger = agents.ledger()
    task = agents.task(agents.skill(UNDOABLE), inputs={"ledger": str(ledger), "fails": False})
    assert (await ended(gateway, task)).status is Phase.COMPLETED
    failing = task.changed(inputs={**task.inputs, "fails": True})
    forked = AgentTask.model_validate({**failing.model_dump(), "task_id": f"f{uuid4().hex[:8]}"})
    assert (await ended(gateway, forked, step="then", of=task.task_id)).compensated == ()
    assert lines_in(str(ledger)) == ["a"]
    assert (await ended(gateway, failing, step="then", confirmed=ANY)).compensated == ("first",)
    assert lines_in(str(ledger)) == ["a", "not a"]
    for of in ("", task.task_id):
        again = task if not of else AgentTask.model_validate({**task.model_dump(), "task_id": f"f{uuid4().hex[:8]}"})
        with pytest.raises(InvalidTask, match=r"the effects of .* were undone"):
            await ended(gateway, again, step="then", of=of, confirmed=ANY)


async def test_an_open_task_and_one_with_a_goal_cannot_begin_at_a_step(agents: Bench, gateway: Gateway) -> None:
    task = agents.task(agents.skill("steps: [{id: a, wait: 1h}, {id: b, wait: 1s}]"))
    started = await gateway.start(task, by=ME)
    await until(lambda: gateway.progress(started.workflow_id, by=ME), lambda now: now is not None and bool(now.waits))
    with pytest.raises(InvalidTask, match=rf"is run by the workflow {task.workflow_id} .wait for it, cancel it"):
        await gateway.start(task, by=ME, begin=BeginRequest(step="b"))
    forked = AgentTask.model_validate({**task.model_dump(), "task_id": f"f{uuid4().hex[:8]}"})
    with pytest.raises(InvalidTask, match=f"{task.task_id!r} is run by the workflow {started.workflow_id}"):
        await ended(gateway, forked, step="b", of=task.task_id)
    await gateway.cancel(started.workflow_id, by=ME)


@pytest.mark.slow
async def test_a_task_whose_runs_temporal_has_forgotten_begins_at_its_first_step_alone(
    agents: Bench, gateway: Gateway, failed: tuple[AgentTask, Path]
) -> None:
    task, ledger = failed
    mended(agents, task.skill, HOLDS)
    execution = WorkflowExecution(workflow_id=task.workflow_id)
    request = DeleteWorkflowExecutionRequest(namespace="default", workflow_execution=execution)
    await agents.client.workflow_service.delete_workflow_execution(request)
    tenant = agents.services.tenant_key.tenant_of(task.user_id)
    query = f"WorkflowType = 'ResumableAgent' AND PerdureTenant = '{tenant}'"
    await until(lambda: agents.client.count_workflows(query), lambda found: found.count == 0)
    with pytest.raises(InvalidTask, match=r"no longer has a run of .* .begin at 'looked': effects that are rec"):
        await ended(gateway, task, step="second", confirmed=ANY)
    result = await ended(gateway, task, step="looked", confirmed=ANY)
    assert (result.status, result.done) == (Phase.COMPLETED, 6)
    assert lines_in(str(ledger)) == ["first", "second", "third"]


OF_OTHERS = """
inputs: {ledger: string, good: boolean}
steps:
  - {id: charge, activity: Charge, queue: QUEUE, args: ["${inputs.ledger}", {cents: 7, size: 9000}]}
  - {id: ship, workflow: Ship, queue: QUEUE, args: ["${inputs.ledger}", "wood"]}
  - for_each: "${['a', 'b']}"
    as: word
    steps: [{id: write, tool: append, args: {ledger: "${inputs.ledger}", line: "${word}"}}]
  - {id: inner, skill: INNER, inputs: {ledger: "${inputs.ledger}"}}
  - {id: then, tool: echo, args: {value: 1}, expect: "${inputs.good}"}
output: ["${steps.charge.output.text.size()}", "${steps.ship.status}", "${steps.word.done}", "${steps.inner.output}"]
"""

INNER = """
inputs: {ledger: string}
steps: [{id: write, tool: append, args: {ledger: "${inputs.ledger}", line: inner}}]
output: "${steps.write.output.line}"
"""


@pytest.mark.slow
@pytest.mark.parametrize("forked", [True, False], ids=["forked", "gone on"])
async def test_calls_of_others_lists_and_skills_before_the_step_keep_their_results(
    agents: Bench, gateway: Gateway, servers: Servers, forked: bool
) -> None:
    queue, ledger = f"strangers-{uuid4().hex[:8]}", agents.ledger()
    text = OF_OTHERS.replace("QUEUE", queue).replace("INNER", agents.skill(INNER))
    async with strangers(servers.temporal, queue):
        task = agents.task(agents.skill(text), inputs={"ledger": str(ledger), "good": False})
        assert (await ended(gateway, task)).status is Phase.FAILED
        written = lines_in(str(ledger))
        good = {**task.model_dump(), "inputs": {**task.inputs, "good": True}}
        good |= {"task_id": f"f{uuid4().hex[:8]}"} if forked else {}
        begin = {"step": "then", "of": task.task_id if forked else "", "confirmed": ANY}
        result = await ended(gateway, AgentTask.model_validate(good), **begin)
    assert result.output == [9000, "done", 2, "inner"]
    assert lines_in(str(ledger)) == written
