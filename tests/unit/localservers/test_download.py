import hashlib
import io
import socket
import tarfile
import time
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from localservers import download as module
from localservers.download import NotDownloaded, checksum_in, download
from localservers.recipes import Release

RELEASE = Release(archive="/v1/tool_linux.tar.gz", checksums="/v1/checksums.txt", members=("tool",))
DIGEST = "ab" * 32


def archive(name: str = "folder/tool") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for member, content in (("LICENSE", b"mine"), (name, b"#!/bin/sh\necho hello\n")):
            info = tarfile.TarInfo(member)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def publish(server: HTTPServer, served: bytes, digest: str) -> str:
    server.expect_request(RELEASE.checksums).respond_with_data(f"{'0' * 64}  other\n{digest}  tool_linux.tar.gz\n")
    server.expect_request(RELEASE.archive).respond_with_data(served)
    return server.url_for("")


@pytest.mark.parametrize(
    "text",
    [
        f"{DIGEST}  tool.tar.gz",
        f"{'0' * 64}  a.zip\n{DIGEST} *dist/tool.tar.gz\n",
        f"{DIGEST.upper()}\n",
    ],
)
def test_checksum_is_found(text: str) -> None:
    assert checksum_in(text, "tool.tar.gz") == DIGEST


@pytest.mark.parametrize(
    "text", ["", "<html>not found</html>", f"{DIGEST}  other.tar.gz", f"{DIGEST[:-1]}  tool.tar.gz"]
)
def test_a_missing_checksum_is_an_error(text: str) -> None:
    with pytest.raises(NotDownloaded, match="do not list"):
        checksum_in(text, "tool.tar.gz")


def test_the_binary_comes_out(httpserver: HTTPServer, tmp_path: Path) -> None:
    served = archive()
    base = publish(httpserver, served, hashlib.sha256(served).hexdigest())

    binary = download(RELEASE, base, tmp_path, print)

    assert binary.read_bytes() == b"#!/bin/sh\necho hello\n"


def test_a_wrong_checksum_is_refused(httpserver: HTTPServer, tmp_path: Path) -> None:
    base = publish(httpserver, archive(), hashlib.sha256(b"something else").hexdigest())

    with pytest.raises(NotDownloaded, match="was discarded"):
        download(RELEASE, base, tmp_path, print)
    assert not (tmp_path / "binary").exists()


def test_a_truncated_archive_is_refused(httpserver: HTTPServer, tmp_path: Path) -> None:
    served = archive()
    base = publish(httpserver, served[:-20], hashlib.sha256(served).hexdigest())

    with pytest.raises(NotDownloaded, match="was discarded"):
        download(RELEASE, base, tmp_path, print)


def test_an_archive_without_the_binary_is_refused(httpserver: HTTPServer, tmp_path: Path) -> None:
    served = archive("other")
    base = publish(httpserver, served, hashlib.sha256(served).hexdigest())

    with pytest.raises(NotDownloaded, match="contains none of"):
        download(RELEASE, base, tmp_path, print)


def test_an_archive_cannot_write_outside(httpserver: HTTPServer, tmp_path: Path) -> None:
    served = archive("../../tool")
    base = publish(httpserver, served, hashlib.sha256(served).hexdigest())
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)

    assert download(RELEASE, base, folder, print) == folder / "binary"
    assert not (tmp_path / "tool").exists()


def test_a_missing_release_is_an_error(httpserver: HTTPServer, tmp_path: Path) -> None:
    with pytest.raises(NotDownloaded, match="HTTP 500"):
        download(RELEASE, httpserver.url_for(""), tmp_path, print)
    httpserver.clear_log()


def test_a_silent_host_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_WITHIN", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(NotDownloaded, match=r"no answer|timed out"):
            download(RELEASE, base, tmp_path, print)
        assert time.monotonic() - started < 2
        with pytest.raises(NotDownloaded, match="does not answer"):
            download(RELEASE, base, tmp_path, print)
