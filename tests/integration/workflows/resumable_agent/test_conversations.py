"""A conversation with an agent: one durable task, in which each message is answered once and in its order."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pytest_httpserver import HTTPServer
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowHandle, WorkflowUpdateFailedError

from localservers import Server
from perdure import Actor, ActorKind, AgentTask, Limits, PauseRequest
from perdure.agent.chat import MOST_WAITING, Chat
from perdure.agent.chat_plan import ChatPlan
from perdure.agent.plan import Unanswered
from perdure.names import HANDLED
from perdure.values.chats import ChatBox, ChatEnding, ChatLog, ChatMessage, ChatReply
from perdure.values.tasks import Phase
from tests.conftest import OwnServers, Servers
from tests.support.announcements import announced
from tests.support.goals import Agents, agents_on
from tests.support.turn_server import Asked, Call, Fails, Says
from tests.support.waiting import progress_of, until
from worker.gateway.updates import sent_update

ADA = Actor(kind=ActorKind.PERSON, id="ada")


@pytest.fixture
def agents(servers: Servers, tmp_path: Path, httpserver: HTTPServer) -> Agents:
    return agents_on(servers, tmp_path, httpserver)


def chat(**more: Any) -> AgentTask:
    named = {"task_id": f"c{uuid4().hex[:10]}", "user_id": f"user {uuid4().hex}", "agent": "worker"}
    return AgentTask.model_validate(named | {"chat": True} | more)


async def say(handle: WorkflowHandle[Any, Any], text: str, id_: str = "", **more: Any) -> ChatReply:
    message = ChatMessage.model_validate({"text": text, "id": id_, "by": ADA, **more})
    return await handle.execute_update("say", message, result_type=ChatReply)


async def refused(sending: Any) -> str:
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await sending
    return str(caught.value.cause)


async def log_of(handle: WorkflowHandle[Any, Any]) -> ChatLog:
    return await handle.query("chat", result_type=ChatLog)


def echoed(asked: Asked) -> Says:
    """Answer with the number of messages that it sees, and the last one."""
    said = (asked.first, *asked.told)
    return Says(f"{len(said) - 1}: {said[-1]}")


@pytest.mark.slow
async def test_each_message_is_answered_with_all_that_was_said_before_in_view(agents: Agents) -> None:
    async with agents(echoed) as (one, server):
        handle = await one.start(chat())
        first, second = await say(handle, "Hello"), await say(handle, "And?")
        assert (first.text, second.text) == ("1: Hello", "2: And?")
        log = await log_of(handle)
        assert [(each.message.text, each.text) for each in log.exchanges] == [
            ("Hello", first.text),
            ("And?", "2: And?"),
        ]
        assert (log.open, log.agent, bool(log.tenant), log.until is not None) == ((), "worker", True, True)
        assert "conversation" in server.asked[0].instructions
        assert "goal" not in server.asked[0].first
        await handle.execute_update("end", ChatEnding(by=ADA))
        assert (await handle.result()).status is Phase.COMPLETED
        await one.replay(handle)


@pytest.mark.slow
async def test_what_is_being_answered_stays_in_view_however_much_was_done_for_it(agents: Agents) -> None:
    def script(asked: Asked) -> Says:
        if len(server.asked) <= 7:
            return Says(calls=(Call("echo", {"value": f"{len(server.asked)} ".ljust(6_000, "x")}),))
        return Says("They agree.")

    async with agents(script) as (one, server):
        handle = await one.start(chat())
        assert (await say(handle, "Compare the reports.")).text == "They agree."
        summed_up = [asked for asked in server.asked if "\nWhat you did before" in asked.first]
        assert len(summed_up) > 1
        assert all("answering with the turns below:\nCompare the reports." in asked.first for asked in summed_up)
        assert (await say(handle, "Thanks.")).text == "They agree."
        assert server.asked[-1].told[-1] == "Thanks."
        assert "Compare the reports." not in server.asked[-1].first.partition("answering with")[2]
        await handle.cancel()
        await one.replay(handle)


@pytest.mark.slow
async def test_what_the_agent_asked_for_in_a_conversation_is_not_in_its_session(agents: Agents) -> None:
    asked = f"{'It is locked. ' * 34}Whose is it, then? What is your PIN?"
    assert len(asked) > 500
    replies = {"Unlock it": asked, "One moment.": "Take your time.", "295817": "And when do you rehearse?"}
    async with agents(lambda asked: Says(replies.get((asked.first, *asked.told)[-1], "Done."))) as (one, _):
        task = chat()
        handle = await one.start(task)
        for text in ("Unlock it", "One moment.", "295817", "At 7, in the mill"):
            await say(handle, text)
        await handle.execute_update("end", ChatEnding(by=ADA))
        await handle.result()
        tenant = one.services.tenant_key.tenant_of(task.user_id)
        episodes = await one.services.episodes.told(tenant, task.session, recent=20)
    said = {episode.text: episode.before for episode in episodes if "/said/" in episode.id}
    assert set(said) == {"Unlock it", "One moment.", "[PIN]", "At 7, in the mill"}
    assert said["Unlock it"] == ""
    assert said["One moment."].endswith("What is your PIN?")
    assert said["[PIN]"].endswith("What is your PIN?\n…\nOne moment.\n…\nTake your time.")
    assert said["At 7, in the mill"] == "agent: And when do you rehearse?"


@pytest.mark.slow
async def test_a_message_said_twice_is_answered_once_with_the_same_reply(agents: Agents) -> None:
    async with agents(echoed) as (one, server):
        handle = await one.start(chat())
        replies = await asyncio.gather(*(say(handle, "Hello", "a") for _ in range(3)))
        assert {reply.text for reply in replies} == {"1: Hello"}
        assert (await say(handle, "Hello", "a")).text == "1: Hello"
        assert (len(server.asked), len((await log_of(handle)).exchanges)) == (1, 1)
        await handle.cancel()


FOREIGN = Payload(metadata={"encoding": b"binary/foreign"}, data=b"\xff")
"""What a worker without its writer's converter cannot read."""
UNREGISTERED = Payload(metadata={"encoding": b"json/protobuf", "messageType": b"others.Note"}, data=b"{}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("memo", "asked"),
    [(["a"], 0), ([], 1), (7, 1), (FOREIGN, 1), (UNREGISTERED, 1)],
    ids=["handed on", "control", "nonsense", "unknown encoding", "unknown type"],
)
async def test_what_the_conversation_before_answered_is_not_answered_again(
    agents: Agents, memo: object, asked: int
) -> None:
    async with agents(echoed) as (one, server):
        task = chat()
        handle = await one.client.start_workflow(
            "ResumableAgent", task, id=task.workflow_id, task_queue=one.queue, memo={HANDLED: memo, "theirs": FOREIGN}
        )
        reply = await say(handle, "Hello", "a")
        assert len(server.asked) == asked
        assert (reply.problem == "it was answered, and the reply is no longer kept") is not bool(asked)
        await say(handle, "And?", "b")
        await handle.execute_update("end", ChatEnding(by=ADA))
        await handle.result()
        assert await (await handle.describe()).memo_value(HANDLED) == ["a", "b"]
        await one.replay(handle)


