"""Texts to vectors. Owns the models; never stores a vector and never compares two.

One model serves a collection for its whole life: ``Embedder.name`` and ``dimension`` are what a
collection records and checks.
"""

from perdure.embedding.cache import CachedEmbedder
from perdure.embedding.hashing import HashingEmbedder
from perdure.embedding.minilm import MiniLMEmbedder
from perdure.embedding.opening import open_embedder
from perdure.embedding.protocol import Embedder, Vector

__all__ = [
    "CachedEmbedder",
    "Embedder",
    "HashingEmbedder",
    "MiniLMEmbedder",
    "Vector",
    "open_embedder",
]
