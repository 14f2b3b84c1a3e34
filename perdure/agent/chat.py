"""A conversation as its workflow holds it: its waiting, current and past messages. Pure.

Each message counts once, by its id, in all runs of the conversation and in the conversation after it, and is answered
in the order in which it came.
"""

from perdure.agent.steps.calls import Value
from perdure.documents import refuse_unknown
from perdure.errors import InvalidTask, TaskConflict
from perdure.model import Instant, Request, json_size
from perdure.values.changes import Actor
from perdure.values.chats import HANDED_ON, ChatBox, ChatEnding, ChatLog, ChatMessage, ChatReply, Exchange
from perdure.values.steering import TakenMessage, require_named
from perdure.values.tasks import AgentTask

HANDLED_KEPT = 500
"""Ids of messages that are recognised as duplicates: the last ones; a choice."""

EXCHANGES_KEPT = 50
"""Messages that are kept with their replies, the last ones: a choice, for who comes back."""

EXCHANGES_BYTES = 200_000
"""Bytes of them together, a choice: they travel where the history is rolled over."""

MOST_WAITING = 8
"""Messages that wait for their turn: whoever sent one waits for its reply, and Temporal lets ten wait at a time."""

_IDLE = "nobody said anything more"
_ANEW = "perdure chat starts a new one"


