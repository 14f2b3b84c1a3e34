"""What people and programs do to one task while it runs: each request counts once. Does nothing to the task. Pure."""

from perdure.documents import refuse_unknown
from perdure.errors import InvalidTask
from perdure.model import Instant, Request, json_size
from perdure.steering import Intervention, InterventionKind, PauseRequest, Steered, require_named

HANDLED_KEPT = 500
"""Ids of requests that are recognised as duplicates: the last ones; a choice. ASCII ones take 50 kB at most."""

INTERVENTIONS_KEPT = 20
"""Interventions that are listed: the last ones; a choice."""


class Steering:
    """Whether a task pauses, and who did what to it.

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

    def close(self) -> None:
        """Take nothing more: the task ends."""
        self._is_closed = True

    def check_pause(self, request: PauseRequest) -> None:
        """Refuse a pause that changes nothing. A duplicate is accepted.

        Raises:
            InvalidTask: The task pauses already, or ends; or who asks has too long an id.
        """
        self._check(request)
        if self._steered.paused is not None and not self._is_handled(request.id):
            raise InvalidTask("task", f"is {self._steered.paused.told}", fix="perdure resume has it go on")

    def check_resume(self, request: PauseRequest) -> None:
        """Refuse to go on with a task that does not pause. A duplicate is accepted.

        Raises:
            InvalidTask: The task does not pause, or ends; or who asks has too long an id.
        """
        self._check(request)
        if self._steered.paused is None and not self._is_handled(request.id):
            raise InvalidTask("task", "is not paused", fix="perdure status shows what it waits for")

    def pause(self, request: PauseRequest, at: Instant) -> None:
        """Pause; a known id changes nothing. It does not check again, as a replay does not check either."""
        if self._is_new(request, request.id) and self._steered.paused is None:
            paused = self._record(InterventionKind.PAUSED, request, at)
            self._steered = self._steered.changed(paused=paused)

    def resume(self, request: PauseRequest, at: Instant) -> None:
        """Go on; a known id changes nothing."""
        if self._is_new(request, request.id) and self._steered.paused is not None:
            self._record(InterventionKind.RESUMED, request, at)
            self._steered = self._steered.changed(paused=None)

    def _check(self, request: PauseRequest) -> None:
        refuse_unknown(request, "", InvalidTask)
        require_named(request.by)
        if self._is_closed:
            raise InvalidTask("task", "is ending", fix="perdure status shows how")

    def _is_handled(self, identifier: str) -> bool:
        return bool(identifier) and identifier in self._steered.handled

    def _is_new(self, request: Request, identifier: str) -> bool:
        """Count a request, and return whether it did not come before."""
        self.received += 1
        self.received_bytes += json_size(request.model_dump(mode="json"))
        if self._is_handled(identifier):
            return False
        if identifier:
            self._steered = self._steered.changed(handled=(*self._steered.handled, identifier)[-HANDLED_KEPT:])
        return True

    def _record(self, kind: InterventionKind, request: PauseRequest, at: Instant) -> Intervention:
        found = Intervention(kind=kind, by=request.by, at=at, because=request.because)
        kept = (*self._steered.interventions, found)[-INTERVENTIONS_KEPT:]
        self._steered = self._steered.changed(interventions=kept)
        return found
