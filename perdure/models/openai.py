"""Translates the errors of OpenAI's client into this project's. Imports the client, which takes 0.4 s."""

import math
import re
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
import openai

from perdure.errors import StoreUnavailable
from perdure.models.errors import ContextExceeded, ModelBusy, ModelKeyRefused, ModelRefused

_WORTH_RETRYING = {408, 409, 429}
"""Client errors that can pass: timeout, conflict, rate limit. With any other, the same call fails again."""

_REFUSE_KEY = {401, 403, 404}
"""Client errors that another key or another model's name can end."""

_LONGEST = "context_length_exceeded"
"""The code of the error that a conversation is longer than the model can read."""

_TOO_LONG = {400, 413, 422}
"""The client errors with which compatible servers say so, without that code."""

_SAYS_TOO_LONG = re.compile(
    r"(?i)context[ _-]?(?:length|size|window|limit)|maximum (?:model|prompt|input) length"
    r"|(?:prompt|input|conversation) is too long|exceeds the maximum number of tokens|reduce the length of"
)
"""What the texts of such errors have in common: vLLM's, llama.cpp's, Ollama's, TGI's, and those of proxies for Claude
and Gemini. One that is taken for it by mistake costs two summaries before the task fails."""

_USED_UP = "insufficient_quota"
"""The code of the 429 that no wait ends: there is nothing left to pay calls with."""

LONGEST_WAIT = 3_600.0
"""Seconds: a server that asks to wait for longer is asked again after these, as its clock may be wrong."""


@contextmanager
def translated_errors() -> Generator[None]:
    """Translate the errors of one call.

    Raises:
        ContextExceeded: What is asked is longer than the model can read.
        ModelBusy: The call may be repeated, after as long as the server says.
        ModelKeyRefused: The same call would fail again: the key or the model's name is wrong, or nothing is left to pay
            with.
        ModelRefused: The same call would fail again: the request is wrong.
        StoreUnavailable: The call may be repeated.
    """
    try:
        yield
    except openai.APIStatusError as error:
        if error.code == _LONGEST or (error.status_code in _TOO_LONG and _SAYS_TOO_LONG.search(str(error))):
            raise ContextExceeded("openai", "the request is longer than the model can read") from error
        if _USED_UP in (error.code, error.type):
            raise ModelKeyRefused("openai", f"{_USED_UP}, HTTP {error.status_code}") from error
        # Before any wait that the server asks for: proxies send the header with every error.
        if error.status_code < 500 and error.status_code not in _WORTH_RETRYING:
            kind = ModelKeyRefused if error.status_code in _REFUSE_KEY else ModelRefused
            raise kind("openai", f"{type(error).__name__}, HTTP {error.status_code}") from error
        if (wait := _asked_wait(error)) is not None:
            raise ModelBusy("openai", type(error).__name__, wait) from error
        raise StoreUnavailable("openai", type(error).__name__) from error
    # The client leaves those of an answer that comes in pieces as they are.
    except (openai.OpenAIError, httpx2.HTTPError) as error:
        raise StoreUnavailable("openai", type(error).__name__) from error


def _asked_wait(error: openai.APIStatusError) -> float | None:
    """Return how many seconds the server asks to wait before the next call; None where it does not say.

    The header is seconds or a date (RFC 9110, 10.2.3); OpenAI's own ``retry-after-ms`` is more precise.
    """
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 1_000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        return min(max(seconds, 0.0), LONGEST_WAIT) if math.isfinite(seconds) else None
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
        return min(max((until - datetime.now(UTC)).total_seconds(), 0.0), LONGEST_WAIT)
    except (ValueError, TypeError):
        return None
