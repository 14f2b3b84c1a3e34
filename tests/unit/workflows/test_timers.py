"""Timers in a history say what they are for."""

import ast
from collections.abc import Iterator
from pathlib import Path

import workflows

FOLDER = Path(workflows.__file__).parent
WAITS = {"sleep": "summary", "wait_condition": "timeout_summary", "wait": "", "wait_for": "", "timeout": ""}
"""The calls that make a timer, and what they take a summary as; empty: as nothing, so that they may make none."""


def unnamed(tree: ast.AST) -> Iterator[int]:
    """Yield the lines with a timer that has no summary."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WAITS):
            continue
        names = {one.arg for one in node.keywords}
        makes = node.func.attr in ("sleep", "wait_for", "timeout") or "timeout" in names
        if makes and WAITS[node.func.attr] not in names:
            yield node.lineno


def test_every_timer_of_a_workflow_has_a_summary() -> None:
    found = {path.name: list(unnamed(ast.parse(path.read_text("utf-8")))) for path in FOLDER.glob("*.py")}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_timer_without_a_summary_is_found() -> None:
    text = "workflow.sleep(1)\nworkflow.wait([a], timeout=2)\nworkflow.wait([a])\nworkflow.sleep(1, summary='x')\n"
    assert list(unnamed(ast.parse(text))) == [1, 2]
