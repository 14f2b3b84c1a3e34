"""What makes a file's name as durable as its content. Knows nothing of what files say."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Sync a folder's list of names to disk, after one was added or changed."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
