"""Embedding models of OpenAI or a compatible server. Never retries; the caller does."""

from collections.abc import Sequence

import openai

from perdure.errors import EmbeddingMismatch, InvalidInput
from perdure.models.embedding import Vector
from perdure.models.errors import ReplyUnusable
from perdure.models.openai import translated_errors

_TEXTS_A_CALL = 256
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


class OpenAIEmbedder:
    """An embedding model behind OpenAI's API.

    Args:
        model: The model's name at the provider.
        api_key: The key; by default ``OPENAI_API_KEY``.
        base_url: The address of a compatible server; by default ``OPENAI_BASE_URL`` or OpenAI's own.
        dimension: The length of its vectors; required for models that are not OpenAI's.
        timeout: Seconds after which a call is abandoned; the client's default is ten minutes.

    Raises:
        InvalidInput: The dimension of the model is unknown.
    """

    relevance_floor = 0.0
    """Not measured for any model behind this API: no memory is left out because its cosine with the question is low."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        dimension: int | None = None,
        timeout: float = 20.0,
    ) -> None:
        known = dimension or _DIMENSIONS.get(model)
        if known is None:
            raise InvalidInput(
                "embedding", f"the dimension of {model} is unknown", fix=f"use one of {', '.join(_DIMENSIONS)}"
            )
        self.name = f"openai:{model}"
        self.dimension = known
        self._model = model
        self._client = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in the same order."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), _TEXTS_A_CALL):
            vectors += await self._call(texts[start : start + _TEXTS_A_CALL])
        return vectors

    async def _call(self, texts: Sequence[str]) -> list[Vector]:
        with translated_errors():
            answer = await self._client.embeddings.create(model=self._model, input=list(texts))
        vectors = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        if len(vectors) != len(texts):
            raise ReplyUnusable("openai", f"returned {len(vectors)} vectors for {len(texts)} texts")
        if wrong := next((vector for vector in vectors if len(vector) != self.dimension), None):
            raise EmbeddingMismatch(f"{self.name} returned a vector of {len(wrong)} numbers, not {self.dimension}")
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
