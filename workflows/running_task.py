"""A running task as its workflow holds it: state, questions, events and outbox, and what all of it shows."""

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from perdure.agent.chat import Chat
from perdure.agent.display import details
from perdure.agent.events import Events, awaited_by, require_awaited
from perdure.agent.goal_plan import conversation_of
from perdure.agent.plan import Plan
from perdure.agent.questions import Questions
from perdure.agent.reports import deadline_of, memory_of, progress_of
from perdure.agent.state import ANSWERED_KEPT, Learned, TaskRun, TaskState
from perdure.agent.steering import Steering
from perdure.agent.step_paths import require_step
from perdure.errors import InvalidTask, TaskConflict
from perdure.model import Instant
from perdure.names import BINDING, HANDLED, SESSION, TASK
from perdure.temporal.attributes import PHASE
from perdure.values.chats import ChatBox, ChatLog, handed_on_in
from perdure.values.events import Event, EventBox
from perdure.values.explanations import TaskMemory
from perdure.values.feedback import FeedbackNote
from perdure.values.steering import GivenFeedback, Redirection, Steered, TaskFeedback, TaskMessage
from perdure.values.tasks import Phase, Progress
from workflows.branches import Branches
from workflows.feedback_notes import FeedbackNotes
from workflows.outbox import Outbox

_SHOWN = 10
"""Tasks that are shown of those that its steps run; a choice."""


