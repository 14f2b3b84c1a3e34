"""Whether Weaviate refuses an object for what is in it, by the words of its error. Pure.

Only the words of its checks of content are a refusal. Everything else that goes wrong, also what nobody here has heard
of, may pass, and is retried: taken for a refusal, it would lose what was accepted.
"""

import re

from grpc import StatusCode
from grpc.aio import AioRpcError
from weaviate.exceptions import WeaviateBaseError, WeaviateInsertManyAllFailedError

_OF_CONTENT = re.compile(r"\binvalid \w+ (array )?property … on class …:|\bmessage larger than max\b", re.IGNORECASE)
"""How the checks of an object's properties put it, without the names that they quote (``usecases/objects/validation``
in 1.35: "invalid text array property 'tags' on class 'PerdureMemory': …"), and gRPC for its size. A vector of the wrong
length, or a property that the schema lacks, is none: a worker with the right model, or of the right build, mends it."""

# An apostrophe within a word is no mark. What is not closed was cut, and goes on to the end.
_QUOTED = re.compile(r"(?<!\w)(?P<mark>['\"`])(?P<said>.*?)(?:(?P=mark)(?!\w)|\Z)", re.DOTALL)
_LONGEST = 160

_REFUSING = (StatusCode.INVALID_ARGUMENT, StatusCode.OUT_OF_RANGE, StatusCode.RESOURCE_EXHAUSTED)


def refusal(message: str, *, names: frozenset[str]) -> str | None:
    """Return why Weaviate refuses an object, without its content; None: it may take it later.

    Args:
        message: Weaviate's error about the object.
        names: The names of properties and collections: nothing else that is quoted is kept.
    """
    return _shortened(message, names) if _OF_CONTENT.search(_own_words(message)) else None


def refusal_of_call(error: WeaviateBaseError, *, names: frozenset[str]) -> str | None:
    """Return why Weaviate refuses all objects of a call; None: it may take them later."""
    if isinstance(error, WeaviateInsertManyAllFailedError):
        # One line for each different error, after a colon; what they quote may have lines of its own.
        told = str(error).partition("errors: ")[2]
        lines = _own_words(told).splitlines()
        return _shortened(told.splitlines()[0], names) if lines and all(map(_OF_CONTENT.search, lines)) else None
    cause = error.__cause__ or error.__context__
    if isinstance(cause, AioRpcError) and cause.code() in _REFUSING:
        return refusal(cause.details() or "", names=names)
    return None


def _own_words(message: str) -> str:
    """Return a message without what it quotes: somebody may have said just what a server says of itself."""
    return _QUOTED.sub("…", message)


def _shortened(message: str, names: frozenset[str]) -> str:
    """Return the beginning of a message: up to what it quotes, which may be content, and not too long."""
    # The elements of an array come without quotation marks.
    end = len(message.partition("array value:")[0])
    for found in _QUOTED.finditer(message[:end]):
        if found["said"] not in names:
            end = found.start()
            break
    short = " ".join(message[:end].split())
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…"
