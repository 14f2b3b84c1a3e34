"""What people and programs do to one task while it runs: each request counts once. Does nothing to the task. Pure."""

from collections.abc import Iterable

from perdure.documents import refuse_unknown
from perdure.errors import InvalidTask, TaskConflict
from perdure.model import Instant, json_size
from perdure.plurals import counted
from perdure.values.changes import Actor
from perdure.values.feedback import standing
from perdure.values.steering import (
    MOST_CONSTRAINTS,
    Cancellation,
    GivenFeedback,
    Intervention,
    InterventionKind,
    PauseRequest,
    Redirection,
    Steered,
    SteeringRequest,
    TakenMessage,
    TaskFeedback,
    TaskMessage,
    require_judge,
    require_named,
)
from perdure.values.tasks import Evaluation, Judgement

HANDLED_KEPT = 500
"""Ids of requests that are recognised as duplicates: the last ones; a choice. ASCII ones take 50 kB at most."""

INTERVENTIONS_KEPT = 20
"""Interventions that are listed: the last ones; a choice."""

MOST_UNREAD = 20
"""Messages that wait until the model takes its next turn, a choice: they come from people, and a turn takes minutes."""

MOST_FEEDBACK = 50
"""Times that people judge a task or its steps, a choice: all of them are in its result."""

MOST_BYTES = 100_000
"""Bytes of them together: they travel with the task, and the model reads them at once."""


