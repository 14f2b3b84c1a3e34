"""The application: all routes, behind the one gate, inside what names and measures each request."""

import asyncio
import contextlib
import importlib.metadata
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import structlog
from fastapi import FastAPI, Request
from starlette.responses import Response

from perdure.base_error import PerdureError
from perdure.errors import Unavailable
from perdure.settings import Settings
from perdure.values.access_tokens import TokenScope
from perdure.values.changes import PROGRAM
from worker.access.authentication import Authenticator
from worker.gateway import Gateway
from worker.http import ingest, mcp, memories, problems, recall, skills, status, tasks
from worker.http.admission import RequestAdmission
from worker.http.console import forgetting, inbox, login
from worker.http.console import memories as console_memories
from worker.http.console import status as console_status
from worker.http.console import tasks as console_tasks
from worker.http.console.forms import OwnForms
from worker.http.console.session import Sessions
from worker.http.document import documented
from worker.http.endpoints import JSON, Routes
from worker.http.event_stream import STREAMS, STREAMS_OF_ONE
from worker.http.limits import BodyLimits
from worker.http.path_parts import WholeParts
from worker.http.request_log import Observing
from worker.http.request_places import RequestPlaces

_AUDITED_WITHIN = 10.0
"""Seconds that the last lines of the audit may take when the service ends; a choice."""

_log = structlog.get_logger(__name__)

document = Routes("document")


@document.at("GET", "/openapi.json", TokenScope.READ, media=JSON)
async def openapi(request: Request) -> Response:
    """Return this document."""
    return Response(json.dumps(documented(request.app)), media_type=JSON)


ROUTES = (
    ingest.routes,
    recall.routes,
    memories.routes,
    tasks.routes,
    skills.routes,
    status.routes,
    mcp.routes,
    document,
    *(room.routes for room in (login, inbox, console_memories, console_tasks, forgetting, console_status)),
)


def make_app(settings: Settings, gateway: Gateway, *, local: bool, measured_here: bool = False) -> FastAPI:
    """Make the application.

    Args:
        settings: Which provider's tokens count, and where the tenant key is.
        gateway: What it calls.
        local: Whether it can be reached from this machine alone, so that the machine's own token counts.
        measured_here: Whether ``/metrics`` has what is measured.
    """
    version = importlib.metadata.version("perdure")
    transport = mcp.Transport(gateway, version, settings)
    auditing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        async with gateway, transport.running():
            with contextlib.suppress(PerdureError):
                await gateway.warm(by=PROGRAM)
            await _warn_if_nothing_can_be_audited(gateway)
            yield
            # Whom the last requests let in is audited while the stores can still be reached.
            if auditing:
                await asyncio.wait(auditing, timeout=_AUDITED_WITHIN)

    app = FastAPI(title="Perdure", version=version, lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None)
    app.router.redirect_slashes = False
    app.state.gateway = gateway
    app.state.mcp = transport
    app.state.streams = RequestPlaces(STREAMS, STREAMS_OF_ONE, "streams")
    app.state.ending = asyncio.Event()
    app.state.readiness = status.Readiness(gateway)
    app.state.measured_here = measured_here
    for one in ROUTES:
        one.serve(app)
    problems.handle(app)
    # The last one that is added is the first that a request meets.
    app.add_middleware(OwnForms)
    app.add_middleware(BodyLimits)
    # Off loopback, TLS stands in front.
    app.state.sessions = Sessions(settings, secure=not local)
    app.state.authenticator = Authenticator(settings, gateway, local=local)
    app.add_middleware(
        RequestAdmission,
        routes=app.router.routes,
        authenticator=app.state.authenticator,
        gateway=gateway,
        sessions=app.state.sessions,
        auditing=auditing,
    )
    app.add_middleware(WholeParts)
    app.add_middleware(Observing)
    return app


async def _warn_if_nothing_can_be_audited(gateway: Gateway) -> None:
    try:
        await gateway.require_auditing(by=PROGRAM)
    except Unavailable as error:
        _log.warning("until it can audit whom it lets in, this service lets nobody in", problem=str(error.__cause__))
