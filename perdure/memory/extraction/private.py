"""Private data and secrets in items: taken out, or a reason to refuse them, by the write policy. Pure."""

from collections.abc import Iterable
from typing import Any, cast

from pydantic import JsonValue

from perdure.errors import InvalidItem
from perdure.items import Item
from perdure.jobs import UnusableItem
from perdure.memory.extraction.findings.finding import Kind
from perdure.memory.extraction.findings.remainder import says_something
from perdure.memory.extraction.screening import screen
from perdure.memory.policies import Private, WritePolicy

_TEXTS = ("content", "summary", "payload", "metadata_json")
"""What of an item may hold anything; its other fields are names."""


def screened(item: Item, policy: WritePolicy) -> Item | UnusableItem:
    """Return an item as it may be kept, or why it may not."""
    fields = {name: getattr(item, name) for name in _TEXTS if hasattr(item, name)}
    clean, kinds = _clean(fields, policy)
    if kinds and policy.private is not Private.REDACT:
        return UnusableItem(reason=_refusal(kinds))
    content = clean.get("content")
    if isinstance(content, str) and "[" in content and not says_something(content):
        return UnusableItem(reason="beside private data or a secret it says nothing")
    return item.changed(**clean) if kinds else item


def screened_json(item: JsonValue, policy: WritePolicy, field: str) -> JsonValue:
    """Return an item as it was written, without private data and secrets: before anything else is looked at.

    Raises:
        InvalidItem: It holds some, and the policy refuses such items.
    """
    if not isinstance(item, dict):
        return item
    clean, kinds = _clean({name: item[name] for name in _TEXTS if name in item}, policy)
    if kinds and policy.private is not Private.REDACT:
        raise InvalidItem(field, _refusal(kinds))
    return item | clean


def _refusal(kinds: Iterable[Kind]) -> str:
    return f"it holds {', '.join(kind.value for kind in kinds)} (the write policy refuses private data and secrets)"


def _clean(fields: dict[str, Any], policy: WritePolicy) -> tuple[dict[str, Any], tuple[Kind, ...]]:
    kinds: dict[Kind, None] = {}

    def cleaned(value: JsonValue) -> JsonValue:
        match value:
            case str():
                found = screen(value, policy.allow)
                kinds.update(dict.fromkeys(found.kinds))
                return found.text
            case list():
                return [cleaned(one) for one in value]
            case dict():
                return {name: cleaned(one) for name, one in value.items()}
            case _:
                return value

    clean = cast("dict[str, Any]", cleaned(fields))
    return clean, tuple(kinds)
