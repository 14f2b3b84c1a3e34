"""What a task learns from a failure, the next task that meets it recalls before anybody decides what to do."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from pytest_httpserver import HTTPServer
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.service import RPCError

from perdure import Actor, ActorKind, AgentTask, Answer, Progress
from perdure.errors import InvalidInput
from perdure.memory.writing.batch_checks import read_batch
from perdure.values.beginnings import ANY, BeginRequest
from perdure.values.entries import Memory, State
from perdure.values.jobs import Receipt
from perdure.values.lessons import LessonRequest
from perdure.values.tasks import MemoryMode
from tests.conftest import Servers
from tests.support.goals import AGENT, agents_on, goal
from tests.support.harness import Bench, bench
from tests.support.turn_server import Asked, Call, Says
from tests.support.waiting import question_of
from worker.gateway import Gateway

pytestmark = pytest.mark.slow

KIM = Actor(kind=ActorKind.PERSON, id="kim")

FLAKY = """
inputs: {ledger: string, fails: integer}
steps:
  - {id: try, tool: flaky, args: {ledger: "${inputs.ledger}", fails: "${inputs.fails}"}, on_failure: ask, retry: 1}
"""

TELLS = """
inputs: {ledger: string}
steps:
  - {id: try, tool: tells, args: {ledger: "${inputs.ledger}"}, on_failure: ask, retry: 1}
