"""A conversation in a terminal: what was said, a reply while it comes, and the questions that come up meanwhile."""

import asyncio
import io
import sys
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress

from perdure.errors import InvalidTask, StoreUnavailable, WorkerUnavailable
from perdure.values.changes import Actor
from perdure.values.chats import (
    BEGINNING,
    ChatLog,
    ChatMessage,
    ChatReply,
    ReplyPlace,
    ReplyReader,
    Shown,
    ShownKind,
    chat_workflow_id,
)
from perdure.values.questions import Question
from worker.gateway import Gateway
from worker.terminal.output import out, plain, say
from worker.worker_wait import NOTICE_AFTER

_PERIOD = 0.3
"""Seconds between two looks at what is asked; a choice."""

_LAST_PIECES = 1.0
"""Seconds that the last pieces of a reply have to come in, once it is known; a choice."""

_ANEW = "\n[restarted]\n"


class TypedLines:
    """The lines that somebody types, read by a thread: one that waits for a line keeps nobody from leaving."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._answers: asyncio.Queue[str | None] | None = None
        """What is typed while a question is asked: what was typed before is no answer to it."""
        self._is_over = False
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._read, daemon=True)

    async def next(self, prompt: str, *, blank: bool = False) -> str | None:
        """Return the next line; None at their end.

        Args:
            prompt: What to show before it.
            blank: Whether a blank line counts, as an empty text; otherwise it is passed over.
        """
        if not self._thread.is_alive() and self._thread.ident is None:
            self._thread.start()
        while True:
            if sys.stdin.isatty():
                sys.stderr.write(prompt)
                sys.stderr.flush()
            line = await (self._lines if self._answers is None else self._answers).get()
            if line is None:
                self._put(None)
                return None
            if blank or line.strip():
                return line.strip()

    @contextmanager
    def answering(self) -> Generator[None]:
        """Take what is typed from here on for answers to a question; what is left is said in the conversation."""
        self._answers = asyncio.Queue()
        if self._is_over:
            self._answers.put_nowait(None)
        try:
            yield
        finally:
            left, self._answers = self._answers, None
            while not left.empty():
                if (line := left.get_nowait()) is not None:
                    self._put(line)

    def _read(self) -> None:
        if isinstance(sys.stdin, io.TextIOWrapper):
            # What is no text is refused as such, and does not end the reading.
            sys.stdin.reconfigure(errors="surrogateescape")
        for line in sys.stdin:
            self._loop.call_soon_threadsafe(self._put, line)
        self._loop.call_soon_threadsafe(self._put, None)

    def _put(self, line: str | None) -> None:
        self._is_over = self._is_over or line is None
        if self._answers is not None:
            self._answers.put_nowait(line)
        if self._answers is None or line is None:
            self._lines.put_nowait(line)


class TerminalChat:
    """One conversation of a user, as one terminal takes part in it.

    Args:
        installation: The gateway to ask.
        user_id: Whose it is.
        session: Which of the user's conversations.
        by: Who takes part.
        asks: Called with each question that comes up while a reply is waited for, and the workflow that asks it: the
            conversation, or a task that it runs.
        streams: Whether replies are shown while they come.
        guard: Called before a conversation begins, and not where one is open; what it raises is raised.
    """

    def __init__(
        self,
        installation: Gateway,
        user_id: str,
        session: str,
        *,
        by: Actor,
        asks: Callable[[str, Question], Awaitable[None]],
        streams: bool,
        guard: Callable[[], None] | None = None,
    ) -> None:
        self._installation = installation
        self._user = user_id
        self._session = session
        self._by = by
        self._asks = asks
        self._streams = streams
        self._guard = guard
        self._asked: set[tuple[str, str]] = set()
        self._open = dict[tuple[str, str], Question]()
        """What was asked when it was last looked."""
        self._expected: str | None = None
        """The reply, once it is known: the pieces are read until they add up to it."""

    @property
    def workflow_id(self) -> str:
        """The id of its workflow."""
        return chat_workflow_id(self._user, self._session)

    async def reply(self, message: ChatMessage) -> ChatReply:
        """Send a message, show the reply, and return it. A reply that cannot be had is shown with the reason.

        Args:
            message: What is said, with an id.

        Raises:
            InvalidTask: It is not taken; says what to do.
        """
        reader, self._expected = ReplyReader(), None
        told = asyncio.get_running_loop().call_later(NOTICE_AFTER, self._say_waiting, reader)
        sending = self._installation.say(self._user, message, session=self._session, by=self._by, guard=self._guard)
        saying = asyncio.create_task(sending)
        beside = [asyncio.create_task(self._ask_people())]
        if self._streams:
            beside.append(asyncio.create_task(self._read_along(message.id, reader)))
        try:
            await asyncio.wait([saying, beside[0]], return_when=asyncio.FIRST_COMPLETED)
            if not saying.done() and isinstance(beside[0].exception(), EOFError):
                # Nobody is left who could answer what is asked.
                raise EOFError
            reply = await saying
            if self._streams and reply.text and reader.text != reply.text:
                self._expected = reply.text
                await asyncio.wait(beside[1:], timeout=_LAST_PIECES)
        finally:
            for one in (told, saying, *beside):
                one.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        if self._streams:
            _show_rest(reader.text, reply)
        return reply

    async def _read_along(self, message: str, reader: ReplyReader) -> None:
        """Show a reply while it comes. Without Redis it is shown once it is there."""
        after = BEGINNING
        with suppress(StoreUnavailable):
            log = await self._log()
            place = ReplyPlace(tenant=log.tenant, task_id=log.chat, message=message)
            while reader.text != self._expected:
                pieces, after = await self._installation.reply_pieces(place, after, by=self._by)
                for piece in pieces:
                    for shown in reader.take(piece):
                        _show(shown)

    def _say_waiting(self, reader: ReplyReader) -> None:
        if not (reader.text or self._asked):
            say(f"waiting for the reply: perdure status {self.workflow_id}")

    async def _log(self) -> ChatLog:
        """Return the conversation once it is prepared."""
        while True:
            with suppress(WorkerUnavailable):
                log = await self._installation.chat(self._user, session=self._session, by=self._by)
                if log is not None and log.tenant:
                    return log
            await asyncio.sleep(_PERIOD)

    async def _ask_people(self) -> None:
        """Ask here each question that comes up, or say how it is answered elsewhere."""
        await self._log()
        asking: asyncio.Future[None] | None = None
        asked = ("", "")
        try:
            while True:
                questions = await self._questions()
                if asking is not None and asking.done():
                    asking.result()
                    asking = None
                if questions is not None:
                    if asking is not None and asked not in questions:
                        # It was answered elsewhere, or nothing waits for it any more.
                        asking.cancel()
                        await asyncio.wait([asking])
                        asking = None
                        # A task that begins its next run asks nothing for a moment.
                        self._asked.discard(asked)
                    new = [one for one in questions if one not in self._asked]
                    if asking is None and new:
                        asked = new[0]
                        self._asked.add(asked)
                        asking = asyncio.ensure_future(self._asks(asked[0], questions[asked]))
                await asyncio.sleep(_PERIOD)
        finally:
            if asking is not None:
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)

    async def _questions(self) -> dict[tuple[str, str], Question] | None:
        """Return what the conversation asks, and the tasks that it runs, by workflow and question; None: unknown."""
        found, tasks = dict[tuple[str, str], Question](), [self.workflow_id]
        while tasks:
            task = tasks.pop(0)
            progress = None
            with suppress(InvalidTask):
                progress = await self._installation.progress(task, by=self._by)
            if progress is None and task == self.workflow_id:
                return None
            if progress is not None:
                found |= {(task, one.id): one for one in progress.questions}
                tasks += progress.tasks
            else:
                # Whether it still asks is not known.
                found |= {one: asked for one, asked in self._open.items() if one[0] == task}
        self._open = found
        return found


def show_history(log: ChatLog) -> None:
    """Print what was said and answered."""
    if log.dropped:
        say(f"{log.dropped} messages before these are no longer kept here")
    for one in log.exchanges:
        out.print(f"> {one.message.text}", markup=False)
        out.print(one.text or f"[no reply: {one.problem}]", markup=False)


def _show(shown: Shown) -> None:
    match shown.kind:
        case ShownKind.TEXT:
            _write(shown.text)
        case ShownKind.TURN:
            _write("\n")
        case ShownKind.ANEW:
            _write(_ANEW)
        case _:
            pass


def _show_rest(seen: str, reply: ChatReply) -> None:
    """Print what is missing of a reply: what was shown so far may be an older turn, or the half of it."""
    if reply.problem:
        _write(("\n" if seen else "") + f"[no reply: {reply.problem}]\n")
    elif reply.text.startswith(seen):
        _write(f"{reply.text[len(seen) :]}\n")
    else:
        _write(f"{_ANEW}{reply.text}\n")


def _write(text: str) -> None:
    sys.stdout.write(plain(text))
    sys.stdout.flush()
