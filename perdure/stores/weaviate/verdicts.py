"""Whether Weaviate refuses an object for what is in it, by the words of its error. Pure.

Everything else that goes wrong may pass, and is retried: taken for a refusal, it would lose what was accepted.
"""

import re

from grpc import StatusCode
from grpc.aio import AioRpcError
from weaviate.exceptions import WeaviateBaseError, WeaviateInsertManyAllFailedError

_OF_CONTENT = re.compile(
    r"\binvalid \S+ (array )?property\b|\binvalid property\b|utf-?8|larger than max", re.IGNORECASE
)
"""How the checks of an object's properties put it (``usecases/objects/validation`` in 1.35), and gRPC for its size."""

_OF_THE_SERVER = re.compile(
    r"too many|read.?only|no space|disk|memory|shut|closed|deadline|cancel|time.?out|timed out|connection|unavailable"
    r"|not ready|leader|raft|replica|rpc error|tenant|shard|bucket|segment|wal\b|i/o|no such file|permission"
    r"|not found|no such prop|not present|could not find|index|vector|status code: 5",
    re.IGNORECASE,
)
"""Words about Weaviate's own state, its schema or the vectors' model, all of which a person or a worker mends."""

_QUOTED = re.compile(r"(?P<mark>['\"`])(?P<said>.*?)(?P=mark)", re.DOTALL)
_LONGEST = 160

_REFUSING = (StatusCode.INVALID_ARGUMENT, StatusCode.OUT_OF_RANGE)


def refusal(message: str, *, names: frozenset[str], served: bool = False) -> str | None:
    """Return why Weaviate refuses an object, without its content; None: it may take it later.

    Args:
        message: Weaviate's error about the object.
        names: The names of properties and collections: nothing else that is quoted is kept.
        served: Whether it took other objects of the same call, so that it is not away, full or empty.
    """
    if _OF_CONTENT.search(message) or (served and not _OF_THE_SERVER.search(message)):
        return _shortened(message, names)
    return None


def refusal_of_call(error: WeaviateBaseError, *, names: frozenset[str]) -> str | None:
    """Return why Weaviate refuses all objects of a call; None: it may take them later."""
    if isinstance(error, WeaviateInsertManyAllFailedError):
        # One line for each different error, after a colon.
        lines = str(error).partition("errors: ")[2].splitlines()
        found = [refusal(line, names=names) for line in lines]
        return found[0] if found and None not in found else None
    cause = error.__cause__ or error.__context__
    if isinstance(cause, AioRpcError):
        told = cause.details() or ""
        is_too_large = cause.code() is StatusCode.RESOURCE_EXHAUSTED and "larger than max" in told
        if is_too_large or (cause.code() in _REFUSING and not _OF_THE_SERVER.search(told)):
            return _shortened(told, names) or cause.code().name
    return None


def _shortened(message: str, names: frozenset[str]) -> str:
    """Return the beginning of a message: up to what it quotes, which may be content, and not too long."""
    end = len(message)
    for found in _QUOTED.finditer(message):
        if found["said"] not in names:
            end = found.start()
            break
    short = " ".join(message[:end].split())
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…"
