"""A conversation as a person has it: line by line, from several terminals, and from scripts."""

import asyncio
import json
import signal
import threading
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pytest_httpserver import HTTPServer
from temporalio.api.common.v1 import Payload

from perdure.errors import InvalidInput
from perdure.names import HANDLED
from perdure.settings import Addresses, Settings
from perdure.values.changes import Actor, ActorKind
from perdure.values.chats import ChatMessage, ChatReply, chat_workflow_id
from perdure.values.questions import Answer, Question
from perdure.values.tasks import AgentTask, Progress
from tests.conftest import Servers
from tests.integration.worker.cli.installation import Installation, installation
from tests.support.turn_server import Asked, Call, Says, TurnServer
from tests.support.waiting import until_true
from worker.gateway import Gateway, last_chats
from worker.gateway.last_chats import Latest
from worker.terminal.conversation import TerminalChat

AGENTS = {
    "agent": "name: agent\nmodel: openai:test\ntools: [append]\napprove: [append]\n",
    "runs": "name: runs\nmodel: openai:test\nskills: [books]\n",
    "other": "name: other\nmodel: openai:test\n",
}


BOOKS = """
name: books
description: Books a room.
inputs: {ledger: string}
steps:
  - {id: book, tool: append, args: {ledger: "${inputs.ledger}", line: room}, approve: "Book the room?"}
"""


class Model:
    """What the model says: how many messages it sees, and the last one, unless a test says otherwise."""

    def __init__(self) -> None:
        self.script: Callable[[Asked], Says] = self.echoes

    def echoes(self, asked: Asked) -> Says:
        return Says(f"{len(asked.told)}: {asked.told[-1]}")

    def __call__(self, asked: Asked) -> Says:
        return self.script(asked)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def talking(
    servers: Servers, tmp_path_factory: pytest.TempPathFactory, model: Model
) -> AsyncGenerator[Installation]:
    folder = tmp_path_factory.mktemp("chat")
    (folder / "agents").mkdir()
    for name, text in AGENTS.items():
        (folder / "agents" / f"{name}.yaml").write_text(text)
    (folder / "skills").mkdir(exist_ok=True)
    (folder / "skills" / "books.yaml").write_text(BOOKS)
    with HTTPServer() as server:
        settings: dict[str, Any] = {
            "skills": (folder / "skills",),
            "agents": (folder / "agents",),
            "tools": ("tests.support.tools",),
            "openai_api_key": "k",
            "openai_base_url": TurnServer(server, model).url,
        }
        async with installation(servers, folder, **settings) as given:
            await given.ready_worker()
            yield given


@pytest.fixture(autouse=True)
def echoing(model: Model) -> None:
    model.script = model.echoes


@pytest.mark.slow
async def test_a_conversation_is_left_and_gone_on_with_in_another_terminal(talking: Installation) -> None:
    first = await talking.talking("chat", "--user", "ada")
    await first.says("a new conversation: /end ends it")
    first.type("Hello")
    await first.prints("1: Hello\n")
    first.process.send_signal(signal.SIGINT)
    left = await first.ended()
    assert (left.status, "the conversation stays open: perdure chat --user ada\n" in left.err) == (130, True)

    second = await talking.talking("chat", "--user", "ada", "--agent", "agent")
    await second.says("chat, with agent: /end ends it")
    await second.prints("> Hello\n1: Hello\n")
    second.type("Still there?")
    await second.prints("2: Still there?\n")
    second.type("/end")
    ended = await second.ended()
    assert (ended.status, "chat has ended\n" in ended.err) == (0, True)

    third = await talking.talking("chat", "--user", "ada")
    third.type("Hello again")
    await third.prints("1: Hello again\n")
    assert third.process.stdin
    third.process.stdin.close()
    closed = await third.ended()
    assert (closed.status, "stays open" in closed.err) == (0, True)
    assert (await talking.perdure("chat", "--user", "ada", "--end")).status == 0


