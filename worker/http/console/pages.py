"""How pages are made: by templates that escape all that they show, under headers that let nothing else run."""

import functools
import json
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from perdure.errors import PerdureError
from perdure.values.access_tokens import Caller, TokenScope
from perdure.values.entries import headline_of
from worker.http.console.session import FIELD, LOGIN, cookie_of, proof_of
from worker.http.path_parts import encoded
from worker.http.problems import audited, status_of

HTML = "text/html"

_HERE = Path(__file__).parent

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing that a memory says can run: scripts and styles are our own files."""

_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}

_STATIC = {
    "console.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "htmx.min.js": "text/javascript; charset=utf-8",
}

PAGES = (
    ("/inbox", "Inbox", TokenScope.TASKS),
    ("/memories", "Memories", TokenScope.READ),
    ("/tasks", "Tasks", TokenScope.TASKS),
    ("/forgetting", "Forgetting", TokenScope.ERASE),
    ("/status", "Status", TokenScope.OPERATE),
)
"""The pages that one goes to, and what a token has to permit for each."""


def _when(moment: datetime | None) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if moment else ""


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


@functools.cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Jinja's own ``urlencode`` leaves slashes as they are.
    made.filters |= {"when": _when, "as_json": _as_json, "headline": headline_of, "path_part": encoded}
    return made


def page(request: Request, name: str, *, status: int = 200, **values: Any) -> Response:
    """Return a page, or the part of one, from its template."""
    caller: Caller | None = getattr(request.state, "caller", None)
    shown = {
        "caller": caller,
        "user": user_named(request),
        "csrf": proof_of(cookie_of(request.scope)),
        "pages": [(place, name) for place, name, scope in PAGES if caller and scope in caller.scopes],
        "csrf_field": FIELD,
        "here": request.url.path,
        "now": datetime.now(UTC),
        **values,
    }
    text = _templates().get_template(name).render(shown)
    return Response(text, status, _HEADERS, f"{HTML}; charset=utf-8")


def user_named(request: Request) -> str:
    """Return for whom a page is shown: the token's own user, or who is named in the address; empty: nobody."""
    caller: Caller | None = getattr(request.state, "caller", None)
    return request.query_params.get("user", "") or (caller and caller.user_id) or ""


def place_of(path: str, request: Request) -> str:
    """Return the address of a page that is shown for the same user: a token of one user names nobody."""
    caller: Caller = request.state.caller
    user = user_named(request)
    return path if caller.user_id or not user else f"{path}?user={quote(user, safe='')}"


def sent_to(place: str) -> Response:
    """Return the answer that sends a browser to another page, after a form as well."""
    return RedirectResponse(place, 303, _HEADERS)


def static(name: str) -> Response | None:
    """Return a file of the pages; None: there is none of this name."""
    media = _STATIC.get(name)
    if media is None:
        return None
    return Response((_HERE / "static" / name).read_bytes(), 200, _HEADERS, media)


def is_part(request: Request) -> bool:
    """Return whether a script of the page asks, which puts the answer into the page."""
    return "hx-request" in request.headers


def problem_page(request: Request, error: PerdureError) -> Response:
    """Return the page of an error, or the part of a page: what is wrong, and what to do."""
    audited(request, error)
    text = error.message
    if is_part(request):
        return page(request, "answered.html", status=status_of(error), problem=text, value="")
    answer = page(request, "problem.html", status=status_of(error), problem=text, code=error.code)
    if error.retry_after:
        answer.headers["Retry-After"] = f"{error.retry_after:.0f}"
    return answer


def login_instead(request: Request) -> Response:
    """Return the answer that sends a browser to the login, also one whose script has asked for a part of a page."""
    if is_part(request):
        return Response("", 200, {**_HEADERS, "HX-Redirect": LOGIN})
    return sent_to(LOGIN)


def shown(handler: Callable[..., Coroutine[Any, Any, Response]]) -> Callable[..., Coroutine[Any, Any, Response]]:
    """Decorate a page: errors are answered by a page too."""

    @functools.wraps(handler)
    async def answered(*, request: Request, **given: Any) -> Response:
        try:
            return await handler(request=request, **given)
        except PerdureError as error:
            return problem_page(request, error)

    return answered
