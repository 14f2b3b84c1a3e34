"""The ways in which starting local servers can fail; each message says what to do."""

from perdure.errors import PerdureError


class LocalServersError(PerdureError):
    """Base of all errors of the local servers."""

    code = "PRD210"


class RouteFailed(Exception):
    """One route led to no binary, for the reason that this contains; the next one is tried."""


class ServerNotFound(LocalServersError):
    """No route led to a binary of this server.

    Args:
        server: Its name.
        tried: Each route, with why it failed.
        install: What to install.
    """

    code = "PRD211"

    def __init__(self, server: str, tried: list[tuple[str, str]], install: str) -> None:
        self.tried = tried
        routes = "".join(f"\n  - {route}: {reason}" for route, reason in tried)
        super().__init__(f"{server} could not be found or installed. Tried:{routes}\nTo fix it: {install}")


class ServerNotStarted(LocalServersError):
    """A server was found but did not start."""

    code = "PRD212"


class ServerNotStopped(LocalServersError):
    """A process that was to stop is still there."""

    code = "PRD214"


class HomeUnusable(LocalServersError):
    """The data folder is not writable, is full, or belongs to another process."""

    code = "PRD213"
