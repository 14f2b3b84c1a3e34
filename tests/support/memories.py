"""Memories for pure tests."""

from datetime import UTC, datetime
from typing import Any

from perdure.values.entries import Memory

NOW = datetime(2026, 5, 1, tzinfo=UTC)
"""When they were seen, unless a test says otherwise."""


def memory(identifier: str = "mem_1", **fields: Any) -> Memory:
    """Return a memory that was observed once."""
    given: dict[str, Any] = {
        "text": f"text of {identifier}",
        "first_seen": NOW,
        "last_seen": NOW,
        "occurrences": ("o",),
    }
    return Memory(id=identifier, **(given | fields))
