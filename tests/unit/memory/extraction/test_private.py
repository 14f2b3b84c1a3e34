"""Private data and secrets leave an item wherever they stand in it, or have it refused, as the policy says."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from perdure.entries import Lane
from perdure.errors import InvalidItem
from perdure.items import Item, MemoryItem, RecordItem, TurnItem
from perdure.jobs import UnusableItem
from perdure.memory.extraction.private import screened, screened_json
from perdure.memory.policies import Private, WritePolicy

NOW = datetime(2026, 5, 1, tzinfo=UTC)
POLICY = WritePolicy()
STRICT = WritePolicy(private=Private.REFUSE)
EMAIL = "lena.m@example.com"
TEXT = f"Invoices go to {EMAIL} on Mondays."
CLEAN = "Invoices go to [email] on Mondays."

MEMORY = MemoryItem(content=TEXT, occurrence="o", occurred_at=NOW)
TURN = TurnItem(content=TEXT, speaker="Kim", session="s", position=0, occurrence="o", occurred_at=NOW)
RECORD = RecordItem(
    lane=Lane.PATTERN, key="k", payload={"to": [EMAIL, 3]}, summary=TEXT, occurrence="o", occurred_at=NOW
)


@pytest.mark.parametrize("item", [MEMORY, TURN, RECORD], ids=lambda item: item.kind)
def test_it_is_taken_out_wherever_it_stands(item: Item) -> None:
    clean = screened(item, POLICY)
    assert EMAIL not in clean.model_dump_json()
    assert "[email]" in clean.model_dump_json()
    refused = screened(item, STRICT)
    assert isinstance(refused, UnusableItem)
    assert "email" in refused.reason
    assert EMAIL not in refused.reason


def test_what_has_none_stays_as_it_is() -> None:
    item = MEMORY.changed(content="Invoices go out on Mondays.", metadata_json={"ticket": "ABC-12", "port": 8080})
    assert screened(item, STRICT) is item
    assert screened(MEMORY, POLICY.changed(allow=(EMAIL,))) == MEMORY


@pytest.mark.parametrize("content", [EMAIL, f"mail: {EMAIL}", "[email]"])
def test_what_says_nothing_without_it_is_refused(content: str) -> None:
    found = screened(MEMORY.changed(content=content), POLICY)
    assert isinstance(found, UnusableItem)
    assert "it says nothing" in found.reason


@pytest.mark.parametrize("item", [MEMORY, TURN, RECORD], ids=lambda item: item.kind)
def test_it_leaves_an_item_that_nobody_has_read_yet(item: Item) -> None:
    written: JsonValue = item.model_dump(mode="json") | {"unknown": 3}
    clean = screened_json(written, POLICY, "items[0]")
    assert isinstance(clean, dict)
    assert EMAIL not in str(clean)
    assert clean["unknown"] == 3
    with pytest.raises(InvalidItem, match=r"items\[0\]: it holds email"):
        screened_json(written, STRICT, "items[0]")


@pytest.mark.parametrize("item", [None, 3, "text", [EMAIL], {}, {"content": None}, {"payload": {"a": {"b": [None]}}}])
def test_what_is_no_item_is_left_to_whoever_reads_it(item: JsonValue) -> None:
    assert screened_json(item, POLICY, "items[0]") == item
