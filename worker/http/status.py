"""Routes that say how the service is: for who runs it with a token, for probes without one."""

import asyncio
import time
from typing import Literal

from fastapi import Request
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import Response

from perdure.errors import Unavailable
from perdure.model import Model
from perdure.refusals import NoSuchPath
from perdure.values.access_tokens import TokenScope
from perdure.values.changes import PROGRAM
from worker.components import Component, ComponentState
from worker.gateway import Gateway
from worker.http.endpoints import Routes, answered
from worker.http.request_context import Asker, Here

ASKED_EVERY = 2.0
"""Seconds for which what a probe was told holds: many probes ask the components no more often; a choice."""

METRICS = CONTENT_TYPE_LATEST.partition(";")[0]

routes = Routes("status")


class Status(Model):
    """How each component is."""

    components: tuple[ComponentState, ...]


class Alive(Model):
    """That the process answers."""

    status: Literal["ok"] = "ok"


class Readiness:
    """Whether the service can do anything, as probes ask, who may be anybody.

    Args:
        gateway: Asks the components.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._asked = float("-inf")
        self._missing: list[str] = []
        self._asking = asyncio.Lock()

    async def missing(self) -> list[str]:
        """Return what is missing without which nothing can be done: components that do not answer, and the audit.

        Without the audit, for want of the tenant key say, nobody is let in. Without Weaviate recall answers from the
        journal, and without a worker what is asked of one waits for it.
        """
        async with self._asking:
            if time.monotonic() - self._asked > ASKED_EVERY:
                found = await self._gateway.components(by=PROGRAM)
                needed = (Component.TEMPORAL, Component.REDIS)
                self._missing = [one.component for one in found if one.component in needed and not one.reachable]
                try:
                    await self._gateway.require_auditing(by=PROGRAM)
                except Unavailable:
                    self._missing.append("audit")
                self._asked = time.monotonic()
            return self._missing


@routes.at("GET", "/v2/control/status", TokenScope.OPERATE, answers=Status)
async def status(*, caller: Asker, here: Here) -> Response:
    """Say of each component whether it is reachable, since when, and how quickly it answers."""
    return answered(Status(components=tuple(await here.components(by=caller.actor))))


@routes.at("GET", "/livez", None, answers=Alive)
async def livez() -> Response:
    """Say that the process answers."""
    return answered(Alive())


@routes.at("GET", "/readyz", None, answers=Alive)
async def readyz(*, request: Request) -> Response:
    """Say whether requests can be served; what is missing is in the status, which needs a token."""
    readiness: Readiness = request.app.state.readiness
    if await readiness.missing():
        raise Unavailable("not ready")
    return answered(Alive())


@routes.at("GET", "/metrics", TokenScope.OPERATE, media=METRICS)
async def prometheus(*, request: Request) -> Response:
    """Return metrics for Prometheus; where they are sent by OTLP, there are none here."""
    if not request.app.state.measured_here:
        raise NoSuchPath("metrics are sent by OTLP, as OTEL_EXPORTER_OTLP_ENDPOINT says")
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
