"""The route of the MCP server: the same tools and resources as over stdio, for whom the token stands."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import Request
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from perdure.refusals import RequestRefused
from perdure.settings import Settings
from perdure.stores.tenant_key import TenantKey
from perdure.values.access_tokens import Caller, TokenScope
from worker.gateway import Gateway
from worker.http.endpoints import EVENTS, JSON, Routes
from worker.mcp.server import make_server

SEALING = "mcp/1"
"""Distinguishes the key of what clients send back from all others that are derived from the tenant key."""

routes = Routes("mcp")

_ID = {"type": ["integer", "string", "null"]}

_MESSAGE = {
    "type": "object",
    "required": ["jsonrpc", "method"],
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": {**_ID, "description": "The request's; without one it is a notification, and gets no answer"},
        "method": {"type": "string", "examples": ["tools/list", "tools/call"]},
        "params": {"type": "object"},
    },
}

_ERROR = {
    "type": "object",
    "required": ["jsonrpc", "id", "error"],
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": _ID,
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "data": {}},
        },
    },
}

_REFUSED = {"content": {JSON: {"schema": _ERROR}}}

PROTOCOL: dict[str, Any] = {
    "parameters": [
        {
            "name": "MCP-Protocol-Version",
            "in": "header",
            "required": False,
            "description": "The protocol's version that the client speaks",
            "schema": {"type": "string"},
            "example": "2025-11-25",
        }
    ],
    "requestBody": {
        "required": True,
        "description": "A message of the protocol: JSON-RPC 2.0",
        "content": {JSON: {"schema": _MESSAGE, "example": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}},
    },
    "responses": {
        "200": {
            "description": "The answer, as the protocol has it: at once, or as an event",
            "content": {JSON: {"schema": {"type": "object"}}, EVENTS: {}},
        },
        "202": {"description": "A notification was taken"},
        "400": _REFUSED,
        "404": _REFUSED,
        "406": {"description": f"The client does not accept both of {JSON} and {EVENTS}"},
    },
}
"""The Model Context Protocol's own part of the OpenAPI document: https://modelcontextprotocol.io, Transports."""


class Transport:
    """Answers MCP's requests over streamable HTTP. It keeps no sessions, so any process answers any request.

    Args:
        gateway: What the server asks.
        version: Perdure's.
        settings: Where the tenant key is, from which all processes of an installation have the same key.
    """

    def __init__(self, gateway: Gateway, version: str, settings: Settings) -> None:
        server = make_server(
            gateway, _caller, version, sealing=lambda: TenantKey.load(settings.tenant_key_file).derived(SEALING)
        )
        # Whoever has no token does not come this far, so no page of another origin does.
        unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(stateless_http=True, transport_security=unguarded)
        self._manager: StreamableHTTPSessionManager = server.session_manager

    def running(self) -> AbstractAsyncContextManager[None]:
        """Answer requests for as long as the block runs."""
        return self._manager.run()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._manager.asgi_app(scope, receive, send)


class _HandedOver(Response):
    """An answer that the transport gives by itself."""

    def __init__(self, transport: Transport) -> None:
        super().__init__()
        self._transport = transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._transport.answer(scope, receive, send)


@routes.at("POST", "/mcp", TokenScope.READ, protocol=PROTOCOL)
async def mcp(request: Request) -> Response:
    """Speak the Model Context Protocol, with a token of one user.

    Connecting needs the scope `read`; what a tool does needs its own.
    """
    if not getattr(request.state, "body", b""):
        raise RequestRefused("the body is empty (send a request of the protocol, as JSON)")
    transport: Transport = request.app.state.mcp
    return _HandedOver(transport)


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller
