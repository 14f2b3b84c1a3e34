"""Requests about conversations with an agent."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

from pydantic import Field
from temporalio.client import WithStartWorkflowOperation, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from perdure.documents import validated
from perdure.errors import InvalidTask, ResultExpired, StoreUnavailable
from perdure.identity import digest
from perdure.model import Model, Name
from perdure.names import AGAIN, END, HANDLED, SAY, STARTED_BY, Workflow
from perdure.temporal.errors import is_cancelling
from perdure.values.changes import Actor
from perdure.values.chats import (
    OF_A_CHAT,
    ChatEnding,
    ChatLog,
    ChatMessage,
    ChatReply,
    Exchange,
    ReplyPiece,
    ReplyPlace,
    chat_workflow_id,
)
from perdure.values.task_limits import Limits
from perdure.values.tasks import AgentTask, TaskResult
from worker.gateway.base import call
from worker.gateway.last_chats import Latest, described, latest_of, log_of
from worker.gateway.tasks import NOBODY_ANSWERS, TaskCalls
from worker.gateway.updates import AGAIN_AFTER, has_ended, sent_update, until_taken

if TYPE_CHECKING:
    from worker.replies import Replies

_ENDS_WITHIN = 10.0
"""Seconds that a conversation in which nothing is left to answer has to end in: a choice. It takes some tenths."""

_ONLY_OPEN = WorkflowIDReusePolicy.REJECT_DUPLICATE
"""The policy that begins no conversation where there was one."""

_BEGINS = 60
"""Characters of a session's name that the ids of its conversations begin with; all have some of their own."""


class _Session(Model):
    """Which of a user's conversations is meant."""

    session: Annotated[Name, Field(max_length=_BEGINS)]


