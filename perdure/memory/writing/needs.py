"""What has to be looked up before a batch is decided on: which ids, terms and statements it has. Pure."""

from collections.abc import Iterable

from perdure.values.entries import Entry, Memory
from perdure.values.items import Item, MemoryItem, imported_id, item_id
from perdure.values.jobs import Batch, UnusableItem


def usable(batch: Batch) -> dict[int, Item]:
    """Return the items that can become entries, by their places."""
    return {index: item for index, item in enumerate(batch.items) if not isinstance(item, UnusableItem)}


def named_by(batch: Batch) -> set[str]:
    """Return the ids of what the items would become, of what they replace, and of what they were exported from."""
    items = usable(batch).values()
    ids = {item_id(batch.tenant, item) for item in items}
    ids |= {item.supersedes for item in items if isinstance(item, MemoryItem)}
    return (ids | {imported_id(item) for item in items}) - {""}


def successors_of(entries: Iterable[Entry]) -> set[str]:
    """Return the ids of what has replaced any of these."""
    return {entry.superseded_by for entry in entries if isinstance(entry, Memory)} - {""}


def statements(batch: Batch) -> set[str]:
    """Return the texts of what a batch states."""
    return {item.content for item in usable(batch).values() if isinstance(item, MemoryItem)}


def about(batch: Batch) -> set[str]:
    """Return the terms of what a batch asserts."""
    asserted = [item.assertion for item in usable(batch).values() if isinstance(item, MemoryItem)]
    return {term for assertion in asserted if assertion for term in assertion.about}
