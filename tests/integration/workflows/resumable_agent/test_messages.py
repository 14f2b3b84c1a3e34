"""A task with a goal is told something, or redirected, in the middle: its model sees it before its next turn, once."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError

from perdure import Actor, ActorKind, PauseRequest, Progress, Redirection, TaskMessage
from perdure.agent.steering import Steering
from perdure.history import History
from perdure.model import Instant
from perdure.values.steering import InterventionKind
from perdure.values.tasks import Phase, TaskResult
from tests.conftest import Servers
from tests.support.goals import AGENT, Agents, agents_on, goal
from tests.support.harness import Bench
from tests.support.turn_server import Asked, Call, Fails, Says, TurnServer
from tests.support.waiting import progress_of, until, until_true
from worker.gateway import Gateway
from workflows.running_task import RunningTask

ADA = Actor(kind=ActorKind.PERSON, id="ada")


@pytest.fixture
def agents(servers: Servers, tmp_path: Path, httpserver: HTTPServer) -> Agents:
    return agents_on(servers, tmp_path, httpserver)


async def tell(handle: WorkflowHandle[Any, Any], text: str, id_: str = "", update_id: str | None = None) -> Progress:
    message = TaskMessage(text=text, id=id_, by=ADA)
    return await handle.execute_update("message", message, result_type=Progress, id=update_id)


async def redirect(handle: WorkflowHandle[Any, Any], **what: Any) -> Progress:
    return await handle.execute_update("redirect", Redirection(by=ADA, **what), result_type=Progress)


async def refused(handle: WorkflowHandle[Any, Any], update: str, request: Any) -> str:
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await handle.execute_update(update, request)
    return str(caught.value.cause)


class Gate:
    """Holds up the model's turns until it is opened."""

    def __init__(self, *held: int) -> None:
        self._held = held
        self._opened = threading.Event()
        self.reached = threading.Event()
        self.turns = 0

    def pass_(self) -> None:
        """Take a turn; one that is held waits."""
        self.turns += 1
        if self.turns in self._held:
            self.reached.set()
            assert self._opened.wait(60)

    def open(self) -> None:
        self._opened.set()


def heard(asked: Asked) -> list[str]:
    return [text.partition(":\n")[2] or text for text in asked.told]


@pytest.mark.slow
@pytest.mark.parametrize("hears", [True, False], ids=["heard", "control"])
async def test_a_message_during_the_turn_that_would_have_ended_the_task_is_seen_in_a_further_one(
    agents: Agents, monkeypatch: pytest.MonkeyPatch, hears: bool
) -> None:
    if not hears:

        def deaf(*_: Any) -> None:
            """Never have the plan take a message up: the control."""

        monkeypatch.setattr(RunningTask, "hear", deaf)
    gate = Gate(2)

    def script(asked: Asked) -> Says:
        gate.pass_()
        if not asked.turns:
            return Says(calls=(Call("echo", {"value": 1}),))
        return Says(" | ".join(heard(asked)) or "nothing")

    async with agents(script) as (one, server):
        handle = await one.start(goal())
        await asyncio.to_thread(gate.reached.wait, 60)
        assert (await tell(handle, "Look again.")).unread == 1
        gate.open()
        result = await handle.result()
        await one.replay(handle)
    if not hears:
        assert (result.output, len(server.asked)) == ("nothing", 2)
        return
    assert (result.output, len(server.asked)) == ("Look again.", 3)
    [intervention] = result.interventions
    assert (intervention.kind, intervention.by, intervention.because) == (InterventionKind.TOLD, ADA, "")


@pytest.mark.slow
async def test_an_answer_in_the_last_turn_that_the_agent_may_take_stands_though_a_message_came(agents: Agents) -> None:
    gate = Gate(2)

    def script(asked: Asked) -> Says:
        gate.pass_()
        return Says("It is 1") if asked.turns else Says(calls=(Call("echo", {"value": 1}),))

    async with agents(script, AGENT.replace("turns: 30", "turns: 2")) as (one, server):
        handle = await one.start(goal())
        await asyncio.to_thread(gate.reached.wait, 60)
        await tell(handle, "Thanks.")
        gate.open()
        result = await handle.result()
        await one.replay(handle)
    assert (result.output, len(server.asked)) == ("It is 1", 2)


@pytest.mark.slow
async def test_a_message_before_the_first_turn_and_one_while_it_is_paused_are_seen(agents: Agents) -> None:
    gate = Gate(1)

    def script(asked: Asked) -> Says:
        gate.pass_()
        return Says(" | ".join(heard(asked)) or "nothing")

    async with agents(script) as (one, server):
        handle = await one.start(goal())
        await tell(handle, "First.")
        await handle.execute_update("pause", PauseRequest(by=ADA))
        gate.open()
        await progress_of(handle, lambda one: one.phase is Phase.PAUSED)
        asked = len(server.asked)
        for text in ("Second.", "Third."):
            await tell(handle, text)
        metadata = str(await handle.query("__temporal_workflow_metadata"))
        assert "Messages that its model has not seen yet: " in metadata
        await handle.execute_update("resume", PauseRequest(by=ADA))
        result = await handle.result()
        await one.replay(handle)
    assert result.output == "First. | Second. | Third."
    assert len(server.asked) == asked + 1