output: "${steps.try.output}"
"""

RAISES = 'steps: [{{id: a, tool: raises, args: {{text: "{}"}}, retry: 1}}]'

FAILS = "steps: [{id: no, tool: garbles, retry: 1}]"


async def lessons_of(bench: Bench, user: str) -> list[Memory]:
    found = await bench.services.longterm.everything(bench.services.tenant_key.tenant_of(user), kinds=("memory",))
    return [one for one in found.values() if isinstance(one, Memory) and "lesson" in one.tags]


async def learned(bench: Bench, handle: WorkflowHandle[Any, Any]) -> None:
    """Wait until a task has ended, and what it learned is searchable."""
    with suppress(WorkflowFailureError):
        await handle.result()
    memory = await handle.query("memory")
    if any(one["recalled"] for one in memory["recalls"]):
        with suppress(RPCError):  # A task that only reads credits nothing.
            await bench.client.get_workflow_handle(f"credit-{handle.first_execution_run_id}").result()
    for job in memory["jobs"]:
        await bench.client.get_workflow_handle(job, result_type=Receipt).result()


async def answer(bench: Bench, servers: Servers, handle: WorkflowHandle[Any, Any], value: str, note: str = "") -> str:
    """Answer what a task asks, and return the question."""
    asked = await question_of(handle)
    async with Gateway(bench.settings, servers) as gateway:
        await gateway.answer(handle.id, Answer(question_id=asked.id, value=value, note=note), by=KIM)
    return asked.text


async def retried(bench: Bench, servers: Servers, user: str, note: str = "", **more: Any) -> tuple[str, Any]:
    """Run a step that fails once, and have a person have it tried again; returns the question."""
    inputs: dict[str, JsonValue] = {"ledger": str(bench.ledger()), "fails": 1}
    task = AgentTask(task_id=uuid4().hex, user_id=user, skill=bench.skill(FLAKY), inputs=inputs, **more)
    handle = await bench.start(task)
    question = await answer(bench, servers, handle, "retry", note)
    await learned(bench, handle)
    return question, handle


async def test_what_a_person_did_about_a_failure_is_in_the_next_tasks_question(agents: Bench, servers: Servers) -> None:
    user = uuid4().hex
    first, handle = await retried(agents, servers, user, "the service had been restarted")
    assert "learned" not in first
    await agents.replay(handle)
    [lesson] = await lessons_of(agents, user)
    assert lesson.text == (
        'flaky failed with RuntimeError ("secret number 1"). '
        "A person had it tried again, and it succeeded: the service had been restarted"
    )
    assert lesson.tags == ("lesson", "tool-flaky", "cause-RuntimeError")
    second, _ = await retried(agents, servers, user, "the service had been restarted")
    assert second.endswith(f"What earlier tasks learned about this failure:\n- {lesson.text}")
    [same] = await lessons_of(agents, user)
    assert (same.id, same.seen, len(same.trials)) == (lesson.id, 2, 1), "learned twice, and credited with the second"
    other, _ = await retried(agents, servers, uuid4().hex)
    assert "learned" not in other, "another user's"


async def test_a_step_that_is_tried_again_has_the_lessons(agents: Bench, servers: Servers) -> None:
    user, skill = uuid4().hex, agents.skill(TELLS)
    outputs: list[Any] = []
    for _ in range(2):
        task = AgentTask(task_id=uuid4().hex, user_id=user, skill=skill, inputs={"ledger": str(agents.ledger())})
        handle = await agents.start(task)
        await answer(agents, servers, handle, "retry")
        await learned(agents, handle)
        outputs.append((await handle.result()).output)
    assert outputs == [[], ["tells failed with KeyError (\"'no'\"). A person had it tried again, and it succeeded."]]


@pytest.mark.parametrize(
    ("decision", "resolution"),
    [("skip", "A person had the step skipped: not needed"), ("stop", "A person stopped the task: not needed")],
)
async def test_what_a_person_decided_instead_is_the_lesson(
    agents: Bench, servers: Servers, decision: str, resolution: str
) -> None:
    user = uuid4().hex
    inputs: dict[str, JsonValue] = {"ledger": str(agents.ledger()), "fails": 9}
    handle = await agents.start(AgentTask(task_id=uuid4().hex, user_id=user, skill=agents.skill(FLAKY), inputs=inputs))
    await answer(agents, servers, handle, decision, "not needed")
    await learned(agents, handle)
    [lesson] = await lessons_of(agents, user)
    assert lesson.text.endswith(resolution)


async def test_a_failure_that_ends_a_task_is_one_lesson_however_often_the_task_runs(agents: Bench) -> None:
    user = uuid4().hex
    task = AgentTask(task_id="t", user_id=user, skill=agents.skill(FAILS))
    for _ in range(2):
        handle = await agents.start(task)
        await learned(agents, handle)
    [lesson] = await lessons_of(agents, user)
    assert lesson.text == 'garbles failed with OSError ("no file ?"). It ended the task: nothing resolved it.'
    assert lesson.seen == 1
    handle = await agents.start(task.changed(task_id="u"))
    await learned(agents, handle)
    told = (await handle.query("progress", result_type=Progress)).problem
    assert told.startswith("step no: ")
    assert told.endswith(f"What earlier tasks learned about this failure:\n- {lesson.text}")
    assert [one.seen for one in await lessons_of(agents, user)] == [2]


async def test_what_resolved_a_failure_from_which_a_person_had_the_task_go_on_is_a_lesson(
    agents: Bench, servers: Servers
) -> None:
    user, skill = uuid4().hex, agents.skill(FAILS)
    task = AgentTask(task_id=uuid4().hex, user_id=user, skill=skill)
    await learned(agents, await agents.start(task))
    mended = FAILS.replace("tool: garbles", "tool: echo, args: {value: 1}")
    (agents.folder / "skills" / f"{skill}.yaml").write_text(f"name: {skill}\n{mended}", encoding="utf-8")
    async with Gateway(agents.settings, servers) as gateway:
        begun = await gateway.start(task, by=KIM, begin=BeginRequest(step="no", confirmed=ANY))
    await learned(agents, agents.client.get_workflow_handle(begun.workflow_id))
    found = {one.text.partition('"). ')[2] for one in await lessons_of(agents, user)}
    assert found == {
        "It ended the task: nothing resolved it.",
        f"A person had the task go on from there, and it succeeded: skill ('{skill}' has changed since)",
    }


@pytest.mark.parametrize(
    ("step", "learns"),
    [
        ('{id: no, tool: echo, args: {value: 1}, when: "${inputs.word + 1 == 2}"}', 0),
        ('{id: no, tool: echo, args: {value: "${inputs.word + 1}"}}', 0),
        ('{id: no, tool: big, args: {size: "${inputs.word}"}}', 0),
        ("{id: no, tool: garbles, retry: 1}", 1),
    ],
    ids=["condition", "argument", "its type", "a tool that fails"],
)
async def test_a_mistake_of_its_author_is_no_lesson(agents: Bench, step: str, learns: int) -> None:
    user = uuid4().hex
    skill = agents.skill(f"inputs: {{word: string}}\nsteps: [{step}]")
    handle = await agents.start(AgentTask(task_id="t", user_id=user, skill=skill, inputs={"word": "a"}))
    await learned(agents, handle)
    assert len(await lessons_of(agents, user)) == learns


@pytest.mark.parametrize("mode", [MemoryMode.READ, MemoryMode.OFF])
async def test_a_task_that_remembers_nothing_writes_no_lesson(
    agents: Bench, servers: Servers, mode: MemoryMode
) -> None:
    user = uuid4().hex
    await retried(agents, servers, user, memory=mode)
    assert await lessons_of(agents, user) == []
    await retried(agents, servers, user)
    question, _ = await retried(agents, servers, user, memory=mode)
    assert ("learned" in question) == mode.recalls


async def test_a_skill_that_wants_no_lessons_writes_and_reads_none(agents: Bench, servers: Servers) -> None:
    user = uuid4().hex
    inputs: dict[str, JsonValue] = {"ledger": str(agents.ledger()), "fails": 1}
    skill = agents.skill(f"lessons: false\n{FLAKY}")
    handle = await agents.start(AgentTask(task_id=uuid4().hex, user_id=user, skill=skill, inputs=inputs))
    await answer(agents, servers, handle, "retry")
    await learned(agents, handle)
    assert await lessons_of(agents, user) == []


async def test_a_promoted_lesson_is_recalled_for_every_user_until_it_is_withdrawn(
    agents: Bench, servers: Servers
) -> None:
    user, text = uuid4().hex, f"When flaky fails, wait a minute ({uuid4().hex[:8]})."
    await retried(agents, servers, user)
    [lesson] = await lessons_of(agents, user)
    async with Gateway(agents.settings, servers) as gateway:
        request = LessonRequest(user_id=user, id=lesson.id, text=text)
        with pytest.raises(InvalidInput, match="only people"):
            await gateway.set_lesson(request, by=Actor(kind=ActorKind.AGENT, id="a"))
        with pytest.raises(InvalidInput, match="this user has no lesson"):
            await gateway.set_lesson(request.changed(user_id="somebody else"), by=KIM)
        done = await gateway.set_lesson(request, by=KIM)
        assert (await gateway.receipt(done.job, by=KIM)).items[0].id
        question, _ = await retried(agents, servers, uuid4().hex)
        assert question.endswith(f"- {text}")
        [common] = [one for one in await gateway.lessons(None, by=KIM) if one.text == text]
        assert [one.by.id for one in await gateway.lesson_history(common.id, by=KIM)] == ["kim"]
        await gateway.set_lesson(LessonRequest(id=common.id), by=KIM)
        question, _ = await retried(agents, servers, uuid4().hex)
        assert text not in question


async def test_nothing_but_a_lesson_is_withdrawn(agents: Bench, servers: Servers) -> None:
    common = agents.services.tenant_key.tenant_of_installation
    said: JsonValue = {"kind": "memory", "content": "The office is closed in August.", "occurrence": uuid4().hex}
    batch = read_batch(tenant=common, key=uuid4().hex, items=[{**said, "occurred_at": "2026-01-01T00:00:00Z"}])
    plan = await agents.services.writer.plan(batch, at=datetime.now(UTC))
    await agents.services.writer.apply(batch, plan, operation=uuid4().hex)
    identifier = plan.items[0].target
    async with Gateway(agents.settings, servers) as gateway:
        with pytest.raises(InvalidInput, match="and no lesson"):
            await gateway.set_lesson(LessonRequest(id=identifier), by=KIM)
    [kept] = (await agents.services.longterm.get(common, [identifier])).values()
    assert kept.state is State.CURRENT


class Tries:
    """A model that calls a tool with what fails, and then with something else."""

    def __init__(self, ledger: Path) -> None:
        self.ledger = ledger

    def __call__(self, asked: Asked) -> Says:
        if not asked.outputs:
            return Says(calls=(Call("flaky", {"ledger": str(self.ledger / "missing" / "x"), "fails": 0}),))
        if len(asked.outputs) == 1:
            return Says(calls=(Call("flaky", {"ledger": str(self.ledger / uuid4().hex), "fails": 0}),))
        return Says("done")


@pytest.fixture
async def here(servers: Servers, tmp_path: Path, httpserver: HTTPServer) -> AsyncGenerator[tuple[Bench, Any]]:
    agent = AGENT.replace("tools: [", "tools: [flaky, ")
    async with agents_on(servers, tmp_path, httpserver)(Tries(tmp_path), agent) as (one, server):
        yield one, server


async def test_a_model_is_shown_what_an_earlier_task_learned_before_its_next_turn(here: tuple[Bench, Any]) -> None:
    bench, server = here
    user = uuid4().hex
    for _ in range(2):
        handle = await bench.start(goal(user_id=user))
        assert (await handle.result()).output == "done"
        await learned(bench, handle)
        await bench.replay(handle)
    [lesson] = await lessons_of(bench, user)
    assert lesson.text.startswith("flaky failed with FileNotFoundError (")
    assert lesson.text.endswith("It succeeded with another value of ledger.")
    told = [asked.outputs[0] for asked in server.asked if len(asked.outputs) == 1]
    assert [lesson.text in one for one in told] == [False, True]
    assert await (await bench.start(goal())).result()
    assert lesson.text not in [asked.outputs[0] for asked in server.asked if len(asked.outputs) == 1][-1]


async def test_a_lesson_has_no_secret_in_it(servers: Servers, tmp_path: Path) -> None:
    key = f"open-sesame-{uuid4().hex}"
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "door").write_text(key)
    more = {"tools": ("tests.support.secret_tools",), "secrets": (tmp_path / "secrets",)}
    skill = 'steps: [{id: a, tool: open_door, args: {ledger: "/nowhere", how: refuse}, retry: 1, timeout: 1s}]'
    async with bench(servers, tmp_path, more=more) as one:
        user = uuid4().hex
        await learned(one, await one.start(AgentTask(task_id="t", user_id=user, skill=one.skill(skill))))
        [lesson] = await lessons_of(one, user)
        assert lesson.tags == ("lesson", "tool-open_door", "cause-NotDone")
        assert "is refused" in lesson.text
        assert key not in lesson.model_dump_json()


async def test_private_data_of_an_error_is_not_kept(agents: Bench) -> None:
    user = uuid4().hex
    skill = agents.skill(
        'steps: [{id: a, tool: raises, args: {text: "ada@example.com is EXEC_MEMORY_JSON="}, retry: 1}]'
    )
    await learned(agents, await agents.start(AgentTask(task_id="t", user_id=user, skill=skill)))
    assert [one.text for one in await lessons_of(agents, user)] == ["raises failed with ValueError."]
    skill = agents.skill(RAISES.format("ada@example.com is unknown"))
    await learned(agents, await agents.start(AgentTask(task_id="u", user_id=user, skill=skill)))
    texts = [one.text for one in await lessons_of(agents, user)]
    assert any("[email] is unknown" in text for text in texts), texts
    assert not any("ada@" in text for text in texts)
