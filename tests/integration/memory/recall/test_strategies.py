"""What each strategy returns, from the store and from the journal."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure.memory.recall.query import FoundBy, Query, RecallResult, Trigger
from perdure.memory.recall.service import Recall
from perdure.stores.journal.erasures import ErasureLog
from perdure.stores.journal.lines import accepted
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.leases import Leases
from perdure.stores.spool import Spool
from perdure.stores.weaviate.mapping import KINDS
from perdure.values.entries import Entry, Lane, Memory, MemoryType, Record, Relation, State, Turn
from perdure.values.filters import Filters, Omission
from perdure.values.items import Item, MemoryItem, PatternItem, item_id, record_text
from perdure.values.jobs import Batch, Fate
from perdure.values.strategies import ProfileName, Strategy
from tests.integration.conftest import Stores
from tests.support.broken_entries import break_entry

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def recall_of(stores: Stores, folder: Path, **more: Any) -> Recall:
    given: dict[str, Any] = {
        "longterm": stores.longterm,
        "episodes": Episodes(stores.redis),
        "journal": stores.journal,
        "spool": Spool(folder / "spool", ErasureLog(folder / "journal")),
        "checks": stores.checks,
        "deletions": stores.deletions,
        "leases": Leases(stores.redis),
        "whole": stores.whole,
        "embedder": stores.embedder,
        "limit_seconds": 20,
    }
    return Recall(**(given | more))


@pytest.fixture
def recall(stores: Stores, tmp_path: Path) -> Recall:
    return recall_of(stores, tmp_path)


def item(content: str, *names: str, to: str = "", **more: Any) -> MemoryItem:
    relations = (Relation(kind="depends on", to=to),) if to else ()
    fields = {"content": content, "names": names, "relations": relations, "occurrence": content, "occurred_at": NOW}
    return MemoryItem.model_validate(fields | more)


async def write(stores: Stores, tenant: str, *items: Item) -> list[str]:
    """Write one after the other, as one may replace another."""
    ids: list[str] = []
    for number, one in enumerate(items):
        job = f"job-{number}-{one.occurrence[:20]}"
        batch = Batch(tenant=tenant, key=job, items=(one,), accepted_at=NOW)
        await stores.journal.append(tenant, accepted(job, batch, NOW))
        decided = await stores.writer.plan(batch, at=NOW)
        done = await stores.writer.apply(batch, decided, operation=job)
        receipts = await stores.writer.confirm(batch, decided, done.versions)
        assert receipts is not None
        assert {receipt.fate for receipt in receipts} == {Fate.SEARCHABLE}
        ids += [receipt.id for receipt in receipts]
    return ids


async def put(stores: Stores, tenant: str, entries: Sequence[Entry]) -> None:
    vectors = await stores.embedder.embed([entry.text for entry in entries])
    by_id = {entry.id: vector for entry, vector in zip(entries, vectors, strict=True)}
    await stores.longterm.put(tenant, entries, by_id)


async def ask(recall: Recall, tenant: str, text: str = "", **more: Any) -> RecallResult:
    fields = {"tenant": tenant, "session": "s", "text": text, "now": NOW, **more}
    result = await recall.recall(Query.model_validate(fields))
    assert set(result.degraded) <= {"weaviate"}
    return result


def texts(result: RecallResult) -> list[str]:
    return [one.text for one in result.items]


CLUSTER = item("The cluster has 14 nodes.", "Kubernetes", "k8s")
MYSQL = item("Orders are kept in MySQL.", "MySQL", "orders database")
CHECKOUT = item("Checkout is written in Go.", "checkout service", to="MySQL")
HOME = item("At home the editor is Neovim.", "editor", scopes=("home",))
WORK = item("At work the editor is PyCharm.", "editor", scopes=("work",))


async def known(stores: Stores, tenant: str) -> MemoryItem:
    """Write what the questions are about, and return what replaced ``MYSQL``."""
    postgres = item("Orders are kept in Postgres.", "Postgres", supersedes=item_id(tenant, MYSQL))
    await write(stores, tenant, CLUSTER, MYSQL, CHECKOUT, HOME, WORK, postgres)
    return postgres


@pytest.mark.slow
@pytest.mark.parametrize("lost", [False, True], ids=["store", "journal"])
async def test_precise_returns_what_is_named_linked_or_replaced_and_nothing_else(
    stores: Stores, recall: Recall, tenant: str, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres = await known(stores, tenant)

    async def is_lost(_: object) -> bool:
        return lost

    monkeypatch.setattr(stores.whole, "lost", is_lost)
    expected: dict[str, list[MemoryItem]] = {
        "How many nodes has k8s?": [CLUSTER],
        "How many nodes has kube?": [],
        "Who runs kuberentes?": [CLUSTER],
        "Is MySQL still used?": [postgres, CHECKOUT],
        "How large is the orders database?": [postgres, CHECKOUT],
        "How is Postgres doing?": [postgres, CHECKOUT],
        "What does the checkout service need?": [CHECKOUT, postgres],
        "What is the capital of France?": [],
        "Which editor?": [WORK, HOME],
    }
    for text, items in expected.items():
        result = await ask(recall, tenant, text, strategy="precise")
        assert set(texts(result)) == {one.content for one in items}, text
        assert result.degraded == (("weaviate",) if lost else ())
    limited = await ask(recall, tenant, "Which editor?", strategy="precise", scopes=("work", "lab"))
    assert texts(limited) == [WORK.content]
    assert texts(await ask(recall, tenant, "Which editor?", strategy="precise", scopes=("lab",))) == []
    assert texts(await ask(recall, f"{tenant}x", "How many nodes has k8s?", strategy="precise")) == []
    first = (await ask(recall, tenant, "Is MySQL still used?", strategy="precise")).items[0]
    assert (first.found_by, first.why.partition(";")[0]) == (FoundBy.NAMED, "it replaced what the question names")


@pytest.mark.slow
async def test_what_was_just_written_is_named_at_once(stores: Stores, recall: Recall, tenant: str) -> None:
    for number in range(5):
        name = ("Heron", "Osprey", "Condor", "Falcon", "Kestrel")[number]
        assert texts(await ask(recall, tenant, f"How is {name}?", strategy="precise")) == []
        await write(stores, tenant, item(f"It is number {number}.", name))
        assert texts(await ask(recall, tenant, f"How is {name}?", strategy="precise")) == [f"It is number {number}."]


@pytest.mark.slow
async def test_a_spelling_that_is_right_is_found_among_many_that_are_nearly_so(
    stores: Stores, recall: Recall, tenant: str
) -> None:
    later = [
        Memory(id=f"mem_{number}", text=f"{number}", names=(f"server{number:03}",), first_seen=NOW, last_seen=NOW)
        for number in range(300)
    ]
    right = Memory(id="mem_x", text="the one", names=("serverx",), first_seen=NOW - DAY, last_seen=NOW - DAY)
    await put(stores, tenant, [*later, right])
    assert texts(await ask(recall, tenant, "where is serverx?", strategy="precise")) == ["the one"]
    assert texts(await ask(recall, tenant, "where is server007?", strategy="precise")) == ["7"]


@pytest.mark.slow
async def test_balanced_returns_the_beginning_of_what_similarity_returns(
    stores: Stores, recall: Recall, tenant: str
) -> None:
    await known(stores, tenant)
    for text in ("How many nodes does the cluster have?", "Which editor is used at work?", "orders"):
        filled = await ask(recall, tenant, text, strategy="similarity")
        cut = await ask(recall, tenant, text)
        assert 1 <= len(cut.items) < len(filled.items)
        assert texts(filled)[: len(cut.items)] == texts(cut)


@pytest.mark.slow
async def test_structured_needs_no_question_and_heeds_every_filter(stores: Stores, recall: Recall, tenant: str) -> None:
    await known(stores, tenant)
    found = await ask(recall, tenant, strategy="structured", scopes=("work",), limit=3)
    assert len(found.items) == 3
    assert HOME.content not in texts(found)
    assert {one.found_by for one in found.items} == {FoundBy.FILTERS}
    none = await ask(recall, tenant, "Which editor?", strategy="structured", memory_types=("constraint",))
    assert none.items == ()


@pytest.mark.slow
@pytest.mark.parametrize("lost", [False, True], ids=["store", "journal"])
async def test_structured_returns_every_constraint_besides_the_limit(
    stores: Stores, recall: Recall, tenant: str, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = [item(f"Rule {number} of the house holds.", memory_type="constraint") for number in range(7)]
    elsewhere = item("At home no rule holds.", memory_type="constraint", scopes=("home",))
    later = [item(f"Room {number} is blue.", occurred_at=NOW + DAY) for number in range(5)]
    await write(stores, tenant, *rules, elsewhere, *later)

    async def is_lost(_: object) -> bool:
        return lost

    monkeypatch.setattr(stores.whole, "lost", is_lost)
    asked: dict[str, Any] = {"strategy": "structured", "limit": 3, "scopes": ("work",)}
    found = await ask(recall, tenant, **asked, context_characters=500)
    assert len(found.items) == 3 + len(rules)
    assert set(texts(found)[3:]) == {one.content for one in rules}
    listed, named, left = found.context.partition("(constraints left out: ")
    missing = sum(f"- {one.content}" not in listed for one in rules)
    assert 0 < missing < len(rules)
    assert named
    assert left.startswith(f"{missing}: Rule")
    assert texts(await ask(recall, tenant, **asked, memory_types=("fact",))) == texts(found)[:3]
    assert len((await ask(recall, tenant, "rule", strategy="similarity", limit=3)).items) == 3, "the control"


@pytest.mark.slow
async def test_what_structured_left_out_is_explained_without_a_question(
    stores: Stores, recall: Recall, tenant: str
) -> None:
    await write(stores, tenant, *(item(f"Room {number} is blue.") for number in range(5)))
    found = await ask(recall, tenant, strategy="structured", limit=2, explain=True)
    assert {one.reason for one in found.left_out} == {Omission.LIMIT}
    assert {*texts(found)} | {one.text for one in found.left_out} == {f"Room {number} is blue." for number in range(5)}
    assert len(found.left_out) == 3


def described(number: int) -> list[Entry]:
    """Return entries that differ in all that can be filtered by."""
    seen = {"first_seen": NOW - number * DAY, "last_seen": NOW - number * DAY}
    memory = Memory.model_validate(
        {
            "id": f"mem_{number}",
            "text": f"note {number}",
            "memory_type": list(MemoryType)[number % 4],
            "tags": [("a",), ("a", "b"), (), ("audit",)][number % 4],
            "scopes": [(), ("work",), ("home", "work")][number % 3],
            "task": ["", "audit", "other"][number % 3],
            "confidence": 0.5 + 0.05 * (number % 10),
            "state": State.SUPERSEDED if number % 11 == 5 else State.CURRENT,
            "valid_until": NOW if number % 13 == 4 else None,
            "valid_from": NOW + DAY if number % 13 == 7 else None,
            **seen,
        }
    )
    log: dict[str, Any] = {"lane": Lane.PATTERN, "key": f"k{number}", "payload": number}
    text = record_text(PatternItem(occurrence="o", occurred_at=NOW, summary=f"note {number}", **log))
    record = Record.model_validate(
        {"id": f"exec_{number}", "text": text, "task": ["audit", ""][number % 2], **log, **seen}
    )
    said = {"id": f"turn_{number}", "text": f"Kim: note {number}", "session": "s", "position": number, "speaker": "Kim"}
    turn = Turn.model_validate(said | seen)
    return [memory, record, turn]


@pytest.mark.slow
async def test_the_store_filters_as_the_filters_say(stores: Stores, tenant: str) -> None:
    entries = [entry for number in range(30) for entry in described(number)]
    await put(stores, tenant, entries)
    limits: list[dict[str, Any]] = [
        {},
        {"min_confidence": 0.7},
        {"memory_types": ("fact", "constraint")},
        {"tags": ("a",)},
        {"tags": ("a", "b")},
        {"scopes": ("work",)},
        {"scopes": ("home", "lab")},
        {"since": NOW - 9 * DAY, "until": NOW - 3 * DAY},
        {"task": "audit"},
        {"lane": "pattern"},
        {"lane": "feedback", "memory_types": ("fact",)},
        {"scopes": ("work",), "tags": ("a",), "since": NOW - 20 * DAY, "task": "other", "min_confidence": 0.6},
    ]
    for limited in limits:
        filters = Filters.model_validate({"now": NOW, **limited})
        found = {
            entry.id
            for kind in KINDS
            for entry in await stores.longterm.newest(tenant, kind, filters=filters, limit=100)
        }
        assert found == {entry.id for entry in entries if filters.objection(entry) is None}, limited
        [vector] = await stores.embedder.embed(["note"])
        hits = await stores.longterm.search(tenant, text="note", vector=vector, limit=100, filters=filters)
        assert {hit.entry.id for hit in hits} == found, limited


@pytest.mark.slow
async def test_pinned_memories_stand_in_every_block_of_their_scope(stores: Stores, recall: Recall, tenant: str) -> None:
    await known(stores, tenant)
    await write(
        stores,
        tenant,
        item("Answers are short.", pinned=True),
        item("At home nobody answers.", pinned=True, scopes=("home",)),
    )
    for strategy in Strategy:
        result = await ask(recall, tenant, "How many nodes has k8s?", strategy=strategy, scopes=("work",))
        assert texts(result).count("Answers are short.") == 1
        assert "Answers are short." in result.context
        assert "nobody answers" not in result.context
    unknown = await ask(recall, tenant, "What is the capital of France?", strategy="precise", scopes=("work",))
    assert [(one.text, one.found_by) for one in unknown.items] == [("Answers are short.", FoundBy.PINNED)]


@pytest.mark.slow
@pytest.mark.parametrize("lost", [False, True], ids=["store", "journal"])
async def test_keys_without_a_question_return_their_records_and_nothing_else(
    stores: Stores, recall: Recall, tenant: str, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [
        PatternItem(lane=Lane.PATTERN, key=key, payload={"n": n}, occurrence=f"{key} {n}", occurred_at=NOW + n * HOUR)
        for n, key in enumerate(["cores", "cores", "disks", "cores", "ports"])
    ]
    await write(stores, tenant, item("Answers are short.", pinned=True), *records)

    async def is_lost(_: object) -> bool:
        return lost

    monkeypatch.setattr(stores.whole, "lost", is_lost)
    log: dict[str, Any] = {"lane": "pattern", "now": NOW + DAY}
    for keys, numbers in ((("cores",), [3, 1, 0]), (("cores", "disks"), [3, 2, 1, 0]), (("none",), [])):
        for strategy in set(Strategy) - {Strategy.STRUCTURED}:
            found = await ask(recall, tenant, " ", strategy=strategy, keys=keys, limit=2, **log)
            assert [one.payload for one in found.items] == [{"n": number} for number in numbers], (keys, strategy)
            assert (found.trigger, "Answers are short." in found.context) == (Trigger.NONE, False)
    for more in ({"text": "What is the capital of France?"}, {"text": "", "strategy": "structured"}):
        asked: dict[str, Any] = {**log, "keys": ("none",), "strategy": "precise", **more}
        assert "Answers are short." in texts(await ask(recall, tenant, **asked)), "the control"
    assert "Answers are short." in texts(await ask(recall, tenant, **log)), "the control: the whole log"


async def test_replaced_memories_that_were_pinned_take_no_place_of_one_that_holds(
    stores: Stores, recall: Recall, tenant: str
) -> None:
    before = NOW - DAY
    holds = Memory(id="mem_holds", text="Answers are short.", first_seen=before, last_seen=before, pinned=True)
    replaced = [
        Memory(id=f"mem_{one}", text="Old.", first_seen=NOW, last_seen=NOW, pinned=True, state=State.SUPERSEDED)
        for one in range(200)
    ]
    await put(stores, tenant, [holds, *replaced])
    found = await ask(recall, tenant, "What is the capital of France?", strategy="precise")
    assert [(one.text, one.found_by) for one in found.items] == [("Answers are short.", FoundBy.PINNED)]


async def test_a_profile_orders_what_relevance_chose(stores: Stores, recall: Recall, tenant: str) -> None:
    old = NOW - 60 * DAY
    near = Memory(id="mem_near", text="The fence is green", first_seen=old, last_seen=old, confidence=0.8)
    sure = Memory(id="mem_sure", text="The green fence is old", first_seen=NOW, last_seen=NOW)
    mine = Memory(id="mem_mine", text="A fence: green", first_seen=NOW, last_seen=NOW, task="audit")
    await put(stores, tenant, [near, sure, mine])
    chosen = await ask(recall, tenant, "The fence is green")
    assert chosen.items[0].id == "mem_near"
    hybrid = await ask(recall, tenant, "The fence is green", strategy="hybrid", task="audit")
    assert {one.id for one in hybrid.items} == {one.id for one in chosen.items}
    assert [one.id for one in hybrid.items] == ["mem_mine", "mem_sure", "mem_near"]
    assert hybrid.items[0].parts["task"] == 1.0
    reader = await ask(recall, tenant, "The fence is green", profile=ProfileName.READER)
    assert reader.items[-1].id == "mem_near"
    assert "(reader)" in reader.items[0].why


@pytest.mark.slow
async def test_what_was_left_out_is_explained_and_only_where_it_is_asked_for(
    stores: Stores, recall: Recall, tmp_path: Path, tenant: str
) -> None:
    await known(stores, tenant)
    doubted = Memory(id="mem_doubted", text="The editor may be Emacs", first_seen=NOW, last_seen=NOW, confidence=0.5)
    despised = doubted.changed(id="mem_despised", text="The editor is ed", confidence=0.2)
    await put(stores, tenant, [doubted, despised])
    asked: dict[str, Any] = {"text": "Which editor is used for orders?", "scopes": ("work",), "strategy": "similarity"}
    result = await ask(recall, tenant, **asked, explain=True)
    reasons = {one.text: one.reason for one in result.left_out}
    assert reasons[doubted.text] is Omission.CONFIDENCE
    assert reasons[HOME.content] is Omission.SCOPE
    assert reasons[MYSQL.content] is Omission.SUPERSEDED
    assert despised.text not in reasons
    assert not {*reasons} & {*texts(result)}
    assert (await ask(recall, tenant, **asked)).left_out == ()
    cut = await ask(recall, tenant, "How many nodes has the cluster?", explain=True)
    assert {one.text: one.reason for one in cut.left_out}[WORK.content] is Omission.RELEVANCE
    full = await ask(recall, tenant, "editor", strategy="similarity", limit=1, explain=True)
    assert Omission.LIMIT in {one.reason for one in full.left_out}
    seen: dict[str, Any] = {"first_seen": NOW, "last_seen": NOW}
    log: dict[str, Any] = {"lane": Lane.PATTERN, "key": "k", "payload": 1}
    text = record_text(PatternItem(occurrence="o", occurred_at=NOW, summary="The editor was asked for", **log))
    said = Turn(id="turn_1", text="Kim: Which editor is it?", session="s", position=0, speaker="Kim", **seen)
    await put(stores, tenant, [Record(id="exec_1", text=text, **log, **seen), said])
    typed = await ask(recall, tenant, "Which editor is it?", memory_types=("fact",), explain=True)
    others = {one.id: (one.kind, one.reason) for one in typed.left_out if one.kind != "memory"}
    assert others == {"exec_1": ("record", Omission.FILTERED), "turn_1": ("turn", Omission.FILTERED)}
    wide = await ask(recall_of(stores, tmp_path, min_confidence=0.4), tenant, "Which editor may it be?")
    assert doubted.text in texts(wide), "the least confidence is a setting"


@pytest.mark.slow
@pytest.mark.parametrize("strategy", list(Strategy))
async def test_an_entry_that_no_build_can_read_keeps_nobody_from_recalling(
    stores: Stores, recall: Recall, tenant: str, strategy: Strategy
) -> None:
    await write(stores, tenant, CLUSTER, WORK)
    broken = await stores.longterm.get(tenant, [item_id(tenant, CLUSTER)])
    await break_entry(stores, tenant, broken[item_id(tenant, CLUSTER)])

    result = await ask(recall, tenant, "How many nodes has k8s?", strategy=strategy)

    assert CLUSTER.content in texts(result), "the journal has it as it was written"
    assert result.degraded == ("weaviate",)
