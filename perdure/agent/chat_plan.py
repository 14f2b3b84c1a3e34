"""The plan of a conversation: each message is worked on as a goal is, and its answer does not end the task. Pure."""

from collections.abc import Sequence

from perdure.agent.goal_plan import MAIN, GoalPlan, conversation_in, positioned, with_returned
from perdure.agent.messages import said
from perdure.agent.plan import Finish, Listen, Move, Unanswered
from perdure.agent.state import TaskState, Used
from perdure.agent.turns import Conversation, Returned
from perdure.model import Instant
from perdure.tolerance import taken_back
from perdure.values.steering import TakenMessage


class ChatPlan(GoalPlan):
    """Converses: takes up one message at a time, once the one before it is answered.

    What ends a task with a goal, a model that cannot be asked or that has used up what it may, and the task's limits of
    steps and tokens, ends the answer to one message: the next one is heard, and all of them count anew for it. A call
    about which nobody answers a question in time fails, and the model is told so.
    """

    unanswered = Unanswered.CALL_FAILS

    def begin(self, state: TaskState) -> TaskState:
        """Return the state before the first message, or where an earlier run of the task stood."""
        earlier = self._prepared.position
        state = positioned(state, Conversation() if earlier is None else taken_back(Conversation, earlier))
        return _counting_anew(state)

    def next(self, state: TaskState, now: Instant) -> Move:
        """Return what brings the answer nearer, or the answer."""
        conversation = conversation_in(state)
        if not conversation.message:
            return Listen()
        move = super().next(state, now)
        if not isinstance(move, Finish):
            return move
        if move.problem or conversation.last is None:
            return Listen(problem=move.problem)
        return Listen(reply=conversation.last.text)

    def refused(self, state: TaskState, branch: str, problem: str) -> TaskState | None:
        """Return the state in which the answer ends with the problem, once the calls under way have ended."""
        if branch != MAIN:
            state = with_returned(state, branch, Returned(problem=f"not called: {problem}"))
        return state.changed(failure=problem)

    def heard(self, state: TaskState, messages: Sequence[TakenMessage]) -> TaskState | None:
        """Return the state with a message in the conversation; None until the one before it is answered."""
        if not isinstance(self.next(state, state.started_at), Listen):
            return None
        conversation = conversation_in(state)
        for message in messages:
            conversation = said(conversation, message)
        return positioned(_counting_anew(state).changed(failure=""), conversation)

    def _sought(self, conversation: Conversation) -> str:
        """Return what memory is asked: what was said last."""
        last = conversation.last
        return last.heard[-1].text if last is not None and last.heard else ""


def _counting_anew(state: TaskState) -> TaskState:
    """Return the state from which on the limits count anew."""
    return state.changed(used_before=Used(steps=state.begun, tokens=state.tokens))
