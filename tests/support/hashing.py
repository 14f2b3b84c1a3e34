"""An embedder without a model: it hashes words into buckets, so that texts that share words are near each other."""

import hashlib
import math
import re
from collections.abc import Sequence

from perdure.models.embedding import Vector

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Deterministic, fast, and blind to meaning.

    Args:
        dimension: The number of buckets.
    """

    relevance_floor = 0.0

    def __init__(self, dimension: int = 64) -> None:
        self.name = f"hashing-{dimension}"
        self.dimension = dimension

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in the same order."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        buckets = [0.0] * self.dimension
        # A text without words counts as one word, so that no vector is zero.
        for word in _WORD.findall(text.lower()) or [text]:
            number = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
            buckets[number % self.dimension] += 1.0
        length = math.hypot(*buckets)
        return [value / length for value in buckets]