class Held:
    """Holds up turns until they are let go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.released = threading.Event()

    def __call__(self, *_: Any) -> None:
        self.reached.set()
        assert self.released.wait(60)


@pytest.mark.slow
async def test_what_is_said_during_a_turn_waits_and_is_answered_in_its_order(agents: Agents) -> None:
    held = Held()

    def script(asked: Asked) -> Says:
        held()
        return echoed(asked)

    async with agents(script) as (one, server):
        handle = await one.start(chat())
        replies = [asyncio.create_task(say(handle, "One"))]
        await asyncio.to_thread(held.reached.wait, 60)
        for number, text in enumerate(("Two", "Three"), 2):
            replies.append(asyncio.create_task(say(handle, text)))
            await until(lambda: log_of(handle), lambda log, wanted=number: len(log.open) == wanted)
        assert (await log_of(handle)).until is None
        held.released.set()
        assert [(await reply).text for reply in replies] == ["1: One", "2: Two", "3: Three"]
        assert len(server.asked) == 3
        await handle.cancel()


@pytest.mark.slow
async def test_a_reply_that_was_under_way_when_somebody_paused_comes_and_no_further_one(agents: Agents) -> None:
    held = Held()

    def script(asked: Asked) -> Says:
        held()
        return echoed(asked)

    async with agents(script) as (one, server):
        handle = await one.start(chat())
        first = asyncio.create_task(say(handle, "One"))
        await asyncio.to_thread(held.reached.wait, 60)
        await handle.execute_update("pause", PauseRequest(by=ADA))
        second = asyncio.create_task(say(handle, "Two"))
        await until(lambda: log_of(handle), lambda log: len(log.open) == 2)
        held.released.set()
        async with asyncio.timeout(30):
            assert (await first).text == "1: One"
        paused = await progress_of(handle, lambda progress: progress.phase is Phase.PAUSED)
        assert (paused.paused is not None, len(server.asked), second.done()) == (True, 1, False)
        await handle.execute_update("resume", PauseRequest(by=ADA))
        assert (await second).text == "2: Two"
        await one.replay(handle)
        await handle.cancel()


@pytest.mark.slow
async def test_tools_are_called_within_a_turn_and_a_person_is_asked_as_always(agents: Agents) -> None:
    agent = "name: worker\nmodel: openai:test\ntools: [append]\napprove: [append]\n"

    def script(asked: Asked) -> Says:
        return (
            Says(calls=(Call("append", {"ledger": str(ledger), "line": "x"}),)) if not asked.outputs else Says("Done")
        )

    async with agents(script, agent) as (one, _):
        ledger = one.ledger()
        handle = await one.start(chat())
        reply = asyncio.create_task(say(handle, "Write it down"))
        asked = await progress_of(handle, lambda progress: bool(progress.questions))
        await handle.execute_update("answer", {"question_id": asked.questions[0].id, "value": "yes", "by": "ada"})
        assert (await reply).text == "Done"
        assert ledger.read_text() == "x\n"
        await handle.cancel()


SOON = timedelta(seconds=2) / timedelta(hours=1)


@pytest.mark.slow
@pytest.mark.parametrize("goes_on", [True, False], ids=["goes on", "control"])
async def test_where_nobody_answers_only_the_call_that_asks_fails(
    agents: Agents, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    if not goes_on:
        monkeypatch.setattr(ChatPlan, "unanswered", Unanswered.TASK_FAILS)
    agent = "name: worker\nmodel: openai:test\ntools: [append]\napprove: [append]\n"

    def script(asked: Asked) -> Says:
        if "Hello" in asked.told[-1]:
            return Says("Hello to you")
        writes = Call("append", {"ledger": str(ledger), "line": "x"})
        return Says(asked.outputs[-1]) if asked.outputs else Says(calls=(writes,))

    async with agents(script, agent) as (one, _):
        ledger = one.ledger()
        task = chat(limits=Limits(answer_hours=SOON))
        handle = await one.start(task)
        saying = asyncio.create_task(say(handle, "Write it down"))
        if not goes_on:
            assert "nobody answered within" in await refused(saying)
            assert [one.question.otherwise for one in await announced(handle)] == ["the task fails"]
            return
        reply = await saying
        question = (await announced(handle))[0].question
        assert question.otherwise == "this call fails"
        assert f"nobody answered within {SOON:g} h" in reply.text
        late = handle.execute_update("answer", {"question_id": question.id, "value": "yes", "by": "ada"})
        assert f"the time to answer '{question.id}' is over" in await refused(late)
        assert [(call.question.id, call.lapsed) for call in await announced(handle)] == [
            (question.id, False),
            (question.id, True),
        ]
        tenant = one.services.tenant_key.tenant_of(task.user_id)
        episodes = await one.services.episodes.told(tenant, task.session, recent=20)
        assert sum("nobody answered in time" in episode.text for episode in episodes) == 1
        assert (await say(handle, "Hello")).text == "Hello to you"
        assert not ledger.exists()
        await handle.execute_update("end", ChatEnding(by=ADA))
        result = await handle.result()
        assert (result.status, result.failed, result.unknown) == (Phase.COMPLETED, 1, ())
        await one.replay(handle)


@pytest.mark.slow
async def test_an_effect_of_which_nobody_says_whether_it_happened_is_not_repeated(agents: Agents) -> None:
    agent = "name: worker\nmodel: openai:test\ntools: [breaks]\n"

    def script(asked: Asked) -> Says:
        writes = Call("breaks", {"ledger": str(ledger), "line": "x"})
        return Says(" | ".join(asked.outputs)) if len(asked.outputs) > 1 else Says(calls=(writes,))

    async with agents(script, agent) as (one, _):
        ledger = one.ledger()
        handle = await one.start(chat(limits=Limits(answer_hours=SOON)))
        reply = await say(handle, "Write it down")
        assert "its effect may have happened: find out, and do not repeat it | " in reply.text
        assert "this same call failed before, and its effect may have happened" in reply.text
        assert ledger.read_text() == "x\n"
        await handle.execute_update("end", ChatEnding(by=ADA))
        assert (await handle.result()).unknown == ("turn[1].call[0]",)


@pytest.mark.slow
async def test_a_turn_that_fails_is_said_to_and_the_conversation_goes_on(agents: Agents) -> None:
    turns: Sequence[Says | Fails] = (Fails(400), Says(declines=True), Says("Here again"))
    answers = iter(turns)
    async with agents(lambda _: next(answers)) as (one, _):
        handle = await one.start(chat())
        replies = [await say(handle, text) for text in ("One", "Two", "Three")]
        assert "HTTP 400" in replies[0].problem
        assert "declines" in replies[1].problem
        assert (replies[2].text, replies[2].problem) == ("Here again", "")
        assert (await progress_of(handle, lambda progress: progress.phase is Phase.LISTENING)).chat
        await handle.cancel()


@pytest.mark.slow
async def test_the_turns_that_an_agent_may_take_count_for_each_message(agents: Agents) -> None:
    agent = "name: worker\nmodel: openai:test\ntools: [echo]\nturns: 2\n"

    def script(asked: Asked) -> Says:
        number = len(asked.outputs)
        wants = "twice" in asked.told[-1] or number % 2 == 0
        return Says(calls=(Call("echo", {"value": asked.turns}),)) if wants else Says("Done")

    async with agents(script, agent) as (one, _):
        handle = await one.start(chat())
        assert (await say(handle, "once")).text == "Done"
        assert "took the 2 turns" in (await say(handle, "twice")).problem
        await handle.cancel()


@pytest.mark.slow
async def test_steps_count_for_each_message_and_end_the_answer_that_takes_more(agents: Agents) -> None:
    agent = "name: worker\nmodel: openai:test\ntools: [echo]\n"

    def script(asked: Asked) -> Says:
        text = asked.told[-1]
        if any(text in output for output in asked.outputs):
            return Says("Done")
        wanted = 3 if text == "thrice" else 1
        return Says(calls=tuple(Call("echo", {"value": f"{text} {place}"}) for place in range(wanted)))

    async with agents(script, agent) as (one, _):
        handle = await one.start(chat(limits=Limits(steps=2)))
        assert [(await say(handle, f"once {number}")).text for number in range(3)] == ["Done"] * 3
        assert "call[2]: this answer may run 2 steps (limits.steps)" in (await say(handle, "thrice")).problem
        assert (await say(handle, "once more")).text == "Done"
        await handle.execute_update("end", ChatEnding(by=ADA))
        result = await handle.result()
        assert (result.status, result.done) == (Phase.COMPLETED, 6)
        await one.replay(handle)


@pytest.mark.slow
async def test_tokens_count_for_each_message_and_end_the_answer_that_takes_more(agents: Agents) -> None:
    agent, most = "name: worker\nmodel: openai:test\ntools: [echo]\n", 2_000

    def script(asked: Asked) -> Says:
        return Says(calls=(Call("echo", {"value": asked.turns}),)) if asked.told[-1] == "forever" else Says("Done")

    async with agents(script, agent) as (one, server):
        handle = await one.start(chat(memory="off", limits=Limits(tokens=most)))
        assert [(await say(handle, f"{number}")).text for number in range(8)] == ["Done"] * 8
        assert server.tokens > most, "together they have used more than one may"
        assert f"and may use {most:,} (limits.tokens)" in (await say(handle, "forever")).problem
        assert (await say(handle, "once more")).text == "Done"
        await handle.execute_update("end", ChatEnding(by=ADA))
        result = await handle.result()
        assert (result.status, result.tokens) == (Phase.COMPLETED, server.tokens)
        await one.replay(handle)


@pytest.mark.slow
async def test_a_long_reply_is_kept_by_reference(agents: Agents) -> None:
    async with agents(lambda _: Says("long " * 2_000)) as (one, _):
        handle = await one.start(chat())
        reply = await say(handle, "Tell me all")
        assert (reply.text, len(reply.ref), bool(reply.tenant)) == ("", 64, True)
        assert await one.services.outputs.get(reply.tenant, reply.ref) == "long " * 2_000
        await handle.cancel()


@pytest.mark.slow
@pytest.mark.parametrize("ends", [True, False], ids=["idle", "control"])
async def test_it_ends_once_nobody_has_said_anything_for_as_long_as_its_limits_say(agents: Agents, ends: bool) -> None:
    hours = timedelta(seconds=3 if ends else 3_600).total_seconds() / 3_600
    async with agents(echoed) as (one, _):
        handle = await one.start(chat(limits=Limits(idle_hours=hours)))
        await say(handle, "Hello")
        log = await log_of(handle)
        if not ends:
            assert log.until
            assert log.until - log.exchanges[-1].at == timedelta(hours=1)
            await handle.cancel()
            return
        result = await handle.result()
        closed = (await handle.describe()).close_time
        assert closed
        assert closed - log.exchanges[-1].at >= timedelta(seconds=3)
        assert result.status is Phase.COMPLETED
        await one.replay(handle)


@pytest.mark.slow
async def test_each_turn_begins_the_time_anew(agents: Agents) -> None:
    async with agents(echoed) as (one, _):
        handle = await one.start(chat(limits=Limits(idle_hours=4 / 3_600)))
        began = (await handle.describe()).start_time
        last = began
        while last - began < timedelta(seconds=6):
            await say(handle, "Still here")
            last = (await log_of(handle)).exchanges[-1].at
        assert (await handle.result()).status is Phase.COMPLETED


@pytest.mark.slow
@pytest.mark.parametrize("carries", [True, False], ids=["carried", "control"])
async def test_what_is_said_while_the_history_is_rolled_over_is_neither_lost_nor_answered_twice(
    agents: Agents, monkeypatch: pytest.MonkeyPatch, carries: bool
) -> None:
    if not carries:
        monkeypatch.setattr(Chat, "box", ChatBox())
    rolled = 0

    def script(asked: Asked) -> Says:
        return echoed(asked) if len(asked.outputs) % 2 else Says(calls=(Call("echo", {"value": asked.turns}),))

    async with agents(script, continue_after=40) as (one, _):
        started = await one.start(chat())
        handle = one.client.get_workflow_handle(started.id)

        async def insist(text: str) -> ChatReply:
            nonlocal rolled
            message = ChatMessage(text=text, id=f"id of {text}", by=ADA)
            while (reply := await sent_update(handle, "say", message, ChatReply)).pending:
                rolled += 1
            return reply

        texts = [f"Message {number:02}" for number in range(12)]
        for place in range(0, 12, 3):
            replies = await asyncio.gather(*(insist(text) for text in texts[place : place + 3]))
            assert [reply.text.partition(": ")[2] for reply in replies] == texts[place : place + 3]
        log = await log_of(handle)
        every = sorted(each.message.text for each in log.exchanges)
        assert ((await handle.describe()).run_id != started.first_execution_run_id, every == texts) == (True, carries)
        if carries:
            assert rolled
            again = await insist(texts[0])
            assert again.text == next(each.text for each in log.exchanges if each.message.text == texts[0])
        await handle.cancel()


@pytest.mark.slow
async def test_what_does_not_belong_here_is_refused_with_what_to_do(agents: Agents) -> None:
    held = Held()

    def script(asked: Asked) -> Says:
        held()
        return echoed(asked)

    async with agents(script) as (one, _):
        handle = await one.start(chat())
        assert "is with 'worker', and not with 'another'" in await refused(say(handle, "x", agent="another"))
        assert "has ended, and another one is open" in await refused(say(handle, "x", chat="another"))
        assert "4,000" in await refused(handle.execute_update("say", {"text": "x" * 4_001}))
        waiting = [asyncio.create_task(say(handle, "One"))]
        await asyncio.to_thread(held.reached.wait, 60)
        waiting += [asyncio.create_task(say(handle, f"{number}")) for number in range(MOST_WAITING)]
        await until(lambda: log_of(handle), lambda log: len(log.open) == MOST_WAITING + 1)
        assert "send it again once one is" in await refused(say(handle, "One too many"))
        await handle.execute_update("end", ChatEnding(by=ADA))
        assert "is ending (perdure chat starts a new one)" in await refused(say(handle, "Late"))
        held.released.set()
        assert all(reply.text for reply in await asyncio.gather(*waiting))
        assert (await handle.result()).status is Phase.COMPLETED


async def test_a_task_with_a_goal_or_a_skill_is_no_conversation(agents: Agents) -> None:
    async with agents(echoed) as (one, _):
        handle = await one.start(one.task(one.skill("steps: [{id: w, wait: 1h}]")))
        assert "is no conversation" in await refused(say(handle, "x"))
        assert "is no conversation" in await refused(handle.execute_update("end", ChatEnding(by=ADA)))
        await handle.cancel()
        talking = await one.start(chat())
        assert "use perdure chat" in await refused(talking.execute_update("message", {"text": "x"}))
        await talking.cancel()


async def test_whoever_waits_is_told_where_the_conversation_cannot_even_begin(agents: Agents) -> None:
    async with agents(echoed) as (one, _):
        handle = await one.start(chat(agent="nobody"))
        assert "has ended before it answered" in await refused(say(handle, "Hello"))


@pytest.mark.slow
async def test_a_conversation_goes_on_without_redis_and_nobody_can_read_along(
    own_servers: OwnServers, tmp_path: Path, httpserver: HTTPServer
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with agents_on(fleet.addresses, tmp_path, httpserver)(echoed) as (one, _):
        handle = await one.start(chat(memory="off"))
        assert (await say(handle, "Hello")).text == "1: Hello"
        await fleet.stop(Server.REDIS)
        assert (await say(handle, "Still there?")).text == "2: Still there?"
        await handle.cancel()
