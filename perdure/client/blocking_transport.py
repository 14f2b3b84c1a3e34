"""Requests to a service, sent again where that is safe. Decides nothing of what they say.

Blocking. Written from ``transport.py`` by ``make reference``: change that one.
"""

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2
from pydantic_core import to_jsonable_python

from perdure.addresses import is_here
from perdure.client.problems import SERVICE, is_worth_another, problem_of
from perdure.errors import InvalidInput, PerdureError, StoreUnavailable

WITHIN = 90.0
"""Seconds that an answer may take beyond what the service was asked to wait: it waits 60 for a worker."""

ATTEMPTS = 4
"""How often a request is sent in all; a choice. With the pauses between, that takes three seconds."""

_PAUSE = 0.4
"""Seconds before the second attempt, twice as many before each further one; a choice."""

_LONGEST_PAUSE = 10.0
"""Seconds that the service may ask for between two attempts; beyond that, the caller is told. A choice."""


class BlockingServiceConnection:
    """A connection to a service.

    Every request that changes something has an idempotency key, or a batch's own key in its body, under which the
    service makes the change once: so all requests may be sent again.

    Args:
        url: Where the service is, such as ``https://memory.example.org``.
        token: What lets the caller in.
        within: Seconds that an answer may take.

    Raises:
        InvalidInput: The address is none.
    """

    def __init__(self, url: str, token: str, *, within: float = WITHIN) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput("url", f"{url!r} is not the address of a service", fix="write https://host:port")
        # Without a password that may be in it.
        self._address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        self._within = within
        self._web = httpx2.Client(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            follow_redirects=False,
            # A proxy would be sent the token for a service of this machine.
            trust_env=not is_here(parts.hostname),
        )

    def close(self) -> None:
        """Close the connection."""
        self._web.close()

    def get(self, path: str, params: Mapping[str, Any] | None = None, *, waits: float = 0.0) -> Any:
        """Return what is at a path, as JSON; ``waits`` are seconds that the service was asked to wait.

        Raises:
            PerdureError: What the service refuses, as it would be raised there.
            StoreUnavailable: It cannot be reached, or answers nothing that can be read.
        """
        return self._sent("GET", path, params, None, waits)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return what the service answers to a body, as JSON. Each call is a request of its own, however often sent.

        Raises:
            PerdureError: What the service refuses, as it would be raised there.
            StoreUnavailable: It cannot be reached, or answers nothing that can be read. It may have been taken.
        """
        return self._sent("POST", path, None, body, 0.0)

    def _sent(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
        waits: float,
    ) -> Any:
        given = {name: value for name, value in (params or {}).items() if value is not None}
        more: dict[str, Any] = {}
        if body is not None:
            more["json"] = to_jsonable_python(body)
            if "key" not in body:
                more["headers"] = {"Idempotency-Key": uuid4().hex}
        pause = _PAUSE
        for attempt in range(ATTEMPTS):
            wait: float | None = None
            try:
                answer = self._web.request(method, path, params=given, timeout=self._within + waits, **more)
            except (httpx2.HTTPError, httpx2.InvalidURL) as problem:
                error: PerdureError = StoreUnavailable(SERVICE, f"{self._address}{path}: {type(problem).__name__}")
                error.__cause__ = problem
            else:
                if answer.is_success:
                    return _json(answer, path)
                wait = _seconds(answer.headers.get("retry-after", ""))
                error = problem_of(answer.status_code, _json(answer), wait)
                if not is_worth_another(answer.status_code):
                    raise error
            if attempt + 1 == ATTEMPTS or (wait or 0.0) > _LONGEST_PAUSE:
                raise error
            time.sleep(max(pause, wait or 0.0))
            pause *= 2
        raise AssertionError("the last attempt returns or raises")


def _json(answer: httpx2.Response, path: str = "") -> Any:
    try:
        return answer.json()
    except (ValueError, RecursionError) as error:
        if not path:
            return None
        raise StoreUnavailable(SERVICE, f"{path}: what it answers is not JSON") from error


def _seconds(text: str) -> float | None:
    return float(text) if text.isdecimal() else None
