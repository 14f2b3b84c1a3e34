"""A folder's lock holds for the folder that has its name."""

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from perdure.stores import disk


def test_who_waited_for_the_lock_of_an_erased_folder_takes_that_of_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, flock, taken = tmp_path / "t_1", fcntl.flock, list[int]()
    folder.mkdir()

    def late(handle: int, how: int) -> None:
        if not taken:
            shutil.rmtree(folder)
            folder.mkdir()
        taken.append(handle)
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with disk.locked(folder):
        other = os.open(folder / disk.LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        with pytest.raises(BlockingIOError):
            flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(other)


def test_the_lock_of_a_folder_that_is_gone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), disk.locked(tmp_path / "t_1"):
        pytest.fail("there is nothing to lock")


@pytest.mark.parametrize("how", ["made once", "appended", "replaced"])
def test_a_file_is_on_the_disk_before_its_name_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    path, fsync, synced = tmp_path / "file", os.fsync, list[tuple[int, int]]()

    def noted(handle: int) -> None:
        found = os.fstat(handle)
        synced.append((found.st_ino, found.st_size))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    match how:
        case "made once":
            disk.create_once(path, b"content\n")
        case "appended":
            disk.append(path, b"content\n")
        case _:
            disk.replace(path, b"content\n", tmp_path / "draft")
    file, folder = path.stat(), tmp_path.stat()
    whole = synced.index((file.st_ino, len(b"content\n")))
    assert folder.st_ino in [number for number, _ in synced[whole:]]


def test_what_is_appended_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, sizes = tmp_path / "file", list[int]()
    disk.append(path, b"one\n")

    def noted(handle: int) -> None:
        sizes.append(os.fstat(handle).st_size)

    monkeypatch.setattr(os, "fsync", noted)
    disk.append(path, b"two\n")
    assert sizes == [len(b"one\ntwo\n")]
