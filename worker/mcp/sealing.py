"""How what a client sends back with an answer is sealed: by a key that may not be there yet when the server starts."""

from collections.abc import Callable
from functools import cached_property

from mcp.server.request_state import AESGCMRequestStateCodec


class SealedLater:
    """The SDK's own seal, under a key that is asked for when it is first used.

    Args:
        key: Returns the key, 32 bytes or more; what it raises is raised, and it is asked again the next time.
    """

    def __init__(self, key: Callable[[], bytes]) -> None:
        self._key = key

    @cached_property
    def _codec(self) -> AESGCMRequestStateCodec:
        return AESGCMRequestStateCodec([self._key()])

    def seal(self, payload: bytes) -> str:
        """Return what only a holder of the key can read, or have made."""
        return self._codec.seal(payload)

    def unseal(self, token: str) -> bytes:
        """Return what was sealed.

        Raises:
            InvalidRequestState: It was not sealed under the key.
        """
        return self._codec.unseal(token)
