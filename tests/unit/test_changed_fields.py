"""A type checker cannot see which fields ``changed`` is given, so that a misspelt one fails here and not in a task."""

import ast
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from perdure.model import Model
from perdure.settings import Settings
from tests.recorded.samples import subclasses, types_of_builds

ROOMS = ("activities", "localservers", "perdure", "worker", "workflows")
OTHERS = ("self._audit", "self.audit", "audit", "branches", "reload")
"""What else has a method of this name."""


def calls(source: str) -> Iterator[tuple[int, set[str]]]:
    """Yield the line of each call of ``changed``, and the names of the fields that it is given."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            owner, _, method = called.rpartition(".")
            if called == "changed_back" or (method == "changed" and owner not in OTHERS):
                yield node.lineno, {one.arg for one in node.keywords if one.arg}


def test_all_fields_that_a_change_names_are_those_of_one_value() -> None:
    assert types_of_builds()
    models: list[type[BaseModel]] = [Settings, *subclasses(Model)]
    fields = [set(model.model_fields) for model in models]
    root = Path(__file__).parents[2]
    sources = {path: path.read_text(encoding="utf-8") for room in ROOMS for path in (root / room).rglob("*.py")}
    found = [(path, line, names) for path, source in sources.items() for line, names in calls(source)]
    assert len(found) > 300
    assert [one for one in found if not any(one[2] <= known for known in fields)] == []


def test_a_misspelt_field_is_found() -> None:
    [(line, names)] = calls("entry.changed(confidense=1)")
    assert line == 1
    assert not any(names <= set(model.model_fields) for model in subclasses(Model))
