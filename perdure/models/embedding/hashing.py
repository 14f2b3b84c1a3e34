"""A model-free embedder for pure unit tests: words hashed into buckets. Knows nothing of meaning."""

import hashlib
import math
import re
from collections.abc import Sequence

from perdure.models.embedding import Vector

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Texts that share words are near each other, and that is all.

    Args:
        dimension: How many buckets there are.
    """

    relevance_floor = 0.0

    def __init__(self, dimension: int = 64) -> None:
        self.name = f"hashing-{dimension}"
        self.dimension = dimension

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Give the vectors of these texts, in their order."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        buckets = [0.0] * self.dimension
        # Without words, the whole text counts as one, so that no vector is ever zero.
        for word in _WORD.findall(text.lower()) or [text]:
            number = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
            buckets[number % self.dimension] += 1.0
        length = math.hypot(*buckets)
        return [value / length for value in buckets]
