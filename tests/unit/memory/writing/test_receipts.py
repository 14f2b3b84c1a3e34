"""What a plan says of each item, and of which items nothing is written."""

from perdure.memory.writing.receipts import receipts, refusals
from perdure.values.jobs import Decision, Fate, PlannedItem, WritePlan
from tests.support.memories import NOW

FATES = {
    Decision.INSERT: Fate.SEARCHABLE,
    Decision.REINFORCE: Fate.SEARCHABLE,
    Decision.SUPERSEDE: Fate.SEARCHABLE,
    Decision.HOLD: Fate.HELD,
    Decision.REJECT: Fate.REJECTED,
}


def test_every_item_has_its_fate_and_what_is_not_written_its_reason() -> None:
    items = tuple(
        PlannedItem(index=index, decision=decision, target=f"mem_{index}", reason=f"because {index}")
        for index, decision in enumerate(FATES)
    )
    plan = WritePlan(at=NOW, items=items, expected={})
    told = receipts(plan)
    assert [(one.index, one.decision, one.id, one.reason) for one in told] == [
        (one.index, one.decision, one.target, one.reason) for one in items
    ]
    assert [one.fate for one in told] == [*FATES.values()]
    assert [(one.index, one.id, one.reason, one.held) for one in refusals(plan)] == [
        (3, "mem_3", "because 3", True),
        (4, "mem_4", "because 4", False),
    ]