def summed_up(server: TurnServer) -> list[Asked]:
    """Return the turns before which all that was said gave way to a summary."""
    return [asked for asked in server.asked if "\nWhat you did before" in asked.first and not asked.told]


@pytest.mark.slow
async def test_a_redirection_changes_the_goal_and_its_constraints_stay_in_view(agents: Agents) -> None:
    gate = Gate(2)

    def script(asked: Asked) -> Says:
        gate.pass_()
        number = len(asked.outputs)
        if number < 12:
            return Says(calls=(Call("echo", {"value": f"{'long ' * 700}#{gate.turns}"}),))
        return Says(asked.first)

    async with agents(script) as (one, server):
        handle = await one.start(goal("Find this"))
        await asyncio.to_thread(gate.reached.wait, 60)
        told = await redirect(handle, goal="Find that", constraints=("Touch no docs.",), because="new facts")
        assert told.interventions[-1].told.endswith("(another goal and 1 constraint): new facts")
        gate.open()
        await until_true(lambda: len(server.asked) >= 4)
        await redirect(handle, constraints=("Be quick.",))
        # Both gave way to the summary, as the turns around them did.
        await until_true(lambda: bool(summed_up(server)), 60)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        await one.replay(handle)
    before, after = server.asked[1], server.asked[2]
    assert "The goal:\nFind this\n" in before.first
    assert "The goal:\nFind that\n" in after.first
    assert "From now on this has to hold: Touch no docs." in after.told[-1]
    last = summed_up(server)[-1].first
    assert "Constraints, as you were told:\n- Touch no docs.\n- Be quick." in last


@pytest.mark.slow
@pytest.mark.parametrize("cache", [1000, pytest.param(0, marks=pytest.mark.slow)])
async def test_messages_travel_when_the_history_is_rolled_over_and_count_once(agents: Agents, cache: int) -> None:
    gate = Gate(1)

    def script(asked: Asked) -> Says:
        gate.pass_()
        return Says(" | ".join(heard(asked))) if asked.told else Says(calls=(Call("echo", {"value": 1}),))

    async with agents(script, continue_after=40, max_cached_workflows=cache) as (one, _):
        handle = await one.start(goal())
        latest = one.client.get_workflow_handle(handle.id, result_type=TaskResult)
        await asyncio.to_thread(gate.reached.wait, 60)
        await latest.execute_update("pause", PauseRequest(by=ADA))
        gate.open()
        await progress_of(latest, lambda one: one.phase is Phase.PAUSED)
        await tell(latest, "Only once.", "one")
        await tell(latest, "By its update.", update_id="an update")
        for _ in range(12):
            assert (await tell(latest, "Only once.", "one")).unread == 2

        async def rolled() -> bool:
            return (await latest.describe()).run_id != handle.first_execution_run_id

        await until(rolled, bool)
        # Temporal itself would take it a second time: it is another run.
        assert (await tell(latest, "By its update.", update_id="an update")).unread == 2
        await latest.execute_update("resume", PauseRequest(by=ADA))
        assert (await latest.result()).output == "Only once. | By its update."


