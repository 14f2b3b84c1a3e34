"""OpenAI's embedding models, or a compatible server's. Never retries: whoever calls does."""

from collections.abc import Sequence

import openai

from perdure.errors import StoreUnavailable
from perdure.models.embedding import Vector

_TEXTS_A_CALL = 256
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


class OpenAIEmbedder:
    """An embedding model behind OpenAI's API.

    Args:
        model: The model's name there.
        api_key: The key; without one, ``OPENAI_API_KEY``.
        base_url: A compatible server's address; without one, ``OPENAI_BASE_URL`` or OpenAI's own.
        dimension: For models that are not OpenAI's own: how many numbers their vectors have.
        timeout: Seconds after which a call is given up; the client's own default is ten minutes.
    """

    relevance_floor = 0.0

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
            raise ValueError(f"the dimension of {model} is not known: give it")
        self.name = f"openai:{model}"
        self.dimension = known
        self._model = model
        self._client = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Give the vectors of these texts, in their order."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), _TEXTS_A_CALL):
            vectors += await self._call(texts[start : start + _TEXTS_A_CALL])
        return vectors

    async def _call(self, texts: Sequence[str]) -> list[Vector]:
        try:
            answer = await self._client.embeddings.create(model=self._model, input=list(texts))
        except openai.OpenAIError as error:
            raise StoreUnavailable("openai", type(error).__name__) from error
        vectors = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        if len(vectors) != len(texts) or any(len(vector) != self.dimension for vector in vectors):
            raise StoreUnavailable("openai", f"did not give {len(texts)} vectors of {self.dimension} numbers")
        return vectors

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()