async def test_a_reply_is_seen_while_it_comes(talking: Installation, model: Model) -> None:
    released = threading.Event()

    def hold(number: int) -> None:
        assert number == 0 or released.wait(60)

    model.script = lambda _: Says("Once upon a time", before=hold)
    terminal = await talking.talking("chat", "--user", "bea")
    terminal.type("Tell me a story")
    await terminal.prints("Once ")
    assert not released.is_set()
    released.set()
    await terminal.prints("upon a time\n")
    terminal.type("/end")
    assert (await terminal.ended()).status == 0


async def test_who_leaves_in_the_middle_of_a_reply_finds_it_on_coming_back(talking: Installation, model: Model) -> None:
    released = threading.Event()

    def hold(number: int) -> None:
        assert number == 0 or released.wait(60)

    model.script = lambda _: Says("Once upon a time", before=hold)
    terminal = await talking.talking("chat", "--user", "cid")
    terminal.type("Tell me a story")
    await terminal.prints("Once ")
    terminal.process.send_signal(signal.SIGINT)
    assert (await terminal.ended()).status == 130
    back = await talking.talking("chat", "--user", "cid")
    await back.prints("> Tell me a story\nOnce ")
    released.set()
    await back.prints("upon a time\n")
    back.type("/end")
    assert (await back.ended()).status == 0


