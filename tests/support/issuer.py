"""An OpenID provider that signs tokens, with keys that it can change."""

import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

AUDIENCE = "perdure-tests"


class Issuer:
    """The provider.

    Args:
        url: Its address.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked = 0
        self.keys: dict[str, tuple[str, Any]] = {}
        self.keys_url = ""
        self.rotate("RS256")

    def rotate(self, algorithm: str = "ES256") -> str:
        """Sign with a new key from now on, the old one being withdrawn; returns its id."""
        made: Any
        if algorithm == "ES256":
            made = ec.generate_private_key(ec.SECP256R1())
        else:
            made = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        self.keys = {uuid4().hex[:8]: (algorithm, made)}
        return next(iter(self.keys))

    @property
    def published(self) -> list[dict[str, Any]]:
        """The public keys."""
        found: list[dict[str, Any]] = []
        for identifier, (algorithm, key) in self.keys.items():
            kind = ECAlgorithm if algorithm == "ES256" else RSAAlgorithm
            public: Any = kind.to_jwk(key.public_key(), as_dict=True)
            found.append({**public, "kid": identifier, "use": "sig", "alg": algorithm})
        return found

    @property
    def public_pem(self) -> bytes:
        """The public key as anybody can have it."""
        [(_, key)] = self.keys.values()
        return key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    def claims(self, **changed: Any) -> dict[str, Any]:
        """Return the claims of a token that counts, with some changed; None: without it."""
        now = int(time.time())
        given = {"iss": self.url, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 600, "azp": "a-program"}
        return {name: value for name, value in (given | changed).items() if value is not None}

    def token(self, *, key: Any = None, kid: str = "", **changed: Any) -> str:
        """Return a token, signed by the provider or by another key."""
        [(identifier, (algorithm, own))] = self.keys.items()
        return jwt.encode(self.claims(**changed), key or own, algorithm, {"kid": kid or identifier})


@contextmanager
def issuer() -> Generator[Issuer]:
    """Run a provider for as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found: dict[str, Any] = {"jwks_uri": one.keys_url or f"{one.url}/keys"}
            if self.path == "/keys":
                one.asked += 1
                found = {"keys": one.published}
            body = json.dumps(found).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        one = Issuer(f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield one
        finally:
            server.shutdown()