class ChatCalls(TaskCalls):
    """Conversing. A session of a user has one open conversation at most, a task of its own."""

    _reading: "Replies | None" = None

    @call
    async def say(
        self,
        user_id: str,
        message: ChatMessage,
        *,
        session: str = OF_A_CHAT,
        by: Actor,
        guard: Callable[[], None] | None = None,
    ) -> ChatReply:
        """Send a message, and return the reply once there is one, however long that takes.

        Without an open conversation, one begins; with ``chat`` in the message, only that one is meant. A message counts
        once by its id, and said again it returns the same reply; once the conversation that gave it has ended, that
        reply, or that it is no longer kept.

        Args:
            user_id: Whose conversation it is.
            message: What is said, and to which agent.
            session: Which of the user's conversations.
            by: Who says it.
            guard: Called before a conversation begins, and not where one is open; what it raises is raised.

        Raises:
            InvalidTask: The conversation has ended, is another agent's, or has too many messages to answer; or there is
                no such agent to begin one with.
            StoreUnavailable: The reply is long, and where it is kept does not answer.
        """
        given = message.model_dump() | {"by": by.model_dump(), "id": message.id or uuid4().hex}
        sent = validated(ChatMessage, given, "", InvalidTask)
        _require_name(session)
        new = self._new(user_id, session, sent)
        identifier = chat_workflow_id(user_id, session)
        await self.served()
        rolled = 0
        while True:
            latest = None if sent.chat else await self._latest(identifier)
            if latest is not None and not latest.is_open:
                if guard is not None:
                    guard()
                if sent.agent:
                    # A conversation with nobody would begin, and end with its first reply.
                    await self._check_at_once(new)
                    # That takes up to ten seconds, in which other ones may have begun and ended.
                    latest = await self._latest(identifier)
            try:
                reply = await self._said(new, identifier, sent, by=by, rolled=rolled, latest=latest)
            except (RPCError, WorkflowAlreadyStartedError) as error:
                if isinstance(error, RPCError) and not has_ended(error):
                    raise
                if sent.chat:
                    raise _gone(session) from error
                # It ended as the message came, and another one begins.
                await asyncio.sleep(AGAIN_AFTER)
                continue
            if not reply.pending:
                return await self._whole(reply)
            rolled += 1

    @call
    async def chat(self, user_id: str, *, session: str = OF_A_CHAT, by: Actor) -> ChatLog | None:
        """Return the open conversation of a session; None: there is none.

        Args:
            user_id: Whose.
            session: Which of the user's conversations.
            by: Who asks.

        Raises:
            WorkerUnavailable: No worker can say.
        """
        _require_name(session)
        identifier = chat_workflow_id(user_id, session)
        if not await self._is_open(identifier):
            return None
        async with self._asking():
            log = await log_of(await self.client(), identifier)
        return log.changed(exchanges=tuple([await self._readable(log, one) for one in log.exchanges]))

    @call
    async def end_chat(self, user_id: str, *, session: str = OF_A_CHAT, by: Actor) -> bool:
        """End the open conversation of a session, once what was said before is answered.

        Returns:
            Whether it has ended: it takes longer where something is being answered.

        Args:
            user_id: Whose.
            session: Which of the user's conversations.
            by: Who ends it.

        Raises:
            InvalidTask: There is none.
        """
        _require_name(session)
        identifier = chat_workflow_id(user_id, session)
        if not await self._is_open(identifier):
            raise _gone(session)
        handle = (await self.client()).get_workflow_handle(identifier)
        async with self._updating(identifier, "end it", "there is nothing to end", "it may still end"):
            await sent_update(handle, END, ChatEnding(by=by))
        with contextlib.suppress(TimeoutError, WorkflowFailureError):
            async with asyncio.timeout(_ENDS_WITHIN):
                await handle.result()
        return not await self._is_open(identifier)

    @call
    async def reply_pieces(self, place: ReplyPlace, after: str, *, by: Actor) -> tuple[Sequence[ReplyPiece], str]:
        """Return the pieces of a reply that have come since, and the place of the last one; waits a second for some.

        Args:
            place: The reply.
            after: The place of the last piece that was read.
            by: Who reads along.

        Raises:
            StoreUnavailable: Redis does not answer; the reply comes all the same.
        """
        return await self._replies().pieces(place, after)

    def _new(self, user_id: str, session: str, message: ChatMessage) -> AgentTask:
        """Return the task that a conversation is which begins now."""
        named = {"task_id": f"{session[:_BEGINS]}-{secrets.token_hex(6)}", "user_id": user_id, "chat": True}
        named |= {"agent": message.agent} if message.agent else {}
        asked = named | {"limits": Limits(idle_hours=self._settings.chat_idle_hours)}
        return validated(AgentTask, asked, "", InvalidTask)

    async def _said(
        self, new: AgentTask, identifier: str, message: ChatMessage, *, by: Actor, rolled: int, latest: Latest | None
    ) -> ChatReply:
        """Send a message; one that names no conversation begins one where none is open.

        However many say it again, it is one update: each that waits takes one of ten places, the answers' and the ends'
        as well, and keeps it when whoever sent it is gone. If the last conversation has answered it and ended, Temporal
        returns that reply and begins none (seen).

        Args:
            new: The conversation that it may begin.
            identifier: The workflow of the session's conversations.
            message: What is said.
            by: Who says it.
            rolled: How often it was answered that the history is rolled over, which the same update would return again.
            latest: The last conversation of the session; None: the message names its conversation.

        Raises:
            WorkflowAlreadyStartedError: The conversation that was open has ended meanwhile.
        """
        client = await self.client()
        handle = client.get_workflow_handle(identifier)
        sending = f"say-{digest('said/1', message.id)[:32]}-{rolled}"
        if latest is None:
            return await sent_update(handle, SAY, message, ChatReply, sending=sending)

        async def send() -> ChatReply:
            starting: WithStartWorkflowOperation[Any, TaskResult] = WithStartWorkflowOperation(
                Workflow.RESUMABLE_AGENT,
                new,
                id=identifier,
                task_queue=self._settings.task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                # One that begins has to know what the one before it answered, which is not known while that is open.
                id_reuse_policy=_ONLY_OPEN if latest.is_open else WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                result_type=TaskResult,
                static_summary=new.summary,
                # The one before has ended, and is another task.
                memo={STARTED_BY: by.model_dump(mode="json"), AGAIN: True, HANDLED: latest.handled},
            )
            return await client.execute_update_with_start_workflow(
                SAY, message, start_workflow_operation=starting, id=sending, result_type=ChatReply
            )

        return await until_taken(send)

    async def _is_open(self, identifier: str) -> bool:
        found = await described(await self.client(), identifier)
        return found is not None and found.status is WorkflowExecutionStatus.RUNNING

    async def _latest(self, identifier: str) -> Latest:
        """Return the last conversation of a session.

        Raises:
            WorkerUnavailable: Temporal has ended it, and no worker can say what it had answered.
        """
        async with self._asking():
            return await latest_of(await self.client(), identifier)

    @contextlib.asynccontextmanager
    async def _asking(self) -> AsyncGenerator[None]:
        """Ask a worker for something.

        Raises:
            WorkerUnavailable: None can say.
        """
        try:
            yield
        except RPCError as error:
            if error.status not in NOBODY_ANSWERS or is_cancelling():
                raise
            raise self.unserved(silent=await self.serving()) from error

    async def _whole(self, reply: ChatReply) -> ChatReply:
        """Return a reply with its text, wherever it is kept."""
        if not reply.ref:
            return reply
        return reply.changed(text=await self._replies().text(reply.tenant, reply.ref, reply.chat), ref="")

    async def _readable(self, log: ChatLog, one: Exchange) -> Exchange:
        if not one.ref:
            return one
        try:
            return one.changed(text=await self._replies().text(log.tenant, one.ref, log.chat), ref="")
        except (StoreUnavailable, ResultExpired) as error:
            return one.changed(problem=f"its text is not at hand: {error}")

    def _replies(self) -> "Replies":
        if self._reading is None:
            from worker.replies import Replies  # noqa: PLC0415  it loads Redis' client

            self._reading = Replies(self._settings, self._addresses)
            self._stack.push_async_callback(self._reading.aclose)
        return self._reading


def _require_name(session: str) -> None:
    """Refuse what is no name of a session: it stands in the id of a workflow, which says nothing else of its content.

    Raises:
        InvalidTask: It is none, or too long.
    """
    validated(_Session, {"session": session}, "", InvalidTask)


def _gone(session: str) -> InvalidTask:
    problem = f"{session!r} has no open conversation of this user"
    return InvalidTask("session", problem, fix="perdure chat with a message starts one")
