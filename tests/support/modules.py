"""Modules that a test loads by name."""

import sys
from types import ModuleType

import pytest


def unloaded(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Have modules loaded anew by the test, and forgotten after it: other tests have others of these names."""
    for name in names:
        # What is deleted alone is not deleted again in the end.
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.delitem(sys.modules, name)
