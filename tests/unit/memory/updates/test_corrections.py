"""Who may correct what: a person anything, and nobody else a constraint."""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta

import pytest

from perdure.errors import InvalidInput
from perdure.memory.updates.corrections import require_kept, require_undoubted
from perdure.values.changes import ActorKind
from perdure.values.entries import Memory, MemoryType, Source
from perdure.values.items import MemoryItem

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def believed(kind: MemoryType) -> Memory:
    # Learned, so that it contradicts nothing that a person said.
    about = {"text": "Uploads end at 9.", "memory_type": kind, "source": Source.LEARNED}
    return Memory.model_validate({"id": "mem_1", "first_seen": NOW, "last_seen": NOW, **about})


@pytest.mark.parametrize(
    ("by", "kind", "refused"),
    [
        (ActorKind.AGENT, MemoryType.CONSTRAINT, True),
        (ActorKind.SYSTEM, MemoryType.CONSTRAINT, True),
        (ActorKind.PERSON, MemoryType.CONSTRAINT, False),
        (ActorKind.AGENT, MemoryType.FACT, False),
    ],
)
def test_only_a_person_lifts_a_constraint_by_another_one(by: ActorKind, kind: MemoryType, *, refused: bool) -> None:
    memory = believed(kind)
    item = MemoryItem(
        content="Uploads end at 8.",
        memory_type=kind,
        source=Source.LEARNED,
        occurrence="o",
        occurred_at=NOW + timedelta(days=1),
    )
    lifts = pytest.raises(InvalidInput, match="it would lift a constraint: mem_1")
    with lifts if refused else nullcontext():
        require_undoubted(memory, item, by)
    with lifts if refused else nullcontext():
        require_kept([memory], "content", by)
