"""Items come back from the records in which they are kept as they were put."""

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.identity import canonical_json
from perdure.langgraph.records import (
    KeptItem,
    KeptNamespace,
    item_key,
    item_record,
    kept_item,
    kept_namespace,
    namespace_record,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)

# Latin letters, and marks that normalisation joins to them.
WORDS = st.text(st.sampled_from("ae\u0301\u0308\u00e9 1"), min_size=1, max_size=6)
LEAVES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e6, 1e6) | WORDS
KEYS = st.text("abc", min_size=1, max_size=3)
VALUES = st.dictionaries(
    KEYS, st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))
)


def stored(payload: JsonValue) -> JsonValue:
    """Return what a record's payload is once it has been stored."""
    found: JsonValue = json.loads(canonical_json(payload))
    return found


@given(st.tuples(WORDS, WORDS), WORDS, VALUES)
def test_an_item_comes_back_as_it_was_put(namespace: tuple[str, ...], key: str, value: dict[str, JsonValue]) -> None:
    item = KeptItem(namespace=namespace, key=key, value=value, created=NOW, updated=NOW)
    record = item_record(item, ())
    found = kept_item(record["key"], stored(record["payload"]))
    assert found is not None
    assert found.changed(exact="") == item
    # 1 and 1.0 are equal, and are not the same.
    assert json.dumps(found.value, sort_keys=True) == json.dumps(value, sort_keys=True)


@given(st.tuples(WORDS, WORDS))
def test_a_namespace_comes_back_as_it_was(namespace: tuple[str, ...]) -> None:
    mark = KeptNamespace(namespace=namespace, created=NOW)
    record = namespace_record(mark)
    found = kept_namespace(record["key"], stored(record["payload"]))
    assert found is not None
    assert found.namespace == namespace


def test_places_that_look_alike_are_two() -> None:
    assert item_key(("ada",), "caf\u00e9") != item_key(("ada",), "cafe\u0301")
    assert item_key(("ada", "a"), "b") != item_key(("ada",), "a\x00b")


def test_what_canonical_json_keeps_is_kept_once() -> None:
    item = KeptItem(namespace=("ada",), key="k", value={"b": 1, "a": "\u00e9"}, created=NOW, updated=NOW)
    assert item_record(item, ())["payload"]["exact"] == ""