@pytest.mark.slow
async def test_a_message_that_comes_while_the_history_is_rolled_over_is_taken_once(
    agents: Agents, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(1)

    def script(asked: Asked) -> Says:
        gate.pass_()
        return Says(" | ".join(heard(asked)) or "nothing")

    async with agents(script) as (one, _), Gateway(one.settings, servers) as gateway:
        handle = await one.start(goal())
        await asyncio.to_thread(gate.reached.wait, 60)
        await gateway.pause(handle.id, PauseRequest(), by=ADA)
        gate.open()
        await progress_of(handle, lambda one: one.phase is Phase.PAUSED)
        attempts = _roll_over_with_the_next_message(monkeypatch, one.client, handle.id)
        await gateway.message(handle.id, TaskMessage(text="Look there."), by=ADA)
        assert len(attempts) > 1, "Temporal dropped the first one with what the worker made of it"
        await gateway.resume(handle.id, PauseRequest(), by=ADA)
        result = await _result(one, handle)
    assert result.output == "Look there."


def _roll_over_with_the_next_message(monkeypatch: pytest.MonkeyPatch, client: Client, workflow_id: str) -> list[int]:
    """Have the run continue as new with its next message, and a signal come while its worker decides so."""
    loop, telling, attempts, due = asyncio.get_running_loop(), Steering.tell, list[int](), [0]

    def interrupted(steering: Steering, message: TaskMessage, at: Instant) -> None:
        telling(steering, message, at)
        attempts.append(1)
        if len(attempts) == 1:
            # It is asked when it is woken, and once more before it acts.
            due[0] = 2
            signal = client.get_workflow_handle(workflow_id).signal("nobody-listens")
            asyncio.run_coroutine_threadsafe(signal, loop).result(1.5)

    def is_due(_: History, __: int, ___: int) -> bool:
        due[0] -= 1
        return due[0] >= 0

    monkeypatch.setattr(Steering, "tell", interrupted)
    monkeypatch.setattr(History, "is_due_after", is_due)
    return attempts


@pytest.mark.slow
async def test_what_a_failed_run_did_not_read_is_read_by_the_next_run_of_the_task(agents: Agents) -> None:
    gate, fails = Gate(2), [True]

    def script(asked: Asked) -> Says | Fails:
        gate.pass_()
        if not asked.turns:
            return Says(calls=(Call("echo", {"value": 1}),))
        if fails[0]:
            return Fails(401)
        return Says(f"{asked.first.splitlines()[1]}: {' | '.join(heard(asked))}")

    task = goal("Find this")
    async with agents(script) as (one, _):
        handle = await one.start(task)
        await asyncio.to_thread(gate.reached.wait, 60)
        await tell(handle, "Look there.", "one")
        await redirect(handle, goal="Find that")
        gate.open()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        fails[0] = False
        again = await one.start(task)
        await tell(again, "Look there.", "one")
        result = await again.result()
        await one.replay(again)
    told = "Redirected by a person at "
    said = str(result.output)
    assert said.startswith(f"Find that: Look there. | {told}")
    assert said.count("Look there.") == 1, "also where it is sent again to the next run"


@pytest.mark.slow
async def test_a_task_that_runs_a_skill_or_has_ended_takes_no_message(agents: Agents) -> None:
    async with agents(lambda _: Says("done")) as (one, _):
        skill = await one.start(one.task(one.skill("steps: [{id: a, wait: 1d}]")))
        for update, request in (("message", TaskMessage(text="x")), ("redirect", Redirection(goal="x"))):
            told = await refused(skill, update, request)
            assert "PRD101 task: runs a skill, whose steps are fixed: it takes no messages (answer its" in told
        await skill.cancel()
        handle = await one.start(goal())
        await handle.result()
        with pytest.raises(Exception, match="completed"):
            await tell(handle, "late")


@pytest.mark.slow
async def test_what_is_malformed_or_too_much_is_refused_with_its_field(agents: Agents) -> None:
    gate = Gate(1)

    def script(asked: Asked) -> Says:
        gate.pass_()
        return Says(str(len(asked.told)))

    async with agents(script) as (one, _):
        handle = await one.start(goal())
        await asyncio.to_thread(gate.reached.wait, 60)
        for update, request, problem in (
            ("message", {"text": "x" * 4_001}, "text"),
            ("message", {"text": " "}, "text: is empty (write some text)"),
            ("message", {"text": "x", "bye": "me"}, "bye: is not a field here (did you mean 'by'?)"),
            ("redirect", {}, "goal: is missing, and there are no constraints"),
            ("redirect", {"goal": "x" * 1_000_000}, "goal"),
            ("redirect", {"constraints": ["x"] * 21}, "constraints"),
        ):
            assert problem in await refused(handle, update, request)
        await redirect(handle, constraints=("x",) * 20)
        assert "would be more than 20" in await refused(handle, "redirect", Redirection(constraints=("y",)))
        gate.open()
        assert (await handle.result()).output == "1"
        assert (await _result(one, handle)).interventions[0].what == "20 constraints"


async def _result(agents: Bench, handle: WorkflowHandle[Any, Any]) -> TaskResult:
    return await agents.client.get_workflow_handle(handle.id, result_type=TaskResult).result()


@pytest.mark.slow
async def test_who_told_it_what_and_when_is_in_the_session(agents: Agents) -> None:
    gate = Gate(1)

    def script(asked: Asked) -> Says:
        gate.pass_()
        return Says("done")

    task = goal(memory="on")
    async with agents(script) as (one, _):
        handle = await one.start(task)
        await asyncio.to_thread(gate.reached.wait, 60)
        await tell(handle, "The tests are in a folder of their own.")
        gate.open()
        await handle.result()
        tenant = one.services.tenant_key.tenant_of(task.user_id)
        texts = [episode.text for episode in await one.services.episodes.told(tenant, task.session, recent=20)]
    [told] = [text for text in texts if "a folder of their own" in text]
    assert "(sent by person ada at 20" in told
