"""The ways in which local servers can fail to be there; each says what to do."""

from perdure.errors import PerdureError


class LocalServersError(PerdureError):
    """Base of what can go wrong with the local servers."""

    code = "PRD210"


class ServerNotFound(LocalServersError):
    """No route gave a binary of this server.

    Args:
        server: Its name.
        tried: Each route, with why it failed.
        install: What to install.
    """

    code = "PRD211"

    def __init__(self, server: str, tried: list[tuple[str, str]], install: str) -> None:
        self.tried = tried
        routes = "".join(f"\n  - {route}: {reason}" for route, reason in tried)
        super().__init__(f"{server} cannot be had. Tried:{routes}\nTo fix it: {install}")


class ServerNotStarted(LocalServersError):
    """A server was found and did not come up."""

    code = "PRD212"


class HomeUnusable(LocalServersError):
    """The data folder cannot be used: not writable, full, or held by somebody else."""

    code = "PRD213"
