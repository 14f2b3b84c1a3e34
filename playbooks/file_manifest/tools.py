"""The manifest's tools: list files, digest one, append its line."""

import asyncio
import errno
import hashlib
import os
from io import FileIO
from itertools import islice
from pathlib import Path

from perdure import InvalidInput, NotDone, ToolCall, tool


@tool(effect="read", timeout=60)
async def list_folder(folder: str, most: int) -> list[str]:
    """List the files of a folder and of those in it, in order; so many at most."""
    return await asyncio.to_thread(_listed, Path(folder), most)


@tool(effect="read", timeout=60)
async def digest_file(folder: str, path: str) -> str:
    """Return the SHA-256 digest of a file, in hexadecimal."""
    try:
        return await asyncio.to_thread(_digest, Path(folder, path))
    except OSError as error:
        raise InvalidInput("path", f"{path} cannot be read: {type(error).__name__}") from error


async def _line_in_manifest(call: ToolCall, manifest: str, path: str, digest: str) -> str | None:
    """Return the digest if an earlier attempt at this step appended its line."""
    return digest if await asyncio.to_thread(_has_line, Path(manifest), _line(digest, path)) else None


@tool(effect="once", timeout=5, check=_line_in_manifest)
async def append_digest(manifest: str, path: str, digest: str) -> str:
    """Append the line of a file, as ``sha256sum --check`` reads it. Two calls append two lines, hence ``once``."""
    try:
        _append(Path(manifest), _line(digest, path))
    except FileNotFoundError as error:
        raise NotDone(f"the folder of {manifest} does not exist") from error
    return digest


def _append(manifest: Path, line: bytes) -> None:
    # Unbuffered: the line is one write, so that several tasks can append to one manifest.
    with manifest.open("a+b", buffering=0) as file:
        if _is_cut(file):
            # A full disk cut the last line: what follows it would be lost with it.
            line = b"\n" + line
        if file.write(line) < len(line):
            raise OSError(errno.ENOSPC, f"{manifest} has no room for a line")
        os.fsync(file.fileno())


def _is_cut(file: FileIO) -> bool:
    if not file.seek(0, os.SEEK_END):
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"


def _listed(folder: Path, most: int) -> list[str]:
    if not folder.is_dir():
        raise InvalidInput("folder", f"{folder} is no folder")
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return [_name(path.relative_to(folder)) for path in islice(files, most)]


def _name(path: Path) -> str:
    name = path.as_posix()
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidInput("folder", f"has a file whose name is not UTF-8: {name!r}", fix="rename it") from None
    return name


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _line(digest: str, path: str) -> bytes:
    # sha256sum marks and escapes names that would be read as something else (GNU coreutils manual, md5sum).
    escaped = path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    mark = "" if escaped == path else "\\"
    return f"{mark}{digest}  {escaped}\n".encode()


def _has_line(manifest: Path, line: bytes) -> bool:
    try:
        with manifest.open("rb") as file:
            return line in file
    except FileNotFoundError:
        return False
