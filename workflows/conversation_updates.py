"""The updates of a conversation: what is said in it, and its end. Each is recorded at once."""

from temporalio import workflow

from perdure.errors import InvalidTask
from perdure.names import CHAT, END, SAY
from perdure.temporal.errors import failure_of
from perdure.values.chats import ChatEnding, ChatLog, ChatMessage, ChatReply
from workflows.running_task import RunningTask
from workflows.steerable import identified


class ConversationUpdates:
    """What a workflow has that can be talked to."""

    _running: RunningTask

    @workflow.update(name=SAY)
    async def say(self, message: ChatMessage) -> ChatReply:
        """Take up a message, and return the reply to it once there is one.

        Where the history is rolled over before that, the same message, sent again, returns the reply.
        """
        message = identified(message)
        self._running.chat.say(message, workflow.now())
        self._running.show()
        await workflow.wait_condition(
            lambda: self._reply(message) is not None or bool(self._running.chat.closed) or self._running.is_rolling
        )
        if reply := self._reply(message):
            return reply
        if self._running.chat.closed:
            raise failure_of(self._running.chat.unanswered(self._running.task))
        return ChatReply(id=message.id, chat=self._running.task.task_id, pending=True)

    @say.validator
    def _refuse_said(self, message: ChatMessage) -> None:
        try:
            self._running.chat.check(identified(message), self._running.task)
        except InvalidTask as error:
            # Raised unchanged, it would lose its field and its fix on the way to the caller.
            raise failure_of(error) from None

    @workflow.update(name=END)
    async def end(self, request: ChatEnding) -> None:
        """End the conversation, once what was said before is answered."""
        self._running.chat.end(request)

    @end.validator
    def _refuse_end(self, request: ChatEnding) -> None:
        try:
            self._running.chat.check_ending(request, self._running.task)
        except InvalidTask as error:
            raise failure_of(error) from None

    @workflow.query(name=CHAT)
    def chat(self) -> ChatLog | None:
        """Return what was said and answered; None: this is no conversation."""
        return self._running.chat_log() if self._running.task.chat else None

    def _reply(self, message: ChatMessage) -> ChatReply | None:
        running = self._running
        tenant = running.state.prepared.tenant if running.is_prepared else ""
        return running.chat.reply_to(message.id, running.task.task_id, tenant)
