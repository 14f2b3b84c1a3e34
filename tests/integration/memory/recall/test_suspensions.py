"""What something temporary overrides holds again as soon as that is no longer believed, and not before."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from perdure.memory.recall.service import Recall
from perdure.values.updates import Correction, Feedback, Merger, Removal, Reversion
from tests.integration.conftest import Stores
from tests.integration.memory.recall.test_strategies import ask, recall_of, texts
from tests.integration.memory.updates.test_updater import ADA, change, stored, told

NOW = datetime.now(UTC)
USUAL = "The demo runs on host canvas-1."
BRIEF = "For the next two days the demo runs on host canvas-2."
DAY = timedelta(days=1)


@pytest.fixture
def recall(stores: Stores, tmp_path: Path) -> Recall:
    return recall_of(stores, tmp_path)


async def believed(recall: Recall, tenant: str, *, days: float = 0.5) -> set[str]:
    """Return what is recalled of the demo, whichever way it is asked for."""
    now = datetime.now(UTC) + timedelta(days=days)
    found = [
        set(texts(await ask(recall, tenant, text, strategy=strategy, now=now, min_confidence=0.7)))
        for text, strategy in (("Where does the demo run?", "balanced"), ("", "structured"), ("the demo", "precise"))
    ]
    assert found[0] == found[1] == found[2]
    return found[0]


async def known(stores: Stores, recall: Recall, tenant: str) -> tuple[str, str]:
    [usual] = await told(stores, tenant, USUAL, at=NOW - DAY)
    assert await believed(recall, tenant) == {USUAL}
    until = (NOW + 2 * DAY).isoformat()
    [brief] = await told(stores, tenant, BRIEF, at=NOW, valid_until=until)
    assert await believed(recall, tenant) == {BRIEF}, "the control"
    assert await believed(recall, tenant, days=3) == {USUAL}
    return usual, brief


@pytest.mark.slow
@pytest.mark.parametrize("lost", [False, True], ids=["store", "journal"])
async def test_what_a_forgotten_statement_overrode_holds_again(
    stores: Stores, recall: Recall, tenant: str, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_lost(_: object) -> bool:
        return lost

    _, brief = await known(stores, recall, tenant)
    monkeypatch.setattr(stores.whole, "lost", is_lost)
    assert await believed(recall, tenant) == {BRIEF}
    forgotten = await change(stores, tenant, brief, Removal())
    assert await believed(recall, tenant) == {USUAL}
    await stores.forgetter.restore(tenant, sweep=forgotten.undo, at=datetime.now(UTC), by=ADA)
    assert await believed(recall, tenant) == {BRIEF}, "and not any more once it is believed again"


@pytest.mark.slow
async def test_it_holds_again_from_the_corrected_end_on(stores: Stores, recall: Recall, tenant: str) -> None:
    _, brief = await known(stores, recall, tenant)
    await change(stores, tenant, brief, Correction(valid_until=NOW + DAY))
    assert await believed(recall, tenant) == {BRIEF}
    assert await believed(recall, tenant, days=1.5) == {USUAL}


@pytest.mark.slow
async def test_it_does_not_hold_before_the_corrected_end(stores: Stores, recall: Recall, tenant: str) -> None:
    _, brief = await known(stores, recall, tenant)
    await change(stores, tenant, brief, Correction(valid_until=NOW + 5 * DAY))
    assert await believed(recall, tenant, days=4) == {BRIEF}
    assert await believed(recall, tenant, days=6) == {USUAL}


@pytest.mark.slow
async def test_a_correction_to_something_else_overrides_nothing(stores: Stores, recall: Recall, tenant: str) -> None:
    _, brief = await known(stores, recall, tenant)
    await change(stores, tenant, brief, Correction(content="The office plant stands on floor 3."))
    assert texts(await ask(recall, tenant, "Where does the demo run?", now=datetime.now(UTC) + DAY)) == [USUAL]


@pytest.mark.slow
async def test_it_holds_again_once_the_other_is_not_believed_enough(
    stores: Stores, recall: Recall, tenant: str
) -> None:
    _, brief = await known(stores, recall, tenant)
    for _ in range(3):
        await change(stores, tenant, brief, Feedback(helpful=False))
    assert (await stored(stores, tenant, brief)).confidence < 0.7
    assert await believed(recall, tenant) == {USUAL}


@pytest.mark.slow
async def test_what_the_other_became_stands_for_it(stores: Stores, recall: Recall, tenant: str) -> None:
    _, brief = await known(stores, recall, tenant)
    [more] = await told(stores, tenant, "The canvas-2 host has a blue label.", at=NOW)
    merged = await change(stores, tenant, brief, Merger(other=more))
    assert USUAL not in await believed(recall, tenant)
    await change(stores, tenant, merged.id, Removal())
    assert USUAL in await believed(recall, tenant)


async def test_what_a_purged_statement_overrode_holds_again(stores: Stores, recall: Recall, tenant: str) -> None:
    usual, brief = await known(stores, recall, tenant)
    await stores.longterm.delete(tenant, [brief])
    assert await believed(recall, tenant) == {USUAL}
    assert (await stored(stores, tenant, usual)).suspended, "the control: it is stored as it was"


@pytest.mark.slow
async def test_correcting_the_usual_truth_leaves_what_overrides_it_for_a_while(
    stores: Stores, recall: Recall, tenant: str
) -> None:
    usual, brief = await known(stores, recall, tenant)
    corrected = "The demo runs on host canvas-9."
    await change(stores, tenant, usual, Correction(content=corrected))
    assert await believed(recall, tenant) == {BRIEF}
    assert await believed(recall, tenant, days=3) == {corrected}
    await change(stores, tenant, brief, Removal())
    assert await believed(recall, tenant) == {corrected}, "it was overridden, and by nothing else"


@pytest.mark.slow
async def test_a_correction_in_other_words_is_overridden_as_well(stores: Stores, recall: Recall, tenant: str) -> None:
    usual, brief = await known(stores, recall, tenant)
    corrected = await change(stores, tenant, usual, Correction(content="Hetzner hosts the demo."))
    assert [one.by for one in (await stored(stores, tenant, corrected.id)).suspended] == [brief]


@pytest.mark.slow
async def test_taking_back_such_a_correction_leaves_it_too(stores: Stores, recall: Recall, tenant: str) -> None:
    usual, _ = await known(stores, recall, tenant)
    version = (await stored(stores, tenant, usual)).version
    await change(stores, tenant, usual, Correction(content="The demo runs on host canvas-9."))
    await change(stores, tenant, usual, Reversion(version=version))
    assert await believed(recall, tenant) == {BRIEF}
    assert await believed(recall, tenant, days=3) == {USUAL}


@pytest.mark.parametrize("late", ["said earlier", "restored"])
async def test_what_comes_late_holds_after_what_ends(stores: Stores, recall: Recall, tenant: str, late: str) -> None:
    sweep = ""
    if late == "restored":
        [usual] = await told(stores, tenant, USUAL, at=NOW - DAY)
        sweep = (await change(stores, tenant, usual, Removal())).undo
    await told(stores, tenant, BRIEF, at=NOW, valid_until=(NOW + 2 * DAY).isoformat())
    if sweep:
        await stores.forgetter.restore(tenant, sweep=sweep, at=datetime.now(UTC), by=ADA)
    else:
        await told(stores, tenant, USUAL, at=NOW - DAY)
    assert await believed(recall, tenant) == {BRIEF}
    assert await believed(recall, tenant, days=3) == {USUAL}
