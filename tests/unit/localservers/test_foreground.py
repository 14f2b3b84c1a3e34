"""A worker in a terminal is announced from its beginning to its end, whatever ends it."""

import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from localservers.foreground import Announcement, announced
from localservers.origin import SettingsOrigin

SERVE = """
import os, sys
from pathlib import Path
from localservers.foreground import announce, hand_over
from localservers.origin import SettingsOrigin

home, settings = Path(sys.argv[1]), sys.argv[2]
held = announce(home, settings=settings, temporal="127.0.0.1:1", origin=SettingsOrigin(folder="/shop"))
print(os.getpid(), len(os.listdir("/proc/self/fd")), flush=True)
if sys.stdin.readline():
    hand_over(held)
    os.execv(sys.executable, [sys.executable, "-c", sys.argv[3], sys.argv[1], "new", sys.argv[3]])
"""


@contextmanager
def serving(home: Path) -> Generator[subprocess.Popen[str]]:
    program = [sys.executable, "-c", SERVE, str(home), "old", SERVE]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> list[int]:
    assert process.stdout
    return [int(word) for word in process.stdout.readline().split()]


def test_it_is_announced_until_it_is_killed(tmp_path: Path) -> None:
    assert announced(tmp_path) == ()
    with serving(tmp_path) as process:
        [pid, _] = said(process)
        shop = SettingsOrigin(folder="/shop")
        [found] = announced(tmp_path)
        assert found == Announcement(pid=pid, settings="old", temporal="127.0.0.1:1", origin=shop)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert announced(tmp_path) == ()


@pytest.mark.slow
def test_it_is_announced_all_the_while_that_it_begins_anew(tmp_path: Path) -> None:
    with serving(tmp_path) as process:
        [pid, files] = said(process)
        assert process.stdin
        assert process.stdout
        for _ in range(2):
            process.stdin.write("anew\n")
            process.stdin.flush()
            while not select.select([process.stdout], [], [], 0)[0]:
                assert [one.pid for one in announced(tmp_path)] == [pid]
            assert [(one.pid, one.settings) for one in announced(tmp_path)] == [(pid, "new")]
            assert said(process) == [pid, files], "no file of the program before is left open"


@pytest.mark.slow
def test_what_dead_ones_left_is_removed(tmp_path: Path) -> None:
    for _ in range(2):
        with serving(tmp_path) as process:
            said(process)
    assert len(list((tmp_path / "foreground").iterdir())) == 1
