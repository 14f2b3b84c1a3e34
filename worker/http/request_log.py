"""Around each request: its id, in the answer, the log and the span; one line of log; what is counted and measured."""

import re
import secrets
import time
import traceback

import structlog
from opentelemetry import metrics, propagate, trace
from opentelemetry.trace import SpanKind, StatusCode
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perdure.errors import PerdureError, Unavailable
from worker.http.problems import answer_of

_ID = re.compile(r"[A-Za-z0-9._-]{1,80}")
"""An id that a caller may give to a request: nothing in it can end a header or a line of log."""

_log = structlog.get_logger(__name__)
_tracer = trace.get_tracer("perdure")

MOST_AT_ONCE = 2_000
"""Requests under way beyond which others are told to ask again; a choice. The probe of the process is none of them."""

_SECURITY = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
"""Answers hold what people told in confidence: nothing on the way keeps them or takes them for a page."""


class Observing:
    """Names, logs and measures each request.

    Args:
        app: What answers it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way = 0
        meter = metrics.get_meter("perdure")
        self._seconds = meter.create_histogram(
            "http.server.request.duration",
            unit="s",
            description="How long requests took, by route and status.",
            explicit_bucket_boundaries_advisory=[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
        )
        self._active = meter.create_up_down_counter(
            "http.server.active_requests", description="Requests that are under way."
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        identifier = given if _ID.fullmatch(given) else secrets.token_hex(8)
        scope["state"] = {**scope.get("state", {}), "request_id": identifier, "route": "no route"}
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                answer = MutableHeaders(scope=message)
                answer["X-Request-Id"] = identifier
                for name, value in _SECURITY.items():
                    answer[name] = value
            await send(message)

        began = time.perf_counter()
        self._under_way += 1
        self._active.add(1)
        with (
            structlog.contextvars.bound_contextvars(request=identifier),
            _tracer.start_as_current_span(
                "http", context=propagate.extract(headers), kind=SpanKind.SERVER, record_exception=False
            ) as span,
        ):
            try:
                await self._answering(scope["path"], identifier)(scope, receive, sending)
            except Exception as error:
                # Where, and not what: its text may quote what a caller sent.
                _log.error("defect", kind=type(error).__name__, at=_place(error))
                if status:
                    raise
                await answer_of(PerdureError("this is a defect of the service; its log has more"), identifier)(
                    scope, receive, sending
                )
            finally:
                seconds = time.perf_counter() - began
                self._under_way -= 1
                self._active.add(-1)
                route = str(scope["state"]["route"])
                method, _, path = route.rpartition(" ")
                told = {"http.route": path, "http.request.method": method, "http.response.status_code": status}
                self._seconds.record(seconds, told)
                span.update_name(route)
                span.set_attributes({**told, "perdure.request": identifier})
                if status >= 500:
                    span.set_status(StatusCode.ERROR)
                _log.info("answered", route=route, status=status, ms=round(seconds * 1000, 1))

    def _answering(self, path: str, identifier: str) -> ASGIApp:
        """Return what answers a request that is counted already."""
        if self._under_way <= MOST_AT_ONCE or path == "/livez":
            return self._app
        problem = f"this service has {MOST_AT_ONCE:,} requests under way: ask again in a moment"
        return answer_of(Unavailable(problem), identifier)


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
