import stat
import threading
from pathlib import Path

import pytest

from localservers import ServerNotFound
from localservers.find import find, install
from localservers.recipes import Server, recipe
from perdure.settings import Settings

UNREACHABLE = "http://127.0.0.1:9"


def program(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache", downloads=UNREACHABLE)


def test_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path / "bin", "temporal", "temporal version 1.8.2 (Server 1.31.2, UI 2.50)")
    program(tmp_path / "cache", recipe(Server.TEMPORAL).cached, "")
    monkeypatch.setenv("PATH", str(path.parent))

    found = find(Server.TEMPORAL, settings(tmp_path), print)

    assert (found.path, found.how) == (path, "on PATH")


def test_one_that_is_too_old_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = program(tmp_path / "bin", "temporal", "temporal version 0.10.0 (Server 1.22.0)")
    kept = program(tmp_path / "cache", recipe(Server.TEMPORAL).cached, "")
    monkeypatch.setenv("PATH", str(old.parent))

    found = find(Server.TEMPORAL, settings(tmp_path), print)

    assert (found.path, found.how) == (kept, "in the cache")


def test_no_route_names_every_route_and_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ServerNotFound) as raised:
        find(Server.WEAVIATE, settings(tmp_path), print)

    assert [route for route, _ in raised.value.tried] == ["PATH", "PATH", "cache", "download", "Go"]
    assert "no `go` on PATH" in str(raised.value)
    assert "install Go" in str(raised.value)
    assert "PERDURE_WEAVIATE_URL" in str(raised.value)


def test_an_installation_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> Path:
        (folder / "half").write_text("half")
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        install(tmp_path / "tool", fail, print)

    assert [path.name for path in tmp_path.iterdir()] == [".tool.lock"]


def test_two_installers_make_it_once(tmp_path: Path) -> None:
    made: list[int] = []
    inside, go_on = threading.Event(), threading.Event()
    said: list[str] = []

    def make(folder: Path) -> Path:
        made.append(1)
        inside.set()
        assert go_on.wait(10)
        (folder / "tool").write_text("whole")
        return folder / "tool"

    def say(text: str) -> None:
        said.append(text)
        go_on.set()

    first = threading.Thread(target=install, args=(tmp_path / "tool", make, say))
    first.start()
    assert inside.wait(10)
    install(tmp_path / "tool", make, say)
    first.join(10)

    assert made == [1]
    assert said == ["waiting for another process that is installing tool"]
    assert (tmp_path / "tool").read_text() == "whole"