class RunningTask:
    """One task.

    Args:
        task: Its input; its carried state is what earlier runs left.
    """

    def __init__(self, task: TaskRun | None) -> None:
        self._input = task
        self._state = task.carried if task else None
        self._phase = self._label = Phase.PREPARING
        self.problem = ""
        self.branches = Branches()
        self.is_compensating = False
        """Whether its work has ended, and its effects are undone."""
        self.outbox = Outbox(self._state.learned if self._state else Learned())
        self.events = Events(self._state.events if self._state else EventBox())
        self.steering = Steering(self._state.steered if self._state else Steered())
        self.notes = FeedbackNotes()
        self.chat = Chat((self._state.chat if self._state else None) or _begun(task))
        self.is_rolling = False
        """Whether the run is about to continue as new, which waits for no reply."""
        self.called: dict[str, str] = {}
        """The tasks that its branches wait for, by their workflow ids."""
        self.questions = Questions(*(self._state.answered, self._state.lapsed) if self._state else ((), ()))
        for branch in self._state.branches.values() if self._state else ():
            if branch.question is not None:
                self.questions.ask(branch.question)

    @property
    def task(self) -> TaskRun:
        """The task; once it is prepared, with no more memory than its agent has."""
        if self._input is None:
            raise ApplicationError("there is no task", type=InvalidTask.__name__, non_retryable=True)
        return self._input.by(self._state.prepared) if self._state else self._input

    @property
    def is_prepared(self) -> bool:
        """Whether it has a state."""
        return self._state is not None

    @property
    def state(self) -> TaskState:
        """What is known of it, once it is prepared."""
        if self._state is None:
            raise ApplicationError("the task is not prepared yet", type=InvalidTask.__name__, non_retryable=True)
        return self._state

    @state.setter
    def state(self, state: TaskState) -> None:
        self._state = state

    def update(self, branch: str, **changes: Any) -> None:
        """Change a branch of the state."""
        self.state = self.state.branch(branch, **changes)

    def place(self, branch: str) -> str:
        """Return where a branch is, as summaries may say it."""
        here = self.state.branches[branch]
        return here.shown if self.state.prepared.summary_content and here.shown else here.path

    @property
    def whole(self) -> TaskState | None:
        """What is known, with what its questions, its events and its outbox know."""
        if self._state is None:
            return None
        answered, lapsed = self.questions.answered[-ANSWERED_KEPT:], self.questions.lapsed[-ANSWERED_KEPT:]
        live = {"learned": self.outbox.learned, "answered": answered, "lapsed": lapsed}
        chat = self.chat.box if self.task.chat else None
        return self._state.changed(**live, events=self.events.box, steered=self.steering.steered, chat=chat)

    @property
    def memo(self) -> dict[str, Any]:
        """What its workflow tells about it: what its id stands for, and where it writes what happens."""
        task = self.task
        session = task.session if task.memory.remembers else ""
        return {BINDING: self.state.prepared.binding, TASK: task.task_id, SESSION: session}

    @property
    def received(self) -> int:
        """How many events and requests came in this run: each is as long in the history as an activity."""
        return self.events.delivered + self.steering.received + self.chat.received

    @property
    def received_bytes(self) -> int:
        """The bytes of them."""
        return self.events.delivered_bytes + self.steering.received_bytes + self.chat.received_bytes

    @property
    def listens_until(self) -> Instant:
        """When a conversation ends if nothing is said."""
        return (self.chat.active_at or self.state.started_at) + timedelta(hours=self.task.limits.idle_hours)

    @property
    def until(self) -> Instant | None:
        """When it fails unless its work has ended; None: it has no deadline, or is not prepared."""
        return deadline_of(self.task, self._state) if self._state else None

    def chat_log(self) -> ChatLog:
        """Return the conversation as a person who comes back reads it."""
        tenant, until = (self._state.prepared.tenant, self.listens_until) if self._state else ("", None)
        return self.chat.log(self.task, tenant, until)

    def check_event(self, event: Event) -> None:
        """Refuse an event that no step can wait for, or that there is no room for.

        Raises:
            InvalidEvent: With what to do.
            InvalidTask: The task is ending.
        """
        if self.branches.ending or self.is_compensating:
            raise TaskConflict("task", "is ending: it waits for no event any more", fix="perdure status shows how")
        self.events.check(event, self._state.taken if self._state else ())
        if self._state is not None:
            self.require_awaited(event)

    def require_awaited(self, event: Event) -> None:
        """Refuse an event that no step of the task can wait for.

        Raises:
            InvalidEvent: With the nearest one.
        """
        require_awaited(event.name, awaited_by(self.state.prepared.skills))

    def check_message(self, request: TaskMessage | Redirection) -> None:
        """Refuse a message or a redirection that the task does not take.

        Raises:
            InvalidTask: With the reason.
        """
        if self.task.skill:
            problem = "runs a skill, whose steps are fixed: it takes no messages"
            fix = "answer its questions and deliver its events, or cancel it and run another task"
            raise InvalidTask("task", problem, fix=fix)
        if self.task.chat:
            raise InvalidTask("task", "is a conversation: it takes no messages of this kind", fix="use perdure chat")
        said = conversation_of(self._state) if self._state else None
        self.steering.check_message(request, len(said.constraints) if said else 0)

    def check_feedback(self, request: TaskFeedback) -> None:
        """Refuse feedback that the task does not take, and what is said of a step that it does not have.

        Raises:
            InvalidTask: With what to do.
        """
        self.steering.check_feedback(request)
        self.require_step(request)

    def note(self, given: GivenFeedback, identifier: str) -> None:
        """Have a person's word written into the task's session, if the task writes into one."""
        if not (self.is_prepared and self.task.memory.remembers):
            return
        prepared, session = self.state.prepared, self.task.session
        note = FeedbackNote(tenant=prepared.tenant, epoch=prepared.epoch, session=session, id=identifier, given=given)
        self.notes.write(note, prepared.heartbeat)

    def require_step(self, request: TaskFeedback) -> None:
        """Refuse what is said of a step that the task does not have, once that is known.

        Raises:
            InvalidTask: With the nearest one.
        """
        if self._state is not None:
            require_step(self._state, request.step)

    def hear(self, plan: Plan) -> None:
        """Let a plan take up what somebody told the task, if it can at the moment."""
        if (unread := self.steering.unread) and (state := plan.heard(self.state, unread)) is not None:
            self.state = state
            self.steering.read()
        if (message := self.chat.waiting) and (state := plan.heard(self.state, [message])) is not None:
            self.state = state
            self.chat.take()

    def close(self, phase: Phase) -> None:
        """Take no request any more, as the task ends; of one that was cancelled, note by whom."""
        if phase is Phase.CANCELLED:
            self.steering.cancelled(workflow.cancellation_reason() or "", workflow.now())
        self.steering.close()

    def progress(self) -> Progress:
        """Return where it is."""
        progress = progress_of(self.task, self.whole, self._phase)
        return progress.changed(
            questions=self.questions.open,
            tasks=tuple(self.called.values())[:_SHOWN],
            paused=self.steering.paused,
            interventions=self.steering.steered.interventions,
            unread=len(self.steering.unread),
            problem=self.problem,
        )

    def memory(self) -> TaskMemory:
        """Return what it has recalled and handed to memory."""
        return memory_of(self._state, self.outbox.learned) if self._state else TaskMemory()

    def do(self, branch: str, phase: Phase) -> None:
        """Note what a branch does, and show it."""
        self.branches.do(branch, phase)
        self.enter(self.branches.phase)

    def enter(self, phase: Phase) -> None:
        """Enter a phase, and show it."""
        if self.is_compensating and phase is Phase.RUNNING:
            phase = Phase.COMPENSATING
        self._phase = phase
        self.show()

    def show(self) -> None:
        """Show in the Temporal UI where it is; the inbox finds it by that while a question is open."""
        label = Phase.WAITING if self.questions.open else self._phase
        if label is not self._label:
            self._label = label
            workflow.upsert_search_attributes([PHASE.value_set(label)])
        recalls = self._state.recalls if self._state else ()
        workflow.set_current_details(details(self.progress(), recalls, workflow.info().workflow_id))


def _begun(task: TaskRun | None) -> ChatBox:
    """Return a conversation that begins, with the ids of the messages that those before it in its session answered."""
    if task is None or not task.chat:
        return ChatBox()
    try:
        handled: object = workflow.memo_value(HANDLED, ())
    except Exception:  # noqa: BLE001  whatever a converter raises
        # Whoever starts workflows can write any memo, in any encoding: raised here, an error would be retried for ever.
        return ChatBox()
    return ChatBox(handled=handed_on_in(handled))
