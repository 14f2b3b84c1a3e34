"""The folder under review: what may be read in it, and where the review is written."""

import os
from collections.abc import Iterator
from pathlib import Path

from perdure import InvalidInput

VARIABLE = "REVIEWED_REPOSITORY"
"""The environment variable that names the folder; a model does not choose it."""

_LARGEST = 1_000_000
"""Bytes of a file that is read: a choice; what is larger is hardly written by hand."""
_HIDDEN = frozenset([".git", ".venv", "node_modules", "__pycache__", ".review"])


def root() -> Path:
    """Return the folder under review.

    Raises:
        InvalidInput: The worker was not told which.
    """
    if not (named := os.environ.get(VARIABLE)):
        raise InvalidInput(VARIABLE, "is not set", fix="start the worker with the folder to review in it")
    return Path(named).resolve(strict=True)


def inside(path: str) -> Path:
    """Return a file of the repository.

    Raises:
        InvalidInput: It is elsewhere, also by a symbolic link, or is no file that can be read.
    """
    found = (root() / path).resolve()
    if not found.is_relative_to(root()) or not _HIDDEN.isdisjoint(found.relative_to(root()).parts):
        raise InvalidInput("path", f"{path!r} is not in the repository", fix="name a path that list_files gave")
    if not found.is_file():
        raise InvalidInput("path", f"{path!r} is no file", fix="name a path that list_files gave")
    return found


def lines_of(path: str) -> list[str]:
    """Return the lines of a file.

    Raises:
        InvalidInput: It is not in the repository, too large, or not text.
    """
    file = inside(path)
    if file.stat().st_size > _LARGEST:
        raise InvalidInput("path", f"{path!r} has more than {_LARGEST:,} bytes")
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidInput("path", f"{path!r} is not UTF-8 text") from error


def files(pattern: str) -> Iterator[str]:
    """Yield the paths of the files that match a pattern, in order.

    Raises:
        InvalidInput: It is no pattern of paths inside the repository.
    """
    top = root()
    try:
        found = sorted(top.glob(pattern))
    except (ValueError, NotImplementedError) as error:
        raise InvalidInput("pattern", f"{pattern!r} is no pattern: {error}", fix='write one as "**/*.py"') from error
    for path in found:
        resolved = path.resolve()
        if resolved.is_relative_to(top) and path.is_file() and _HIDDEN.isdisjoint(path.relative_to(top).parts):
            yield path.relative_to(top).as_posix()
