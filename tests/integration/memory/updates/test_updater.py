"""Memories changed by their ids on the real stores: once, as expected, by whom and why, and taken back."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure.crashpoints import CrashPoint
from perdure.errors import InvalidInput, TenantErased
from perdure.memory.audit.audit import Audit
from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.hold_policies import HoldPolicy, HoldRule
from perdure.memory.updates import revisions
from perdure.memory.updates.revisions import trial_of
from perdure.memory.updates.versions import rejections, versions
from perdure.memory.write_policies import WritePolicy
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.tenant_key import TenantKey
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import OPERATIONS_KEPT, Memory, MemoryType, Source, State
from perdure.values.jobs import Decision
from perdure.values.updates import (
    Correction,
    Credit,
    Feedback,
    MemoryUpdate,
    Merger,
    Pinning,
    Removal,
    Reversion,
    Update,
    Updated,
    UpdateRequest,
)
from tests.conftest import TENANT_KEY, Servers
from tests.integration.conftest import Stores, audited
from tests.support.dying import dying_in_the_door

ADA = Actor(kind=ActorKind.PERSON, id="ada")
AGENT = Actor(kind=ActorKind.AGENT, id="planner")
NOW = datetime.now(UTC)


async def told(stores: Stores, tenant: str, *texts: str, at: datetime = NOW, **fields: JsonValue) -> list[str]:
    """Remember statements; gives their ids."""
    items: list[JsonValue] = [
        {"kind": "memory", "content": text, "occurrence": f"{text} {at}", "occurred_at": at.isoformat(), **fields}
        for text in texts
    ]
    for item in items:
        assertion = assertion_of(str(item["content"]), at).assertion if isinstance(item, dict) else None
        if assertion and isinstance(item, dict):
            item["assertion"] = assertion.model_dump(mode="json")
    operation = f"job-{uuid4().hex}"
    batch = read_batch(tenant=tenant, key=operation, items=items, accepted_at=at)
    plan = await stores.writer.plan(batch, at=at)
    await stores.writer.apply(batch, plan, operation=operation)
    return [item.target for item in plan.items]


async def change(
    stores: Stores, tenant: str, identifier: str, update: Update, *, operation: str = "", **more: Any
) -> Updated:
    request = UpdateRequest(user_id="u", id=identifier, update=update, by=ADA, **more)
    operation = operation or f"update:{uuid4().hex}"
    return await stores.updater.update(tenant, request, operation=operation, at=datetime.now(UTC))


async def stored(stores: Stores, tenant: str, identifier: str) -> Memory:
    [entry] = (await stores.longterm.get(tenant, [identifier])).values()
    assert isinstance(entry, Memory)
    return entry


async def test_a_correction_of_the_wording_is_a_new_version(
    stores: Stores, servers: Servers, tmp_path: Path, tenant: str
) -> None:
    [one] = await told(stores, tenant, "the standup is at 9.", names=["standup"])
    done = await change(stores, tenant, one, Correction(content="The standup is at 9"), note="a capital", expected=1)
    assert (done.id, done.versions) == (one, {one: 2})
    found = await stored(stores, tenant, one)
    assert (found.text, found.confidence, found.names) == ("The standup is at 9", 0.95, ("standup",))
    told_of = versions(await stores.journal.read(tenant), one)
    assert [(v.version, v.why, v.note, v.by.id) for v in told_of][1:] == [(2, "correct", "a capital", "ada")]
    lines = audited(servers, tmp_path, tenant)
    assert "a capital" not in str(lines), "what a person writes is not audited"
    person = ADA.changed(id=TenantKey(TENANT_KEY).tenant_of(ADA.id))
    assert (lines[-1].by, lines[-1].ids) == (person, {"correct": (one,)})


async def test_a_correction_that_says_something_else_replaces_the_memory(stores: Stores, tenant: str) -> None:
    [one] = await told(stores, tenant, "The standup is at 9.", tags=["team"])
    done = await change(stores, tenant, one, Correction(content="The standup is at 10."))
    new, old = await stored(stores, tenant, done.id), await stored(stores, tenant, one)
    assert (new.supersedes, old.superseded_by, old.state) == (one, new.id, State.SUPERSEDED)
    assert (new.confidence, new.source, new.tags) == (0.95, Source.EXPLICIT, ("team",))
    assert (await stores.longterm.searchable(tenant, [new.id])) == {new.id: 1}
    with pytest.raises(InvalidInput, match="it was replaced by"):
        await change(stores, tenant, one, Correction(content="The standup is at 11."))
    # Corrected back, what was said first is believed again.
    back = await change(stores, tenant, new.id, Correction(content="The standup is at 9."))
    assert back.id == one
    assert (await stored(stores, tenant, one)).state is State.CURRENT
    assert (await stored(stores, tenant, new.id)).state is State.SUPERSEDED


async def test_a_correction_goes_before_what_else_it_contradicts(stores: Stores, tenant: str) -> None:
    [standup] = await told(stores, tenant, "The standup is at 9.")
    [lunch] = await told(stores, tenant, "Lunch is at 12.")
    done = await change(stores, tenant, lunch, Correction(content="The standup is at 10."))
    assert (await stored(stores, tenant, standup)).superseded_by == done.id


async def test_a_correction_does_not_lift_another_constraint(stores: Stores, tenant: str) -> None:
    await told(stores, tenant, "The deploy window is on Monday.", memory_type="constraint")
    [other] = await told(stores, tenant, "Lunch is at 12.")
    with pytest.raises(InvalidInput, match="would lift a constraint"):
        await change(stores, tenant, other, Correction(content="The deploy window is on Friday."))
    assert (await stored(stores, tenant, other)).state is State.CURRENT


@pytest.mark.slow
async def test_a_repeated_attempt_changes_nothing_more(stores: Stores, tenant: str) -> None:
    one, other = await told(stores, tenant, "The office is in Ghent.", "The office dog is called Bo.")
    for update in (Feedback(helpful=False), Correction(content="The office is in Bruges."), Removal()):
        subject = other if isinstance(update, Removal) else one
        operation = f"update:{uuid4().hex}"
        first, second = [await change(stores, tenant, subject, update, operation=operation) for _ in range(2)]
        assert first == second
    assert (await stored(stores, tenant, one)).confidence == 0.7
    # The control: another operation does it again.
    [third] = await told(stores, tenant, "The kitchen is on the second floor.")
    for _ in range(2):
        await change(stores, tenant, third, Feedback(helpful=False))
    assert (await stored(stores, tenant, third)).confidence == 0.5


@pytest.mark.slow
async def test_a_change_that_names_its_version_may_be_asked_for_again(stores: Stores, tenant: str) -> None:
    async def ask_for(subject: str, update: Update, expected: int | None) -> Updated:
        request = UpdateRequest(user_id="u", id=subject, update=update, by=ADA, expected=expected)
        operation = revisions.operation_of(tenant, request, uuid4().hex)
        return await stores.updater.update(tenant, request, operation=operation, at=datetime.now(UTC))

    one, other = await told(stores, tenant, "Cats rule at home.", "At home, the cats are the rulers.")
    later, gone = await told(stores, tenant, "The office is in Ghent.", "The kitchen is on the second floor.")
    asked = [
        (one, Pinning(pinned=True), 1),
        (one, Correction(tags=("pets",)), 2),
        (one, Reversion(version=1), 3),
        (one, Merger(other=other), 4),
        (later, Correction(content="The office is in Bruges."), 1),
        (gone, Removal(), 1),
    ]
    for subject, update, expected in asked:
        first, second = [await ask_for(subject, update, expected) for _ in range(2)]
        assert first == second
        # The control: another change is refused.
        with pytest.raises(InvalidInput, match=r"is at version|forgotten"):
            await ask_for(subject, Correction(tags=("x",)), expected)
    with pytest.raises(InvalidInput, match="forgotten already"):
        await ask_for(gone, Removal(), None)


@pytest.mark.slow
async def test_the_same_feedback_about_the_same_is_counted_once(stores: Stores, tenant: str) -> None:
    [one] = await told(stores, tenant, "The office is in Ghent.")

    async def say(by: Actor = ADA, *, helpful: bool = False, key: str = "", expected: int | None = None) -> float:
        update = Feedback(helpful=helpful, key=key)
        request = UpdateRequest(user_id="u", id=one, update=update, by=by, expected=expected)
        operation = revisions.operation_of(tenant, request, uuid4().hex)
        await stores.updater.update(tenant, request, operation=operation, at=datetime.now(UTC))
        return (await stored(stores, tenant, one)).confidence

    assert [await say(key="task 1") for _ in range(2)] == [0.7, 0.7]
    assert [await say(expected=2) for _ in range(2)] == [0.5, 0.5]
    for number in range(OPERATIONS_KEPT):
        await change(stores, tenant, one, Pinning(pinned=bool(number % 2)))
    assert await say(key="task 1") == 0.5, "whatever else was changed since"
    bob = Actor(kind=ActorKind.PERSON, id="bob")
    others = [await say(helpful=True, key="task 1"), await say(key="task 2"), await say(bob, key="task 2")]
    assert others == [0.6, 0.4, 0.2], "what another says, or about something else, counts"
    assert [await say(helpful=True) for _ in range(2)] == [0.3, 0.4], "the control"


@pytest.mark.slow
async def test_an_attempt_that_died_in_between_is_finished(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await told(stores, tenant, "The office is in Ghent.", "The office is at the Korenmarkt in Ghent.")
    operation = f"update:{uuid4().hex}"
    with dying_in_the_door(monkeypatch, CrashPoint.APPLY_WRITTEN):
        await change(stores, tenant, one, Merger(other=other), operation=operation)
    # What the first attempt did not get to: its second ancestor.
    current = await stored(stores, tenant, other)
    undone = current.changed(state=State.CURRENT, superseded_by="", version=1, operations=())
    await stores.longterm.put(tenant, [undone], {})
    done = await change(stores, tenant, one, Merger(other=other), operation=operation)
    assert done.versions == {done.id: 1, one: 2, other: 2}
    assert (await stored(stores, tenant, other)).superseded_by == done.id


@pytest.mark.slow
async def test_a_removal_that_died_in_between_takes_along_what_became_it(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await told(stores, tenant, "The office is in Ghent.", "The office is at the Korenmarkt in Ghent.")
    whole = await change(stores, tenant, one, Merger(other=other))
    before = await stored(stores, tenant, other)
    operation = f"update:{uuid4().hex}"
    with dying_in_the_door(monkeypatch, CrashPoint.APPLY_WRITTEN):
        await change(stores, tenant, whole.id, Removal(), operation=operation)
    # What the first attempt did not get to: one of the two that were merged.
    await stores.longterm.put(tenant, [before], {})
    assert (await stored(stores, tenant, other)).state is State.SUPERSEDED
    await change(stores, tenant, whole.id, Removal(), operation=operation)
    assert [(await stored(stores, tenant, each)).state for each in (one, other, whole.id)] == [State.FORGOTTEN] * 3
    restored = await stores.forgetter.restore(tenant, sweep=operation, at=datetime.now(UTC), by=ADA)
    assert restored.restored == 3
    assert (await stored(stores, tenant, whole.id)).state is State.CURRENT


@pytest.mark.slow
async def test_what_was_changed_since_is_not_undone_by_who_asks_again(stores: Stores, tenant: str) -> None:
    """Planned again, each of these would undo what another did meanwhile."""

    async def ask_for(subject: str, update: Update, expected: int | None = None) -> Updated:
        request = UpdateRequest(user_id="u", id=subject, update=update, by=ADA, expected=expected)
        operation = revisions.operation_of(tenant, request, uuid4().hex)
        return await stores.updater.update(tenant, request, operation=operation, at=datetime.now(UTC))

    [standup] = await told(stores, tenant, "The standup is at 9:00.")
    correction = Correction(content="The standup is at 10:00.")
    first = await ask_for(standup, correction, 1)
    last = await ask_for(first.id, Correction(content="The standup is at 11:00."))
    assert await ask_for(standup, correction, 1) == first
    assert (await stored(stores, tenant, last.id)).state is State.CURRENT

    [office] = await told(stores, tenant, "The office is in Ghent.")
    await ask_for(office, Correction(tags=("x",)), 1)
    back = await ask_for(office, Reversion(version=1), 2)
    moved = await ask_for(office, Correction(content="The office is in Bruges."))
    assert await ask_for(office, Reversion(version=1), 2) == back
    assert (await stored(stores, tenant, moved.id)).state is State.CURRENT

    [gone] = await told(stores, tenant, "The kitchen is on the second floor.")
    removed = await ask_for(gone, Removal(), 1)
    await stores.forgetter.restore(tenant, sweep=removed.undo, at=datetime.now(UTC), by=ADA)
    assert await ask_for(gone, Removal(), 1) == removed
    assert (
        await stores.deletions.of(tenant, [gone]) == {} or (await stores.deletions.of(tenant, [gone]))[gone].restored_at
    ), "nothing waits to forget it after all"

    one, other = await told(stores, tenant, "Cats rule at home.", "At home, the cats are the rulers.")
    whole = await ask_for(one, Merger(other=other), 1)
    await ask_for(whole.id, Pinning(pinned=True))
    for _ in range(OPERATIONS_KEPT):
        await ask_for(whole.id, Feedback(helpful=True))
    assert await ask_for(one, Merger(other=other), 1) == whole
    assert (await stored(stores, tenant, whole.id)).pinned


@pytest.mark.slow
async def test_a_removal_that_was_undone_before_its_next_attempt_stays_undone(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [one] = await told(stores, tenant, "The kitchen is on the second floor.")
    operation = f"update:{uuid4().hex}"
    with dying_in_the_door(monkeypatch, CrashPoint.APPLY_WRITTEN):
        await change(stores, tenant, one, Removal(), operation=operation)
    await stores.forgetter.restore(tenant, sweep=operation, at=datetime.now(UTC), by=ADA)
    done = await change(stores, tenant, one, Removal(), operation=operation)
    assert (done.id, done.undo) == (one, operation)
    assert (await stored(stores, tenant, one)).state is State.CURRENT
    assert (await stores.deletions.of(tenant, [one]))[one].restored_at, "nothing waits to forget it after all"
    # The control: another removal forgets it.
    await change(stores, tenant, one, Removal())
    assert (await stored(stores, tenant, one)).state is State.FORGOTTEN


async def test_what_was_done_to_a_memory_that_was_purged_is_not_done_to_one_like_it(
    stores: Stores, tenant: str
) -> None:
    """Versions begin anew, so that the same words at the same version name another change."""

    async def pin(identifier: str) -> Updated:
        request = UpdateRequest(user_id="u", id=identifier, update=Pinning(pinned=True), by=ADA, expected=1)
        operation = revisions.operation_of(tenant, request, uuid4().hex)
        return await stores.updater.update(tenant, request, operation=operation, at=datetime.now(UTC))

    [one] = await told(stores, tenant, "The office is in Ghent.")
    await pin(one)
    assert (await pin(one)).versions == {one: 2}, "the control: asked for again, it is answered"
    await change(stores, tenant, one, Removal())
    later = datetime.now(UTC) + timedelta(days=60)
    removed = await stores.door.remove(tenant, {one: 3}, at=later, operation="purge-1", by=ADA, why="purge")
    assert removed == [one]
    assert await told(stores, tenant, "The office is in Ghent.", at=datetime.now(UTC)) == [one]
    await change(stores, tenant, one, Feedback(helpful=True))
    with pytest.raises(InvalidInput, match="is at version 2"):
        await pin(one)
    assert not (await stored(stores, tenant, one)).pinned


@pytest.mark.slow
async def test_a_credit_is_in_no_plans_way_and_audited_once_however_often_it_is_made(
    stores: Stores, servers: Servers, tmp_path: Path, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await told(stores, tenant, "The office is in Ghent.", "The office dog is called Bo.")

    async def credit(identifier: str) -> None:
        await stores.updater.credit(tenant, [identifier], task="t", succeeded=True, by=ADA, operation="credit:1")

    # A task that recalled many has them credited in parts, which are one operation.
    await credit(one)
    with monkeypatch.context() as patch:

        def die(*_: object, **__: object) -> None:
            raise ConnectionError

        patch.setattr(Audit, "changed", die)
        with pytest.raises(ConnectionError):
            await credit(other)
    assert (await stored(stores, tenant, other)).trials == (trial_of(tenant, "t"),), "the control: it is written"
    for _ in range(2):
        await credit(other)
    found = await stored(stores, tenant, other)
    assert (found.version, len(found.trials), len(found.successes)) == (1, 1, 1)
    credits = [line.ids for line in audited(servers, tmp_path, tenant) if "credit" in line.ids]
    assert credits == [{"credit": (one,)}, {"credit": (other,)}]
    await change(stores, tenant, other, Pinning(pinned=True), expected=1)
    # The control: a change that people make is another version.
    with pytest.raises(InvalidInput, match="is at version 2"):
        await change(stores, tenant, other, Feedback(helpful=True), expected=1)


@pytest.mark.slow
async def test_what_its_parts_are_credited_with_counts_for_the_whole(stores: Stores, tenant: str) -> None:
    one, other = await told(stores, tenant, "Cats rule at home.", "At home, the cats are the rulers.")
    whole = (await change(stores, tenant, one, Merger(other=other))).id

    async def credit(task: str, *ids: str) -> None:
        how: dict[str, Any] = {"task": task, "succeeded": True, "by": ADA, "operation": f"credit:{task}"}
        await stores.updater.credit(tenant, ids, **how)

    await credit("t1", one, other)
    for _ in range(2):
        await credit("t2", other)
    found = await stored(stores, tenant, whole)
    assert found.trials == found.successes == (trial_of(tenant, "t1"), trial_of(tenant, "t2"))
    assert (await stored(stores, tenant, one)).trials == (), "nobody recalls it any more"
    corrected = (await change(stores, tenant, whole, Correction(content="The dog rules at home."))).id
    await credit("t3", other)
    assert (await stored(stores, tenant, corrected)).trials == (), "what replaced it was not recalled"


async def test_merging_links_both_and_a_repetition_of_either_counts_for_the_whole(stores: Stores, tenant: str) -> None:
    one, other = await told(stores, tenant, "Cats rule at home.", "At home, the cats are the rulers.", confidence=0.8)
    await change(stores, tenant, one, Feedback(helpful=True))
    done = await change(stores, tenant, one, Merger(other=other))
    whole = await stored(stores, tenant, done.id)
    assert (whole.text, whole.merged_from, whole.seen) == ("Cats rule at home.", (one, other), 2)
    assert (whole.confidence, whole.source) == (0.85, Source.MERGED)
    for ancestor in (one, other):
        assert (await stored(stores, tenant, ancestor)).superseded_by == whole.id
    item: JsonValue = {
        "kind": "memory",
        "content": "At home, the cats are the rulers.",
        "occurrence": "again",
        "occurred_at": datetime.now(UTC).isoformat(),
    }
    batch = read_batch(tenant=tenant, key="again", items=[item], accepted_at=datetime.now(UTC))
    plan = await stores.writer.plan(batch, at=datetime.now(UTC))
    assert [(planned.decision, planned.target) for planned in plan.items] == [(Decision.REINFORCE, whole.id)]
    await stores.writer.apply(batch, plan, operation="again")
    assert (await stored(stores, tenant, whole.id)).seen == 3
    [third] = await told(stores, tenant, "The rulers of this home are cats.")
    more = (await change(stores, tenant, whole.id, Merger(other=third))).id
    later = batch.changed(key="later", items=tuple(one.changed(occurrence="later") for one in batch.items))
    plan = await stores.writer.plan(later, at=datetime.now(UTC))
    assert [planned.target for planned in plan.items] == [more], "also where the whole was merged in turn"
    with pytest.raises(InvalidInput, match="cannot be merged with itself"):
        await change(stores, tenant, whole.id, Merger(other=whole.id))


async def test_reverting_what_was_merged_takes_the_merger_apart(stores: Stores, tenant: str) -> None:
    one, other = await told(stores, tenant, "Cats rule at home.", "At home, the cats are the rulers.", confidence=0.8)
    done = await change(stores, tenant, one, Merger(other=other))
    await change(stores, tenant, one, Reversion(version=1))
    assert (await stored(stores, tenant, done.id)).superseded_by == one
    for ancestor, text in ((one, "Cats rule at home."), (other, "At home, the cats are the rulers.")):
        found = await stored(stores, tenant, ancestor)
        assert (found.state, found.text, found.superseded_by) == (State.CURRENT, text, "")


async def test_forgetting_by_id_can_be_undone(stores: Stores, tenant: str) -> None:
    [one] = await told(stores, tenant, "The office is in Ghent.")
    done = await change(stores, tenant, one, Removal(), note="moved")
    assert (await stored(stores, tenant, one)).state is State.FORGOTTEN
    assert await told(stores, tenant, "The office is in Ghent.") == [""], "the same observation does not bring it back"
    with pytest.raises(InvalidInput, match="forgotten already"):
        await change(stores, tenant, one, Removal())
    restored = await stores.forgetter.restore(tenant, sweep=done.undo, at=datetime.now(UTC), by=ADA)
    assert restored.restored == 1
    assert (await stored(stores, tenant, one)).state is State.CURRENT


async def test_pins_and_outcomes(stores: Stores, tenant: str) -> None:
    [one] = await told(stores, tenant, "The office is in Ghent.")
    await change(stores, tenant, one, Pinning(pinned=True))
    for task, succeeded in (("a", True), ("b", False), ("a", True)):
        await change(stores, tenant, one, Credit(task=task, succeeded=succeeded))
    found = await stored(stores, tenant, one)
    assert found.pinned
    assert (found.trials, found.successes) == ((trial_of(tenant, "a"), trial_of(tenant, "b")), (found.trials[0],))
    await change(stores, tenant, one, Pinning(pinned=False))
    assert not (await stored(stores, tenant, one)).pinned


async def test_what_only_a_person_may_have_believed_is_not_corrected_into_by_others(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = HoldRule(types=(MemoryType.CONSTRAINT,), by=(ActorKind.AGENT,))
    monkeypatch.setattr(stores.updater, "_policy", WritePolicy(hold=HoldPolicy(rules=(rule,))))
    [one] = await told(stores, tenant, "The office is in Ghent.")
    correction = Correction(content="Nobody deploys on Fridays.", memory_type=MemoryType.CONSTRAINT)
    with pytest.raises(InvalidInput, match=r"the write policy holds it: .*remember it instead"):
        await by_an_agent(stores, tenant, one, correction)
    done = await change(stores, tenant, one, correction)
    assert (await stored(stores, tenant, done.id)).memory_type is MemoryType.CONSTRAINT, "the control: by a person"


async def by_an_agent(stores: Stores, tenant: str, identifier: str, update: Update) -> Memory:
    asked = UpdateRequest(user_id="u", id=identifier, update=update, by=AGENT)
    done = await stores.updater.update(tenant, asked, operation=uuid4().hex, at=datetime.now(UTC))
    return await stored(stores, tenant, done.id)


@pytest.mark.parametrize(
    ("said", "kind", "correction", "reason"),
    [
        ("I prefer tea.", "preference", Correction(content="I prefer coffee."), "a person said"),
        ("I prefer tea.", "preference", Correction(content="Rain is wet."), "a person said"),
        ("I prefer tea.", "fact", Correction(valid_until=NOW + timedelta(days=1)), "a person said"),
        ("Deploys stop on Fridays.", "constraint", Correction(content="Deploys go."), "a person said"),
        (
            "Deploys stop on Fridays.",
            "constraint",
            Correction(memory_type=MemoryType.FACT),
            "lift a constraint",
        ),
    ],
)
async def test_what_a_person_said_is_not_corrected_by_an_agent(
    stores: Stores, tenant: str, said: str, kind: str, correction: Correction, reason: str
) -> None:
    [one] = await told(stores, tenant, said, memory_type=kind)
    before = await stored(stores, tenant, one)
    with pytest.raises(InvalidInput, match=f"update: it .*{reason}: {one}"):
        await by_an_agent(stores, tenant, one, correction)
    assert await stored(stores, tenant, one) == before
    done = await change(stores, tenant, one, correction)
    found = await stored(stores, tenant, done.id)
    assert (found.source, found.confidence) == (Source.EXPLICIT, 0.95), "the control: by a person"


async def test_a_constraint_is_lifted_by_no_agent(stores: Stores, tenant: str) -> None:
    [rule] = await told(stores, tenant, "Never email customers on Sundays.", memory_type="constraint")
    [tea] = await told(stores, tenant, "I like tea.", memory_type="preference")
    for one, update in ((tea, Merger(other=rule)), (rule, Merger(other=tea)), (rule, Removal())):
        with pytest.raises(InvalidInput, match=f"update: it would lift a constraint: {rule} .*have a person do it"):
            await by_an_agent(stores, tenant, one, update)
    assert (await stored(stores, tenant, rule)).version == 1
    for _ in range(4):
        await by_an_agent(stores, tenant, rule, Feedback(helpful=False))
    assert (await stored(stores, tenant, rule)).confidence == 0.7, "it is still recalled"
    await change(stores, tenant, rule, Removal())
    assert (await stored(stores, tenant, rule)).state is State.FORGOTTEN, "the control: by a person"


@pytest.mark.slow
async def test_what_else_a_person_said_is_not_contradicted_by_an_agents_correction(stores: Stores, tenant: str) -> None:
    [tea] = await told(stores, tenant, "I prefer tea for breakfast.", memory_type="preference")
    [learned] = await told(stores, tenant, "Lunch is at 12.", source="learned")
    correction = Correction(content="I prefer coffee for breakfast.", memory_type=MemoryType.PREFERENCE)
    with pytest.raises(InvalidInput, match=f"it contradicts what a person said: {tea}"):
        await by_an_agent(stores, tenant, learned, correction)
    await change(stores, tenant, learned, correction)
    assert (await stored(stores, tenant, tea)).state is State.SUPERSEDED, "the control: by a person"


async def test_what_an_agent_corrects_was_learned_and_is_believed_as_what_it_remembers(
    stores: Stores, tenant: str
) -> None:
    [standup] = await told(stores, tenant, "The standup is at 9.")
    found = await by_an_agent(stores, tenant, standup, Correction(content="The standup is at 10."))
    assert (found.source, found.confidence, found.supersedes) == (Source.LEARNED, 0.9, standup)
    found = await by_an_agent(stores, tenant, found.id, Correction(content="The standup is at 11.", confidence=0.8))
    assert (found.source, found.confidence) == (Source.LEARNED, 0.8)
    [lunch] = await told(stores, tenant, "Lunch is at 12.", confidence=0.85)
    found = await by_an_agent(stores, tenant, lunch, Correction(tags=("food",)))
    assert (found.source, found.confidence, found.tags) == (Source.EXPLICIT, 0.85, ("food",)), "it says the same"


async def test_an_earlier_version_comes_back_as_a_new_one(stores: Stores, tenant: str) -> None:
    [one] = await told(stores, tenant, "The standup is at 9.", tags=["first"])
    await change(stores, tenant, one, Correction(tags=("second",)))
    done = await change(stores, tenant, one, Correction(content="The standup is at 10."))
    await change(stores, tenant, one, Reversion(version=1))
    found = await stored(stores, tenant, one)
    assert (found.state, found.tags, found.version) == (State.CURRENT, ("first",), 4)
    assert (await stored(stores, tenant, done.id)).superseded_by == one
    with pytest.raises(InvalidInput, match=r"99 is not kept \(kept: 1, 2, 3, 4\)"):
        await change(stores, tenant, one, Reversion(version=99))
    with pytest.raises(InvalidInput, match="is the one that it has"):
        await change(stores, tenant, one, Reversion(version=4))


@pytest.mark.parametrize("content", [None, "Kubernetes runs in Ghent."], ids=["the same", "another statement"])
async def test_a_correction_of_a_recall_teaches_what_a_memory_is_called(
    stores: Stores, tenant: str, content: str | None
) -> None:
    [one] = await told(stores, tenant, "Kubernetes runs in Leeds.", names=["Kubernetes"])
    update = Correction(content=content, asked="where does k8s run?")
    found = await stored(stores, tenant, (await change(stores, tenant, one, update)).id)
    assert (found.text, found.names) == (content or "Kubernetes runs in Leeds.", ("Kubernetes", "k8s"))


async def test_what_is_somebody_elses_is_as_if_it_did_not_exist(stores: Stores, tenant: str) -> None:
    [one] = await told(stores, tenant, "The office is in Ghent.")
    stranger = f"t_{uuid4().hex}"
    [own] = await told(stores, stranger, "The kitchen is blue.")
    unknown = "mem_unknown"
    for update in (Correction(content="x y"), Feedback(helpful=True), Pinning(pinned=True), Removal()):
        messages: list[str] = []
        for identifier in (one, unknown):
            with pytest.raises(InvalidInput) as refused:
                await change(stores, stranger, identifier, update)
            messages.append(str(refused.value).replace(identifier, "ID"))
        assert len(set(messages)) == 1
    with pytest.raises(InvalidInput, match="other: there is no"):
        await change(stores, stranger, own, Merger(other=one))
    assert (await stored(stores, tenant, one)).version == 1


@pytest.mark.parametrize(
    ("update", "expected", "problem"),
    [
        (Correction(valid_until=NOW - timedelta(days=1)), None, "valid_until: .* is over"),
        (Correction(valid_from=NOW + timedelta(days=9), valid_until=NOW + timedelta(days=8)), None, "not after"),
        (Feedback(helpful=True), 7, "expected: it is at version 1, and not 7"),
    ],
)
async def test_what_makes_no_sense_is_refused_and_nothing_changes(
    stores: Stores, tenant: str, update: Update, expected: int | None, problem: str
) -> None:
    [one] = await told(stores, tenant, "The office is in Ghent.")
    with pytest.raises(InvalidInput, match=problem):
        await change(stores, tenant, one, update, expected=expected)
    assert (await stored(stores, tenant, one)).version == 1


async def test_what_was_asked_before_an_erasure_is_not_written(stores: Stores, tenant: str) -> None:
    [one] = await told(stores, tenant, "The office is in Ghent.")
    plan = stores.updater._plan  # pyright: ignore[reportPrivateUsage]

    async def erased_meanwhile(asked: Any) -> Any:
        await ask(stores.redis, "INCR", keys.epoch(tenant))
        return await plan(asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stores.updater, "_plan", erased_meanwhile)
        with pytest.raises(TenantErased):
            await change(stores, tenant, one, Correction(content="The office is in Bruges."))


async def test_what_was_accepted_before_an_erasure_is_not_written(stores: Stores, tenant: str) -> None:
    [one] = await told(stores, tenant, "The office is in Ghent.")
    request = MemoryUpdate(id=one, update=Correction(content="The office is in Bruges."), by=AGENT)
    await ask(stores.redis, "SET", keys.epoch(tenant), 3)
    with pytest.raises(TenantErased):
        await stores.updater.update(tenant, request, operation="before", at=datetime.now(UTC), epoch=2)
    done = await stores.updater.update(tenant, request, operation="after", at=datetime.now(UTC), epoch=3)
    assert (await stored(stores, tenant, done.id)).text == "The office is in Bruges."


async def test_what_was_refused_is_told_without_text_and_what_is_held_is_not(stores: Stores, tenant: str) -> None:
    await told(stores, tenant, "The deploy window is on Monday.", memory_type="constraint")
    await told(stores, tenant, "The deploy window is on Tuesday.")
    await told(stores, tenant, "The office is in Ghent.", confidence=0.2)
    found = rejections(await stores.journal.read(tenant))
    assert [one.reason.split(":")[0] for one in found] == ["PRD105 items[0].confidence"]


async def test_an_agents_correction_takes_nothing_from_what_a_person_said(stores: Stores, tenant: str) -> None:
    said = await told(stores, tenant, "Peanuts are never served.")
    learned = await told(stores, tenant, "The kitchen orders snacks.", source="learned")
    agent = Actor(kind=ActorKind.AGENT, id="task")

    async def correct(identifier: str, by: Actor, **fields: Any) -> Updated:
        request = UpdateRequest(user_id="u", id=identifier, update=Correction(**fields), by=by)
        operation = f"update:{uuid4().hex}"
        return await stores.updater.update(tenant, request, operation=operation, at=datetime.now(UTC))

    before = await stored(stores, tenant, said[0])
    for fields in ({"scopes": ("kitchen",)}, {"confidence": 0.01}):
        with pytest.raises(InvalidInput, match="it would hold less"):
            await correct(said[0], agent, **fields)
        with pytest.raises(InvalidInput, match="it would hold less"):
            await correct(learned[0], agent, content="Peanuts are never served.", **fields)
    await correct(learned[0], agent, content="Peanuts are never served.")
    after = await stored(stores, tenant, said[0])
    assert (after.source, after.confidence, after.scopes) == (before.source, before.confidence, before.scopes)
    # The control: a person may.
    assert (await correct(said[0], ADA, scopes=("kitchen",))).id == said[0]


async def test_what_a_question_teaches_leaves_another_memory_its_names(stores: Stores, tenant: str) -> None:
    [one] = await told(stores, tenant, "Lunch is served at noon.", names=["food"])
    [other] = await told(stores, tenant, "Peanuts are never served.", names=["peanut", "groundnut"])
    update = Correction(content="Peanuts are never served.", asked="what about k8s?")
    done = await change(stores, tenant, one, update)
    assert done.id == other
    assert {"peanut", "groundnut", "k8s"} <= {*(await stored(stores, tenant, other)).names}


@pytest.mark.slow
async def test_what_contradicts_or_would_not_be_recalled_is_not_merged(stores: Stores, tenant: str) -> None:
    [rome] = await told(stores, tenant, "The office is in Rome.")
    [oslo] = await told(stores, tenant, "The office is in Oslo.", scopes=["team"])
    [doubted] = await told(stores, tenant, "Lunch is at noon.")
    for _ in range(3):
        await change(stores, tenant, doubted, Feedback(helpful=False))
    for other, problem in ((oslo, "contradict each other"), (doubted, "of recall")):
        with pytest.raises(InvalidInput, match=f"other: .*({problem})"):
            await change(stores, tenant, rome, Merger(other=other))
    assert (await stored(stores, tenant, rome)).version == 1


async def test_what_a_merger_would_lose_is_kept_and_comes_back_as_it_was(stores: Stores, tenant: str) -> None:
    [short] = await told(stores, tenant, "The office is in Ghent.")
    [more] = await told(stores, tenant, "The office is at the Korenmarkt in Ghent.")
    before = await stored(stores, tenant, more)
    await change(stores, tenant, short, Merger(other=more))
    kept, gone = await stored(stores, tenant, more), await stored(stores, tenant, short)
    assert (kept.forget_after, gone.forget_reason) == (None, "superseded for 90 days")
    await change(stores, tenant, short, Reversion(version=1))
    back = await stored(stores, tenant, more)
    assert (back.state, back.kept_at, back.superseded_at) == (State.CURRENT, None, None)
    assert back.forget_reason == before.forget_reason, "the rules look at it again"
