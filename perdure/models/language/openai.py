"""Language models of OpenAI or a compatible server. Never retries; the caller does."""

from typing import TypeVar

import openai
from pydantic import BaseModel, ValidationError

from perdure.errors import StoreUnavailable
from perdure.models.language import Api
from perdure.models.openai import asking

M = TypeVar("M", bound=BaseModel)


class OpenAILanguageModel:
    """A language model behind OpenAI's API.

    Args:
        model: The model's name at the provider.
        api: How its server is asked.
        api_key: The key; by default ``OPENAI_API_KEY``.
        base_url: The address of a compatible server; by default ``OPENAI_BASE_URL`` or OpenAI's own.
        timeout: Seconds after which a call is abandoned; the client's default is ten minutes.
    """

    def __init__(
        self,
        model: str,
        *,
        api: Api = "responses",
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 60.0,
    ) -> None:
        self.name = f"openai:{model}"
        self._model = model
        self._api = api
        self._client = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0)

    async def answer(self, instructions: str, text: str, form: type[M]) -> M | None:
        """Return the model's answer; see ``LanguageModel``."""
        try:
            with asking():
                return await (self._response if self._api == "responses" else self._completion)(
                    instructions, text, form
                )
        except ValidationError as error:
            raise StoreUnavailable("openai", f"{self.name} did not answer in the form of {form.__name__}") from error

    async def _response(self, instructions: str, text: str, form: type[M]) -> M | None:
        answer = await self._client.responses.parse(
            model=self._model, instructions=instructions, input=text, text_format=form
        )
        refused = any(part.type == "refusal" for one in answer.output if one.type == "message" for part in one.content)
        return None if refused else form.model_validate_json(answer.output_text)

    async def _completion(self, instructions: str, text: str, form: type[M]) -> M | None:
        answer = await self._client.chat.completions.parse(
            model=self._model,
            messages=[{"role": "system", "content": instructions}, {"role": "user", "content": text}],
            response_format=form,
        )
        message = answer.choices[0].message
        return None if message.refusal else form.model_validate_json(message.content or "")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
