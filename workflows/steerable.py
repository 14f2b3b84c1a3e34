"""The updates that steer a running task: pauses, messages, redirections, feedback. Each is recorded at once."""

from collections.abc import Callable
from typing import TypeVar

from temporalio import workflow

from perdure.errors import InvalidTask
from perdure.identity import digest
from perdure.names import FEEDBACK, MESSAGE, PAUSE, REDIRECT, RESUME
from perdure.temporal.errors import failure_of
from perdure.values.steering import (
    PauseRequest,
    Redirection,
    SteeringRequest,
    TaskFeedback,
    TaskMessage,
)
from perdure.values.tasks import Progress
from workflows.running_task import RunningTask

S = TypeVar("S", bound=SteeringRequest)


class Steerable:
    """What a workflow has that can be steered."""

    _running: RunningTask

    @workflow.update(name=PAUSE)
    async def pause(self, request: PauseRequest) -> Progress:
        """Pause: what is under way ends, and nothing new begins."""
        self._running.steering.pause(identified(request), workflow.now())
        return self._shown()

    @pause.validator
    def _refuse_pause(self, request: PauseRequest) -> None:
        _check(self._running.steering.check_pause, request)

    @workflow.update(name=RESUME)
    async def resume(self, request: PauseRequest) -> Progress:
        """Go on after a pause."""
        self._running.steering.resume(identified(request), workflow.now())
        return self._shown()

    @resume.validator
    def _refuse_resume(self, request: PauseRequest) -> None:
        _check(self._running.steering.check_resume, request)

    @workflow.update(name=MESSAGE)
    async def message(self, request: TaskMessage) -> Progress:
        """Tell the model something, which it sees before its next turn."""
        self._running.steering.tell(identified(request), workflow.now())
        return self._shown()

    @message.validator
    def _refuse_message(self, request: TaskMessage) -> None:
        _check(self._running.check_message, request)

    @workflow.update(name=REDIRECT)
    async def redirect(self, request: Redirection) -> Progress:
        """Give the task another goal, or further constraints, which its model sees before its next turn."""
        self._running.steering.redirect(identified(request), workflow.now())
        return self._shown()

    @redirect.validator
    def _refuse_redirect(self, request: Redirection) -> None:
        _check(self._running.check_message, request)

    @workflow.update(name=FEEDBACK)
    async def feedback(self, request: TaskFeedback) -> Progress:
        """Let a person's word on a step, or on the task, count in its evaluation."""
        running = self._running
        if not running.is_prepared:
            # Only now it is known which steps it has.
            await workflow.wait_condition(lambda: running.is_prepared or running.branches.ending)
            try:
                running.require_step(request)
            except InvalidTask as error:
                raise failure_of(error) from None
        request = identified(request)
        if (given := running.steering.judge(request, workflow.now())) is not None:
            running.note(given, request.id)
        return self._shown()

    @feedback.validator
    def _refuse_feedback(self, request: TaskFeedback) -> None:
        _check(self._running.check_feedback, request)

    def _shown(self) -> Progress:
        self._running.show()
        return self._running.progress()


def identified(request: S) -> S:
    """Return a request with an id, as Temporal recognises an update's own id only within one run."""
    update = workflow.current_update_info()
    if request.id or update is None:
        return request
    return request.changed(id=f"update {digest('update/1', update.id)[:32]}")


def _check(check: Callable[[S], None], request: S) -> None:
    try:
        check(identified(request))
    except InvalidTask as error:
        # Raised unchanged, it would lose its field and its fix on the way to the caller.
        raise failure_of(error) from None