async def test_a_question_that_comes_up_is_asked_and_answered_in_the_conversation(
    talking: Installation, model: Model, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    writes = Call("append", {"ledger": str(ledger), "line": "x"})
    model.script = lambda asked: Says("Done") if asked.outputs else Says(calls=(writes,))
    terminal = await talking.talking("chat", "--user", "dot")
    terminal.type("Write it down")
    await terminal.says("May append be called")
    terminal.type("perhaps")
    await terminal.says("PRD106")
    terminal.type("yes")
    await terminal.prints("Done\n")
    assert ledger.read_text() == "x\n"
    terminal.type("/end")
    assert (await terminal.ended()).status == 0


async def test_what_a_skill_asks_that_the_agent_runs_is_asked_in_the_conversation(
    talking: Installation, model: Model, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    wanted = Call("books", {"ledger": str(ledger)})
    model.script = lambda asked: Says("Booked") if asked.outputs else Says(calls=(wanted,))
    terminal = await talking.talking("chat", "--user", "eve", "--agent", "runs")
    terminal.type("Book it")
    await terminal.says("asks .perdure status task-")
    await terminal.says("Book the room?")
    terminal.type("yes")
    await terminal.prints("Booked\n")
    assert ledger.read_text() == "room\n"
    terminal.type("/end")
    assert (await terminal.ended()).status == 0


async def test_a_script_says_one_thing_at_a_time_and_gets_the_reply_alone(talking: Installation) -> None:
    first = await talking.perdure("chat", "Hello", "--user", "eve", "--session", "script", "--json")
    reply = json.loads(first.out)
    assert (first.status, reply["text"], reply["chat"].startswith("script-")) == (0, "1: Hello", True)
    second = await talking.perdure("chat", "Again", "--user", "eve", "--session", "script")
    assert (second.status, second.out) == (0, "2: Again\n")
    other = await talking.perdure("chat", "Hello", "--user", "eve", "--session", "script", "--agent", "other")
    assert (other.status, "is with 'agent', and not with 'other'" in other.complaint) == (2, True)
    ended = await talking.perdure("chat", "--user", "eve", "--session", "script", "--end", "--json")
    assert json.loads(ended.out) == {"session": "script", "ended": True}
    anew = await talking.perdure("chat", "Hello", "--user", "eve", "--session", "script", "--agent", "other")
    assert (anew.status, anew.out) == (0, "1: Hello\n"), anew.err
    assert (await talking.perdure("chat", "--user", "eve", "--session", "script", "--end")).status == 0


@pytest.mark.slow
async def test_what_cannot_be_said_is_refused_with_what_to_do(talking: Installation) -> None:
    huge = await talking.perdure("chat", "x" * 4_001, "--user", "fay")
    assert (huge.status, "has 4,001 characters (write at most 4,000)" in huge.complaint) == (2, True)
    assert (await talking.perdure("chat", " ", "--user", "fay")).status == 2
    for session in ("fay has a cold", "s" * 61):
        # It would stand in the id of a workflow.
        refused = await talking.perdure("chat", "Hello", "--user", "fay", "--session", session)
        assert refused.status == 2
        assert "session" in refused.complaint
    assert "needs a message" in (await talking.perdure("chat", "--user", "fay", "--json")).complaint
    assert (await talking.perdure("chat", "Hello", "--user", "fay")).status == 0
    stranger = await talking.perdure("chat", "--user", "gus", "--end")
    assert "'chat' has no open conversation of this user" in stranger.complaint
    nobody = await talking.perdure("chat", "Hello", "--user", "gus", "--agent", "nobody")
    assert (nobody.status, "there is no agent 'nobody'" in nobody.complaint) == (2, True)
    assert "no open conversation" in (await talking.perdure("chat", "--user", "gus", "--end")).complaint
    assert (await talking.perdure("chat", "--user", "fay", "--end")).status == 0


async def test_who_types_on_after_it_has_ended_elsewhere_is_told_so(talking: Installation) -> None:
    terminal = await talking.talking("chat", "--user", "hal")
    terminal.type("Hello")
    await terminal.prints("1: Hello\n")
    assert (await talking.perdure("chat", "--user", "hal", "--end")).status == 0
    terminal.type("Are you there?")
    gone = await terminal.ended()
    assert (gone.status, "no open conversation of this user (perdure chat" in gone.complaint) == (2, True)


class Hesitant(Gateway):
    """A gateway that for a moment cannot say where a conversation's tasks are, or that it has any."""

    hides = ""
    hidden = 0
    """How often it could not say it."""

    async def progress(self, workflow_id: str, *, seconds: float = 2, by: Actor) -> Progress | None:
        if self.hides == "where they are" and workflow_id.startswith("task-"):
            self.hidden += 1
            return None
        found = await super().progress(workflow_id, seconds=seconds, by=by)
        if found is None or self.hides != "that there are any":
            return found
        self.hidden += 1
        return found.changed(tasks=())


@pytest.mark.slow
@pytest.mark.parametrize(("hides", "times"), [("where they are", 1), ("that there are any", 2)])
async def test_what_a_task_asks_is_still_asked_after_nobody_could_say_it_for_a_moment(
    talking: Installation,
    model: Model,
    servers: Servers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    hides: str,
    times: int,
) -> None:
    wanted = Call("books", {"ledger": str(tmp_path / "ledger")})
    model.script = lambda asked: Says("Booked") if asked.outputs else Says(calls=(wanted,))
    for name, value in talking.environment.items():
        monkeypatch.setenv(name, value)
    by, asked, open_ = Actor(kind=ActorKind.PERSON, id="ida"), list[tuple[str, Question]](), list[str]()

    async def thinks(workflow_id: str, question: Question) -> None:
        asked.append((workflow_id, question))
        open_.append(workflow_id)
        try:
            await asyncio.Event().wait()
        finally:
            open_.remove(workflow_id)

    session = f"hides-{times}"
    async with Hesitant(Settings(), Addresses.model_validate(servers.model_dump())) as gateway:
        chat = TerminalChat(gateway, "ida", session, by=by, asks=thinks, streams=False)
        replying = asyncio.create_task(chat.reply(ChatMessage(id="m1", text="Book it", agent="runs")))
        await until_true(lambda: bool(open_))
        gateway.hides = hides
        # The second look shows that the terminal has acted on the first.
        await until_true(lambda: gateway.hidden >= 2)
        gateway.hides = ""
        await until_true(lambda: bool(open_), seconds=5)
        assert len(asked) == times
        workflow_id, question = asked[-1]
        await gateway.answer(workflow_id, Answer(question_id=question.id, value="yes"), by=by)
        assert (await replying).text == "Booked"
        await gateway.end_chat("ida", session=session, by=by)


async def test_a_conversation_that_is_open_goes_on_where_none_may_begin(
    talking: Installation, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in talking.environment.items():
        monkeypatch.setenv(name, value)
    by = Actor(kind=ActorKind.PERSON, id="jo")

    def none() -> None:
        raise InvalidInput("tools.py", "changed after the worker had read it")

    async with Gateway(Settings(), Addresses.model_validate(servers.model_dump())) as gateway:
        with pytest.raises(InvalidInput, match="changed after"):
            await gateway.say("jo", ChatMessage(id="m1", text="Hello"), by=by, guard=none)
        assert await gateway.chat("jo", by=by) is None
        await gateway.say("jo", ChatMessage(id="m1", text="Hello"), by=by)
        assert (await gateway.say("jo", ChatMessage(id="m2", text="Still there?"), by=by, guard=none)).text
        await gateway.end_chat("jo", by=by)


class Mistaken(Gateway):
    """A gateway that is wrong about the last conversation, where a test says so."""

    forgets = False
    """Whether it takes no notice of what that has answered."""
    is_late = False
    """Whether it finds open, once, what has ended."""
    begins = 0
    """How often it found no open one."""

    async def _latest(self, identifier: str) -> Latest:
        found = await super()._latest(identifier)
        if self.is_late:
            self.is_late = False
            return found._replace(is_open=True)
        self.begins += not found.is_open
        return found._replace(handled=()) if self.forgets else found


KEPT_NO_LONGER = "it was answered, and the reply is no longer kept"


@pytest.mark.parametrize("knows", [True, False], ids=["handed on", "control"])
async def test_a_message_that_is_sent_again_is_answered_once_also_after_its_conversation_has_ended(
    talking: Installation, model: Model, servers: Servers, monkeypatch: pytest.MonkeyPatch, knows: bool
) -> None:
    for name, value in talking.environment.items():
        monkeypatch.setenv(name, value)
    by, user, seen = Actor(kind=ActorKind.PERSON, id="kay"), f"kay-{knows}", list[str]()

    def counts(asked: Asked) -> Says:
        seen.append(asked.told[-1])
        return model.echoes(asked)

    model.script = counts
    async with Mistaken(Settings(), Addresses.model_validate(servers.model_dump())) as gateway:
        gateway.forgets = not knows

        async def say(text: str) -> ChatReply:
            return await gateway.say(user, ChatMessage(id=f"id of {text}", text=text), by=by)

        first = await say("One")
        await gateway.end_chat(user, by=by)
        assert await say("One") == first
        assert await gateway.chat(user, by=by) is None, "no conversation is begun for it"
        for text in ("Two", "Three"):
            await say(text)
            late = await say("One")
            assert (late.problem == KEPT_NO_LONGER) is knows
            await gateway.end_chat(user, by=by)
            if not knows:
                assert seen == ["One", "Two", "One"]
                return
        assert seen == ["One", "Two", "Three"]


@pytest.mark.slow
async def test_a_conversation_that_ends_right_before_a_message_hands_on_what_it_answered(
    talking: Installation, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in talking.environment.items():
        monkeypatch.setenv(name, value)
    by = Actor(kind=ActorKind.PERSON, id="lou")
    async with Mistaken(Settings(), Addresses.model_validate(servers.model_dump())) as gateway:
        await gateway.say("lou", ChatMessage(id="m1", text="Hello"), by=by)
        await gateway.end_chat("lou", by=by)
        gateway.is_late, gateway.begins = True, 0
        assert (await gateway.say("lou", ChatMessage(id="m2", text="Anew"), by=by)).text == "1: Anew"
        assert gateway.begins == 1, "it looked once more"
        assert (await gateway.say("lou", ChatMessage(id="m1", text="Hello"), by=by)).problem == KEPT_NO_LONGER
        await gateway.end_chat("lou", by=by)


async def none_known(*_: object) -> tuple[str, ...]:
    return ()


@pytest.mark.slow
@pytest.mark.parametrize("knows", [True, False], ids=["asked", "control"])
async def test_a_conversation_that_temporal_ended_is_asked_what_it_had_answered(
    talking: Installation, servers: Servers, monkeypatch: pytest.MonkeyPatch, knows: bool
) -> None:
    for name, value in talking.environment.items():
        monkeypatch.setenv(name, value)
    if not knows:
        monkeypatch.setattr(last_chats, "_answered_in", none_known)
    by, user = Actor(kind=ActorKind.PERSON, id="max"), f"max-{knows}"
    async with Gateway(Settings(), Addresses.model_validate(servers.model_dump())) as gateway:
        for text in ("One", "Two"):
            await gateway.say(user, ChatMessage(id=f"id of {text}", text=text), by=by)
            await (await gateway.client()).get_workflow_handle(chat_workflow_id(user, "chat")).terminate()
        assert (await gateway.say(user, ChatMessage(id="id of Three", text="Three"), by=by)).text == "1: Three"
        for text in ("One", "Two"):
            late = await gateway.say(user, ChatMessage(id=f"id of {text}", text=text), by=by)
            assert (late.problem == KEPT_NO_LONGER) is knows, text
        await gateway.end_chat(user, by=by)


class Slow(Gateway):
    """A gateway that takes its time to check a task."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.checking, self.checked = asyncio.Event(), asyncio.Event()

    async def _check_at_once(self, run: AgentTask) -> bool:
        is_checked = await super()._check_at_once(run)
        self.checking.set()
        await self.checked.wait()
        return is_checked


@pytest.mark.slow
async def test_what_begins_and_ends_while_a_new_conversation_is_checked_is_taken_notice_of(
    talking: Installation, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in talking.environment.items():
        monkeypatch.setenv(name, value)
    by, addresses = Actor(kind=ActorKind.PERSON, id="nia"), Addresses.model_validate(servers.model_dump())
    async with Gateway(Settings(), addresses) as other, Slow(Settings(), addresses) as gateway:
        saying = asyncio.create_task(gateway.say("nia", ChatMessage(id="m1", text="One", agent="agent"), by=by))
        await gateway.checking.wait()
        # Another sending of the message is quicker; of two conversations, as the last one returns its own replies.
        for identifier in ("m1", "m2"):
            await other.say("nia", ChatMessage(id=identifier, text="One"), by=by)
            await other.end_chat("nia", by=by)
        gateway.checked.set()
        assert (await saying).problem == KEPT_NO_LONGER
        await other.end_chat("nia", by=by)


async def test_a_memo_that_others_have_written_ends_no_conversation(
    talking: Installation, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in talking.environment.items():
        monkeypatch.setenv(name, value)
    by, user = Actor(kind=ActorKind.PERSON, id="oda"), "oda"
    foreign = Payload(metadata={"encoding": b"binary/foreign"}, data=b"\xff")
    async with Gateway(Settings(), Addresses.model_validate(servers.model_dump())) as gateway:
        task = AgentTask(task_id="strange", user_id=user, agent="agent", chat=True)
        client, identifier = await gateway.client(), chat_workflow_id(user, "chat")
        strange = await client.start_workflow(
            "ResumableAgent",
            task,
            id=identifier,
            task_queue=Settings().task_queue,
            memo={HANDLED: foreign, "theirs": foreign},
        )
        await gateway.say(user, ChatMessage(id="m1", text="Hello"), by=by)
        assert (await gateway.listed(identifier, by=by)).task_id == "strange"
        assert await gateway.chat(user, by=by) is not None
        await strange.terminate()
        assert await gateway.chat(user, by=by) is None
        assert (await gateway.say(user, ChatMessage(id="m2", text="Anew"), by=by)).text == "1: Anew"
        assert await gateway.end_chat(user, by=by)
