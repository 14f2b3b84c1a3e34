"""What every embedding model offers. Knows no model."""

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
