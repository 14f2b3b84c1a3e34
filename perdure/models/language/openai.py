"""Language models of OpenAI or a compatible server. Never retries; the caller does."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import openai
from pydantic import BaseModel, ValidationError

from perdure.models.errors import ReplyUnusable
from perdure.models.language import Api
from perdure.models.language.conversation import Instruction, Message, Replied, Reply, ToolOutput, ToolSpec
from perdure.models.language.replies import read_completion, read_response
from perdure.models.language.streaming import CompletionPieces, Lines, Pieces, ResponsePieces, data_of
from perdure.models.openai import translated_errors

M = TypeVar("M", bound=BaseModel)

_STORES = False
"""What was said stays here: it is not to be kept at the provider, where no erasure reaches it. The Responses API keeps
it for 30 days otherwise."""


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
            with translated_errors():
                return await (self._response if self._api == "responses" else self._completion)(
                    instructions, text, form
                )
        except ValidationError as error:
            raise ReplyUnusable("openai", f"{self.name} did not answer in the form of {form.__name__}") from error

    async def _response(self, instructions: str, text: str, form: type[M]) -> M | None:
        answer = await self._client.responses.parse(
            model=self._model, instructions=instructions, input=text, text_format=form, store=_STORES
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

    async def reply(
        self,
        instructions: str,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        said: Callable[[str], None] | None = None,
    ) -> Replied:
        """Return the model's next turn; see ``LanguageModel``."""
        with translated_errors():
            if self._api == "responses":
                return await self._next_response(instructions, messages, tools, said)
            return await self._next_completion(instructions, messages, tools, said)

    async def _next_response(
        self,
        instructions: str,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        said: Callable[[str], None] | None,
    ) -> Replied:
        described: Any = [{"type": "function", "strict": False, **tool.model_dump()} for tool in tools]
        given: Any = [item for message in messages for item in _items(message)]
        asked: Any = {
            "model": self._model,
            "instructions": instructions,
            "input": given,
            "tools": described,
            "store": _STORES,
        }
        if said is None:
            create: Any = self._client.responses.with_raw_response.create
            return read_response((await create(**asked)).http_response.text)
        opened = self._client.responses.with_streaming_response.create(**asked, stream=True)
        return read_response(await _streamed(opened, ResponsePieces(), said))

    async def _next_completion(
        self,
        instructions: str,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        said: Callable[[str], None] | None,
    ) -> Replied:
        described: Any = [{"type": "function", "function": tool.model_dump()} for tool in tools]
        given: Any = [{"role": "system", "content": instructions}, *map(_message, messages)]
        asked: Any = {"model": self._model, "messages": given, "tools": described or openai.omit}
        if said is None:
            create: Any = self._client.chat.completions.with_raw_response.create
            return read_completion((await create(**asked)).http_response.text)
        opened = self._client.chat.completions.with_streaming_response.create(
            **asked, stream=True, stream_options={"include_usage": True}
        )
        return read_completion(await _streamed(opened, CompletionPieces(), said))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


async def _streamed(opened: AbstractAsyncContextManager[Any], pieces: Pieces, said: Callable[[str], None]) -> str:
    """Return the body of an answer that comes in pieces, or of one that a server gives at once all the same."""
    async with opened as answer:
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            return await answer.text()
        lines = Lines()
        async for chunk in answer.iter_bytes():
            for data in filter(None, map(data_of, lines.take(chunk))):
                if text := pieces.take(data):
                    said(text)
    return pieces.body()


def _items(message: Message) -> Iterator[dict[str, Any]]:
    """Yield a message in the form of the Responses API, in which each call is an item of its own."""
    match message:
        case Instruction(text=text):
            yield {"role": "user", "content": text}
        case ToolOutput(id=call, text=text):
            yield {"type": "function_call_output", "call_id": call, "output": text}
        case Reply(text=text, calls=calls):
            if text:
                yield {"role": "assistant", "content": text}
            for call in calls:
                about = {"call_id": call.id, "name": call.tool, "arguments": call.arguments}
                yield {"type": "function_call", **about}


def _message(message: Message) -> dict[str, Any]:
    """Return a message in the form of chat completions."""
    match message:
        case Instruction(text=text):
            return {"role": "user", "content": text}
        case ToolOutput(id=call, text=text):
            return {"role": "tool", "tool_call_id": call, "content": text}
        case Reply(text=text, calls=calls):
            wanted = [
                {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": call.arguments}}
                for call in calls
            ]
            return {"role": "assistant", "content": text or None, **({"tool_calls": wanted} if wanted else {})}
