"""How the path of a request is read: an encoded slash belongs to the part that it is in.

Servers decode a whole path before anything looks for its parts. An id with a slash, which only a program that chooses
the id of a workflow itself gives it, would be two parts then, and nothing could be asked of it.
"""

from urllib.parse import quote, unquote

from starlette.types import ASGIApp, Receive, Scope, Send


class WholeParts:
    """Passes requests on with paths whose parts have no slash of their own; ``part_of`` returns what was sent.

    Args:
        app: What finds a route by the path.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            scope["path"] = decoded(scope["raw_path"])
        await self._app(scope, receive, send)


def decoded(raw: bytes) -> str:
    """Return a path as it was sent, decoded but for slashes within a part, and for the sign that begins an escape.

    >>> decoded(b"/tasks/a%2fb%20c/events"), decoded(b"/tasks/100%25")
    ('/tasks/a%2Fb c/events', '/tasks/100%25')
    """
    parts = (unquote(part) for part in raw.decode("ascii").split("/"))
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


def part_of(path_part: str) -> str:
    """Return what a part of such a path stands for.

    >>> part_of("a%2Fb c"), part_of("100%25")
    ('a/b c', '100%')
    """
    return path_part.replace("%2F", "/").replace("%25", "%")


def encoded(text: str) -> str:
    """Return a text as one part of a path.

    >>> encoded("a/b c")
    'a%2Fb%20c'
    """
    return quote(text, safe="")
