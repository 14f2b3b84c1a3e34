"""The records in which LangGraph's items are kept, and what they say when they come back. Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar, cast

from pydantic import JsonValue

from perdure.identity import canonical_json, digest
from perdure.model import Instant, Passed

LANE = "pattern"

_ITEM = "langgraph item "
_NAMESPACE = "langgraph namespace "
"""What the look-up keys of an item and of the mark of a namespace begin with; a digest of the place follows."""

_EXACT = {"namespace", "key", "value"}
"""The fields that come back as they were put."""

_SUMMARY = 500
"""Characters of a record's summary at most."""


class KeptPlace(Passed):
    """What a record's payload holds. It is stored in canonical JSON: text in NFC, and 1.0 as 1."""

    namespace: tuple[str, ...]
    exact: str = ""
    """The fields as they were put, as JSON in ASCII, in lists (see ``_listed``); empty: canonical JSON has them so."""


K = TypeVar("K", bound=KeptPlace)


class KeptItem(KeptPlace):
    """One item: its place, its value, and when it was put."""

    key: str
    value: dict[str, JsonValue]
    created: Instant
    """When it was first put since it was last deleted. A place keeps its turn in the order by it."""
    updated: Instant
    searched: bool = True
    """Whether a search by meaning may find it."""


class KeptNamespace(KeptPlace):
    """The mark that there is a namespace."""

    created: Instant


def item_key(namespace: tuple[str, ...], key: str) -> str:
    """Return the look-up key of an item: it has a bounded length, whatever stands in the place."""
    return _ITEM + digest("langgraph item/1", json.dumps([*namespace, key]))


def namespace_key(namespace: tuple[str, ...]) -> str:
    """Return the look-up key of the mark of a namespace."""
    return _NAMESPACE + digest("langgraph namespace/1", json.dumps([*namespace]))


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


def _record(key: str, kept: KeptPlace, at: datetime) -> dict[str, Any]:
    moment = at.isoformat()
    given = kept.model_dump(mode="json", include=_EXACT)
    came = json.loads(canonical_json(given))
    exact = "" if _text(given) == _text(came) else json.dumps(_listed(given))
    return {
        "kind": "record",
        "lane": LANE,
        "key": key,
        "payload": kept.changed(exact=exact).model_dump(mode="json"),
        "occurrence": moment,
        "occurred_at": moment,
    }


def kept_item(key: str, payload: JsonValue) -> KeptItem | None:
    """Return the item that a record holds; None: it holds none."""
    return _read(KeptItem, payload) if key.startswith(_ITEM) else None


def kept_namespace(key: str, payload: JsonValue) -> KeptNamespace | None:
    """Return the namespace of which a record is the mark; None: it is none."""
    return _read(KeptNamespace, payload) if key.startswith(_NAMESPACE) else None


def _read(kind: type[K], payload: JsonValue) -> K | None:
    try:
        found = kind.model_validate(payload)
        if not found.exact:
            return found
        exact = cast("dict[str, JsonValue]", _unlisted(json.loads(found.exact)))
        return kind.model_validate({**found.model_dump(), **exact, "exact": ""})
    except ValueError:
        return None


def _listed(value: JsonValue) -> JsonValue:
    """Return a value without mappings: what looks for secrets in the text would take ``"key": "C"`` for one."""
    match value:
        case dict():
            return [True, *(part for key, one in value.items() for part in (key, _listed(one)))]
        case list():
            return [False, *map(_listed, value)]
        case _:
            return value


def _unlisted(value: JsonValue) -> JsonValue:
    match value:
        case [True, *parts]:
            return {str(key): _unlisted(one) for key, one in zip(parts[::2], parts[1::2], strict=True)}
        case [False, *parts]:
            return [*map(_unlisted, parts)]
        case _:
            return value


def _text(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True)


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
