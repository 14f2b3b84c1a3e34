"""Where an item comes from: which observation it is, when it was recorded, what for, and by whom. Pure."""

import base64
from datetime import datetime, timedelta

from perdure.identity import occurrence_id
from perdure.values.entries import Entry, Memory, Purpose, Source, State
from perdure.values.items import Item, MemoryItem, imported_id, statement
from perdure.values.jobs import Batch


def occurrence_of(tenant: str, item: Item) -> str:
    """Return the short form of the id of the observation that an item reports, as entries and deletions list it.

    It has 48 bits: of an entry's 1,024 observations, two look like one in 2 of a billion entries.
    """
    whole = occurrence_id(tenant, "caller", item.occurrence).removeprefix("occ_")
    return base64.urlsafe_b64encode(bytes.fromhex(whole[:12])).decode()


def recorded_at(batch: Batch, index: int, item: Item) -> datetime:
    """Return when an item was recorded: when it was said or learned, or when its batch was accepted.

    Of a batch, each item is later than the one before it.
    """
    if index < len(batch.recorded):
        return batch.recorded[index] + timedelta(microseconds=index)
    if batch.accepted_at is None:
        return item.occurred_at
    return batch.accepted_at + timedelta(microseconds=index)


def purpose_of(batch: Batch, item: Item) -> Purpose:
    """Return what an item is to be kept for: a memory that comes from a session was extracted from what was said."""
    return Purpose.EXTRACTED if batch.session and isinstance(item, MemoryItem) else Purpose.GIVEN


def is_conclusion(item: MemoryItem) -> bool:
    """Return whether an item is what an agent or a tool makes of something: nobody has stated it."""
    return item.source in (Source.LEARNED, Source.INFERRED)


def author_of(batch: Batch, item: Item) -> str:
    """Return who states an item in a memory that several share, by tenant; empty: nobody does, or it is not shared.

    What a tool or an agent found out or concluded is nobody's statement, whoever's task it was.
    """
    return batch.stated_by if isinstance(item, MemoryItem) and not is_conclusion(item) else ""


def is_its_import(item: Item, entry: Entry) -> bool:
    """Return whether an item was exported from this very entry, which still counts and says the same."""
    if imported_id(item) != entry.id or entry.state is not State.CURRENT:
        return False
    if isinstance(item, MemoryItem) and isinstance(entry, Memory):
        return statement(item.content) == statement(entry.text)
    return item.kind == entry.kind
