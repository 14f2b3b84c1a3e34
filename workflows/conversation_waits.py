"""The waits of a conversation between an answer and what is said next. Decides nothing."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from temporalio import workflow

from perdure.agent.plan import Listen
from perdure.history import History
from perdure.values.tasks import Phase
from workflows.running_task import RunningTask


class ConversationWaits:
    """Answers, and waits for the next message until nobody has said anything for as long as the limits say.

    Args:
        running: The task.
        history: What each wait makes longer.
        is_to_roll: Whether the history is to be rolled over now.
    """

    def __init__(self, running: RunningTask, history: History, is_to_roll: Callable[[], bool]) -> None:
        self._running = running
        self._history = history
        self._is_to_roll = is_to_roll

    def answer(self, move: Listen) -> None:
        """Answer what was said last, if it is not answered yet."""
        self._running.chat.reply(move.reply, move.problem, workflow.now())

    async def next(self, move: Listen) -> bool:
        """Answer what was said last, and wait for something to do; return False once the conversation is over."""
        running = self._running
        self.answer(move)
        if not self._has_work():
            running.outbox.flush()
            running.enter(Phase.LISTENING)
            if (left := running.listens_until - workflow.now()) > timedelta():
                self._history.grow()
                with suppress(TimeoutError):
                    await workflow.wait_condition(self._has_work, timeout=left, timeout_summary="the next message")
        if running.chat.waiting or running.steering.is_paused:
            return True
        # A message that came with the last moment was accepted, so it counts.
        if not running.chat.is_ended and workflow.now() < running.listens_until:
            return True
        running.chat.close()
        return False

    def _has_work(self) -> bool:
        chat, steering = self._running.chat, self._running.steering
        return chat.waiting is not None or chat.is_ended or steering.is_paused or self._is_to_roll()
