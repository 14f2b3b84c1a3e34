"""What every tool and resource has of a request: for whom it is made, and how its refusals are told to a model."""

import functools
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar, cast

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from perdure.errors import InvalidInput, PerdureError
from perdure.refusals import oversteps
from perdure.values.access_tokens import Caller
from perdure.values.changes import Actor, ActorKind
from worker.gateway import Gateway

P = ParamSpec("P")
R = TypeVar("R")


class McpCalls:
    """The gateway, and for whom it is asked.

    Args:
        gateway: The gateway.
        caller: Returns for whom a request is made, by the HTTP request that brought it; None: it came by stdio.
    """

    def __init__(self, gateway: Gateway, caller: Callable[[Any], Caller]) -> None:
        self.gateway = gateway
        self._caller = caller

    def caller(self, context: Context[Any, Any]) -> Caller:
        """Return for whom a request is made."""
        return self._caller(context.request_context.request)

    def user(self, context: Context[Any, Any]) -> str:
        """Return the user whose memory and tasks are meant: a client reaches those of one.

        Raises:
            InvalidInput: The token is for any user.
        """
        caller = self.caller(context)
        if caller.user_id is None:
            fix = "use one of a single user: perdure tokens create --user"
            raise InvalidInput("token", "is for any user, and a client's tools name none", fix=fix)
        return caller.user_id

    def agent(self, context: Context[Any, Any]) -> Actor:
        """Return who acts: a client's model is an agent, whoever holds the token."""
        return Actor(kind=ActorKind.AGENT, id=self.caller(context).actor.id)


def told(
    as_error: Callable[[str], Exception] = ToolError,
) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Awaitable[R]]]:
    """Return what has refusals reach a client with the thing and the fix; anything else is a crash, without details.

    Args:
        as_error: Makes the SDK's error of a refusal: that of a tool, or of a resource.
    """

    def telling_of(asked: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
        @functools.wraps(asked)
        async def telling(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return await asked(*args, **kwargs)
            except PerdureError as problem:
                context = kwargs.get("ctx")
                request: Any = cast("Context[Any, Any]", context).request_context.request if context else None
                if request is not None and oversteps(problem):
                    # The gate, which let the request in, has the audit say what became of it.
                    request.state.turned_away = True
                raise as_error(str(problem)) from None

        return telling

    return telling_of
