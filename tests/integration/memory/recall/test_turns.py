"""Turns of conversations, written by jobs and recalled, on the real stores."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure.memory.recall.query import FoundBy, Query, RecallResult
from perdure.memory.recall.service import Recall
from perdure.stores.journal.erasures import ErasureLog
from perdure.stores.journal.lines import accepted
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.leases import Leases
from perdure.stores.spool import Spool
from perdure.values.entries import MemoryType, Turn
from perdure.values.items import MemoryItem, TurnItem
from perdure.values.jobs import Batch, Decision, Fate
from tests.integration.conftest import Stores

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SAID = (
    ("Ada", "Did anybody paint the fence behind the house?"),
    ("Kim", "Yes, I did it last week."),
    ("Ada", "And which colour did you take?"),
    ("Kim", "A dark green, like the door."),
    ("Ada", "我们明天去沙发店。"),
)


def turn(position: int, *, session: str = "may-8") -> TurnItem:
    speaker, content = SAID[position]
    return TurnItem(
        speaker=speaker,
        content=content,
        session=session,
        position=position,
        occurrence=f"{session}/{position}",
        occurred_at=NOW - timedelta(days=24, seconds=-position),
    )


@pytest.fixture
def recall(stores: Stores, tmp_path: Path) -> Recall:
    return Recall(
        longterm=stores.longterm,
        episodes=Episodes(stores.redis),
        journal=stores.journal,
        spool=Spool(tmp_path / "spool", ErasureLog(tmp_path / "journal")),
        checks=stores.checks,
        deletions=stores.deletions,
        leases=Leases(stores.redis),
        whole=stores.whole,
        embedder=stores.embedder,
        limit_seconds=20,
    )


async def write(stores: Stores, tenant: str, *items: TurnItem | MemoryItem, job: str = "job-1") -> list[str]:
    batch = Batch(tenant=tenant, key=job, items=items, accepted_at=NOW)
    await stores.journal.append(tenant, accepted(job, batch, NOW))
    decided = await stores.writer.plan(batch, at=NOW)
    done = await stores.writer.apply(batch, decided, operation=job)
    receipts = await stores.writer.confirm(batch, decided, done.versions)
    assert receipts is not None
    assert {one.fate for one in receipts} == {Fate.SEARCHABLE}
    return [one.id for one in receipts]


async def ask(recall: Recall, tenant: str, text: str, **more: Any) -> RecallResult:
    return await recall.recall(Query(tenant=tenant, session="s", text=text, now=NOW, **more))


async def test_what_was_said_is_found_together_with_what_was_said_around_it(
    stores: Stores, recall: Recall, tenant: str
) -> None:
    await write(stores, tenant, *(turn(place) for place in range(len(SAID))))
    result = await ask(recall, tenant, "When did Kim paint the fence?")
    first = result.items[0]
    assert (first.kind, first.text, first.speaker) == ("turn", "Kim: Yes, I did it last week.", "Kim")
    assert (first.session, first.position, first.found_by) == ("may-8", 1, FoundBy.SEMANTIC)
    assert first.parts["speaker"] > 0 < first.parts["when"]
    assert first.why.startswith("said: words ")
    assert "speaker 0.20" in first.why
    assert "## Said in conversations\n- 2026-05-08 turn: Kim: Yes, I did it last week." in result.context
    assert (await ask(recall, tenant, "沙发在哪里？")).items[0].position == 4, "it is found by its words"


async def test_a_turn_that_comes_again_is_the_same_one(stores: Stores, tenant: str) -> None:
    [first] = await write(stores, tenant, turn(1))
    batch = Batch(tenant=tenant, key="job-2", items=(turn(1), turn(1, session="may-9")), accepted_at=NOW)
    decided = await stores.writer.plan(batch, at=NOW)
    assert [one.decision for one in decided.items] == [Decision.REINFORCE, Decision.INSERT]
    assert decided.items[0].target == first != decided.items[1].target, "the same words elsewhere are another turn"
    found = (await stores.longterm.get(tenant, [first]))[first]
    assert isinstance(found, Turn)
    assert (found.speaker, found.session, found.position, found.seen) == ("Kim", "may-8", 1, 1)


async def test_turns_and_what_is_known_share_the_places(stores: Stores, recall: Recall, tenant: str) -> None:
    facts = [
        MemoryItem(content=f"The fence number {number} is green", occurrence=f"o{number}", occurred_at=NOW)
        for number in range(6)
    ]
    await write(stores, tenant, *(turn(place) for place in range(4)), *facts)
    kinds = [item.kind for item in (await ask(recall, tenant, "the green fence", limit=4)).items]
    assert kinds == ["memory", "turn", "memory", "turn"], "whoever reads the first few sees both"
    alone = await ask(recall, tenant, "the green fence", memory_types=(MemoryType.FACT,))
    assert {item.kind for item in alone.items} == {"memory"}


async def test_a_turn_that_was_not_stored_yet_is_recalled_from_the_journal(
    stores: Stores, recall: Recall, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(stores, tenant, turn(0), turn(1))
    later = Batch(tenant=tenant, key="job-2", items=(turn(3),), accepted_at=NOW)
    await stores.journal.append(tenant, accepted("job-2", later, NOW))

    async def lost(_: object) -> bool:
        return True

    monkeypatch.setattr(stores.whole, "lost", lost)
    result = await ask(recall, tenant, "the fence, painted green")
    assert result.degraded == ("weaviate",)
    assert {item.position for item in result.items if item.found_by is FoundBy.JOURNAL} == {0, 3}


async def test_a_forgotten_turn_leaves_nothing_with_its_neighbours(stores: Stores, recall: Recall, tenant: str) -> None:
    ids = await write(stores, tenant, *(turn(place) for place in range(4)))
    assert ids[1] in {item.id for item in (await ask(recall, tenant, "last week")).items}
    await stores.longterm.delete(tenant, [ids[1]])
    found = await stores.longterm.everything(tenant)
    assert ids[1] not in found
    assert not any("last week" in entry.model_dump_json() for entry in found.values())
    assert ids[1] not in {item.id for item in (await ask(recall, tenant, "last week")).items}