class Chat:
    """What was said in one conversation.

    Args:
        box: What earlier runs left.
    """

    def __init__(self, box: ChatBox) -> None:
        self._box = box
        self._closed = ""
        self._failed = False
        self.received = 0
        """Requests in this run, duplicates as well."""
        self.received_bytes = 0

    @property
    def box(self) -> ChatBox:
        """What the next run needs."""
        return self._box

    @property
    def waiting(self) -> TakenMessage | None:
        """What is to be answered next; None: nothing, or something else is being answered."""
        return self._box.waiting[0] if self._box.waiting and not self._box.answering else None

    @property
    def closed(self) -> str:
        """Why it has ended; empty: it has not."""
        return self._closed

    @property
    def is_ended(self) -> bool:
        """Whether somebody has ended it, and all that was said before is answered."""
        return self._box.ended and not self._open

    @property
    def active_at(self) -> Instant | None:
        """When something was said or answered last."""
        return self._box.active_at

    @property
    def _open(self) -> tuple[TakenMessage, ...]:
        answering = (self._box.answering,) if self._box.answering else ()
        return (*answering, *self._box.waiting)

    @property
    def handed_on(self) -> tuple[str, ...]:
        """The ids of the messages that were answered last, here or before; what was not may be said again."""
        left = {one.id for one in self._open}
        return tuple(one for one in self._box.handled if one not in left)[-HANDED_ON:]

    def close(self, problem: str = "") -> None:
        """Take nothing more: the conversation ends.

        Args:
            problem: What ends it; empty: somebody did, or nobody said anything more.
        """
        self._failed = self._failed or bool(problem)
        self._closed = self._closed or problem or ("somebody ended it" if self._box.ended else _IDLE)

    def unanswered(self, task: AgentTask) -> InvalidTask:
        """Return the error for a message that the conversation ended before it answered."""
        fix = f"fix the cause; then {_ANEW}" if self._failed else _ANEW
        return TaskConflict("chat", f"{task.task_id} has ended before it answered: {self._closed}", fix=fix)

    def check(self, request: ChatMessage, task: AgentTask) -> None:
        """Refuse a message that does not belong here, or that there is no room for. A duplicate is accepted.

        Raises:
            InvalidTask: With what to do.
        """
        self._check(request, request.by, task)
        if request.chat not in (None, task.task_id):
            raise TaskConflict("chat", f"{request.chat} has ended, and another one is open", fix="join that one")
        if request.agent not in (None, task.agent):
            problem = f"the open conversation is with {task.agent!r}, and not with {request.agent!r}"
            raise TaskConflict("agent", problem, fix="end it, or give another session")
        if request.id in self._box.handled:
            return
        if self._box.ended:
            raise TaskConflict("chat", f"{task.task_id} is ending", fix=_ANEW)
        if len(self._box.waiting) >= MOST_WAITING:
            problem = f"has {MOST_WAITING} messages that are not answered yet"
            raise TaskConflict("chat", problem, fix="send it again once one is")

    def check_ending(self, request: ChatEnding, task: AgentTask) -> None:
        """Refuse to end what is no conversation, or has ended.

        Raises:
            InvalidTask: With what to do.
        """
        self._check(request, request.by, task)

    def say(self, request: ChatMessage, at: Instant) -> None:
        """Keep a message until it is its turn; a known id changes nothing.

        It does not check again, as a replay does not check either.
        """
        self._receive(request)
        if request.id in self._box.handled:
            return
        message = TakenMessage(id=request.id, text=request.text, by=request.by, at=at)
        handled = (*self._box.handled, request.id)[-HANDLED_KEPT:]
        self._box = self._box.changed(waiting=(*self._box.waiting, message), handled=handled, active_at=at)

    def end(self, request: ChatEnding) -> None:
        """End the conversation once all that was said is answered."""
        self._receive(request)
        self._box = self._box.changed(ended=True)

    def take(self) -> None:
        """Note that the first message that waits is being answered."""
        first, *rest = self._box.waiting
        self._box = self._box.changed(waiting=tuple(rest), answering=first)

    def reply(self, reply: Value, problem: str, at: Instant) -> None:
        """Answer what is being answered, once."""
        if self._box.answering is None:
            return
        text = "" if reply.ref else str(reply.inline or "")
        given = Exchange(message=self._box.answering, text=text, ref=reply.ref, problem=problem, at=at)
        every = (*self._box.exchanges, given)
        kept = _last(every)
        dropped = self._box.dropped + len(every) - len(kept)
        self._box = self._box.changed(answering=None, exchanges=kept, dropped=dropped, active_at=at)

    def reply_to(self, message: str, chat: str, tenant: str) -> ChatReply | None:
        """Return the reply to a message; None: there is none yet.

        Args:
            message: Its id.
            chat: The conversation.
            tenant: Whose it is.
        """
        reply = ChatReply(id=message, chat=chat)
        if any(one.id == message for one in self._open):
            return None
        for one in self._box.exchanges:
            if one.message.id == message:
                return reply.changed(text=one.text, ref=one.ref, tenant=tenant, problem=one.problem)
        return reply.changed(problem="it was answered, and the reply is no longer kept")

    def log(self, task: AgentTask, tenant: str, until: Instant | None) -> ChatLog:
        """Return it as a person who comes back reads it.

        Args:
            task: Its task.
            tenant: Whose it is; empty: not known yet.
            until: When it ends if nothing is said.
        """
        return ChatLog(
            chat=task.task_id,
            agent=task.agent,
            tenant=tenant,
            exchanges=self._box.exchanges,
            dropped=self._box.dropped,
            open=self._open,
            until=None if self._open else until,
        )

    def _check(self, request: Request, by: Actor, task: AgentTask) -> None:
        refuse_unknown(request, error=InvalidTask)
        require_named(by)
        if not task.chat:
            fix = "perdure message tells one with a goal something; perdure chat starts a conversation"
            raise InvalidTask("task", f"{task.task_id} is no conversation", fix=fix)
        if self._closed:
            raise TaskConflict("chat", f"{task.task_id} has ended: {self._closed}", fix=_ANEW)

    def _receive(self, request: Request) -> None:
        self.received += 1
        self.received_bytes += json_size(request.model_dump(mode="json"))


def _last(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """Return as many of the last exchanges as are kept: the newest in any case."""
    kept = exchanges[-EXCHANGES_KEPT:]
    sizes = [json_size(one.model_dump(mode="json")) for one in kept]
    while len(kept) > 1 and sum(sizes) > EXCHANGES_BYTES:
        kept, sizes = kept[1:], sizes[1:]
    return kept
