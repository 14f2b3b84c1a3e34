"""The one place that says whom a request's token stands for."""

import time
from collections.abc import Callable

from perdure.addresses import require_safe
from perdure.errors import InvalidInput, PerdureError
from perdure.refusals import NotAuthenticated, TooManyRequests
from perdure.settings import Settings
from perdure.values.access_tokens import PREFIX, Caller
from perdure.values.changes import PROGRAM
from worker.access.failures import Failures
from worker.access.local_token import is_local, local_caller
from worker.access.provider import Provider
from worker.gateway import Gateway

_MISSING = "send a token: 'Authorization: Bearer …' (perdure tokens create)"

_FORWARDED = "this machine's own token does not count for what a proxy passes on (make one by perdure tokens create)"


class Authenticator:
    """Tells whom a token stands for.

    Args:
        settings: Which provider's tokens count.
        gateway: Knows the tokens of the installation.
        local: Whether the token of this machine is valid: only for a service that nobody else can reach.
        clock: Seconds of a clock that never goes back.
    """

    def __init__(
        self, settings: Settings, gateway: Gateway, *, local: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._gateway = gateway
        self._local = local
        self._clock = clock
        self._failures = Failures()
        self._provider = provider_of(settings)

    async def caller(self, authorization: str, address: str, *, forwarded: bool) -> Caller:
        """Return whom the header of a request stands for.

        Args:
            authorization: The header ``Authorization``; empty: there is none.
            address: Where the request comes from.
            forwarded: Whether a proxy has passed it on: it may come from anywhere then, and not from this machine.

        Raises:
            NotAuthenticated: It has no token, or one that does not count.
            TooManyRequests: The same, and too often from this address.
            Unavailable: Nothing can be audited here, so nothing is decided.
            StoreUnavailable: What knows the tokens does not answer.
        """
        await self._gateway.require_auditing(by=PROGRAM)
        scheme, _, text = authorization.partition(" ")
        if scheme.lower() != "bearer" or not text:
            raise NotAuthenticated(_MISSING)
        try:
            return await self._told(text.strip(), forwarded=forwarded)
        except NotAuthenticated:
            if wait := self._failures.failed(address, self._clock()):
                raise TooManyRequests("too many tokens that do not count", retry_after=wait) from None
            raise

    def takes_local(self, *, forwarded: bool) -> bool:
        """Return whether the token of this machine counts for a request.

        Args:
            forwarded: Whether a proxy has passed it on.
        """
        return self._local and not forwarded

    async def refusal(self, text: str, *, forwarded: bool) -> str:
        """Return why a token that has counted counts no longer; empty: it does, or what knows the tokens is away.

        This counts no failure of an address, as ``caller`` does: ask it of no token that anybody may have made up.
        """
        try:
            await self._told(text, forwarded=forwarded)
        except NotAuthenticated as error:
            return error.message
        except PerdureError:
            pass
        return ""

    async def _told(self, text: str, *, forwarded: bool) -> Caller:
        if self._local and forwarded and is_local(text):
            # By its form alone: this tells nobody whether it is the right one.
            raise NotAuthenticated(_FORWARDED)
        if self._local and (caller := local_caller(self._settings, text)):
            return caller
        if text.startswith(f"{PREFIX}_"):
            return await self._gateway.caller(text, by=PROGRAM)
        if self._provider is None or text.count(".") != 2:
            raise NotAuthenticated("the token is not valid")
        return await self._provider.caller(text)


def provider_of(settings: Settings) -> Provider | None:
    """Return the provider whose tokens count; None: nobody's but the installation's own.

    Raises:
        InvalidInput: It is configured in part, or cannot be reached safely.
    """
    if not settings.oidc_issuer:
        if settings.oidc_audience or settings.oidc_keys_url:
            raise InvalidInput("oidc_issuer", "is missing", fix="set PERDURE_OIDC_ISSUER, or remove the others")
        return None
    if not settings.oidc_audience:
        fix = "set PERDURE_OIDC_AUDIENCE to what tokens for this service name: tokens for others must not count"
        raise InvalidInput("oidc_audience", "is missing", fix=fix)
    for name in ("oidc_issuer", "oidc_keys_url"):
        if url := getattr(settings, name):
            require_safe(name, url)
    return Provider(
        issuer=settings.oidc_issuer,
        audience=settings.oidc_audience,
        user_claim=settings.oidc_user_claim,
        keys_url=settings.oidc_keys_url,
    )
