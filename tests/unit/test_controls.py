"""What slow tests take away to show that it is needed is there: a name that is gone is found before they run."""

import ast
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
_PATCHING = {"setattr", "delattr"}


def patched(file: Path) -> Iterator[str]:
    """Yield what a file's tests patch by name: each as a dotted name."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = {
        name.asname or name.name: f"{node.module}.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for name in node.names
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PATCHING):
            continue
        match node.args:
            case [ast.Name(id=owner), ast.Constant(value=str(attribute)), *_] if owner in imported:
                yield f"{imported[owner]}.{attribute}"
            case [ast.Constant(value=str(path)), *_] if "." in path:
                yield path
            case _:
                pass


def is_there(path: str) -> bool:
    """Return whether a dotted name leads to something, or to a field that a class declares."""
    owner, _, name = path.rpartition(".")
    found = pkgutil.resolve_name(owner)
    return hasattr(found, name) or name in getattr(found, "__annotations__", {})


FILES = [file for file in sorted(TESTS.rglob("test_*.py")) if ".setattr(" in file.read_text(encoding="utf-8")]


def test_there_is_something_to_look_at() -> None:
    assert sum(1 for file in FILES for _ in patched(file)) > 50


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TESTS)))
def test_what_tests_patch_is_there(file: Path) -> None:
    assert [path for path in patched(file) if not is_there(path)] == []
