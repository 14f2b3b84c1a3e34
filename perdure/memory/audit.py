"""Who changed which memories, and why: what the door reports after each change."""

from collections.abc import Sequence
from typing import Protocol

import structlog

from perdure.changes import Actor

_log = structlog.get_logger(__name__)


class Audit(Protocol):
    """Learns of every change of memory, perhaps twice. It gets ids and reasons, never content."""

    async def record(self, tenant: str, *, ids: Sequence[str], operation: str, by: Actor, why: str) -> None:
        """Record that these entries were changed or removed."""
        ...


_NAMED = 20
"""Ids that one line of the log names; the journal has them all."""


class AuditLog:
    """Writes changes to the process's log."""

    async def record(self, tenant: str, *, ids: Sequence[str], operation: str, by: Actor, why: str) -> None:
        """Log the change."""
        _log.info(
            "memory changed",
            tenant=tenant,
            entries=len(ids),
            ids=list(ids[:_NAMED]),
            operation=operation,
            by=f"{by.kind.value}:{by.id}",
            why=why,
        )
