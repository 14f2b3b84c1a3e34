"""Code that dies at a crash point, in the test's own process."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from perdure.crashpoints import CrashPoint


@contextmanager
def dying_in_the_door(monkeypatch: pytest.MonkeyPatch, at: CrashPoint) -> Generator[None]:
    """Have what goes through the door fail at a crash point; that it gets there is required."""

    def die(point: CrashPoint) -> None:
        if point is at:
            raise ConnectionError

    with monkeypatch.context() as patch:
        patch.setattr("perdure.memory.door.reached", die)
        with pytest.raises(ConnectionError):
            yield
