"""Checking a batch before any I/O (R7): good items go on, a bad one keeps its place with its reason. Pure."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import TypeVar

from pydantic import JsonValue

from perdure.documents import mapping, validated
from perdure.errors import InvalidItem
from perdure.model import Instant
from perdure.names import DEFAULT_POLICY
from perdure.values.items import Item, MemoryItem, TurnItem, imported_id, record_model
from perdure.values.jobs import Batch, UnusableItem
from perdure.values.statements import Said

Written = TypeVar("Written", bound=JsonValue)

LARGEST_BATCH = 400_000
"""Bytes of JSON a batch. A job's history holds it four times, which stays under 2 MB."""

MOST_ITEMS = 100
"""Items that a batch may have."""

AHEAD = timedelta(days=1)
"""How far ahead of its acceptance an observation may claim to be: clocks differ, and a task's day has its noon."""


def require_timely(moment: Instant, accepted_at: Instant, field: str) -> None:
    """Refuse an observation, or what was said, that is ahead of its acceptance by more than a day.

    Raises:
        InvalidItem: Naming the field and the fix.
    """
    if moment > accepted_at + AHEAD:
        problem = f"{moment:%Y-%m-%d} is more than a day ahead"
        raise InvalidItem(field, problem, fix="give the moment at which it was observed")


def require_said_in_time(said: Sequence[Said], now: Instant, field: str) -> None:
    """Refuse things that were said if one of them is ahead by more than a day.

    Raises:
        InvalidItem: Naming the field of the first one, and the fix.
    """
    for index, one in enumerate(said):
        require_timely(one.at, now, f"{field}[{index}].at")


def require_span(item: Item, field: str) -> None:
    """Refuse an item that would end before it begins.

    Raises:
        InvalidItem: Naming the field and the fix.
    """
    begin = item.valid_from if isinstance(item, MemoryItem) else None
    if begin is not None and item.valid_until is not None and item.valid_until <= begin:
        problem = f"{item.valid_until:%Y-%m-%d} is not after valid_from"
        raise InvalidItem(f"{field}.valid_until", problem, fix="give a later day, or leave it out")


def require_lasting(item: Item, accepted_at: Instant, field: str) -> None:
    """Refuse an item that was over already when it was observed, as where somebody has mistaken the year.

    What was observed long ago, and was over since, is history, and kept.

    Raises:
        InvalidItem: Naming the field and the fix.
    """
    if item.valid_until is not None and item.valid_until <= min(item.occurred_at, accepted_at):
        problem = f"{item.valid_until:%Y-%m-%d} was over when it was observed"
        fix = "give a later day, or in occurred_at the day on which it still held"
        raise InvalidItem(f"{field}.valid_until", problem, fix=fix)


def read_item(raw: JsonValue, field: str) -> Item:
    """Read one item as a caller wrote it.

    Raises:
        InvalidItem: Naming the field and the fix.
    """
    written = mapping(raw, field, InvalidItem)
    match written.get("kind"):
        case "record":
            # Where an intent is required, an empty one says what to write; a missing field would not.
            return validated(record_model(written.get("lane")), {"intent": ""} | written, field, InvalidItem)
        case "memory":
            return validated(MemoryItem, written, field, InvalidItem)
        case "turn":
            return validated(TurnItem, written, field, InvalidItem)
        case _:
            fix = "write kind: record, kind: memory, or kind: turn"
            if "kind" not in written and "memory" in written:
                # That is how a step of a skill writes one.
                raise InvalidItem(
                    f"{field}.memory", "is not a field here", fix="write kind: memory, and the text as content"
                )
            problem = "is neither record, memory nor turn" if "kind" in written else "is missing"
            raise InvalidItem(f"{field}.kind", problem, fix=fix)


def batches(given: Iterable[Written]) -> Iterator[tuple[Written, ...]]:
    """Yield items as they are written in batches that one job may take: what is not written of them counts as well."""
    batch: list[Written] = []
    size = 0
    for item in given:
        own = len(json.dumps(item))
        if batch and (len(batch) == MOST_ITEMS or size + own > LARGEST_BATCH // 2):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(item)
        size += own
    if batch:
        yield tuple(batch)


def read_batch(
    *,
    tenant: str,
    key: str,
    items: Sequence[JsonValue],
    accepted_at: Instant | None = None,
    task: str = "",
    agent: str | None = None,
    session: str = "",
    policy: str = DEFAULT_POLICY,
) -> Batch:
    """Read a batch; an item that cannot be used keeps its place, with the reason.

    What people write is held to more than what is extracted from a conversation, or imported: it must not be over.

    Args:
        tenant: Whose.
        key: The caller's own key.
        items: As they were written.
        accepted_at: When it is accepted; None: later, so that the plan refuses what is too far ahead of that.
        task: The workflow id of the task that asks, if one does.
        agent: The agent that asks, if one does.
        session: The session that its memories were extracted from, if they were.
        policy: The write policy that decides on it.

    Raises:
        InvalidItem: None of the items can be used, or there are none, or too many; or the key or agent is invalid.
    """
    if not 1 <= len(items) <= MOST_ITEMS:
        raise InvalidItem("items", f"there are {len(items)}", fix=f"a batch has 1 to {MOST_ITEMS} items")
    read: list[Item | UnusableItem] = []
    for index, raw in enumerate(items):
        try:
            item = read_item(raw, f"items[{index}]")
            require_span(item, f"items[{index}]")
            if accepted_at is not None:
                require_timely(item.occurred_at, accepted_at, f"items[{index}].occurred_at")
            if accepted_at is not None and not session and not imported_id(item):
                require_lasting(item, accepted_at, f"items[{index}]")
            read.append(item)
        except InvalidItem as error:
            if len(items) == 1:
                raise
            read.append(UnusableItem(reason=str(error)))
    total = sum(len(item.model_dump_json().encode()) for item in read)
    if total > LARGEST_BATCH:
        raise InvalidItem("items", f"have {total:,} bytes", fix=f"split them: a batch has at most {LARGEST_BATCH:,}")
    if all(isinstance(item, UnusableItem) for item in read):
        reasons = "; ".join(item.reason for item in read if isinstance(item, UnusableItem))
        raise InvalidItem("items", f"none can be used: {reasons}")
    whole = {
        "tenant": tenant,
        "key": key,
        "items": tuple(read),
        "task": task,
        "agent": agent,
        "session": session,
        "policy": policy,
    }
    return validated(Batch, {**whole, "accepted_at": accepted_at}, "", InvalidItem)
