"""Natural language that comes with every Python: the docstrings of the standard library."""

import ast
import re
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path


def sentences() -> list[str]:
    """Return every distinct sentence of the standard library's docstrings."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    found: dict[str, None] = {}
    for file in sorted(path for path in folder.rglob("*.py") if "site-packages" not in path.parts):
        for text in _docstrings(file):
            for paragraph in re.split(r"\n\s*\n", text):
                for sentence in re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split())):
                    if 40 <= len(sentence) <= 300 and re.fullmatch(r"[A-Z][^>{}|=]*[a-z]{3}[^>{}|=]*[.!?]", sentence):
                        found[sentence] = None
    return list(found)


def _docstrings(file: Path) -> Iterator[str]:
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError, ValueError, OSError):
        return  # Some files in the tests of the standard library are broken on purpose.
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
