"""The one place where a request is let in or turned away, whatever its route. What declares no scope lets nobody in."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import ExitStack

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from perdure.errors import PerdureError
from perdure.refusals import NoSuchPath, NotAuthenticated, NotPermitted, TooManyRequests
from perdure.values.access_tokens import Caller, TokenScope
from perdure.values.changes import PROGRAM
from worker.access.authentication import Authenticator
from worker.access.failures import Failures
from worker.gateway import Gateway
from worker.http.console.pages import login_instead, problem_page
from worker.http.console.session import Sessions
from worker.http.endpoints import BROWSER, PERSON, SCOPE
from worker.http.forwarding import is_forwarded
from worker.http.problems import answer_of
from worker.http.request_log import MOST_AT_ONCE
from worker.http.request_places import RequestPlaces, whose

MOST_OF_ONE = 1_000
"""Requests under way of one user, or of one token for any user; a choice, half of all that may be."""

UNKNOWN = "no route"
"""What is audited as asked for where a path is none of the service's: paths may hold ids."""


class RequestAdmission:
    """Lets a request in by its token, and audits the decision.

    Args:
        app: What is behind it.
        routes: The routes of the application.
        authenticator: Says whom a token stands for.
        gateway: Audits.
        sessions: Opens the cookies of browsers.
        auditing: What is being audited; whoever ends the service waits for it.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        routes: Sequence[BaseRoute],
        authenticator: Authenticator,
        gateway: Gateway,
        sessions: Sessions,
        auditing: set[asyncio.Task[None]],
    ) -> None:
        self._app = app
        self._routes = routes
        self._authenticator = authenticator
        self._gateway = gateway
        self._sessions = sessions
        self._auditing = auditing
        self._tokenless = Failures()
        self._under_way = RequestPlaces(MOST_AT_ONCE, MOST_OF_ONE, "requests")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        route = self._route(scope)
        scope["state"]["route"] = f"{scope['method']} {route.path}" if route else UNKNOWN
        declared = (route.openapi_extra or {}) if route else {}
        is_page = bool(declared.get(BROWSER)) if route else self._is_unknown_page(scope)
        scope["state"]["form"] = is_page
        if route is not None and SCOPE in declared and declared[SCOPE] is None:
            scope["state"]["open"] = True
            await self._app(scope, receive, send)
            return
        with ExitStack() as places:
            try:
                caller = await self._admitted(scope, declared, places, known=route is not None, browser=is_page)
                if is_page and route is None:
                    raise NoSuchPath("there is no such page")
            except PerdureError as error:
                # The rest of a body that nobody reads must not be taken for the next request.
                await self._refusal(scope, receive, error, is_page=is_page)(scope, receive, send)
                return
            await self._app(scope, receive, send)
        if scope["state"].get("turned_away", False):
            self._audit(scope, caller, admitted=False)

    def _refusal(self, scope: Scope, receive: Receive, error: PerdureError, *, is_page: bool) -> Response:
        if not is_page:
            return answer_of(error, scope["state"]["request_id"], {"Connection": "close"})
        request = Request(scope, receive)
        answer = login_instead(request) if isinstance(error, NotAuthenticated) else problem_page(request, error)
        answer.headers["Connection"] = "close"
        return answer

    async def _admitted(
        self, scope: Scope, declared: dict[str, object], places: ExitStack, *, known: bool, browser: bool
    ) -> Caller:
        caller, given, address = None, "", ""
        try:
            address = scope["client"][0] if scope.get("client") else ""
            given = _authorization(scope)
            if not given and browser and (token := self._sessions.token_of(scope)):
                given = f"Bearer {token}"
            caller = await self._authenticator.caller(given, address, forwarded=is_forwarded(scope))
            # A page that says what the token lacks offers what it permits.
            scope["state"]["caller"] = caller
            if known:
                # A route without a scope has none that any token has.
                caller.require(TokenScope(str(declared.get(SCOPE))))
            if declared.get(PERSON):
                caller.require_person()
            places.enter_context(self._under_way.entered(whose(caller)))
        except (NotAuthenticated, NotPermitted):
            # Without a token anybody could fill the audit: it has the first of each address.
            if given or not self._tokenless.failed(address, time.monotonic()):
                self._audit(scope, caller, admitted=False)
            raise
        except TooManyRequests:
            # Of the tokens that do not count, the audit has the first; the others would fill it.
            if caller is not None:
                self._audit(scope, caller, admitted=False)
            raise
        self._audit(scope, caller, admitted=True)
        return caller

    def _audit(self, scope: Scope, caller: Caller | None, *, admitted: bool) -> None:
        """Have the decision audited, like a read: it never keeps an answer waiting."""
        state = scope["state"]
        task = asyncio.create_task(
            self._gateway.admission(
                caller, state["route"], state["request_id"], admitted=admitted, by=caller.actor if caller else PROGRAM
            )
        )
        self._auditing.add(task)
        task.add_done_callback(self._auditing.discard)

    def _is_unknown_page(self, scope: Scope) -> bool:
        """Return whether a browser, which shows pages, asks for a path that there is for no method."""
        accepted = next((value for name, value in scope["headers"] if name == b"accept"), b"")
        if scope["method"] != "GET" or b"text/html" not in accepted or scope["path"].startswith("/v2/"):
            return False
        return all(one.matches(scope)[0] is Match.NONE for one in self._routes)

    def _route(self, scope: Scope) -> APIRoute | None:
        for route in self._routes:
            if isinstance(route, APIRoute) and route.matches(scope)[0] is Match.FULL:
                return route
        return None


def _authorization(scope: Scope) -> str:
    found = [value for name, value in scope["headers"] if name == b"authorization"]
    # Of two, nobody knows which another program on the way has looked at.
    return found[0].decode("latin-1") if len(found) == 1 else ""