class Steering:
    """Whether a task pauses, what its model has not seen yet, and who did what to it.

    Args:
        steered: What earlier runs left.
    """

    def __init__(self, steered: Steered) -> None:
        self._steered = steered
        self._is_closed = False
        self.received = 0
        """Requests in this run, duplicates as well."""
        self.received_bytes = 0

    @property
    def steered(self) -> Steered:
        """What the next run needs."""
        return self._steered

    @property
    def paused(self) -> Intervention | None:
        """Since when the task pauses; None: it does not."""
        return None if self._is_closed else self._steered.paused

    @property
    def is_paused(self) -> bool:
        """Whether nothing new may begin."""
        return self.paused is not None

    @property
    def unread(self) -> tuple[TakenMessage, ...]:
        """The messages that the model has not seen yet."""
        return self._steered.unread

    def cancelled(self, reason: str, at: Instant) -> None:
        """Note who had the task stop, and why, as the reason of its cancellation says."""
        given = Cancellation.of(reason)
        self._list(Intervention(kind=InterventionKind.CANCELLED, by=given.by, at=at, because=given.because))

    def close(self) -> None:
        """Take nothing more: the task ends."""
        self._is_closed = True

    def read(self) -> None:
        """Note that the messages are in the model's conversation."""
        self._steered = self._steered.changed(unread=())

    def begun(self, by: Actor, at: Instant, what: str) -> None:
        """Note that somebody had the task begin at a step."""
        self._list(Intervention(kind=InterventionKind.BEGUN, by=by, at=at, what=what))

    def check_pause(self, request: PauseRequest) -> None:
        """Refuse a pause that changes nothing. A duplicate is accepted.

        Raises:
            InvalidTask: The task pauses already, or ends; or who asks has too long an id.
        """
        self._check(request)
        if self._steered.paused is not None and not self._is_handled(request.id):
            raise TaskConflict("task", f"is {self._steered.paused.told}", fix="to continue: perdure resume")

    def check_resume(self, request: PauseRequest) -> None:
        """Refuse to go on with a task that does not pause. A duplicate is accepted.

        Raises:
            InvalidTask: The task does not pause, or ends; or who asks has too long an id.
        """
        self._check(request)
        if self._steered.paused is None and not self._is_handled(request.id):
            raise TaskConflict("task", "is not paused", fix="perdure status shows what it waits for")

    def check_message(self, request: TaskMessage | Redirection, constraints: int = 0) -> None:
        """Refuse a message that there is no room for, and a redirection that changes nothing. A duplicate is accepted.

        Args:
            request: The message or redirection.
            constraints: How many the model has been given already.

        Raises:
            InvalidTask: With what to do.
        """
        self._check(request)
        if self._is_handled(request.id):
            return
        if isinstance(request, Redirection):
            if not (request.goal.strip() or request.constraints):
                raise InvalidTask("goal", "is missing, and there are no constraints", fix="give one of the two")
            given = constraints + sum(len(one.constraints) for one in self.unread)
            if given + len(request.constraints) > MOST_CONSTRAINTS:
                problem = f"would be more than {MOST_CONSTRAINTS} with the {given} that there are"
                raise TaskConflict("constraints", problem, fix="none is ever dropped: start another task")
        fix = "send it again once the model has taken its next turn"
        if len(self.unread) >= MOST_UNREAD:
            raise TaskConflict("task", f"has {len(self.unread)} messages that its model has not seen", fix=fix)
        size = sum(json_size(one.model_dump(mode="json")) for one in (*self.unread, request))
        if size > MOST_BYTES:
            raise TaskConflict("task", f"has more than {MOST_BYTES:,} bytes that its model has not seen", fix=fix)

    def check_feedback(self, request: TaskFeedback) -> None:
        """Refuse feedback that is no person's, or that there is no room for. A duplicate is accepted.

        Raises:
            InvalidTask: With what to do.
        """
        self._check(request)
        if self._is_handled(request.id):
            return
        require_judge(request.by)
        if len(self._steered.feedback) >= MOST_FEEDBACK:
            raise TaskConflict("task", f"has been judged {counted(MOST_FEEDBACK, 'time')} already, and takes no more")

    def pause(self, request: PauseRequest, at: Instant) -> None:
        """Pause; a known id changes nothing. It does not check again, as a replay does not check either."""
        if self._is_new(request) and self._steered.paused is None:
            paused = self._record(InterventionKind.PAUSED, request, at, because=request.because)
            self._steered = self._steered.changed(paused=paused)

    def resume(self, request: PauseRequest, at: Instant) -> None:
        """Go on; a known id changes nothing."""
        if self._is_new(request) and self._steered.paused is not None:
            self._record(InterventionKind.RESUMED, request, at, because=request.because)
            self._steered = self._steered.changed(paused=None)

    def tell(self, request: TaskMessage, at: Instant) -> None:
        """Keep a message for the model's next turn; a known id changes nothing."""
        if self._is_new(request):
            self._record(InterventionKind.TOLD, request, at)
            self._keep(TakenMessage(id=request.id, text=request.text, by=request.by, at=at))

    def redirect(self, request: Redirection, at: Instant) -> None:
        """Keep a redirection for the model's next turn; a known id changes nothing."""
        if self._is_new(request):
            goal, given = request.goal.strip(), request.constraints
            what = " and ".join(filter(None, ["another goal" if goal else "", _counted(len(given))]))
            self._record(InterventionKind.REDIRECTED, request, at, because=request.because, what=what)
            self._keep(TakenMessage(id=request.id, goal=goal, constraints=given, by=request.by, at=at))

    def judge(self, request: TaskFeedback, at: Instant) -> GivenFeedback | None:
        """Keep feedback for the task's evaluation, and return it; None: its id is known, and it changes nothing."""
        if not self._is_new(request):
            return None
        # The activity that notes it makes the history longer, too.
        self.received += 1
        verdict = "passed" if request.passed else "not passed"
        what = f"step {request.step}: {verdict}" if request.step else verdict
        self._record(InterventionKind.JUDGED, request, at, because=request.text, what=what)
        given = GivenFeedback(step=request.step, passed=request.passed, text=request.text, by=request.by, at=at)
        self._steered = self._steered.changed(feedback=(*self._steered.feedback, given))
        return given

    def _check(self, request: SteeringRequest) -> None:
        refuse_unknown(request, error=InvalidTask)
        require_named(request.by)
        if self._is_closed:
            raise TaskConflict("task", "is ending", fix="perdure status shows how")

    def _is_handled(self, identifier: str) -> bool:
        return bool(identifier) and identifier in self._steered.handled

    def _is_new(self, request: SteeringRequest) -> bool:
        """Count a request, and return whether it did not come before."""
        self.received += 1
        self.received_bytes += json_size(request.model_dump(mode="json"))
        if self._is_handled(request.id):
            return False
        if request.id:
            self._steered = self._steered.changed(handled=(*self._steered.handled, request.id)[-HANDLED_KEPT:])
        return True

    def _keep(self, message: TakenMessage) -> None:
        self._steered = self._steered.changed(unread=(*self._steered.unread, message))

    def _record(self, kind: InterventionKind, request: SteeringRequest, at: Instant, **more: str) -> Intervention:
        found = Intervention(kind=kind, by=request.by, at=at, **more)
        self._list(found)
        return found

    def _list(self, found: Intervention) -> None:
        kept = (*self._steered.interventions, found)[-INTERVENTIONS_KEPT:]
        self._steered = self._steered.changed(interventions=kept)


def judged_by_people(evaluation: Evaluation | None, feedback: Iterable[GivenFeedback]) -> Evaluation | None:
    """Return an evaluation with what people said while the task ran; None: nobody and nothing judges the task.

    A later word takes back an earlier one.
    """
    said = tuple(Judgement(by="person", passed=one.passed, reason=one.told) for one in standing(feedback))
    judgements = (*(evaluation.judgements if evaluation else ()), *said)
    return Evaluation(judgements=judgements) if judgements else None


def _counted(constraints: int) -> str:
    return "" if not constraints else "1 constraint" if constraints == 1 else f"{constraints} constraints"
