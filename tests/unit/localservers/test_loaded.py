"""What a worker has read and what has changed since, as two processes see it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from localservers.loaded import begin_loading, changed_since_loaded, has_loaded, tell_loaded


@pytest.fixture
def servers(tmp_path: Path) -> Path:
    folder = tmp_path / "servers"
    folder.mkdir()
    (folder / "mail.yaml").write_text("name: mail\n")
    return folder


def test_what_has_changed_since_it_was_read_is_named(tmp_path: Path, servers: Path) -> None:
    home, tools, gone = tmp_path / "home", tmp_path / "tools.py", tmp_path / "gone.py"
    tools.write_text("1")
    gone.write_text("1")
    read = [tools, gone, servers, servers / "mail.yaml"]
    assert changed_since_loaded(home, os.getpid()) == [], "nobody has said anything"
    assert not has_loaded(home, os.getpid())
    tell_loaded(home, read, begin_loading(home))
    assert has_loaded(home, os.getpid())
    assert changed_since_loaded(home, os.getpid()) == []

    os.utime(tools, (0, 0))
    (servers / "notes.txt").write_text("to do")
    assert changed_since_loaded(home, os.getpid()) == [], "what it read is still the same"

    tools.write_text("2")
    gone.unlink()
    (servers / "shop.yaml").write_text("name: shop\n")
    (servers / "mail.yaml").write_text("name: mail\nurl: http://elsewhere\n")
    assert changed_since_loaded(home, os.getpid()) == read

    tell_loaded(home, read, begin_loading(home))
    assert changed_since_loaded(home, os.getpid()) == [], "it has read them anew"


def test_what_an_ended_process_has_read_is_not_kept(tmp_path: Path) -> None:
    told = (
        "import os, sys, pathlib\n"
        "from localservers.loaded import tell_loaded\n"
        "tell_loaded(pathlib.Path(sys.argv[1]), [], 0)\n"
        "print(os.getpid())\n"
    )
    ended = subprocess.run([sys.executable, "-c", told, tmp_path], capture_output=True, text=True, check=True)
    assert [file.stem for file in (tmp_path / "loaded").iterdir()] == [ended.stdout.strip()]

    tell_loaded(tmp_path, [], begin_loading(tmp_path))

    assert [file.stem for file in (tmp_path / "loaded").iterdir()] == [str(os.getpid())]


def test_what_cannot_be_read_of_it_is_no_change(tmp_path: Path) -> None:
    tell_loaded(tmp_path, [], begin_loading(tmp_path))
    (tmp_path / "loaded" / f"{os.getpid()}.json").write_text("{")
    assert changed_since_loaded(tmp_path, os.getpid()) == []


def test_what_is_written_while_a_process_reads_counts_as_changed(tmp_path: Path) -> None:
    tools, rules = tmp_path / "tools.py", tmp_path / "rules.yaml"
    rules.write_text("a: 1")
    began = begin_loading(tmp_path)
    tools.write_text("2")
    tell_loaded(tmp_path, [tools, rules, tmp_path / "none.py"], began)
    assert changed_since_loaded(tmp_path, os.getpid()) == [tools]


def test_what_another_process_of_this_id_said_is_taken_back(tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text("1")
    tell_loaded(tmp_path, [tools], begin_loading(tmp_path))
    tools.write_text("2")
    begin_loading(tmp_path)
    assert changed_since_loaded(tmp_path, os.getpid()) == []


def test_what_cannot_be_looked_at_is_no_change(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "tools.py").write_text("1")
    tell_loaded(tmp_path, [folder / "tools.py"], begin_loading(tmp_path))
    (folder / "tools.py").unlink()
    folder.rmdir()
    folder.write_text("a file, so that there can be none below it")
    assert changed_since_loaded(tmp_path, os.getpid()) == []
