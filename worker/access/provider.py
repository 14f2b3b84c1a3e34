"""Tokens of an OpenID provider: verified by its published keys, fetched again when it signs with a new one."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, cast

import httpx2
import jwt
from pydantic import TypeAdapter, ValidationError

from perdure.addresses import require_safe
from perdure.errors import InvalidInput, StoreUnavailable
from perdure.identity import UserId
from perdure.refusals import NotAuthenticated
from perdure.values.access_tokens import Caller, TokenScope, acting

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a private key alone: with ``none`` anybody signs, and with HS256 anybody who has the public key."""

_KEYS_KEPT = 600.0
"""Seconds after which the provider's keys are fetched again; a choice: a key that it withdrew counts no longer."""

_AGAIN_AFTER = 30.0
"""Seconds within which a token with an unknown key has the keys fetched once; a choice, as anybody can make one."""

_WITHIN = 5.0
"""Seconds that the provider may take to answer, and after which it is asked again if it did not; a choice."""

_LEEWAY = 30
"""Seconds that the provider's clock may be ahead or behind; a choice."""

_LONGEST = 16_000
"""Characters of a token that is looked at: headers of that length are refused before."""

_SCOPES = "perdure:"
"""What each scope for this service begins with in a token; ``perdure:person`` marks a person's."""

_user: TypeAdapter[str] = TypeAdapter(UserId)


@dataclass(kw_only=True)
class Provider:
    """An OpenID provider.

    Args:
        issuer: Its address, which its tokens name as ``iss``.
        audience: What its tokens for this service name as ``aud``.
        user_claim: The claim that holds the user's id.
        keys_url: Where its keys are; empty: as its own configuration says.
    """

    issuer: str
    audience: str
    user_claim: str = "sub"
    keys_url: str = ""
    _keys: dict[str, jwt.PyJWK] = field(default_factory=dict[str, jwt.PyJWK])
    _fetched: float = float("-inf")
    _failed: float = float("-inf")
    _problem: StoreUnavailable | None = None
    """Why they could not be fetched the last time; None: they were."""
    _fetching: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def caller(self, text: str) -> Caller:
        """Return whom a token stands for.

        Raises:
            NotAuthenticated: The token does not count: it is forged, expired, or for somebody else.
            StoreUnavailable: The provider's keys cannot be fetched.
        """
        try:
            if len(text) > _LONGEST:
                raise NotAuthenticated("the token is not valid")
            header = jwt.get_unverified_header(text)
            if header.get("alg") not in ALGORITHMS:
                raise NotAuthenticated("the token is not valid")
            key = await self._key(str(header.get("kid", "")))
            claims = jwt.decode(
                text,
                key.key,
                # A key signs in its own way alone, whatever a token says of itself.
                algorithms=[key.algorithm_name],
                audience=self.audience,
                issuer=self.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud"]},
            )
            return _caller(claims, self.user_claim)
        except (jwt.PyJWTError, ValidationError, ValueError) as error:
            raise NotAuthenticated("the token is not valid") from error

    async def _key(self, identifier: str) -> jwt.PyJWK:
        # Whose key is known does not wait for an answer that another request waits for already.
        if self._is_due(identifier) and not (identifier in self._keys and self._fetching.locked()):
            async with self._fetching:
                if self._is_due(identifier):
                    await self._renew()
        if identifier in self._keys:
            return self._keys[identifier]
        if self._problem:
            raise self._problem.with_traceback(None)
        raise NotAuthenticated("the token is not valid")

    def _is_due(self, identifier: str) -> bool:
        now = time.monotonic()
        if now - self._failed < _WITHIN:
            return False
        return now - self._fetched > (_KEYS_KEPT if identifier in self._keys else _AGAIN_AFTER)

    async def _renew(self) -> None:
        try:
            self._keys = await self._fetch()
            self._fetched, self._problem = time.monotonic(), None
        except StoreUnavailable as error:
            # What it signed with a minute ago still counts while it is away.
            self._failed, self._problem = time.monotonic(), error

    async def _fetch(self) -> dict[str, jwt.PyJWK]:
        async with httpx2.AsyncClient(timeout=_WITHIN, follow_redirects=False) as web:
            url = self.keys_url
            if not url:
                described = await _json(web, f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
                url = str(described.get("jwks_uri", ""))
            _require_believable(url)
            found: object = (await _json(web, url)).get("keys")
            if not isinstance(found, list):
                raise StoreUnavailable("openid provider", f"{url}: has no list of keys")
        keys: dict[str, jwt.PyJWK] = {}
        for one in cast("list[Any]", found):
            try:
                key = jwt.PyJWK(one)
            # A key that cannot be read keeps nobody out whose key can.
            except (jwt.PyJWTError, AttributeError, TypeError, ValueError):
                continue
            # A shared secret among the keys would make everybody who sees them a signer.
            if key.algorithm_name in ALGORITHMS and one.get("use", "sig") == "sig":
                keys[key.key_id or ""] = key
        return keys


async def _json(web: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    try:
        answer = await web.get(url)
        answer.raise_for_status()
        found: object = answer.json()
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise StoreUnavailable("openid provider", f"{url}: {type(error).__name__}") from error
    if not isinstance(found, dict):
        raise StoreUnavailable("openid provider", f"{url}: is no JSON object")
    return cast("dict[str, Any]", found)


def _require_believable(url: str) -> None:
    """Check the address that the provider itself names: a mistake of its own, and not of whoever sends a token."""
    try:
        require_safe("jwks_uri", url)
    except InvalidInput as error:
        raise StoreUnavailable("openid provider", error.message) from error


def _caller(claims: dict[str, Any], user_claim: str) -> Caller:
    user = _user.validate_python(claims.get(user_claim), strict=True)
    given = claims.get("scope", claims.get("scp", ""))
    said = {str(one) for one in cast("list[object]", given)} if isinstance(given, list) else {*str(given).split()}
    scopes = frozenset(one for one in TokenScope if f"{_SCOPES}{one.value}" in said)
    program = str(claims.get("azp") or claims.get("client_id") or "")[:200]
    person = f"{_SCOPES}person" in said
    return Caller(
        token=str(claims.get("jti") or "jwt")[:80],
        actor=acting(program or user, user if person else None, person=person),
        scopes=scopes,
        user_id=user,
        expires_at=claims["exp"],
    )
