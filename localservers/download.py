"""Downloads an official release: its published checksum first, then the archive, from which it takes one file."""

import hashlib
import re
import shutil
import tarfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

from localservers.problems import RouteFailed
from localservers.recipes import Release

ANSWER_WITHIN = 4.0
"""Seconds for the checksum file, including DNS and redirects: how long a machine without internet waits, once."""

_CHUNK = 1 << 18
_LARGEST_CHECKSUMS = 1 << 20

_silent: set[str] = set()
"""Hosts that did not answer this process; it does not wait for them a second time."""


class NotDownloaded(RouteFailed):
    """The release could not be downloaded; the next route is tried."""


def checksum_in(text: str, name: str) -> str:
    """Return a file's sha256 from a published checksum file.

    Args:
        text: Lines of ``<sha256>  <name>``, or just the sha256 of a single file.
        name: The file's name.

    Raises:
        NotDownloaded: The file is not listed.
    """
    for line in text.splitlines():
        fields = line.split()
        named = len(fields) == 2 and fields[1].lstrip("*").rpartition("/")[2] == name
        bare = len(fields) == 1 and len(text.split()) == 1
        if (named or bare) and re.fullmatch(r"[0-9a-fA-F]{64}", fields[0]):
            return fields[0].lower()
    raise NotDownloaded(f"the published checksums do not list {name}")


def download(release: Release, base: str, folder: Path, say: Callable[[str], None]) -> Path:
    """Download a release and return the path of its binary.

    Args:
        release: What to download.
        base: The scheme and host that publish it.
        folder: An empty folder to work in.
        say: Receives a line of progress every two seconds.

    Raises:
        NotDownloaded: With the reason.
    """
    name = release.archive.rpartition("/")[2]
    expected = checksum_in(_fetch_checksums(base + release.checksums), name)
    archive = folder / name
    found = _fetch(base + release.archive, archive, say)
    if found != expected:
        raise NotDownloaded(f"{name} was discarded: its sha256 is {found[:12]}…, the published one {expected[:12]}…")
    return _extract(archive, release.members, folder)


def _fetch_checksums(url: str) -> str:
    """Fetch a small file within a time limit that includes DNS, which a socket timeout does not cover."""
    host = urlsplit(url).netloc
    if host in _silent:
        raise NotDownloaded(f"{host} does not answer")
    answer: list[str | Exception] = []

    def ask() -> None:
        try:
            with _open(url, ANSWER_WITHIN) as response:
                answer.append(response.read(_LARGEST_CHECKSUMS).decode("utf-8", "replace"))
        except (OSError, HTTPException) as error:
            answer.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(ANSWER_WITHIN)
    result = answer[0] if answer else TimeoutError(f"no answer in {ANSWER_WITHIN:.0f} s")
    if isinstance(result, str):
        return result
    if not isinstance(result, urllib.error.HTTPError):
        _silent.add(host)
    raise NotDownloaded(f"{url}: {_reason(result)}")


def _fetch(url: str, target: Path, say: Callable[[str], None]) -> str:
    digest = hashlib.sha256()
    reported = started = time.monotonic()
    done = 0
    try:
        with _open(url, 30) as response, target.open("wb") as file:
            total = int(response.headers.get("Content-Length") or 0)
            while chunk := response.read(_CHUNK):
                file.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                if time.monotonic() - reported > 2:
                    reported = time.monotonic()
                    of = f" of {total / 1e6:.0f}" if total else ""
                    say(f"downloading {target.name}: {done / 1e6:.0f}{of} MB ({reported - started:.0f} s)")
    except (urllib.error.URLError, TimeoutError, ConnectionError, HTTPException) as error:
        raise NotDownloaded(f"{url}: {_reason(error)}") from error
    if total and done < total:
        raise NotDownloaded(f"{url}: the connection ended after {done} of {total} bytes")
    return digest.hexdigest()


def _open(url: str, timeout: float) -> HTTPResponse:
    if urlsplit(url).scheme not in {"http", "https"}:
        raise NotDownloaded(f"{url}: only http and https are supported")
    return urllib.request.urlopen(url, timeout=timeout)  # noqa: S310 - the scheme was checked


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        return f"HTTP {error.code}"
    return str(getattr(error, "reason", None) or error or type(error).__name__)


def _extract(archive: Path, members: tuple[str, ...], folder: Path) -> Path:
    """Extract one file by its base name, ignoring the paths in the archive."""
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                named = member.isfile() and member.name.rpartition("/")[2] in members
                if named and (source := tar.extractfile(member)):
                    binary = folder / "binary"
                    with binary.open("wb") as file:
                        shutil.copyfileobj(source, file)
                    return binary
    except (tarfile.TarError, EOFError) as error:
        raise NotDownloaded(f"{archive.name} is not a tar archive: {error}") from error
    raise NotDownloaded(f"{archive.name} contains none of: {', '.join(members)}")
