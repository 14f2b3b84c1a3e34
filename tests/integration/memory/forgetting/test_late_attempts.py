"""Attempts that come late: their plans are old, and what they planned about has lived on, or is gone."""

from datetime import timedelta

import pytest

from perdure.crashpoints import CrashPoint
from perdure.errors import VersionConflict
from perdure.memory import door
from perdure.memory.forgetting.selection import Forgetting
from perdure.memory.writing.batch_checks import read_batch
from perdure.memory.writing.observation import applied as applied_to
from perdure.stores.journal.lines import accepted
from perdure.values.changes import Change
from perdure.values.entries import State
from perdure.values.jobs import Batch, Decision, WritePlan
from tests.integration.conftest import Stores
from tests.integration.memory.forgetting.test_forgetter import LATER, NOW, PERSON, SWEEP, passing, write


async def purge_plan(stores: Stores, tenant: str) -> Forgetting:
    """Forget what is due, and return the plan that purges it."""
    due = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)
    await stores.forgetter.tombstone(due, sweep="sweep-1", by=SWEEP)
    return await stores.forgetter.plan(tenant, at=LATER, approved=False)


async def test_a_late_purge_spares_what_was_observed_anew(stores: Stores, tenant: str) -> None:
    [identifier] = await write(stores, tenant, passing("a", "o1"))
    plan = await purge_plan(stores, tenant)
    assert await stores.forgetter.purge(plan, sweep="sweep-2", by=SWEEP) == 1
    # Observed twice more, it is at the version again that the plan expects.
    anew = LATER + timedelta(hours=1)
    for occurrence in ("o2", "o3"):
        again = {**passing("a", occurrence, anew), "valid_until": None}
        await write(stores, tenant, again, operation=f"job-{occurrence}")
    before = (await stores.longterm.get(tenant, [identifier]))[identifier]
    assert (before.version, before.state) == (plan.purge[0].version, State.CURRENT)
    assert await stores.forgetter.purge(plan, sweep="sweep-2", by=SWEEP) == 0
    assert (await stores.longterm.get(tenant, [identifier]))[identifier] == before


async def test_a_late_write_does_not_bring_back_what_was_purged_since_it_was_planned(
    stores: Stores, tenant: str
) -> None:
    batch = read_batch(tenant=tenant, key="late", items=[passing("b", "o1")])
    planned = await stores.writer.plan(batch, at=NOW)
    await write(stores, tenant, passing("b", "o1"), operation="job-other")
    await stores.forgetter.purge(await purge_plan(stores, tenant), sweep="sweep-2", by=SWEEP)
    # The control: without a second plan, the write is refused.
    with pytest.raises(VersionConflict, match="forgotten after it was planned"):
        await stores.door.change(tenant, await changes_of(stores, batch, planned))
    applied = await stores.writer.apply(batch, planned, operation="late")
    assert applied.plan is not None
    assert [item.decision for item in applied.plan.items] == [Decision.REJECT]
    assert await stores.longterm.count(tenant) == 0


async def changes_of(stores: Stores, batch: Batch, planned: WritePlan) -> list[Change]:
    """Return the changes of a plan, as the writer makes them."""
    [vector] = await stores.embedder.embed(["x"])
    return [
        Change(id=identifier, expected=0, entry=entry, vector=vector, by=PERSON, why=decision.value, operation="other")
        for identifier, (entry, decision) in applied_to(batch, planned, {}).items()
    ]


@pytest.mark.slow
async def test_undoing_does_not_count_what_a_purge_has_removed(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class DiedError(BaseException):
        pass

    def die(point: CrashPoint) -> None:
        if point is CrashPoint.FORGET_PURGED:
            raise DiedError

    [identifier] = await write(stores, tenant, passing("a", "o1"))
    plan = await purge_plan(stores, tenant)
    with monkeypatch.context() as patch:
        patch.setattr(door, "reached", die)
        with pytest.raises(DiedError):
            await stores.forgetter.purge(plan, sweep="sweep-2", by=SWEEP)
    undone = await stores.forgetter.restore(tenant, sweep="sweep-1", at=LATER, by=PERSON)
    assert (undone.restored, undone.more) == (0, False)
    assert await stores.forgetter.purge(plan, sweep="sweep-2", by=SWEEP) == 1
    line = (await stores.deletions.of(tenant, [identifier]))[identifier]
    assert (line.purged, line.restored_at) == (True, None)


async def test_a_batch_that_comes_again_leaves_no_text_of_a_settled_job(stores: Stores, tenant: str) -> None:
    item = {**passing("a", "o1"), "summary": "Marzipan"}
    await write(stores, tenant, item, operation="job-1")
    await stores.forgetter.purge(await purge_plan(stores, tenant), sweep="sweep-2", by=SWEEP)
    batch = read_batch(tenant=tenant, key="job-1", items=[item])
    await stores.journal.append(tenant, accepted("job-1", batch, LATER))
    assert b"Marzipan" in on_disk(stores, tenant), "the control"
    await stores.writer.settled_again(tenant, "job-1")
    assert b"Marzipan" not in on_disk(stores, tenant)


def on_disk(stores: Stores, tenant: str) -> bytes:
    return b"".join(file.read_bytes() for file in (stores.journal.folder / tenant).glob("*.jsonl"))
