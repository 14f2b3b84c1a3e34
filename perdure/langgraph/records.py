"""The records in which LangGraph's items are kept, and what they say when they come back. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from pydantic import JsonValue, ValidationError

from perdure.identity import digest
from perdure.model import Instant, Passed

LANE = "pattern"

_ITEM = "langgraph item "
_NAMESPACE = "langgraph namespace "
"""What the look-up keys of an item and of the mark of a namespace begin with; a digest of the place follows."""

_SUMMARY = 500
"""Characters of a record's summary at most."""


class KeptItem(Passed):
    """One item: its place, its value, and when it was put."""

    namespace: tuple[str, ...]
    key: str
    value: dict[str, JsonValue]
    created: Instant
    """When it was first put since it was last deleted. A place keeps its turn in the order by it."""
    updated: Instant
    searched: bool = True
    """Whether a search by meaning may find it."""


class KeptNamespace(Passed):
    """The mark that there is a namespace."""

    namespace: tuple[str, ...]
    created: Instant


def item_key(namespace: tuple[str, ...], key: str) -> str:
    """Return the look-up key of an item: it has a bounded length, whatever stands in the place."""
    return _ITEM + digest("langgraph item/1", [*namespace], key)


def namespace_key(namespace: tuple[str, ...]) -> str:
    """Return the look-up key of the mark of a namespace."""
    return _NAMESPACE + digest("langgraph namespace/1", [*namespace])


def item_record(item: KeptItem, searched: Iterable[str]) -> dict[str, Any]:
    """Return an item as a record to remember.

    Args:
        item: The item.
        searched: The texts by which a search finds it.
    """
    summary = " ".join(text for text in searched if text.strip())[:_SUMMARY]
    return _record(item_key(item.namespace, item.key), item, item.updated) | {"summary": summary}


def namespace_record(namespace: KeptNamespace) -> dict[str, Any]:
    """Return the mark of a namespace as a record to remember."""
    return _record(namespace_key(namespace.namespace), namespace, namespace.created)


def _record(key: str, kept: Passed, at: datetime) -> dict[str, Any]:
    moment = at.isoformat()
    return {
        "kind": "record",
        "lane": LANE,
        "key": key,
        "payload": kept.model_dump(mode="json"),
        "occurrence": moment,
        "occurred_at": moment,
    }


def kept_item(key: str, payload: JsonValue) -> KeptItem | None:
    """Return the item that a record holds; None: it holds none."""
    return _read(KeptItem, payload) if key.startswith(_ITEM) else None


def kept_namespace(key: str, payload: JsonValue) -> KeptNamespace | None:
    """Return the namespace of which a record is the mark; None: it is none."""
    return _read(KeptNamespace, payload) if key.startswith(_NAMESPACE) else None


def _read(kind: Any, payload: JsonValue) -> Any:
    try:
        return kind.model_validate(payload)
    except ValidationError:
        return None


def texts_of(value: JsonValue) -> Iterator[str]:
    """Yield the texts within a value, in their order: what a search reads of it where no fields are named."""
    if isinstance(value, Mapping):
        for one in value.values():
            yield from texts_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts_of(one)
    elif value is not None:
        yield str(value)
