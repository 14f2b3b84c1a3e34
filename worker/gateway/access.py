"""Tokens for services: made, listed, revoked and checked; and what is asked twice under one idempotency key."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from perdure.documents import refuse_unknown
from perdure.errors import InvalidInput, PerdureError, StoreUnavailable, TenantKeyMissing
from perdure.refusals import KeyReused, NotAuthenticated, UnknownThing
from perdure.values.access_tokens import AccessToken, Caller, NewToken, TokenRequest, caller_of, new_token, parts_of
from perdure.values.changes import Actor
from worker.gateway.base import call
from worker.gateway.memory import MemoryCalls

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from perdure.stores.redis.idempotency_keys import Sending


class AccessCalls(MemoryCalls):
    """Who may come in to a service. Whoever may make a token is an administrator: no door offers that."""

    @call
    async def create_token(self, request: TokenRequest, *, by: Actor) -> NewToken:
        """Make a token. Its text is returned here and nowhere else; what is kept cannot be used as one.

        Raises:
            InvalidInput: A scope is unknown, or its end has passed.
            StoreUnavailable: Redis does not answer, or it cannot be audited.
        """
        from perdure.stores.redis.access_tokens import AccessTokens  # noqa: PLC0415  it loads Redis's client

        refuse_unknown(request)
        made = new_token(request, datetime.now(UTC), by)
        await self._administered(made.token.id, why="create a token", by=by)
        await AccessTokens(self._redis()).add(made.token)
        return made

    @call
    async def tokens(self, *, by: Actor) -> list[AccessToken]:
        """Return all tokens without their secrets, the oldest first; expired ones too."""
        from perdure.stores.redis.access_tokens import AccessTokens  # noqa: PLC0415  the same

        return await AccessTokens(self._redis()).all()

    @call
    async def revoke_token(self, identifier: str, *, by: Actor) -> None:
        """Revoke a token: it counts no longer, with the next request.

        Raises:
            UnknownThing: There is none with this id.
            StoreUnavailable: Redis does not answer.
        """
        from perdure.stores.redis.access_tokens import AccessTokens  # noqa: PLC0415  the same

        tokens = AccessTokens(self._redis())
        token = await tokens.one(identifier)
        if token is None:
            raise UnknownThing("id", f"there is no token {identifier!r}", fix="perdure tokens list shows the ids")
        try:
            await self._administered(identifier, why="revoke a token", by=by)
        except StoreUnavailable as error:
            # Whoever must not come in any more is kept out although the disk is full.
            self._notify(f"that it is revoked is not audited: {error}")
        await tokens.remove(token)

    # None of these three has a span of its own: each request asks all of them, and its span has what they say.
    async def require_auditing(self, *, by: Actor) -> None:
        """Check that this process can audit whom it lets in. A service that cannot lets nobody in.

        What is in the way, a file say, is named in the cause alone: callers may be anybody.

        Raises:
            TenantKeyMissing: It cannot read the tenant key, or not a whole one: it may just be being copied there.
            StoreUnavailable: The audit cannot be opened: a file that the settings name cannot be used, say.
        """
        try:
            await self._keyed_reader()
        except PerdureError as error:
            if isinstance(error, TenantKeyMissing) or (isinstance(error, InvalidInput) and error.field == "tenant_key"):
                problem = "this service cannot read the tenant key, so it could audit nothing, and lets nobody in"
                raise TenantKeyMissing(problem) from error
            problem = "cannot be opened as this service is set up, so it lets nobody in"
            raise StoreUnavailable("audit", problem) from error

    async def caller(self, text: str, *, by: Actor) -> Caller:
        """Return whom the text of a token stands for.

        Raises:
            NotAuthenticated: There is no such token, or it has expired.
            StoreUnavailable: Redis, which knows, does not answer.
        """
        from perdure.stores.redis.access_tokens import AccessTokens  # noqa: PLC0415  the same

        if (parts := parts_of(text)) is not None:
            kept = await AccessTokens(self._redis()).one(parts[0])
            caller = kept and caller_of(kept, parts[1], datetime.now(UTC))
            if caller:
                return caller
        raise NotAuthenticated("the token is not valid")

    async def admission(self, caller: Caller | None, what: str, operation: str, *, admitted: bool, by: Actor) -> None:
        """Audit that somebody was admitted, or turned away; see ``require_auditing``.

        Args:
            caller: Whom the token stands for; None: nobody, as it does not count.
            what: What was asked for: the method and the route, without ids.
            operation: The request's id.
            admitted: Whether it was permitted.
            by: Who asked.
        """
        reader = await self._keyed_reader()
        await reader.admission(caller, what, operation, admitted=admitted, by=by)

    @call
    async def require_same_request(self, key: str, whose: str, request: bytes, *, by: Actor) -> "Sending":
        """Check that an idempotency key is new, or was sent with the same request, and remember it for a day.

        Returns:
            What is known of the request: its id, the same with each sending, when it was sent first, and whether it was
            carried out before.

        Args:
            key: The key.
            whose: Whose key it is: another caller's same key is another one.
            request: What is asked.
            by: Who asks.

        Raises:
            KeyReused: It was sent with another request.
            StoreUnavailable: Redis, which knows, does not answer.
        """
        from perdure.stores.redis.idempotency_keys import IdempotencyKeys  # noqa: PLC0415  the same

        sending = await IdempotencyKeys(self._redis()).sent(key, whose, request)
        if sending is None:
            fix = "use a new key for another request"
            raise KeyReused(f"the key {key[:80]!r} was sent before with another request ({fix})")
        return sending

    @call
    async def carried_out(self, key: str, whose: str, request: bytes, sending: "Sending", *, by: Actor) -> None:
        """Note that the request was carried out under its idempotency key; see ``require_same_request``.

        Raises:
            StoreUnavailable: Redis, which is to know, does not answer.
        """
        from perdure.stores.redis.idempotency_keys import IdempotencyKeys  # noqa: PLC0415  the same

        await IdempotencyKeys(self._redis()).done(key, whose, request, sending)

    def _redis(self) -> "Redis":
        """Return this gateway's connection to Redis, which is opened when it is first used."""
        from perdure.stores.redis.connection import connect  # noqa: PLC0415  the same

        if self._connection is None:
            self._connection = connect(self._addresses.redis_url)
            self._stack.push_async_callback(self._connection.aclose)
        return self._connection
