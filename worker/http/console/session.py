"""Who looks at the console: a token, sealed in a cookie that scripts cannot read, and what proves that a form is ours.

Browsers send a cookie to every port of a host: what another service there gets is of no use but for these pages, and
ends with the day. The token is checked anew with each request. A form carries a digest of the cookie, which no page of
anybody else's can know; the cookie is not sent with requests from other sites either.
"""

import base64
import hashlib
import hmac
import json
import os
import time
from functools import cached_property

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Scope

from perdure.errors import InvalidInput, PerdureError
from perdure.refusals import NotPermitted
from perdure.settings import Settings
from perdure.stores.tenant_key import TenantKey

COOKIE = "perdure_session"

FIELD = "csrf"
"""The field of a form that proves that it is ours."""

LOGIN = "/login"
"""Where whoever has no token that counts is sent."""

LASTS = 12 * 3_600.0
"""Seconds after which a person logs in anew; a choice."""

_LONGEST = 3_800
"""Characters of a cookie: browsers drop what is longer than 4,096 with its name and attributes."""

_SEALING = "console/1"
"""Distinguishes the key of cookies from all others that are derived from the tenant key."""

_NONCE = 12


class Sessions:
    """Seals tokens in cookies, and opens them.

    Args:
        settings: Where the tenant key is, from which all processes of an installation have the same key. Before it is
            there, nobody is let in, and no cookie counts.
        secure: Whether browsers are to send the cookie by HTTPS alone, wherever they log in.
    """

    def __init__(self, settings: Settings, *, secure: bool) -> None:
        self._settings = settings
        self._secure = secure

    @cached_property
    def _cipher(self) -> AESGCM:
        # When it is first used, as a service may start before the tenant key is there.
        key = TenantKey.load(self._settings.tenant_key_file).derived(_SEALING)
        return AESGCM(hashlib.sha256(key).digest())

    def token_of(self, scope: Scope) -> str:
        """Return the token in a request's cookie; empty: there is none, it cannot be opened, or its time is over."""
        found = cookie_of(scope)
        if not found:
            return ""
        try:
            sealed = base64.urlsafe_b64decode(f"{found}==".encode())
            kept = json.loads(self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], None))
        except (ValueError, InvalidTag, PerdureError):
            return ""
        return str(kept["token"]) if kept["until"] > time.time() else ""

    def let_in(self, response: Response, token: str, *, https: bool) -> None:
        """Have the browser send a token from now on, until it is closed.

        Args:
            response: The answer to its login.
            token: The token.
            https: Whether it speaks HTTPS, with a proxy say: then it sends the cookie by HTTPS alone.

        Raises:
            InvalidInput: It is longer than a browser keeps.
            TenantKeyMissing: The tenant key is not there any more.
        """
        nonce = os.urandom(_NONCE)
        kept = json.dumps({"token": token, "until": time.time() + LASTS}).encode()
        sealed = base64.urlsafe_b64encode(nonce + self._cipher.encrypt(nonce, kept, None)).decode().rstrip("=")
        if len(sealed) > _LONGEST:
            fix = "use one that perdure tokens create made"
            raise InvalidInput("token", "is longer than a browser keeps", fix=fix)
        response.set_cookie(COOKIE, sealed, httponly=True, samesite="strict", secure=self._secure or https, path="/")

    def let_out(self, response: Response, *, https: bool) -> None:
        """Have the browser forget the token."""
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=self._secure or https)


def cookie_of(scope: Scope) -> str:
    """Return the cookie of a request; empty: there is none."""
    return HTTPConnection(scope).cookies.get(COOKIE, "")


def proof_of(cookie: str) -> str:
    """Return what a form of the pages that are shown under a cookie carries."""
    return hmac.new(cookie.encode("utf-8", "replace"), b"perdure/form/1", hashlib.sha256).hexdigest()


def require_own(request: Request, given: str) -> None:
    """Check that a form comes from a page of ours.

    Raises:
        NotPermitted: It does not say so.
    """
    require_same_site(request)
    cookie = cookie_of(request.scope)
    if not cookie or not hmac.compare_digest(given.encode("utf-8", "replace"), proof_of(cookie).encode()):
        raise NotPermitted("the form was not sent from this page (load the page again)")


def require_same_site(request: Request) -> None:
    """Check that a form does not come from a page of another site, by what browsers say of it.

    Raises:
        NotPermitted: It does.
    """
    origin, host, site = (request.headers.get(name, "") for name in ("origin", "host", "sec-fetch-site"))
    # Browsers compare the sites themselves, but where they speak plain HTTP with another machine. A proxy that sends a
    # host of its own makes the comparison here impossible.
    is_ours = site in ("same-origin", "none") if site else origin in ("", f"http://{host}", f"https://{host}")
    if not is_ours:
        raise NotPermitted("the form comes from another site")
