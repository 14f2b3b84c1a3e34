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
