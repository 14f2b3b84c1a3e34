"""The updates by which a running task is steered: it is paused, and goes on. Each is recorded at once."""

from collections.abc import Callable

from temporalio import workflow

from perdure.errors import InvalidTask
from perdure.names import PAUSE, RESUME
from perdure.steering import PauseRequest
from perdure.tasks import Progress
from perdure.temporal.errors import failure_of
from workflows.running_task import RunningTask


class Steerable:
    """What a workflow has that can be steered."""

    _running: RunningTask

    @workflow.update(name=PAUSE)
    async def pause(self, request: PauseRequest) -> Progress:
        """Pause: what is under way ends, and nothing new begins."""
        self._running.steering.pause(request, workflow.now())
        return self._shown()

    @pause.validator
    def _refuse_pause(self, request: PauseRequest) -> None:
        _refused(self._running.steering.check_pause, request)

    @workflow.update(name=RESUME)
    async def resume(self, request: PauseRequest) -> Progress:
        """Go on after a pause."""
        self._running.steering.resume(request, workflow.now())
        return self._shown()

    @resume.validator
    def _refuse_resume(self, request: PauseRequest) -> None:
        _refused(self._running.steering.check_resume, request)

    def _shown(self) -> Progress:
        self._running.show()
        return self._running.progress()


def _refused(check: Callable[[PauseRequest], None], request: PauseRequest) -> None:
    try:
        check(request)
    except InvalidTask as error:
        # Raised unchanged, it would lose its field and its fix on the way to the caller.
        raise failure_of(error) from None
