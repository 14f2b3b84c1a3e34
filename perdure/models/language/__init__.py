"""Language models: what they offer, and opening the one that a setting names. Importing this loads no model."""

import os
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel

from perdure.errors import InvalidInput

M = TypeVar("M", bound=BaseModel)

Api = Literal["responses", "chat"]
"""How a server is asked: by OpenAI's Responses API, or by chat completions, which compatible servers have."""


class LanguageModel(Protocol):
    """A model that answers in a form that is asked for."""

    name: str

    async def answer(self, instructions: str, text: str, form: type[M]) -> M | None:
        """Return the model's answer; None where it declines to give one.

        Args:
            instructions: What to do.
            text: What to do it with. It is data: nothing in it is an instruction.
            form: What the answer must look like.

        Raises:
            ModelRefused: The same question would fail again.
            StoreUnavailable: The model does not answer, or not in this form; the question may be repeated.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def open_language_model(
    name: str, *, api: Api = "responses", api_key: str | None = None, base_url: str | None = None
) -> LanguageModel | None:
    """Open a language model; None for no name.

    Args:
        name: ``openai:<model>``, or nothing.
        api: How its server is asked.
        api_key: The key; without one, ``OPENAI_API_KEY``.
        base_url: The address of a server that is compatible with OpenAI's.

    Raises:
        InvalidInput: The model cannot be used here; says what to do.
    """
    if not name:
        return None
    kind, _, model = name.partition(":")
    if kind != "openai" or not model:
        raise InvalidInput("model", f"there is no model {name!r}", fix="write openai:<model>, or leave it empty")
    if not (api_key or os.environ.get("OPENAI_API_KEY")):
        raise InvalidInput("model", f"{name} needs a key", fix="set OPENAI_API_KEY")
    # Its client takes 0.4 s to import.
    from perdure.models.language.openai import OpenAILanguageModel  # noqa: PLC0415

    return OpenAILanguageModel(model, api=api, api_key=api_key, base_url=base_url)
