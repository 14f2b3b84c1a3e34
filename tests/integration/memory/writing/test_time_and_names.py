"""Which of two observations is the newer one, and by which spelling a record is found; on the real stores."""

import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue

from perdure.memory.recall import local
from perdure.memory.recall.query import Query
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.journal.folded_state import fold
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Lane
from perdure.values.jobs import Decision
from tests.integration.conftest import Stores

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
"""When everything counts as observed that a task of this date observes."""

COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))


def log(key: str, payload: JsonValue, occurrence: str, at: datetime = NOON) -> dict[str, JsonValue]:
    return {
        "kind": "record",
        "lane": "pattern",
        "key": key,
        "payload": payload,
        "occurrence": occurrence,
        "occurred_at": at.isoformat(),
    }


async def write(
    stores: Stores, tenant: str, operation: str, *items: JsonValue, accepted_at: datetime | None
) -> list[Decision]:
    batch = read_batch(tenant=tenant, key=operation, items=items).changed(accepted_at=accepted_at)
    plan = await stores.writer.plan(batch, at=NOON)
    await stores.writer.apply(batch, plan, operation=operation)
    return [item.decision for item in plan.items]


@pytest.mark.parametrize("protected", [True, False], ids=["recorded", "control"])
async def test_of_two_payloads_of_one_date_the_one_recorded_later_is_the_newer(
    stores: Stores, tenant: str, protected: bool
) -> None:
    keys = [f"k{number}" for number in range(40)]
    for run, payload in enumerate((1, 2)):
        items = [log(key, payload, f"run {run}/{key}") for key in keys]
        accepted_at = NOON + timedelta(minutes=run) if protected else None
        await write(stores, tenant, f"job-{run}", *items, accepted_at=accepted_at)
    found = await stores.longterm.lookup(tenant, lane=Lane.PATTERN, keys=keys, limit=80, now=NOON)
    newest = {record.key: record.payload for record in reversed(found)}
    assert (newest == dict.fromkeys(keys, 2)) is protected
    told = local.exact(
        Query(tenant=tenant, session="", lane=Lane.PATTERN, now=NOON),
        fold(await stores.journal.read(tenant)).entries.values(),
    )
    assert ({record.key: record.payload for record in reversed(told)} == dict.fromkeys(keys, 2)) is protected


async def test_what_was_forgotten_is_learned_anew_about_a_past_day_and_not_kept_by_a_day_to_come(
    stores: Stores, tenant: str
) -> None:
    """What counts is when an observation was recorded, not the day that it is about."""
    due = {"valid_until": (NOON + timedelta(hours=1)).isoformat()}
    await write(stores, tenant, "job-1", log("k", 1, "o1") | due, accepted_at=NOON)
    swept_at = NOON + timedelta(days=1)
    forgetting = await stores.forgetter.plan(tenant, at=swept_at, approved=True)
    await stores.forgetter.tombstone(forgetting, sweep="sweep", by=Actor(kind=ActorKind.SCHEDULE))
    ahead = log("k", 1, "o2", at=swept_at + timedelta(hours=2))
    before, after = swept_at - timedelta(minutes=1), swept_at + timedelta(minutes=1)
    assert await write(stores, tenant, "job-2", ahead, accepted_at=before) == [Decision.REJECT]
    assert await write(stores, tenant, "job-3", log("k", 1, "o1"), accepted_at=after) == [Decision.REJECT]
    assert await write(stores, tenant, "job-4", log("k", 1, "o3"), accepted_at=after) == [Decision.INSERT]


async def test_a_key_is_found_by_either_spelling(stores: Stores, tenant: str) -> None:
    assert COMPOSED != DECOMPOSED
    await write(stores, tenant, "job-1", log(DECOMPOSED, 1, "o1"), accepted_at=NOON)
    await write(stores, tenant, "job-2", log(COMPOSED, 1, "o2"), accepted_at=NOON)
    for key in (COMPOSED, DECOMPOSED):
        query = Query(tenant=tenant, session="", lane=Lane.PATTERN, keys=(key,), now=NOON)
        [record] = await stores.longterm.lookup(tenant, lane=Lane.PATTERN, keys=query.keys, limit=5, now=query.now)
        assert (record.key, record.seen) == (COMPOSED, 2)
        assert [one.id for one in local.exact(query, [record])] == [record.id]
    # The control: the store compares bytes.
    assert await stores.longterm.lookup(tenant, lane=Lane.PATTERN, keys=[DECOMPOSED], limit=5, now=NOON) == []
