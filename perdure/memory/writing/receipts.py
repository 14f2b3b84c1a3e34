"""What is told of a plan once it is carried out: what became of each item, and what was refused. Pure."""

from perdure.memory.writing.observation import WRITING
from perdure.values.changes import Refusal
from perdure.values.jobs import Decision, Fate, ItemReceipt, WritePlan


def receipts(decided: WritePlan) -> tuple[ItemReceipt, ...]:
    """Return what became of each item of a plan that is carried out."""
    return tuple(
        ItemReceipt(
            index=item.index, fate=_fate(item.decision), decision=item.decision, id=item.target, reason=item.reason
        )
        for item in decided.items
    )


def refusals(decided: WritePlan) -> list[Refusal]:
    """Return the items of which a plan writes nothing, with the reasons."""
    return [
        Refusal(index=item.index, id=item.target, reason=item.reason, held=item.decision is Decision.HOLD)
        for item in decided.items
        if item.decision not in WRITING
    ]


def _fate(decision: Decision) -> Fate:
    if decision in WRITING:
        return Fate.SEARCHABLE
    return Fate.HELD if decision is Decision.HOLD else Fate.REJECTED
