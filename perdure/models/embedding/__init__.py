"""What every embedding model offers. Knows no model."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

Vector = list[float]
"""A text's place in a model's space, of length 1."""


class Embedder(Protocol):
    """A frozen embedding model."""

    @property
    def name(self) -> str:
        """The model's name, as it is recorded with every collection that it fills."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers its vectors have."""
        ...

    @property
    def relevance_floor(self) -> float:
        """The cosine below which, by measurement, hardly anything is a right answer; 0: not measured."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Give the vectors of these texts, in their order."""
        ...


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
