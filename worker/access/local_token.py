"""The token of this machine: a file in the data folder. Whoever can read it has the tenant key beside it already."""

import contextlib
import getpass
import hmac
import secrets
from pathlib import Path

from perdure.errors import StoreUnavailable
from perdure.settings import Settings
from perdure.stores.disk import create_once
from perdure.values.access_tokens import Caller, TokenScope
from perdure.values.changes import Actor, ActorKind

_PREFIX = "perdure-local-"

_NAME = "local"
"""Identifies it in the audit."""


def file_of(settings: Settings) -> Path:
    """Return the file of this machine's token."""
    return settings.home / "http.token"


def made(settings: Settings) -> Path:
    """Make the token unless there is one, readable by its owner alone; returns its file.

    Raises:
        StoreUnavailable: It cannot be written.
    """
    path = file_of(settings)
    if not path.exists():
        try:
            create_once(path, f"{_PREFIX}{secrets.token_hex(32)}\n".encode())
        except OSError as error:
            raise StoreUnavailable("http token", f"{path} cannot be made: {error.strerror}") from error
    return path


def is_local(text: str) -> bool:
    """Return whether a text has the form of such a token, whichever machine's it is, if any's."""
    return text.startswith(_PREFIX) and text.isascii()


def local_caller(settings: Settings, text: str) -> Caller | None:
    """Return the person at this machine, where a text is its token; None: it is not.

    The file is read each time, so that the token counts no longer once the file is gone.
    """
    if not is_local(text):
        return None
    try:
        kept = file_of(settings).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    if not hmac.compare_digest(kept, text):
        return None
    name = ""
    with contextlib.suppress(KeyError, OSError):
        name = getpass.getuser()
    return Caller(token=_NAME, actor=Actor(kind=ActorKind.PERSON, id=name), scopes=frozenset(TokenScope))
