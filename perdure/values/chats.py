"""Conversations with an agent: what is said, what is answered, and the pieces in which an answer comes. Pure values."""

from collections.abc import Iterator
from enum import auto
from typing import cast

from perdure.identity import digest
from perdure.model import Instant, Name, OpenEnum, Passed, Request
from perdure.values.changes import PROGRAM, Actor
from perdure.values.steering import TakenMessage, TaskMessage

OF_A_CHAT = "chat"
"""What the name of a session is where nobody gives one."""

HANDED_ON = 100
"""Ids of messages that the next conversation recognises, the last ones: a choice. They are in a memo, which Temporal
lists."""

BEGINNING = "0-0"
"""The place before a reply's first piece."""


class ChatMessage(TaskMessage):
    """What somebody says in a conversation: the input of the update ``say``, which returns the reply to it.

    >>> ChatMessage(text="Which test is slow?").text
    'Which test is slow?'
    """

    chat: Name | None = None
    """The conversation that it belongs to, by its task's id; None: whichever is open."""
    agent: Name | None = None
    """Whom it is for; None: whoever answers here."""


class ChatEnding(Request):
    """Ends a conversation, once what was said before is answered: the input of the update ``end``."""

    by: Actor = PROGRAM
    """Who ends it."""


class ChatReply(Passed):
    """The reply to a message."""

    id: str
    """The message's id."""
    chat: str
    """The conversation, by its task's id."""
    text: str = ""
    ref: str = ""
    """Where a long text is kept; empty: it is here."""
    tenant: str = ""
    """Whose text that is."""
    problem: str = ""
    """Why there is no reply; empty: there is."""
    pending: bool = False
    """Whether the conversation was rolled over before there was one: the message, sent again, returns it."""


class Exchange(Passed):
    """A message and the reply to it."""

    message: TakenMessage
    text: str = ""
    """The reply."""
    ref: str = ""
    """Where a long one is kept; empty: it is here."""
    problem: str = ""
    """Why there is none; empty: there is."""
    at: Instant
    """When it was given, in the workflow's time."""


class ChatBox(Passed):
    """What a conversation's workflow knows of it, besides the model's turns."""

    waiting: tuple[TakenMessage, ...] = ()
    """What was said and is not yet taken up, in its order."""
    answering: TakenMessage | None = None
    """What is being answered."""
    exchanges: tuple[Exchange, ...] = ()
    """The last ones."""
    dropped: int = 0
    """How many there were before these."""
    handled: tuple[str, ...] = ()
    """The ids of the messages that came last, to this conversation or the ones before it."""
    active_at: Instant | None = None
    """When something was said or answered last."""
    ended: bool = False
    """Whether somebody has ended it."""


class ChatLog(Passed):
    """A conversation, as a person who comes back reads it: the answer of the query ``chat``."""

    chat: str
    """Its task's id."""
    agent: str
    tenant: str = ""
    """Whose it is; empty: it is not prepared yet."""
    exchanges: tuple[Exchange, ...] = ()
    """The last ones."""
    dropped: int = 0
    """How many there were before these."""
    open: tuple[TakenMessage, ...] = ()
    """What is not answered yet, in its order."""
    until: Instant | None = None
    """When it ends if nothing is said; None while something is answered."""


class PieceKind(OpenEnum):
    """What a piece of a reply is. An unknown one is passed over."""

    BEGUN = auto()
    """An attempt at a turn has begun: what came of another attempt at it does not count any more."""
    TEXT = auto()
    ENDED = auto()
    """The turn has all its text."""


class ReplyPlace(Passed):
    """Which reply it is."""

    tenant: str
    task_id: str
    message: str
    """The id of the message that it answers."""


class ReplyPiece(Passed):
    """A piece of a reply while a model gives it."""

    turn: int
    """The number of the model's turn."""
    attempt: str
    """Distinguishes one attempt at a turn from all others."""
    number: int
    """Its place in its attempt: it may arrive twice."""
    kind: PieceKind
    text: str = ""


class ShownKind(OpenEnum):
    """What a reader of a reply sees next. An unknown one is passed over."""

    TEXT = auto()
    TURN = auto()
    """A further turn begins: the text so far stands, and is not the reply."""
    ANEW = auto()
    """The turn begins anew: its text so far does not count."""


class Shown(Passed):
    """What a reader of a reply sees next."""

    kind: ShownKind
    text: str = ""


class ReplyReader:
    """Reads the pieces of one reply: of each turn only those of the attempt that began last.

    A worker that was thought dead may go on for a while, in between what the one says that replaced it.
    """

    def __init__(self) -> None:
        self._turn = 0
        self._attempt = ""
        self._attempts: set[str] = set()
        self._seen = -1
        self.text = ""
        """What the last turn has said so far."""

    def take(self, piece: ReplyPiece) -> Iterator[Shown]:
        """Yield what is to be shown after a piece."""
        if piece.kind is PieceKind.BEGUN and piece.attempt not in self._attempts and piece.turn >= self._turn:
            self._attempts.add(piece.attempt)
            if self.text:
                yield Shown(kind=ShownKind.ANEW if piece.turn == self._turn else ShownKind.TURN)
            self._turn, self._attempt, self._seen, self.text = piece.turn, piece.attempt, piece.number, ""
        elif piece.attempt == self._attempt and piece.number > self._seen:
            self._seen = piece.number
            if piece.kind is PieceKind.TEXT and piece.text:
                self.text += piece.text
                yield Shown(kind=ShownKind.TEXT, text=piece.text)


def handed_on_in(memo: object) -> tuple[str, ...]:
    """Return the ids of messages that a conversation's memo hands on; none where it holds something else.

    >>> handed_on_in(["a", "b"]), handed_on_in("a")
    (('a', 'b'), ())
    """
    return tuple(map(str, cast("list[object]", memo))) if isinstance(memo, list) else ()


def chat_workflow_id(user_id: str, session: str) -> str:
    """Return the id of the workflow that a session's conversation runs in, without containing the user id.

    Each conversation under it is a task with an id of its own, and Temporal lets one of them be open at a time.
    """
    return f"chat-{session}-{digest('chat/1', user_id, session)[:12]}"
