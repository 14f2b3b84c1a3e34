"""What the exit status of a process means."""

from enum import IntEnum

from perdure.errors import InvalidInput, PerdureError, StoreRefused, Unavailable
from perdure.models.errors import ModelRefused


class Exit(IntEnum):
    """What an exit status means."""

    DONE = 0
    FAILED = 1
    """It ran, and it failed: a task, a check, a sweep."""
    REFUSED = 2
    """The input or a login is wrong; the message names the field and the fix."""
    UNAVAILABLE = 3
    """A server does not answer; nothing is wrong with the input."""
    DETACHED = 130
    """Ctrl-C: what was started goes on."""


def status_of(error: PerdureError) -> Exit:
    """Return the exit status for an error: wrong input or login, a server that does not answer, or just a failure."""
    if isinstance(error, Unavailable):
        return Exit.UNAVAILABLE
    return Exit.REFUSED if isinstance(error, InvalidInput | StoreRefused | ModelRefused) else Exit.FAILED
