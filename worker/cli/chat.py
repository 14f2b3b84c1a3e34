"""The command that converses with an agent."""

import asyncio
import functools
import shlex
import sys
from typing import Annotated
from uuid import uuid4

import typer

from localservers import state
from perdure.documents import validated
from perdure.errors import InvalidInput, InvalidTask
from perdure.settings import Settings
from perdure.values.changes import Actor
from perdure.values.chats import OF_A_CHAT, ChatMessage
from perdure.values.questions import Question
from perdure.values.tasks import AgentTask
from worker.cli.memory import User
from worker.cli.reach import gateway, note_other_settings, person, require_same_settings, started
from worker.cli.tasks import AsJson
from worker.exit import leave
from worker.exit_status import Exit
from worker.gateway import Gateway
from worker.terminal import display
from worker.terminal.answers import asked
from worker.terminal.conversation import TerminalChat, TypedLines, show_history
from worker.terminal.output import fail, program, say, show_json
from worker.wiring.registries import agents_of

_END = "/end"


async def chat(
    message: Annotated[str, typer.Argument(help="What to say; without it, what is typed line by line.")] = "",
    *,
    user: User,
    session: Annotated[str, typer.Option(help="Which of the user's conversations.")] = OF_A_CHAT,
    agent: Annotated[
        str | None, typer.Option(help="Who answers in a conversation that begins now.", show_default="agent")
    ] = None,
    end: Annotated[bool, typer.Option("--end", help="End the conversation: what is said next begins another.")] = False,
    by: Annotated[str, typer.Option(help="Who says it; your account's name if left out.")] = "",
    identifier: Annotated[
        str, typer.Option("--id", help="The message's id: sent again, it counts once, and returns the same reply.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Chat with an agent. The conversation is saved, and can be continued later from any terminal.

    The first message begins the conversation. Ctrl-C leaves it open, also in the middle of a reply; "/end", or --end,
    ends it, and so does a day in which nobody says anything. Questions for a person that come up are asked here. With
    a message, only the reply is printed, for scripts.

    Example: perdure chat --user ada --agent helper
    """
    settings = Settings()
    if end:
        if message:
            raise InvalidInput("--end", "is given together with a message", fix="say it first, then end it")
        ended = await gateway(settings).end_chat(user, session=session, by=person(by))
        if as_json:
            show_json({"session": session, "ended": ended})
        else:
            _say_ended(session, ended=ended)
        return
    if as_json and not message:
        raise InvalidInput("--json", "needs a message", fix="perdure chat MESSAGE --json")
    if identifier and not message:
        raise InvalidInput("--id", "needs a message", fix="perdure chat MESSAGE --id ID")
    sent = _message(message, agent, identifier) if message else None
    addresses = await asyncio.to_thread(started, settings)
    if not agents_of(settings).names():
        _require_agent(settings, agent)
    again = f"{program()} chat --user {shlex.quote(user)}"
    again += f" --session {shlex.quote(session)}" if session != OF_A_CHAT else ""
    async with gateway(settings, addresses) as installation:
        try:
            if sent is not None:
                await _once(installation, (user, session), sent, settings, person(by), as_json=as_json)
                return
            await _typed(installation, (user, session), agent, settings, person(by))
        except asyncio.CancelledError:
            say(f"\nthe conversation stays open: {again}")
            # Nothing is left to be done here, and what waits for a server would have to be waited for.
            leave(Exit.DETACHED)
        except EOFError:
            say(f"the conversation stays open: {again}")


def _say_ended(session: str, *, ended: bool) -> None:
    say(f"{session} has ended" if ended else f"{session} ends once all that was said is answered")


async def _once(
    installation: Gateway, whose: tuple[str, str], message: ChatMessage, settings: Settings, by: Actor, *, as_json: bool
) -> None:
    """Send one message, and print the reply."""
    (user, session), begins = whose, False

    def guard() -> None:
        nonlocal begins
        begins = True
        require_same_settings(settings)

    async def ask(workflow_id: str, question: Question) -> None:
        say(display.how_to_answer(workflow_id, question))

    streams = sys.stdout.isatty() and not as_json
    conversation = TerminalChat(installation, user, session, by=by, asks=ask, streams=streams, guard=guard)
    reply = await conversation.reply(message)
    if not begins:
        note_other_settings(settings)
    if as_json:
        show_json(reply)
    elif not (streams or reply.problem):
        sys.stdout.write(f"{reply.text}\n")
    if reply.problem:
        fail(reply.problem, Exit.FAILED)


async def _typed(
    installation: Gateway, whose: tuple[str, str], agent: str | None, settings: Settings, by: Actor
) -> None:
    """Converse line by line.

    Raises:
        EOFError: There is no further line, and the conversation goes on.
        InvalidAgent: None is open, and there is no such agent.
    """
    user, session = whose
    lines = TypedLines()

    async def ask(workflow_id: str, question: Question) -> None:
        if workflow_id != conversation.workflow_id:
            say(f"\nthe task {workflow_id} asks (perdure status {workflow_id}):")
        if not await asked(installation, workflow_id, question, lines, by=by):
            raise EOFError

    guard = functools.partial(require_same_settings, settings)
    conversation = TerminalChat(installation, user, session, by=by, asks=ask, streams=True, guard=guard)
    log = await installation.chat(user, session=session, by=by)
    keys = f"/end ends it, Ctrl-C leaves it open; perdure status {conversation.workflow_id}"
    if log is None:
        guard()
        _require_agent(settings, agent)
        say(f"a new conversation: {keys}")
    else:
        note_other_settings(settings)
        say(f"{session}, with {log.agent}: {keys}")
        if agent not in (None, log.agent):
            problem = f"the open conversation is with {log.agent!r}, and not with {agent!r}"
            raise InvalidTask("agent", problem, fix="end it, or give another --session")
        show_history(log)
        for left in log.open:
            sys.stdout.write(f"> {left.text}\n")
            await conversation.reply(ChatMessage(text=left.text, id=left.id, chat=log.chat))
    joined = log.chat if log else None
    while (line := await lines.next("> ")) != _END:
        if line is None:
            raise EOFError
        try:
            said = _message(line, agent).changed(chat=joined)
        except InvalidTask as error:
            say(str(error))
            continue
        joined = (await conversation.reply(said)).chat
    if joined is not None:
        _say_ended(session, ended=await installation.end_chat(user, session=session, by=by))


def _require_agent(settings: Settings, agent: str | None) -> None:
    """Refuse an agent that there is not, before a conversation begins that nobody would answer.

    Raises:
        InvalidAgent: There is none of this name; with what to do.
    """
    # Elsewhere than on this machine, workers may have others.
    if state(settings) is not None:
        agents_of(settings).get(agent or AgentTask.model_fields["agent"].default)


def _message(text: str, agent: str | None, identifier: str = "") -> ChatMessage:
    """Return a message with an id, so that it counts once however often it has to be sent.

    Raises:
        InvalidTask: It is empty or too long, or an agent cannot have this name.
    """
    return validated(ChatMessage, {"text": text, "id": identifier or uuid4().hex, "agent": agent}, "", InvalidTask)
