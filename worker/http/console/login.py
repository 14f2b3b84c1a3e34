"""Log in and log out."""

from fastapi import Request
from starlette.responses import Response

from perdure.errors import Unavailable
from perdure.refusals import NoSuchPath, NotAuthenticated
from perdure.values.changes import PROGRAM
from worker.access.authentication import Authenticator
from worker.gateway import Gateway
from worker.http.console.forms import form_of
from worker.http.console.pages import HTML, PAGES, page, sent_to, shown, static
from worker.http.console.session import LOGIN, Sessions, cookie_of
from worker.http.endpoints import Routes
from worker.http.forwarding import is_forwarded, is_from_https

routes = Routes("console")

_ASKED = f"POST {LOGIN}"
"""What a login is called in the audit."""


@routes.at("GET", "/", None, media=HTML, browser=True)
@shown
async def first_page(*, request: Request) -> Response:
    """Send whoever comes to the inbox, which sends those without a token on."""
    return sent_to(PAGES[0][0])


@routes.at("GET", LOGIN, None, media=HTML, browser=True)
@shown
async def login_page(*, request: Request) -> Response:
    """Ask for a token, and say why none lets anybody in now, or why the browser's own does so no longer."""
    return _login_page(request, await _refused(request))


@routes.at("POST", LOGIN, None, media=HTML, browser=True)
@shown
async def log_in(*, request: Request) -> Response:
    """Take a token that counts."""
    token = form_of(request).text("token").strip()
    authenticator: Authenticator = request.app.state.authenticator
    gateway: Gateway = request.app.state.gateway
    address, forwarded = request.client.host if request.client else "", is_forwarded(request.scope)
    try:
        caller = await authenticator.caller(f"Bearer {token}", address, forwarded=forwarded)
    except NotAuthenticated as error:
        await gateway.admission(None, _ASKED, request.state.request_id, admitted=False, by=PROGRAM)
        return _login_page(request, error.message, status=401)
    await gateway.admission(caller, _ASKED, request.state.request_id, admitted=True, by=caller.actor)
    # Where a page that the token permits is; without any, the first one says what is lacking.
    answer = sent_to(next((place for place, _, scope in PAGES if scope in caller.scopes), PAGES[0][0]))
    sessions: Sessions = request.app.state.sessions
    sessions.let_in(answer, token, https=is_from_https(request.scope))
    return answer


@routes.at("POST", "/logout", None, media=HTML, browser=True)
@shown
async def log_out(*, request: Request) -> Response:
    """Forget the token in this browser."""
    answer = sent_to(LOGIN)
    sessions: Sessions = request.app.state.sessions
    sessions.let_out(answer, https=is_from_https(request.scope))
    return answer


@routes.at("GET", "/static/{name}", None, media=HTML, browser=True)
@shown
async def static_file(*, request: Request, name: str) -> Response:
    """Return a style or a script of the pages."""
    found = static(name)
    if found is None:
        raise NoSuchPath("there is no such file")
    return found


def _login_page(request: Request, problem: str, *, status: int = 200) -> Response:
    authenticator: Authenticator = request.app.state.authenticator
    is_local = authenticator.takes_local(forwarded=is_forwarded(request.scope))
    return page(request, "login.html", status=status, problem=problem, is_local=is_local)


async def _refused(request: Request) -> str:
    """Return why nobody is let in, or the cookie of a browser is not; empty: it is, or there is none."""
    gateway: Gateway = request.app.state.gateway
    try:
        await gateway.require_auditing(by=PROGRAM)
    except Unavailable as error:
        return error.message
    if not cookie_of(request.scope):
        return ""
    sessions: Sessions = request.app.state.sessions
    token = sessions.token_of(request.scope)
    if not token:
        return "the session has ended"
    authenticator: Authenticator = request.app.state.authenticator
    return await authenticator.refusal(token, forwarded=is_forwarded(request.scope))
