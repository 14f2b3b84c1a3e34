"""What a proxy says of a request that it passes on, by the headers that proxies add. Pure.

Anybody can send these headers. So they only ever make the service stricter: they give nobody a right.
"""

from starlette.datastructures import Headers
from starlette.types import Scope

_ADDED = frozenset({b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"})


def is_forwarded(scope: Scope) -> bool:
    """Return whether a proxy says that it passes a request on: its own address is not where that comes from."""
    return any(name in _ADDED for name, _ in scope["headers"])


def is_from_https(scope: Scope) -> bool:
    """Return whether the client is said to speak HTTPS with the first proxy on the way."""
    headers = Headers(scope=scope)
    pairs = (pair.partition("=") for pair in _first(headers.get("forwarded", "")).split(";"))
    told = {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}
    return "https" in (told.get("proto", "").lower(), _first(headers.get("x-forwarded-proto", "")).lower())


def _first(values: str) -> str:
    return values.partition(",")[0].strip()
