"""The write path against real stores: once, whole, and never over somebody else's change."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure.crashpoints import CrashPoint
from perdure.errors import LeaseLost, StoreUnavailable, WorkerUnavailable
from perdure.memory import door
from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.recall.related_memories import holding
from perdure.memory.writing import observation as observing
from perdure.memory.writing import writer as writing
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.journal.folded_state import fold
from perdure.stores.journal.lines import Settled, accepted
from perdure.stores.redis import keys
from perdure.stores.weaviate import writes
from perdure.stores.weaviate.mapping import properties_of
from perdure.together import together
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Entry, Lane, Memory, State
from perdure.values.filters import Filters
from perdure.values.items import MemoryItem, item_id
from perdure.values.jobs import Applied, Batch, Decision, Fate
from tests.integration.conftest import Stores

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def fact(content: str, occurrence: str, **more: JsonValue) -> dict[str, JsonValue]:
    return {
        "kind": "memory",
        "content": content,
        "occurrence": occurrence,
        "occurred_at": NOW.isoformat(),
        **more,
    }


def log(key: str, payload: JsonValue, occurrence: str) -> dict[str, JsonValue]:
    return {
        "kind": "record",
        "lane": "pattern",
        "key": key,
        "payload": payload,
        "occurrence": occurrence,
        "occurred_at": NOW.isoformat(),
    }


async def written(stores: Stores, batch: Batch, operation: str) -> list[str]:
    plan = await stores.writer.plan(batch, at=NOW)
    applied = await stores.writer.apply(batch, plan, operation=operation)
    receipts = await stores.writer.confirm(batch, applied.plan or plan, applied.versions)
    assert receipts is not None
    return [receipt.id for receipt in receipts]


async def test_the_same_operation_writes_once_however_often_it_is_applied(stores: Stores, tenant: str) -> None:
    batch = read_batch(tenant=tenant, key="k", items=[fact("The deploy freezes on Fridays.", "o1")])
    plan = await stores.writer.plan(batch, at=NOW)
    first = await stores.writer.apply(batch, plan, operation="job-1")
    again = await stores.writer.apply(batch, plan, operation="job-1")
    assert first == again == Applied(versions={plan.items[0].target: 1})
    # The control: without its operation's id, a repeated write is not recognised, and planned again.
    unknown = await stores.writer.apply(batch, plan, operation="unknown")
    assert (unknown.versions, unknown.plan is None) == (first.versions, False)


async def test_a_new_occurrence_counts_once_and_a_retried_one_does_not(stores: Stores, tenant: str) -> None:
    one = read_batch(tenant=tenant, key="a", items=[log("numpy", {"version": "2.4"}, "task-1/step-1")])
    two = read_batch(tenant=tenant, key="b", items=[log("numpy", {"version": "2.4"}, "task-2/step-1")])
    [identifier] = await written(stores, one, "job-1")
    await written(stores, two, "job-2")
    await written(stores, one, "job-3")
    [record] = (await stores.longterm.get(tenant, [identifier])).values()
    assert (record.seen, record.version) == (2, 2)


async def test_control_without_occurrences_a_retry_counts_again(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def always_new(tenant: str, item: object) -> str:
        return uuid4().hex

    monkeypatch.setattr(observing, "occurrence_of", always_new)
    one = read_batch(tenant=tenant, key="a", items=[log("numpy", {"version": "2.4"}, "task-1/step-1")])
    [identifier] = await written(stores, one, "job-1")
    await written(stores, one, "job-2")
    [record] = (await stores.longterm.get(tenant, [identifier])).values()
    assert record.seen == 2


@pytest.mark.slow
async def test_many_observations_are_counted_whatever_is_submitted_again(stores: Stores, tenant: str) -> None:
    told = [log("numpy", 1, f"o{number}") for number in range(300)]
    for attempt in range(2):
        for start in range(0, 300, 100):
            batch = read_batch(tenant=tenant, key=f"{attempt}/{start}", items=told[start : start + 100])
            await written(stores, batch, f"job-{attempt}-{start}")
    [record] = await stores.longterm.lookup(tenant, lane=Lane.PATTERN, limit=2, now=NOW)
    assert (record.seen, record.version) == (300, 3)


async def test_a_plan_made_before_somebody_elses_change_is_made_again_under_the_lease(
    stores: Stores, tenant: str
) -> None:
    batch = read_batch(tenant=tenant, key="a", items=[log("numpy", 1, "o1"), log("pandas", 1, "o1")])
    plan = await stores.writer.plan(batch, at=NOW)
    other = read_batch(tenant=tenant, key="b", items=[log("numpy", 1, "o2")])
    [shared] = await written(stores, other, "job-other")
    for attempt in range(2):
        applied = await stores.writer.apply(batch, plan, operation="job-1")
        assert [applied.versions[item.target] for item in plan.items] == [2, 1]
        # The second attempt finds that everything is written.
        made_again = applied.plan.items if applied.plan else plan.items
        reinforced = Decision.INSERT if attempt else Decision.REINFORCE
        assert [item.decision for item in made_again] == [reinforced, Decision.INSERT]
    [entry] = (await stores.longterm.get(tenant, [shared])).values()
    assert entry.seen == 2


@pytest.mark.slow
async def test_an_attempt_that_wrote_half_of_what_it_planned_again_is_ended_by_the_next(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = [fact(f"Room {number} is blue.", f"b{number}") for number in range(60)]
    replaced = await written(stores, read_batch(tenant=tenant, key="old", items=old), "job-old")
    new = [
        fact(f"Room {number} is red.", f"r{number}", supersedes=identifier)
        for number, identifier in enumerate(replaced)
    ]
    batch = read_batch(tenant=tenant, key="new", items=new)
    plan = await stores.writer.plan(batch, at=NOW)
    seen_again = [item | {"occurrence": "again"} for item in old[:1]]
    await written(stores, read_batch(tenant=tenant, key="again", items=seen_again), "job-again")

    def fail(point: CrashPoint) -> None:
        if point is CrashPoint.APPLY_HALF_WRITTEN:
            raise StoreUnavailable("weaviate", "it went away in the middle")

    with monkeypatch.context() as patch:
        patch.setattr(door, "reached", fail)
        with pytest.raises(StoreUnavailable):
            await stores.writer.apply(batch, plan, operation="job-new")
    assert await stores.longterm.count(tenant) not in (60, 120)
    applied = await stores.writer.apply(batch, plan, operation="job-new")
    receipts = await stores.writer.confirm(batch, applied.plan or plan, applied.versions)
    assert receipts is not None
    assert {receipt.fate for receipt in receipts} == {Fate.SEARCHABLE}
    stored = await stores.longterm.get(tenant, [*replaced, *(receipt.id for receipt in receipts)])
    assert [stored[identifier].state for identifier in replaced] == [State.SUPERSEDED] * 60
    assert {(stored[receipt.id].seen, stored[receipt.id].version) for receipt in receipts} == {(1, 1)}


async def test_what_a_plan_rejected_stays_rejected_when_it_is_made_again(stores: Stores, tenant: str) -> None:
    """Its text has left the journal perhaps, so that only the first word about it can be kept."""
    [kim] = await written(stores, read_batch(tenant=tenant, key="kim", items=[fact("The lead is Kim.", "o1")]), "j1")
    lee = fact("The lead is Lee.", "o2", supersedes=kim)
    await written(stores, read_batch(tenant=tenant, key="lee", items=[lee]), "j2")
    batch = read_batch(tenant=tenant, key="k", items=[fact("The lead is Kim.", "o3"), fact("It rains.", "o3")])
    plan = await stores.writer.plan(batch, at=NOW)
    assert [item.decision for item in plan.items] == [Decision.REJECT, Decision.INSERT]
    await stores.longterm.delete(
        tenant,
        [
            item_id(tenant, item)
            for item in read_batch(tenant=tenant, key="x", items=[fact("The lead is Lee.", "o2")]).items
            if isinstance(item, MemoryItem)
        ],
    )
    await written(stores, read_batch(tenant=tenant, key="rain", items=[fact("It rains.", "o4")]), "j3")
    applied = await stores.writer.apply(batch, plan, operation="job")
    assert applied.plan is not None
    assert [(item.decision, item.reason) for item in applied.plan.items] == [
        (Decision.REJECT, plan.items[0].reason),
        (Decision.REINFORCE, ""),
    ]


async def test_what_a_newer_build_decided_is_left_to_its_workers(stores: Stores, tenant: str) -> None:
    batch = read_batch(tenant=tenant, key="k", items=[fact("Ada likes tea.", "o1"), fact("Ada likes rye.", "o2")])
    plan = await stores.writer.plan(batch, at=NOW)
    unknown = plan.items[1].changed(decision=Decision("ponder"), target="")
    newer = plan.changed(items=(plan.items[0], unknown))
    with pytest.raises(WorkerUnavailable, match="ponder"):
        await stores.writer.apply(batch, newer, operation="job-1")
    assert await stores.longterm.count(tenant) == 0
    applied = await stores.writer.apply(batch, plan, operation="job-1")
    assert applied.versions.keys() == {one.target for one in plan.items}


async def test_a_bad_item_is_rejected_with_its_reason_and_the_good_ones_go_in(stores: Stores, tenant: str) -> None:
    batch = read_batch(
        tenant=tenant,
        key="k",
        items=[
            fact("Backups are kept for 35 days.", "o1"),
            fact("Perhaps the office moves.", "o2", confidence=0.4),
            log("k", 1, "o3") | {"lane": "patern"},
        ],
    )
    plan = await stores.writer.plan(batch, at=NOW)
    applied = await stores.writer.apply(batch, plan, operation="job-1")
    receipts = await stores.writer.confirm(batch, plan, applied.versions)
    assert receipts is not None
    assert [receipt.fate for receipt in receipts] == [Fate.SEARCHABLE, Fate.REJECTED, Fate.REJECTED]
    assert "0.4 is below 0.7" in receipts[1].reason
    assert "items[2].lane" in receipts[2].reason


async def test_the_same_words_reinforce_and_their_opposite_does_not(stores: Stores, tenant: str) -> None:
    [liked] = await written(
        stores, read_batch(tenant=tenant, key="a", items=[fact("Ada likes peanuts.", "o1", confidence=0.8)]), "j1"
    )
    same = read_batch(tenant=tenant, key="b", items=[fact("ada likes the peanuts", "o2")])
    plan = await stores.writer.plan(same, at=NOW)
    assert (plan.items[0].decision, plan.items[0].target) == (Decision.REINFORCE, liked)
    await stores.writer.apply(same, plan, operation="j2")
    opposite = read_batch(tenant=tenant, key="c", items=[fact("Ada does not like peanuts.", "o3")])
    assert (await stores.writer.plan(opposite, at=NOW)).items[0].decision is Decision.INSERT
    [memory] = (await stores.longterm.get(tenant, [liked])).values()
    assert (memory.confidence, memory.seen) == (0.9, 2)


async def test_a_superseded_memory_is_kept_and_no_longer_found(stores: Stores, tenant: str) -> None:
    [old] = await written(stores, read_batch(tenant=tenant, key="a", items=[fact("The lead is Kim.", "o1")]), "j1")
    [new] = await written(
        stores, read_batch(tenant=tenant, key="b", items=[fact("The lead is Lee.", "o2", supersedes=old)]), "j2"
    )
    [replaced] = (await stores.longterm.get(tenant, [old])).values()
    assert isinstance(replaced, Memory)
    assert (replaced.state, replaced.superseded_by) == (State.SUPERSEDED, new)
    [vector] = await stores.embedder.embed(["Who is the lead?"])
    hits = await stores.longterm.search(
        tenant,
        text="lead",
        vector=vector,
        limit=10,
        filters=Filters(now=NOW + timedelta(days=1), min_confidence=0.7),
    )
    assert [hit.entry.id for hit in hits] == [new]


async def test_nobody_can_replace_another_users_memory(stores: Stores, tenant: str) -> None:
    [theirs] = await written(stores, read_batch(tenant=tenant, key="a", items=[fact("The lead is Kim.", "o1")]), "j1")
    mine = read_batch(tenant=tenant + "x", key="b", items=[fact("The lead is Eve.", "o2", supersedes=theirs)])
    plan = await stores.writer.plan(mine, at=NOW)
    assert plan.items[0].decision is Decision.REJECT
    assert f"supersedes: {theirs}: no such memory of this user" in plan.items[0].reason


async def test_no_write_starts_when_the_lease_has_too_little_left(stores: Stores, tenant: str) -> None:
    async with stores.leases.hold(tenant) as lease:
        await lease.require(6)
        await stores.redis.delete(keys.lease(tenant))
        with pytest.raises(LeaseLost):
            await lease.require(0.1)


async def test_what_was_forgotten_does_not_come_back_in_another_case(stores: Stores, tenant: str) -> None:
    ends = (NOW + timedelta(days=1)).isoformat()
    first = read_batch(tenant=tenant, key="a", items=[fact("The office is closed.", "o1", valid_until=ends)])
    second = read_batch(tenant=tenant, key="b", items=[fact("the office is closed", "o2", valid_until=ends)])
    both = {*await written(stores, first, "j1"), *await written(stores, second, "j2")}
    assert len(both) == 1
    forgetting = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)
    await stores.forgetter.tombstone(forgetting, sweep="sweep-1", by=Actor(kind=ActorKind.SCHEDULE))
    for batch in (first, second):
        [planned] = (await stores.writer.plan(batch, at=NOW + timedelta(days=3))).items
        assert (planned.decision, "forgotten" in planned.reason) == (Decision.REJECT, True)


async def test_a_batch_that_says_one_thing_twice_makes_one_memory(stores: Stores, tenant: str) -> None:
    batch = read_batch(
        tenant=tenant, key="a", items=[fact("Ada likes peanuts.", "o1"), fact("ada likes peanuts", "o2")]
    )
    one, other = await written(stores, batch, "j1")
    assert one == other
    [memory] = (await stores.longterm.get(tenant, [one])).values()
    assert memory.seen == 2


async def test_a_correction_that_is_taken_back_leaves_the_first_memory_believed(stores: Stores, tenant: str) -> None:
    [kim] = await written(stores, read_batch(tenant=tenant, key="a", items=[fact("The lead is Kim.", "o1")]), "j1")
    corrected = read_batch(tenant=tenant, key="b", items=[fact("The lead is Lee.", "o2", supersedes=kim)])
    [lee] = await written(stores, corrected, "j2")
    back = read_batch(tenant=tenant, key="c", items=[fact("The lead is Kim.", "o3", supersedes=lee)])
    assert await written(stores, back, "j3") == [kim]
    stored = await stores.longterm.get(tenant, [kim, lee])
    assert {one: entry.state for one, entry in stored.items()} == {kim: State.CURRENT, lee: State.SUPERSEDED}
    [retried] = (await stores.writer.plan(corrected, at=NOW)).items
    assert retried.decision is Decision.REJECT, "and a retry of the correction does not turn it round again"


async def test_what_holds_again_after_its_end_is_recalled(stores: Stores, tenant: str) -> None:
    ended = fact("Deploys are frozen.", "o1", valid_until=(NOW + timedelta(hours=1)).isoformat())
    again = fact("Deploys are frozen.", "o2", occurred_at=(NOW + timedelta(hours=2)).isoformat())
    await written(stores, read_batch(tenant=tenant, key="a", items=[ended]), "j1")
    await written(stores, read_batch(tenant=tenant, key="b", items=[again]), "j2")
    hits = await stores.longterm.search(
        tenant, text="deploys frozen", vector=None, limit=10, filters=Filters(now=NOW + timedelta(hours=3))
    )
    assert len(hits) == 1
    assert await stores.longterm.due(tenant, before=NOW + timedelta(days=9), limit=9) == []


async def test_a_record_is_found_by_the_words_that_it_shows(stores: Stores, tenant: str) -> None:
    """The older observation comes late: its summary is not shown, so it must not be what is searched."""

    def seen(occurrence: str, summary: str, hours: int) -> Batch:
        item = log("deploy", 1, occurrence) | {
            "summary": summary,
            "occurred_at": (NOW + timedelta(hours=hours)).isoformat(),
        }
        return read_batch(tenant=tenant, key=occurrence, items=[item])

    [identifier] = await written(stores, seen("o2", "the deploy was rolled back", 2), "j1")
    await written(stores, seen("o1", "peanuts are legumes", 1), "j2")
    [vector] = await stores.embedder.embed(["the deploy was rolled back"])
    [hit] = await stores.longterm.search(
        tenant, text="", vector=vector, limit=1, filters=Filters(now=NOW), kinds=["record"]
    )
    assert hit.entry.id == identifier
    assert (hit.entry.text.partition("\n")[0], hit.cosine) == ("the deploy was rolled back", pytest.approx(1, abs=1e-4))


def stated(text: str, occurrence: str, hours: float = 0, **more: JsonValue) -> dict[str, JsonValue]:
    at = NOW + timedelta(hours=hours)
    found = assertion_of(text, at)
    assert found.assertion is not None
    times: dict[str, JsonValue] = {
        name: moment.isoformat()
        for name, moment in (("valid_from", found.valid_from), ("valid_until", found.valid_until))
        if moment
    }
    said: dict[str, JsonValue] = {"assertion": found.assertion.model_dump(mode="json"), "occurred_at": at.isoformat()}
    return fact(text, occurrence, **said, **times, **more)


async def recalled(stores: Stores, tenant: str, about: str, *, hours: float) -> set[str]:
    filters = Filters(now=NOW + timedelta(hours=hours))
    hits = await stores.longterm.search(tenant, text=about, vector=None, limit=10, filters=filters, kinds=("memory",))
    held = await holding({hit.entry.id: hit.entry for hit in hits}, filters, partial(stores.longterm.get, tenant))
    return {entry.text for entry in held.values()}


async def test_a_later_statement_supersedes_what_it_contradicts(stores: Stores, tenant: str) -> None:
    first = read_batch(tenant=tenant, key="a", items=[stated("My team lead is Wanjiru.", "o1")])
    others = [stated("Our team lead is Paavo since the split.", "o2", 5), stated("Printer 3 takes A4 paper.", "o2", 5)]
    [old] = await written(stores, first, "j1")
    [new, _] = await written(stores, read_batch(tenant=tenant, key="b", items=others), "j2")
    stored = await stores.longterm.get(tenant, [old, new])
    assert {one: entry.state for one, entry in stored.items()} == {old: State.SUPERSEDED, new: State.CURRENT}
    replaced, heir = stored[old], stored[new]
    assert isinstance(replaced, Memory)
    assert isinstance(heir, Memory)
    assert (replaced.superseded_by, heir.supersedes) == (new, old)
    assert await recalled(stores, tenant, "team lead", hours=6) == {"Our team lead is Paavo since the split."}
    await written(stores, read_batch(tenant=tenant, key="b", items=others), "j3")
    again = await stores.longterm.get(tenant, [old, new])
    assert again == stored, "a repetition changes nothing"


async def test_what_begins_later_or_lasts_a_while_is_recalled_in_its_time(stores: Stores, tenant: str) -> None:
    told = [
        stated("Lunch orders go to Marisol.", "o1"),
        stated("The demo runs on canvas-1.", "o1"),
        stated("From next week on lunch orders go to Thabo.", "o2", 1),
        stated("Until tomorrow the demo runs on canvas-2.", "o2", 1),
    ]
    for number, item in enumerate(told):
        await written(stores, read_batch(tenant=tenant, key=str(number), items=[item]), f"j{number}")

    async def now(hours: float) -> set[str]:
        return await recalled(stores, tenant, "lunch orders demo", hours=hours)

    before, later = "Lunch orders go to Marisol.", "From next week on lunch orders go to Thabo."
    assert await now(2) == {before, "Until tomorrow the demo runs on canvas-2."}
    assert await now(24 * 20) == {later, "The demo runs on canvas-1."}


async def test_what_is_in_doubt_is_held_and_leaves_the_journal(stores: Stores, tenant: str) -> None:
    await written(stores, read_batch(tenant=tenant, key="a", items=[stated("My shoe size is 38.", "o1")]), "j1")
    batch = read_batch(tenant=tenant, key="b", items=[stated("My shoe size is 45.", "o2"), fact("It rains.", "o2")])
    await stores.journal.append(tenant, accepted("j2", batch, NOW))
    plan = await stores.writer.plan(batch, at=NOW)
    applied = await stores.writer.apply(batch, plan, operation="j2")
    receipts = await stores.writer.confirm(batch, applied.plan or plan, applied.versions)
    assert receipts is not None
    assert [(one.fate, one.decision, bool(one.id)) for one in receipts] == [
        (Fate.HELD, Decision.HOLD, False),
        (Fate.SEARCHABLE, Decision.INSERT, True),
    ]
    assert receipts[0].reason.startswith("it was said at the same moment")
    lines = await stores.journal.read(tenant)
    [settled] = [line for line in lines if isinstance(line, Settled) and line.operation == "j2"]
    assert [(one.index, one.reason) for one in settled.refused] == [(0, receipts[0].reason)]
    assert await recalled(stores, tenant, "shoe size", hours=1) == {"My shoe size is 38."}


@pytest.mark.parametrize("protected", [True, False], ids=["protected", "control"])
async def test_of_two_jobs_at_once_that_contradict_each_other_one_is_believed(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    """Each is planned before the other is written, so that only a plan under the lease can see it."""

    def nothing(_: Batch) -> set[str]:
        return set()

    batches = {
        f"job-{number}": read_batch(tenant=tenant, key=str(number), items=[stated(text, f"o{number}", number)])
        for number, text in enumerate(("The log level is info.", "The log level is debug."))
    }
    plans = {job: await stores.writer.plan(batch, at=NOW) for job, batch in batches.items()}
    assert {plan.items[0].decision for plan in plans.values()} == {Decision.INSERT}
    if not protected:
        monkeypatch.setattr(writing, "about", nothing)
    await together(*(stores.writer.apply(batch, plans[job], operation=job) for job, batch in batches.items()))
    found = await recalled(stores, tenant, "log level", hours=9)
    assert len(found) == (1 if protected else 2)


@pytest.mark.slow
async def test_a_change_that_is_told_in_other_words_replaces_what_it_changes(stores: Stores, tenant: str) -> None:
    """The two are about nothing in common for who compares subjects: the older one is found by its words."""
    old, new = "The choir rehearses in St. Olave's hall.", "Rehearsals of the choir take place at the Kulturhus"
    many = [f"Room {number} has {number} chairs." for number in range(40)]
    for number, content in enumerate((old, *many)):
        await written(stores, read_batch(tenant=tenant, key=f"k{number}", items=[fact(content, f"o{number}")]), content)
    later = {"occurred_at": (NOW + timedelta(days=1)).isoformat()}
    # The control: where nothing says that something changed, both are believed.
    for content, over in ((f"{new}.", 0), (f"{new} these days.", 1)):
        batch = read_batch(tenant=tenant, key=content, items=[fact(content, content) | later])
        [planned] = (await stores.writer.plan(batch, at=NOW)).items
        assert len(planned.over) == over
    [replaced] = await written(stores, batch, "job-new")
    [before] = (await stores.longterm.get(tenant, planned.over)).values()
    assert isinstance(before, Memory)
    assert (before.text, before.state, before.superseded_by) == (old, State.SUPERSEDED, replaced)


ASSERTED = (stated("The log level is info.", "o1"), stated("The log level is debug.", "o2", 1))
NAMED = (fact("The lead is Kim.", "o1"), fact("The lead is Lee.", "o2"))
TOLD = (
    fact("The choir rehearses in St. Olave's hall.", "o1"),
    fact("Rehearsals of the choir take place at the Kulturhus these days.", "o2")
    | {"occurred_at": (NOW + timedelta(days=1)).isoformat()},
)
"""What is believed, and what replaces it: by what it asserts, as it names the other, or by the words."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [pytest.param(*ASSERTED, marks=pytest.mark.slow), pytest.param(*NAMED, marks=pytest.mark.slow), TOLD],
    ids=["asserted", "named", "told"],
)
async def test_what_an_attempt_that_died_has_replaced_is_settled_by_the_next(
    stores: Stores,
    tenant: str,
    monkeypatch: pytest.MonkeyPatch,
    before: dict[str, JsonValue],
    after: dict[str, JsonValue],
) -> None:
    """Otherwise the journal would believe both, when it answers for a store that is away."""
    [old] = await written(stores, read_batch(tenant=tenant, key="old", items=[before]), "job-old")
    if "lead" in str(before["content"]):
        after = after | {"supersedes": old}
    batch = read_batch(tenant=tenant, key="new", items=[after])
    plan = await stores.writer.plan(batch, at=NOW)

    def die(point: CrashPoint) -> None:
        if point is CrashPoint.APPLY_WRITTEN:
            raise ConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(door, "reached", die)
        with pytest.raises(ConnectionError):
            await stores.writer.apply(batch, plan, operation="job-new")
    applied = await stores.writer.apply(batch, plan, operation="job-new")
    [new] = applied.versions.keys() - {old}
    assert applied.versions == {old: 2, new: 1}
    stored = await stores.longterm.get(tenant, [old, new])
    assert fold(await stores.journal.read(tenant)).entries == stored
    replaced, heir = stored[old], stored[new]
    assert isinstance(replaced, Memory)
    assert isinstance(heir, Memory)
    assert (replaced.state, replaced.superseded_by, heir.supersedes) == (State.SUPERSEDED, new, old)


