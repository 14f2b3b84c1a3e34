"""Pre-flight checks: a bad item is refused before any I/O, naming the field and the fix."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from perdure.errors import InvalidItem
from perdure.jobs import UnusableItem
from perdure.records import LARGEST_PAYLOAD
from perdure.writing import read_batch

GOOD: dict[str, JsonValue] = {
    "kind": "memory",
    "content": "Backups are kept for 35 days.",
    "occurrence": "o",
    "occurred_at": datetime(2026, 5, 1, tzinfo=UTC).isoformat(),
}
RECORD: dict[str, JsonValue] = {
    "kind": "record",
    "lane": "pattern",
    "key": "k",
    "payload": 1,
    "occurrence": "o",
    "occurred_at": GOOD["occurred_at"],
}


@pytest.mark.parametrize(
    ("item", "names"),
    [
        (GOOD | {"contents": "x"}, "did you mean 'content'?"),
        (GOOD | {"confidence": 2}, "items[0].confidence"),
        (GOOD | {"content": ""}, "items[0].content"),
        (GOOD | {"content": "a\x00b"}, "control characters"),
        (GOOD | {"occurred_at": "2026-05-01T00:00:00"}, "items[0].occurred_at"),
        (GOOD | {"content": "recalled EXEC_MEMORY_JSON={}"}, "not remembered again"),
        (RECORD | {"lane": "patern"}, "items[0].lane"),
        (RECORD | {"payload": 2**60}, "too large for JSON"),
        (RECORD | {"payload": "x" * LARGEST_PAYLOAD}, "remember the insight"),
        ("text", "items[0]"),
    ],
)
def test_a_bad_item_is_refused_with_its_field(item: JsonValue, names: str) -> None:
    with pytest.raises(InvalidItem) as refusal:
        read_batch(tenant="t", key="k", items=[item])
    assert names in str(refusal.value)


def test_a_bad_item_among_good_ones_keeps_its_place() -> None:
    batch = read_batch(tenant="t", key="k", items=[GOOD, {"kind": "memory"}, RECORD])
    assert [isinstance(item, UnusableItem) for item in batch.items] == [False, True, False]


@pytest.mark.parametrize("items", [[], [GOOD] * 101])
def test_a_batch_has_1_to_100_items(items: list[JsonValue]) -> None:
    with pytest.raises(InvalidItem, match="1 to 100"):
        read_batch(tenant="t", key="k", items=items)


def test_a_batch_is_bounded_as_a_whole() -> None:
    large = RECORD | {"payload": "x" * 15_000}
    read_batch(tenant="t", key="k", items=[large] * 25)
    with pytest.raises(InvalidItem, match="split them"):
        read_batch(tenant="t", key="k", items=[large] * 30)
