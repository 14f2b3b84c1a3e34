"""Lessons: each failure has its own, what resolved it later is learned too, and an erasure takes all that was asked."""

from uuid import uuid4

import pytest

from perdure import AgentTask, Answer
from perdure.errors import PerdureError
from perdure.values.lessons import LessonRequest
from perdure.values.requests import EraseRequest
from tests.conftest import Servers
from tests.integration.workflows.resumable_agent.test_beginning import ME
from tests.integration.workflows.resumable_agent.test_lessons import FLAKY, answer, learned, lessons_of, retried
from tests.support.harness import Bench
from tests.support.waiting import until
from worker.gateway import Gateway

pytestmark = pytest.mark.slow

BESIDE = """
inputs: {one: string, two: string}
steps:
  - parallel:
      - {id: one, tool: flaky, args: {ledger: "${inputs.one}", fails: 9}, on_failure: ask, retry: 1}
      - {id: two, tool: flaky, args: {ledger: "${inputs.two}", fails: 1}, on_failure: ask, retry: 1}
"""


async def test_what_resolved_a_failure_after_a_person_had_stopped_the_task_is_learned(
    agents: Bench, servers: Servers
) -> None:
    user, ledger = uuid4().hex, agents.ledger()
    task = AgentTask(task_id="t", user_id=user, skill=agents.skill(FLAKY), inputs={"ledger": str(ledger), "fails": 2})
    handle = await agents.start(task)
    await answer(agents, servers, handle, "stop")
    await learned(agents, handle)
    handle = await agents.start(task)
    await answer(agents, servers, handle, "retry", "the VPN was down")
    await learned(agents, handle)
    assert any("the VPN was down" in one.text for one in await lessons_of(agents, user))


async def test_failures_side_by_side_have_a_lesson_each(agents: Bench, servers: Servers) -> None:
    user, inputs = uuid4().hex, {"one": str(agents.ledger()), "two": str(agents.ledger())}
    task = AgentTask(task_id="t", user_id=user, skill=agents.skill(BESIDE), inputs={**inputs})
    handle = await agents.start(task)
    async with Gateway(agents.settings, servers) as gateway:

        async def questions() -> int:
            progress = await gateway.progress(handle.id, by=ME)
            return len(progress.questions) if progress else 0

        await until(questions, lambda found: found == 2)
        await gateway.answer(handle.id, Answer(question_id="one", value="skip", note="not needed"), by=ME)
        await until(questions, lambda found: found == 1)
        await gateway.answer(handle.id, Answer(question_id="two", value="retry", note="VPN on"), by=ME)
    await learned(agents, handle)
    assert any("VPN on" in one.text for one in await lessons_of(agents, user))


async def test_a_failed_undoing_is_not_what_ended_the_task(agents: Bench) -> None:
    user, ledger = uuid4().hex, agents.ledger()
    text = f"""
steps:
  - id: first
    tool: append
    args: {{ledger: "{ledger}", line: a}}
    compensate: {{tool: raises, args: {{text: "no undo"}}}}
  - {{id: no, tool: garbles, retry: 1}}
"""
    handle = await agents.start(AgentTask(task_id="t", user_id=user, skill=agents.skill(text)))
    await learned(agents, handle)
    texts = [one.text for one in await lessons_of(agents, user)]
    assert not any(one.startswith("raises") and "ended the task" in one for one in texts)


async def test_an_erasure_takes_a_refused_request_to_promote_with_it(agents: Bench, servers: Servers) -> None:
    user = uuid4().hex
    await retried(agents, servers, user)
    async with Gateway(agents.settings, servers) as gateway:
        # There is no such lesson any more, and its text names somebody.
        request = LessonRequest(user_id=user, id="mem_gone", text=f"{user} needs the VPN.")
        with pytest.raises(PerdureError, match="this user has no lesson"):
            await gateway.set_lesson(request, by=ME)
        assert (await gateway.erase(EraseRequest(user_id=user), by=ME)).proved
    async for one in agents.client.list_workflows("WorkflowType = 'SetLesson'"):
        history = agents.client.get_workflow_handle(one.id, run_id=one.run_id).fetch_history_events()
        assert not [event async for event in history if user in str(event)]
