from datetime import UTC, datetime

import pytest

from perdure.stores.journal.lines import (
    Changed,
    Consented,
    Enrolled,
    Forgotten,
    Line,
    Named,
    Rewriting,
    Settled,
    accepted,
    batch_of,
    decode,
    encode,
    ids_of,
    known,
    of_kind,
)
from perdure.values.changes import Actor, ActorKind, Deletion, Refusal
from perdure.values.consents import Consent
from perdure.values.entries import Memory, MemoryType, Purpose, Source
from perdure.values.items import MemoryItem, item_id
from perdure.values.jobs import Batch, UnusableItem
from perdure.values.memberships import Membership

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ITEM = MemoryItem(content="two\nlines \u2028", occurrence="o", occurred_at=NOW)
BY = Actor(kind=ActorKind.AGENT, id="task")
BATCH = Batch(tenant="t_1", key="k", items=(ITEM, UnusableItem(reason="no good"), ITEM), task="task", agent="a")
ENTRY = Memory(
    id="mem_1", text="x\n", memory_type=MemoryType.FACT, source=Source.EXPLICIT, first_seen=NOW, last_seen=NOW
)
LINES: list[Line] = [
    *accepted("job", BATCH, NOW),
    Changed(entry=ENTRY, operation="job", by=BY, why="insert", at=NOW),
    Settled(operation="job", versions={"mem_1": 1}, refused=(Refusal(index=1, reason="no good"),), at=NOW),
    Forgotten(deletion=Deletion(id="mem_1", at=NOW, reason="expired", sweep="r", occurrences=("occ_1",))),
    Rewriting(entry=ENTRY, at=NOW),
    Consented(consent=Consent(purpose=Purpose.GIVEN, granted=True, at=NOW, by=BY, order=1, operation="o")),
    Enrolled(membership=Membership(member="t_2", user_id="ada", belongs=True, at=NOW, by=BY, order=1, operation="o")),
    Named(owner="t_3"),
]


def test_every_kind_of_line_comes_back_as_it_was() -> None:
    written = encode(LINES)
    assert written.count(b"\n") == len(LINES)
    assert known(written.split(b"\n")) == LINES


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.kind)
def test_a_line_is_found_by_its_kind(line: Line) -> None:
    [kind] = of_kind(type(line))
    assert [one for one in LINES if kind.encode() in encode([one])] == [one for one in LINES if one.kind == line.kind]


def test_an_item_has_a_line_of_its_own_and_one_that_could_not_be_read_has_none() -> None:
    assert [line.index for line in accepted("job", BATCH, NOW)] == [0, 2]


def test_a_batch_comes_back_from_its_lines_with_each_item_in_its_place() -> None:
    by = Actor(kind=ActorKind.PERSON, id="ada")
    batch = BATCH.changed(session="s-1", policy="careful", by=by)
    lines = accepted("job", batch, NOW)
    whole = batch.changed(key="job", accepted_at=NOW)
    assert batch_of("t_1", lines) == whole
    erased = (UnusableItem(reason="it is erased"), *whole.items[1:])
    assert batch_of("t_1", lines[1:]) == whole.changed(items=erased)
    assert batch_of("t_1", lines[:1]) == whole.changed(items=whole.items[:2]), "nothing is known of what came last"


def test_a_job_of_more_items_than_a_batch_may_have_here_comes_back_whole() -> None:
    [line, _] = accepted("job", BATCH, NOW)
    several = [line.changed(index=index) for index in range(101)]
    assert batch_of("t_1", several).items == (ITEM,) * 101


@pytest.mark.parametrize(
    ("written", "understood"),
    [
        (b'{"kind":"merged","ids":["mem_1"]}', False),
        (encode(LINES[4:5]).replace(b'"sweep"', b'"invented":1,"sweep"'), True),
        (encode(LINES[3:4]).replace(b'"settled"', b'"settled","colour":"red"'), True),
        (b'{"kind":"settled"', False),
    ],
    ids=["a new kind", "a new field within", "a new field", "half a line"],
)
def test_what_a_newer_build_wrote_is_read_as_far_as_it_is_known(written: bytes, understood: bool) -> None:
    assert (decode(written.strip()) is not None) is understood


def test_a_line_names_the_entries_whose_text_it_holds() -> None:
    told = [ids_of(line) for line in LINES[2:6]]
    assert told == [("mem_1",), (), (), ("mem_1",)]
    [first, *_] = accepted("job", BATCH, NOW)
    assert ids_of(first) == (item_id("t_1", ITEM),)
