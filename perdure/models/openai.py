"""What OpenAI's client raises, as this project's errors. Imports its client, which takes 0.4 s."""

from collections.abc import Generator
from contextlib import contextmanager

import openai

from perdure.errors import ModelRefused, StoreUnavailable

_WORTH_RETRYING = {408, 409, 429}
"""Client errors that can pass: timeout, conflict, rate limit. With any other, the same call fails again."""


@contextmanager
def asking() -> Generator[None]:
    """Translate the errors of one call.

    Raises:
        ModelRefused: The same call would fail again: the key, the model's name or the request is wrong.
        StoreUnavailable: The call may be repeated.
    """
    try:
        yield
    except openai.APIStatusError as error:
        if error.status_code < 500 and error.status_code not in _WORTH_RETRYING:
            raise ModelRefused("openai", f"{type(error).__name__}, HTTP {error.status_code}") from error
        raise StoreUnavailable("openai", type(error).__name__) from error
    except openai.OpenAIError as error:
        raise StoreUnavailable("openai", type(error).__name__) from error
