"""Policies on what a model does with its own memory: asked right before, like those on the calls of tools."""

from pathlib import Path
from uuid import uuid4

import pytest
from pytest_httpserver import HTTPServer

from perdure import AgentTask, Answer
from perdure.identity import content_digest
from perdure.policies.shape import Outcome
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import State
from perdure.values.questions import Approval, QuestionKind
from tests.conftest import Servers
from tests.integration.workflows.resumable_agent.test_corrections import RIGHT, WRONG, believed, memories
from tests.support.goals import Agents, agents_on, goal
from tests.support.guarding import Policies, ruled, rulings
from tests.support.harness import Bench
from tests.support.turn_server import Asked, Call, Says
from tests.support.waiting import question_of, until, until_true

FACT = "The bakery opens at six."


@pytest.fixture
def agents(servers: Servers, tmp_path: Path, httpserver: HTTPServer) -> Agents:
    return agents_on(servers, tmp_path, httpserver)


@pytest.fixture
def policies(tmp_path: Path) -> Policies:
    found = Policies(tmp_path / "policies")
    found.clear()
    return found


class Wants:
    """A script that makes one call of the model's memory, and says what that gave."""

    def __init__(self) -> None:
        self.call = Call("remember", {"text": FACT})

    def __call__(self, asked: Asked) -> Says:
        return Says(" | ".join(asked.outputs)) if asked.outputs else Says(calls=(self.call,))


async def told(one: Bench, task: AgentTask) -> str:
    """Run a task to its end; returns what its model was told, once its history was replayed."""
    handle = await one.start(task)
    result = await handle.result()
    await one.replay(handle)
    return str(result.output)


@pytest.mark.slow
async def test_what_a_policy_forbids_changes_and_reads_no_memory(agents: Agents, policies: Policies) -> None:
    wants, user = Wants(), uuid4().hex
    policies.write("no-bakery", when="tool == 'remember' && arguments.text.contains('bakery')")
    policies.write("no-correcting", when="tool == 'correct' && state.effect == 'idempotent'")
    policies.write("no-looking", when="tool == 'recall' && state.effect == 'read'")
    async with agents(wants, settings={"policies": (policies.folder,)}) as (one, _):
        wrong = await believed(one, user)
        calls = (
            (Call("remember", {"text": FACT}), "no-bakery"),
            (Call("correct", {"id": wrong, "text": RIGHT}), "no-correcting"),
            (Call("recall", {"text": "When is the standup?"}), "no-looking"),
        )
        for wants.call, name in calls:
            task = goal("When is the standup?", user_id=user)
            said = await told(one, task)
            assert f"{wants.call.tool} may not be called here, by policy {name} (" in said
            assert f"It is rule {name}." in said
            assert WRONG not in said
            line = ruled(one.settings, task)[-1]
            assert line.by == Actor(kind=ActorKind.AGENT, id=task.workflow_id)
            assert line.ruling is not None
            assert (line.ruling.outcome, line.ruling.tool) == (Outcome.BLOCK, wants.call.tool)
            assert isinstance(wants.call.arguments, dict)
            assert line.ruling.arguments == content_digest([wants.call.tool, wants.call.arguments])
        assert {text: entry.state for text, entry in (await memories(one, user)).items()} == {WRONG: State.CURRENT}

        wants.call = Call("remember", {"text": "The market is on Saturday."})
        task = goal("When is the market?", user_id=user)
        await told(one, task)
        # Plain passes are queued.
        await until_true(lambda: rulings(one.settings, task)[-1].outcome is Outcome.PASS)


@pytest.mark.slow
async def test_a_soft_policy_is_recorded_and_the_fact_is_kept(agents: Agents, policies: Policies) -> None:
    policies.write("told-so", when="tool == 'remember'", level="soft")
    task = goal(user_id=uuid4().hex)
    async with agents(Wants(), settings={"policies": (policies.folder,)}) as (one, _):
        result = await (await one.start(task)).result()
        assert result.warned == 1
        assert "policy told-so (" in result.warnings[0]
        await until(lambda: memories(one, task.user_id), lambda found: [*found] == [FACT])


@pytest.mark.slow
@pytest.mark.parametrize("answer", [Approval.YES, Approval.NO])
async def test_a_person_is_asked_before_the_model_remembers(
    agents: Agents, policies: Policies, answer: Approval
) -> None:
    policies.write("asks", when="tool == 'remember'", approve="May this be kept?")
    task = goal(user_id=uuid4().hex)
    async with agents(Wants(), settings={"policies": (policies.folder,)}) as (one, _):
        handle = await one.start(task)
        question = await question_of(handle)
        assert question.kind is QuestionKind.APPROVAL
        assert question.text.startswith("May this be kept?\n(policy asks (")
        assert question.about is not None
        assert question.about.tool == "remember"
        assert FACT in question.about.arguments
        assert not await memories(one, task.user_id)
        await handle.execute_update("answer", Answer(question_id=question.id, value=answer, by="ada"))
        result = await handle.result()
        await one.replay(handle)
        is_kept = answer is Approval.YES
        assert len(result.jobs) == int(is_kept)
        await until(lambda: memories(one, task.user_id), lambda found: [*found] == [FACT] * is_kept)
        assert ("a person did not approve it" in str(result.output)) is not is_kept
        answered = [line for line in ruled(one.settings, task) if line.ruling and line.ruling.answer]
        assert [(one.by and one.by.kind, one.ruling and one.ruling.answer) for one in answered] == [
            (ActorKind.PERSON, answer)
        ]


@pytest.mark.slow
async def test_what_a_person_permitted_is_corrected(agents: Agents, policies: Policies) -> None:
    policies.write("asks", when="tool == 'correct'", level="soft", approve="May this be put right?")
    wants, user = Wants(), uuid4().hex
    async with agents(wants, settings={"policies": (policies.folder,)}) as (one, _):
        wants.call = Call("correct", {"id": await believed(one, user), "text": RIGHT})
        handle = await one.start(goal("When is the standup?", user_id=user))
        question = await question_of(handle)
        assert [*await memories(one, user)] == [WRONG]
        await handle.execute_update("answer", Answer(question_id=question.id, value=Approval.YES, by="ada"))
        await handle.result()
        await one.replay(handle)
        assert (await memories(one, user))[RIGHT].state is State.CURRENT
