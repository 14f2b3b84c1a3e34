"""Remembers the last vectors. Never computes one."""

from collections import OrderedDict
from collections.abc import Sequence

from perdure.embedding.protocol import Embedder, Vector


class CachedEmbedder:
    """An embedder that does not embed the same text twice while it remembers it.

    A retried plan, or the same question asked again, then costs nothing.

    Args:
        inner: The model.
        capacity: How many texts to remember; the least recently used go first.
    """

    def __init__(self, inner: Embedder, capacity: int = 2_000) -> None:
        self._inner = inner
        self._capacity = capacity
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._inner.name

    @property
    def dimension(self) -> int:
        """How many numbers its vectors have."""
        return self._inner.dimension

    @property
    def relevance_floor(self) -> float:
        """The model's own floor."""
        return self._inner.relevance_floor

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Give the vectors of these texts, in their order."""
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        unknown = list(dict.fromkeys(text for text in texts if text not in known))
        if unknown:
            known.update(zip(unknown, await self._inner.embed(unknown), strict=True))
        for text in texts:
            self._vectors[text] = known[text]
            self._vectors.move_to_end(text)
        while len(self._vectors) > self._capacity:
            self._vectors.popitem(last=False)
        return [known[text] for text in texts]
