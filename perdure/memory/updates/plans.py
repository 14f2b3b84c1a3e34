"""A change of a memory as it is asked for, and what it changes. Pure values."""

from datetime import datetime
from typing import NamedTuple

from perdure.values.changes import Deletion
from perdure.values.entries import Entry
from perdure.values.updates import MemoryUpdate


class AskedChange(NamedTuple):
    """One change, as it is made."""

    tenant: str
    request: MemoryUpdate
    operation: str
    at: datetime
    stated_by: str = ""
    """In a team's or an agent's memory, the user who asks, as ``identity.author_id`` says."""


class ChangePlan(NamedTuple):
    """The result of a change."""

    id: str
    """The memory that carries it afterwards."""
    changed: tuple[tuple[Entry | None, Entry], ...]
    """Each entry that it changes, before and after."""
    deletions: tuple[Deletion, ...] = ()
