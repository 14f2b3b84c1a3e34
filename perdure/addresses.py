"""Which addresses are of this machine, and which may be sent secrets and be believed. Pure."""

from urllib.parse import urlsplit

from perdure.base_error import InvalidInput

_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")


def is_here(host: str) -> bool:
    """Return whether what listens at a host is on this machine.

    >>> is_here("127.0.0.1"), is_here("temporal.example.org")
    (True, False)
    """
    return host in _THIS_MACHINE


def require_safe(name: str, url: str) -> None:
    """Check that nobody on the way to an address can read or change what is sent.

    Args:
        name: The setting or the field that holds the address.
        url: The address.

    Raises:
        InvalidInput: It is no address by TLS, and none of this machine.

    >>> require_safe("memory_url", "https://memory.example.org")
    >>> require_safe("memory_url", "http://127.0.0.1:8321")
    """
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme != "http" or not is_here(parts.hostname or ""):
        # Without a password that may be in it.
        shown = url.replace(parts.netloc, parts.netloc.rpartition("@")[2])
        raise InvalidInput(name, f"{shown!r} is not an address by https", fix="write https://…")