def spoiled_where(refused: Callable[[Entry], bool]) -> Callable[[Entry, str], dict[str, JsonValue]]:
    """Return what makes properties that Weaviate refuses, of some entries."""

    def properties(entry: Entry, language: str) -> dict[str, JsonValue]:
        return properties_of(entry, language) | ({"version": "private words"} if refused(entry) else {})

    return properties


spoiled = spoiled_where(lambda entry: "poison" in entry.text)


async def test_what_the_store_refuses_is_in_the_receipt_and_the_rest_of_the_batch_is_memory(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = read_batch(tenant=tenant, key="old", items=[fact("The gate is green.", "o0")])
    [older] = await written(stores, old, "job-old")
    items = [
        fact("The office has nine rooms.", "o1"),
        fact("The gate is poison.", "o2", supersedes=older),
        fact("Lunch is at noon.", "o3"),
    ]
    batch = read_batch(tenant=tenant, key="k", items=items)
    await stores.journal.append(tenant, accepted("job-1", batch, NOW))
    plan = await stores.writer.plan(batch, at=NOW)
    monkeypatch.setattr(writes, "properties_of", spoiled)
    applied = await stores.writer.apply(batch, plan, operation="job-1")
    receipts = await stores.writer.confirm(batch, applied.plan or plan, applied.versions)
    assert receipts is not None
    assert [one.fate for one in receipts] == [Fate.SEARCHABLE, Fate.REJECTED, Fate.SEARCHABLE]
    assert receipts[1].reason == (
        "long-term memory refuses it: invalid integer property 'version' on class 'PerdureMemory': requires an "
        "integer, the given value is"
    )
    assert receipts[1].id == ""
    # What it would have replaced is believed as before, and its text is gone from the journal.
    [kept] = (await stores.longterm.get(tenant, [older])).values()
    assert (kept.state, kept.version) == (State.CURRENT, 1)
    lines = await stores.journal.read(tenant)
    assert "poison" not in "".join(line.model_dump_json() for line in lines)
    folded = fold(lines)
    assert folded.entries.keys() == {older, receipts[0].id, receipts[2].id}
    assert not folded.pending
    # Applied once more, as after a crash, it ends in the same way.
    assert await stores.writer.apply(batch, plan, operation="job-1") == applied


async def test_what_contradicts_or_repeats_a_refused_item_of_its_batch_is_memory(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nine, twelve = "The office has nine rooms.", "The office has twelve rooms now."
    one, same = "My barrister is Ms Adeyemi.", "Ms Adeyemi is my barrister."
    items = [stated(nine, "o1"), stated(twelve, "o2", 1), stated(one, "o3"), stated(same, "o4", 1)]
    batch = read_batch(tenant=tenant, key="k", items=items)
    await stores.journal.append(tenant, accepted("job-1", batch, NOW))
    plan = await stores.writer.plan(batch, at=NOW)
    assert (plan.items[1].over, plan.items[3].target) == ((plan.items[0].target,), plan.items[2].target), "the control"
    monkeypatch.setattr(writes, "properties_of", spoiled_where(lambda entry: entry.text in (nine, one)))
    applied = await stores.writer.apply(batch, plan, operation="job-1")
    receipts = await stores.writer.confirm(batch, applied.plan or plan, applied.versions)
    assert receipts is not None
    assert [found.fate for found in receipts] == [Fate.REJECTED, Fate.SEARCHABLE, Fate.REJECTED, Fate.SEARCHABLE]
    # What is memory is in the journal, from which the store can be rebuilt; what is not has left it.
    lines = await stores.journal.read(tenant)
    folded, entries = fold(lines), await stores.longterm.get(tenant, [found.id for found in receipts if found.id])
    assert {entry.text for entry in entries.values()} == {twelve, same}
    assert folded.entries == entries
    assert not folded.pending
    assert nine not in "".join(line.model_dump_json() for line in lines)
    assert (await stores.writer.apply(batch, plan, operation="job-1")).versions == applied.versions


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The office has nine rooms.", "The office has twelve rooms now."),
        ("The demo runs on canvas-1.", "Until tomorrow the demo runs on canvas-2."),
        ("Lunch orders go to Marisol.", "From next week on lunch orders go to Thabo."),
    ],
    ids=["replaced", "suspended", "ended"],
)
async def test_what_a_refused_item_of_its_batch_would_have_overtaken_is_believed(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    batch = read_batch(tenant=tenant, key="k", items=[stated(before, "o1"), stated(after, "o2", 1)])
    await stores.journal.append(tenant, accepted("job-1", batch, NOW))
    plan = await stores.writer.plan(batch, at=NOW)
    assert plan.items[1].over == (plan.items[0].target,), "the control"
    monkeypatch.setattr(writes, "properties_of", spoiled_where(lambda entry: entry.text == after))
    applied = await stores.writer.apply(batch, plan, operation="job-1")
    receipts = await stores.writer.confirm(batch, applied.plan or plan, applied.versions)
    assert receipts is not None
    assert [found.fate for found in receipts] == [Fate.SEARCHABLE, Fate.REJECTED]
    entries = await stores.longterm.get(tenant, [plan.items[0].target])
    [kept] = entries.values()
    assert isinstance(kept, Memory)
    assert (kept.state, kept.suspended, kept.valid_until, kept.superseded_by) == (State.CURRENT, (), None, "")
    for hours in (3, 24 * 20):
        assert await recalled(stores, tenant, before, hours=hours) == {before}
    lines = await stores.journal.read(tenant)
    assert fold(lines).entries == entries
    assert after not in "".join(line.model_dump_json() for line in lines)


@pytest.mark.parametrize("middle", ["refused", pytest.param("killed", marks=pytest.mark.slow)])
async def test_what_a_chain_of_changes_came_to_is_believed_whatever_becomes_of_its_middle(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, middle: str
) -> None:
    texts = ["The log level is info.", "The log level is debug.", "The log level is trace."]
    items = [stated(text, f"o{number}", number) for number, text in enumerate(texts)]
    batch = read_batch(tenant=tenant, key="k", items=items)
    await stores.journal.append(tenant, accepted("job-1", batch, NOW))
    plan = await stores.writer.plan(batch, at=NOW)
    if middle == "refused":
        monkeypatch.setattr(writes, "properties_of", spoiled_where(lambda entry: entry.text == texts[1]))
    else:

        def die(point: CrashPoint) -> None:
            if point is CrashPoint.APPLY_HALF_WRITTEN:
                raise ConnectionError

        with monkeypatch.context() as patch:
            patch.setattr(door, "reached", die)
            with pytest.raises(ConnectionError):
                await stores.writer.apply(batch, plan, operation="job-1")
        assert await recalled(stores, tenant, "log level", hours=9) == {texts[2]}, "what is said last is written first"
    applied = await stores.writer.apply(batch, plan, operation="job-1")
    receipts = await stores.writer.confirm(batch, applied.plan or plan, applied.versions)
    assert receipts is not None
    fates = [Fate.SEARCHABLE, Fate.REJECTED if middle == "refused" else Fate.SEARCHABLE, Fate.SEARCHABLE]
    assert [found.fate for found in receipts] == fates
    assert await recalled(stores, tenant, "log level", hours=9) == {texts[2]}
    entries = await stores.longterm.get(tenant, [item.target for item in plan.items])
    chain = [one.superseded_by for item in plan.items if isinstance(one := entries.get(item.target), Memory)]
    ids = [item.target for item in plan.items]
    assert chain == ([ids[2], ""] if middle == "refused" else [*ids[1:], ""])
    assert fold(await stores.journal.read(tenant)).entries == entries


async def test_what_replaced_a_memory_stays_believed_where_the_store_refuses_that_memory_again(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = "The log level is info.", "The log level is debug."
    ids: list[str] = []
    for number, text in enumerate((first, second)):
        batch = read_batch(tenant=tenant, key=text, items=[stated(text, f"o{number}", number)])
        await stores.journal.append(tenant, accepted(f"job-{number}", batch, NOW))
        ids += await written(stores, batch, f"job-{number}")
    batch = read_batch(tenant=tenant, key="back", items=[stated(first, "o3", 3)])
    await stores.journal.append(tenant, accepted("job-back", batch, NOW))
    plan = await stores.writer.plan(batch, at=NOW)
    assert (plan.items[0].target, plan.items[0].over) == (ids[0], (ids[1],)), "the control"
    monkeypatch.setattr(writes, "properties_of", spoiled_where(lambda entry: entry.id == ids[0]))
    applied = await stores.writer.apply(batch, plan, operation="job-back")
    receipts = await stores.writer.confirm(batch, applied.plan or plan, applied.versions)
    assert receipts is not None
    assert [found.fate for found in receipts] == [Fate.REJECTED]
    assert await recalled(stores, tenant, "log level", hours=9) == {second}
    assert fold(await stores.journal.read(tenant)).entries == await stores.longterm.get(tenant, ids)


@pytest.mark.parametrize(("before", "after"), [ASSERTED, NAMED, TOLD], ids=["asserted", "named", "told"])
async def test_what_replaces_an_entry_that_the_store_refuses_is_memory_beside_it(
    stores: Stores,
    tenant: str,
    monkeypatch: pytest.MonkeyPatch,
    before: dict[str, JsonValue],
    after: dict[str, JsonValue],
) -> None:
    [old] = await written(stores, read_batch(tenant=tenant, key="old", items=[before]), "job-old")
    named = {"supersedes": old} if "lead" in str(before["content"]) else {}
    batch = read_batch(tenant=tenant, key="new", items=[after | named])
    await stores.journal.append(tenant, accepted("job-1", batch, NOW))
    plan = await stores.writer.plan(batch, at=NOW)
    assert plan.items[0].decision is Decision.SUPERSEDE, "the control"
    monkeypatch.setattr(writes, "properties_of", spoiled_where(lambda entry: entry.id == old))
    applied = await stores.writer.apply(batch, plan, operation="job-1")
    receipts = await stores.writer.confirm(batch, applied.plan or plan, applied.versions)
    assert receipts is not None
    new = plan.items[0].target
    assert [(one.fate, one.id, one.decision) for one in receipts] == [(Fate.SEARCHABLE, new, Decision.REINFORCE)]
    # It was stored as the successor before the store refused what it replaces, and is corrected.
    assert applied.versions == {new: 2}
    entries = await stores.longterm.get(tenant, [old, new])
    assert {(one.id, one.version) for one in entries.values() if one.state is State.CURRENT} == {(old, 1), (new, 2)}
    assert [one.supersedes for one in entries.values() if isinstance(one, Memory)] == ["", ""]
    folded = fold(await stores.journal.read(tenant))
    assert folded.entries == entries
    assert not folded.pending
    assert (await stores.writer.apply(batch, plan, operation="job-1")).versions == applied.versions
    assert await stores.longterm.get(tenant, [old, new]) == entries


async def test_a_batch_of_which_the_store_refuses_everything_is_settled(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = read_batch(tenant=tenant, key="k", items=[fact("poison", "o1"), log("poison", 1, "o2")])
    plan = await stores.writer.plan(batch, at=NOW)
    monkeypatch.setattr(writes, "properties_of", spoiled)
    applied = await stores.writer.apply(batch, plan, operation="job-1")
    assert applied.versions == {}
    assert applied.plan is not None
    assert [one.decision for one in applied.plan.items] == [Decision.REJECT, Decision.REJECT]
    [settled] = [line for line in await stores.journal.read(tenant) if isinstance(line, Settled)]
    assert [one.index for one in settled.refused] == [0, 1]
