"""What a body may be, before anything reads it: bytes, seconds, JSON in UTF-8, how deep and of how many fields."""

import asyncio
import contextlib
import json
from array import array
from itertools import accumulate
from typing import NoReturn

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perdure.errors import PerdureError
from perdure.model import DEEPEST_VALUE
from perdure.refusals import BodyTooLarge, BodyTooSlow, BodyUnsupported, RequestRefused
from worker.http.problems import answer_of
from worker.http.request_places import RequestPlaces

MOST_BYTES = 2_000_000
"""Bytes of a body: a batch may have 1.5 MB, which is as long in JSON with spaces."""

WITHIN = 20.0
"""Seconds within which a body has to arrive; a choice."""

OPEN_WITHIN = 3.0
"""Seconds within which it has to arrive where nobody has shown a token; a choice."""

OPEN_AT_ONCE = 100
"""Bodies that may be on their way at once where nobody has shown a token; a choice. More of them keep nobody out who
has one."""

OPEN_OF_ONE = 20
"""Those from one address; a choice: behind a proxy, all have its own."""

_ENVELOPE = 16
"""Levels of a request around a value that a task may carry; a choice."""

DEEPEST = DEEPEST_VALUE + _ENVELOPE
"""Lists and objects within one another; parsers stop at 200."""

MOST_FIELDS = 20_000
"""Fields of all objects within a body; a choice: a hundred items with two hundred fields each. Refusing 150,000 unknown
ones, each by its name, held everybody else up for a second (measured)."""

MOST_FORM_BYTES = 64_000
"""Bytes of a form; a choice: a text has at most 8,000 characters, and each may take twelve bytes in a form."""

_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
"""A level down for each bracket that opens, and one up for each that closes, as signed bytes."""

_NO_BRACKETS = bytes(sorted({*range(256)} - {*b"[]{}"}))

_BODIED = ("POST", "PUT", "PATCH", "DELETE")


class BodyLimits:
    """Reads each body whole before the application does, and refuses what it must not read.

    Args:
        app: The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open = RequestPlaces(OPEN_AT_ONCE, OPEN_OF_ONE, "requests without a token")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body."""
        if scope["type"] != "http" or scope["method"] not in _BODIED:
            await self._app(scope, receive, send)
            return
        form = scope["state"].get("form", False)
        try:
            if scope["state"].get("open", False):
                address = scope["client"][0] if scope.get("client") else ""
                with self._open.entered(address):
                    body = await _read(Headers(scope=scope), receive, form=form, within=OPEN_WITHIN)
            else:
                body = await _read(Headers(scope=scope), receive, form=form, within=WITHIN)
        except PerdureError as error:
            answer = answer_of(error, scope["state"]["request_id"], {"Connection": "close"})
            await answer(scope, receive, send)
            return
        if body is not None:
            scope["state"]["body"] = body
            try:
                await self._app(scope, _Given(body, receive), send)
            finally:
                # The connection keeps its last request for as long as it is idle.
                del scope["state"]["body"]


class _Given:
    """A body that was read, and after it whatever the client still says: that it went away."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


async def _read(headers: Headers, receive: Receive, *, form: bool, within: float) -> bytes | None:
    """Return the body, of a form where a page is asked; None: the client went away."""
    told, most = headers.get("content-length", ""), MOST_FORM_BYTES if form else MOST_BYTES
    if told.isdecimal() and int(told) > most:
        raise _too_large(most)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(within):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    raise _too_large(most)
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise BodyTooSlow(f"the body did not arrive within {within:.0f} s") from None
    body = b"".join(parts)
    if body and form:
        _require_form(headers)
    elif body:
        _require_json(headers)
        require_readable(body)
    return body


def _too_large(most: int) -> BodyTooLarge:
    return BodyTooLarge(f"the body has more than {most:,} bytes (send fewer items at a time)")


def _require_form(headers: Headers) -> None:
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise BodyUnsupported("the body is not said to be a form")


def _require_json(headers: Headers) -> None:
    media, _, rest = headers.get("content-type", "").partition(";")
    if media.strip().lower() != "application/json":
        raise BodyUnsupported("the body is not said to be JSON (send Content-Type: application/json)")
    for part in rest.split(";"):
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset" and value.strip().strip('"').lower() not in ("utf-8", "utf8"):
            raise BodyUnsupported("the body is said not to be UTF-8, which JSON is in")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise BodyUnsupported("the body is compressed (send it as it is)")


def require_readable(body: bytes) -> None:
    """Check that a body is UTF-8, has numbers of JSON alone, and neither more levels nor more fields than can be read.

    Raises:
        RequestRefused: It is not.
    """
    try:
        body.decode()
    except UnicodeDecodeError:
        raise RequestRefused("the body is not UTF-8") from None
    depth, fields = _shape(body)
    if depth > DEEPEST:
        raise RequestRefused(f"the body is nested deeper than {DEEPEST} levels")
    if fields > MOST_FIELDS:
        raise RequestRefused(f"the body has more than {MOST_FIELDS:,} fields (send fewer items at a time)")
    if b"NaN" in body or b"Infinity" in body:
        with contextlib.suppress(ValueError):
            json.loads(body, parse_constant=_no_number)


def _no_number(constant: str) -> NoReturn:
    raise RequestRefused(f"the body is not JSON: {constant} is no number of it")


def _shape(body: bytes) -> tuple[int, int]:
    """Return how deeply brackets are nested outside texts, and how many colons there are, whether or not it is JSON.

    No step goes through the bytes in Python: of 2 MB of quotes, that held everybody else up for a second (measured).
    """
    outside = b"".join(body.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    steps = array("b", outside.translate(_STEPS, _NO_BRACKETS))
    return max(accumulate(steps), default=0), outside.count(b":")
