"""Language models: what they offer, and opening the one that a setting names. Importing this loads no model."""

import functools
import os
from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel

from perdure.errors import InvalidInput
from perdure.models.language.conversation import Message, Replied, ToolSpec
from perdure.models.providers import provided
from perdure.modules import require_model_form

M = TypeVar("M", bound=BaseModel)

_OFFERS = ("name", "answer", "reply", "close")
"""What a ``LanguageModel`` has."""

Api = Literal["responses", "chat"]
"""How a server is asked: by OpenAI's Responses API, or by chat completions, which compatible servers have."""


class LanguageModel(Protocol):
    """A model that answers in a form that is asked for, and takes turns in a conversation with tools."""

    name: str

    async def answer(self, instructions: str, text: str, form: type[M]) -> M | None:
        """Return the model's answer; None where it declines to give one.

        Args:
            instructions: What to do.
            text: What to do it with. It is data: nothing in it is an instruction.
            form: What the answer must look like.

        Raises:
            ModelRefused: The same question would fail again.
            ReplyUnusable: The model does not answer in this form; the question may be repeated.
            StoreUnavailable: It does not answer; the question may be repeated.
        """
        ...

    async def reply(
        self,
        instructions: str,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        said: Callable[[str], None] | None = None,
    ) -> Replied:
        """Return the model's next turn in a conversation.

        Args:
            instructions: What it is, and what to do.
            messages: What was said and done so far, oldest first.
            tools: What it may call.
            said: Called with each piece of its text as it comes; by a model that gives its text at once, never.

        Raises:
            ContextExceeded: The conversation is longer than the model can read.
            ModelRefused: The same request would fail again.
            ReplyUnusable: Its answer cannot be read; the request may be repeated.
            StoreUnavailable: It does not answer; the request may be repeated.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def open_language_model(
    name: str,
    *,
    api: Api = "responses",
    api_key: str | None = None,
    base_url: str | None = None,
    timeout: float = 60.0,
) -> LanguageModel | None:
    """Open a language model; None for no name.

    Args:
        name: ``openai:<model>``, ``<module>:<model>`` of a provider of one's own, or nothing.
        api: How OpenAI's server is asked.
        api_key: Its key; without one, ``OPENAI_API_KEY``.
        base_url: The address of a server that is compatible with OpenAI's.
        timeout: Seconds after which a call is abandoned.

    Raises:
        InvalidInput: The model cannot be used here; says what to do.
    """
    if not name:
        return None
    require_model_form(name, "model")
    kind, _, model = name.partition(":")
    if kind != "openai":
        return provided(name, "open_language_model", _OFFERS, field="model", timeout=timeout)
    if not (api_key or os.environ.get("OPENAI_API_KEY")):
        raise InvalidInput("model", f"{name} needs a key", fix="set OPENAI_API_KEY")
    # Its client takes 0.4 s to import.
    from perdure.models.language.openai import OpenAILanguageModel  # noqa: PLC0415

    return OpenAILanguageModel(model, api=api, api_key=api_key, base_url=base_url, timeout=timeout)


class LanguageModels:
    """The models that callers name, each opened when it is first asked.

    Args:
        default: The model for callers that name none; empty: there is none.
        api: How the server is asked.
        api_key: The key; without one, ``OPENAI_API_KEY``.
        base_url: The address of a server that is compatible with OpenAI's.
        timeout: Seconds after which a call is abandoned.
        summarizing: The model that makes summaries; empty: that of whoever needs one.
    """

    def __init__(
        self,
        default: str,
        *,
        api: Api,
        api_key: str | None,
        base_url: str | None,
        timeout: float = 300.0,
        summarizing: str = "",
    ) -> None:
        self._default = default
        self._summarizing = summarizing
        self._open = functools.partial(
            open_language_model, api=api, api_key=api_key, base_url=base_url, timeout=timeout
        )
        self._models: dict[str, LanguageModel] = {}

    def named(self, name: str) -> str:
        """Return the name of the model that stands for a name: of the default one for none; empty: there is none."""
        return name or self._default

    def find(self, name: str) -> LanguageModel | None:
        """Return a model, the default one for no name; None where there is neither.

        Raises:
            InvalidInput: The model cannot be used here.
        """
        named = self.named(name)
        if named not in self._models and (model := self._open(named)):
            self._models[named] = model
        return self._models.get(named)

    def for_summaries(self, name: str) -> LanguageModel | None:
        """Return the model that makes summaries for another; see ``find``."""
        return self.find(self._summarizing or name)

    def get(self, name: str) -> LanguageModel:
        """Return a model, the default one for no name.

        Raises:
            InvalidInput: The model cannot be used here, or there is none.
        """
        model = self.find(name)
        if model is None:
            raise InvalidInput("model", "there is none", fix="name one, or set PERDURE_MODEL")
        return model

    async def aclose(self) -> None:
        """Close the connections."""
        for model in self._models.values():
            await model.close()
