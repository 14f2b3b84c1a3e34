"""Entries: what is stored gives back what was written, and each change of state keeps the rest as it was."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from perdure.errors import InvalidInput
from perdure.identity import memory_id, record_id, turn_id
from perdure.memory.writing.observation import observed
from perdure.memory.writing.provenance import occurrence_of
from perdure.values.entries import (
    MARKER,
    Entry,
    Lane,
    Memory,
    MemoryType,
    Record,
    Source,
    State,
    Turn,
    Use,
    headline_of,
    holds,
    payload_of,
)
from perdure.values.items import (
    DEEPEST_PAYLOAD,
    LARGEST_PAYLOAD,
    MemoryItem,
    RecordItem,
    TurnItem,
    item_id,
    item_text,
    record_text,
    statement,
)
from perdure.values.jobs import Batch

NOW = datetime(2026, 5, 1, tzinfo=UTC)
RECORD = Record(id="r", text="t", lane=Lane.PATTERN, key="k", payload=1, first_seen=NOW, last_seen=NOW)
MEMORY = Memory(id="m", text="t", memory_type=MemoryType.FACT, source=Source.EXPLICIT, first_seen=NOW, last_seen=NOW)


def item(payload: JsonValue, summary: str = "") -> RecordItem:
    return RecordItem(lane=Lane.PATTERN, key="numpy", payload=payload, summary=summary, occurrence="o", occurred_at=NOW)


json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1_000, 1_000)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@given(json_values, st.sampled_from(["", "saw numpy", f"quotes {MARKER}", f"two\n{MARKER}1"]))
def test_the_text_of_a_record_alone_gives_back_its_headline_and_its_payload(payload: JsonValue, summary: str) -> None:
    if isinstance(payload, str):
        payload = [payload]  # Text in NFC would come back in that form.
    one = item(1, summary).changed(payload=payload)
    text = record_text(one)
    assert headline_of(text) == (summary or "pattern numpy")
    assert record_text(one.changed(payload=payload_of(text))) == text


@pytest.mark.parametrize("text", ["", "no marker", MARKER + "1", f"headline\n{MARKER}{{"])
def test_a_text_that_is_no_records_has_no_payload(text: str) -> None:
    with pytest.raises(InvalidInput, match="text: "):
        payload_of(text)


def test_a_text_without_a_payload_is_all_headline() -> None:
    assert headline_of("The lead is Kim.") == "The lead is Kim."


def nested(kind: str, depth: int) -> JsonValue:
    value: JsonValue = [] if kind == "list" else {}
    for _ in range(depth - 1):
        value = [value] if kind == "list" else {"a": value}
    return value


@pytest.mark.parametrize("kind", ["list", "mapping"])
def test_how_deep_a_payload_may_be(kind: str) -> None:
    assert item(nested(kind, DEEPEST_PAYLOAD)).payload == nested(kind, DEEPEST_PAYLOAD)
    with pytest.raises(ValidationError, match=r"is nested 65 deep \(at most 64\)"):
        item([nested(kind, DEEPEST_PAYLOAD)])


def test_how_large_a_payload_may_be() -> None:
    item("x" * (LARGEST_PAYLOAD - 2))
    with pytest.raises(ValidationError, match="has 16,001 bytes"):
        item("x" * (LARGEST_PAYLOAD - 1))


def test_a_forgotten_entry_says_why_and_until_when_that_can_be_undone() -> None:
    later = NOW + timedelta(days=30)
    found = RECORD.forgotten("expired", later)
    assert (found.state, found.forget_reason, found.purge_after) == (State.FORGOTTEN, "expired", later)


def test_a_replaced_memory_names_what_replaced_it() -> None:
    replaced = {"state": State.SUPERSEDED, "superseded_by": "other", "superseded_at": NOW}
    assert MEMORY.superseded("other", NOW) == MEMORY.changed(**replaced)
    assert MEMORY.superseded("other", NOW, contradicted=True) == MEMORY.changed(**replaced, contradicted=True)


def test_an_entry_was_used_when_it_was_last_observed_learned_or_recalled() -> None:
    days = [NOW + timedelta(days=number) for number in range(3)]
    assert MEMORY.changed(last_seen=NOW).used_at == NOW
    assert MEMORY.changed(last_seen=NOW, recorded_at=days[1]).used_at == days[1]
    assert MEMORY.changed(last_seen=NOW, recorded_at=days[1], last_accessed=days[2]).used_at == days[2]
    assert MEMORY.changed(last_seen=days[2], recorded_at=days[1], last_accessed=NOW).used_at == days[2]


def test_an_entry_is_dated_with_the_reason_and_the_rules() -> None:
    dated = RECORD.dated(NOW, "expired", "v1")
    assert dated == RECORD.changed(forget_after=NOW, forget_reason="expired", rules_version="v1")


def test_an_entry_lists_the_last_operations_that_wrote_it() -> None:
    entry = RECORD
    for number in range(10):
        entry = entry.stamped(number + 1, f"o{number}")
    assert (entry.version, entry.operations) == (10, tuple(f"o{number}" for number in range(2, 10)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The lead is Kim.", "the LEAD is kim"),
        ("An apple a day", "apple day"),
        ("a;", "A,:."),
        ("one  two", "one two;"),
    ],
)
def test_two_tellings_of_one_statement(one: str, other: str) -> None:
    assert statement(one) == statement(other)


@pytest.mark.parametrize(
    ("one", "other"), [("plan A", "plan"), ("-5", "5"), ("costs $5", "costs 5"), ("Kim leads", "leads Kim")]
)
def test_what_may_matter_makes_another_statement(one: str, other: str) -> None:
    assert statement(one) != statement(other)


def test_of_nothing_but_articles_the_statement_is_itself() -> None:
    assert (statement(" the "), statement("The")) == ("the", "The")


def test_the_ids_of_items_stay_what_they_are_for_ever() -> None:
    told = MemoryItem(content="The lead is Kim.", occurrence="o", occurred_at=NOW)
    assert item_id("t_1", told) == memory_id("t_1", "fact", "lead is kim")
    assert item_id("t_1", item({"v": 1})) == record_id("t_1", "pattern", "numpy", {"v": 1})


def test_what_was_observed_before_1970_is_refused() -> None:
    first = datetime(1970, 1, 1, tzinfo=UTC)
    assert item(1).model_validate({**item(1).model_dump(), "occurred_at": first}).occurred_at == first
    with pytest.raises(ValidationError, match="is before 1970"):
        item(1).model_validate({**item(1).model_dump(), "occurred_at": first - timedelta(microseconds=1)})


def test_a_turn_is_its_place_and_what_was_said() -> None:
    at = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)
    said = TurnItem(
        speaker="Kim", content="I did.", session="may-8", position=1, occurrence="o", occurred_at=at, importance=0.5
    )
    assert item_text(said) == "Kim: I did."
    assert item_text(MemoryItem(content="Kim did.", occurrence="o", occurred_at=NOW)) == "Kim did."
    assert item_text(item(1)) == record_text(item(1))
    golden = "turn_7d8a12a336e27ded94f2bb6a10546421d21aa1ce90eaa235a7467bb5a3fdafd0"
    assert item_id("t_1", said) == turn_id("t_1", "may-8", 1, "Kim", "I did.") == golden
    changes = ({"speaker": "Ada"}, {"content": "I did it."}, {"session": "may-9"}, {"position": 2})
    assert len({item_id("t_1", said.changed(**one)) for one in changes} | {golden, item_id("t_2", said)}) == 6
    same = said.changed(occurrence="other", confidence=0.8)
    assert item_id("t_1", same) == golden

    batch = Batch(tenant="t_1", key="k", items=(said,))
    entry = observed(None, golden, said, batch)
    assert isinstance(entry, Turn)
    assert (entry.id, entry.text, entry.speaker, entry.session, entry.position) == (
        *(golden, "Kim: I did.", "Kim", "may-8", 1),
    )
    assert (entry.first_seen, entry.last_seen, entry.confidence, entry.importance) == (at, at, 1.0, 0.5)
    assert entry.occurrences == (occurrence_of("t_1", said),)
    assert observed(entry, golden, said, batch) == entry


def test_a_use_is_counted_and_never_takes_time_back() -> None:
    entry = Memory(id="mem_1", text="x", first_seen=NOW, last_seen=NOW, access_count=2)
    later = NOW + timedelta(days=1)
    used = entry.used(Use(times=3, last=int(later.timestamp() * 1000)))
    assert (used.access_count, used.last_accessed, used.version) == (5, later, entry.version)
    assert used.used(Use(times=1, last=int(NOW.timestamp() * 1000))).last_accessed == later


@pytest.mark.parametrize("entry", [RECORD, MEMORY])
def test_what_is_recalled_is_current_and_not_over(entry: Entry) -> None:
    moment = timedelta(seconds=1)
    assert holds(entry, NOW)
    assert holds(entry.changed(valid_until=NOW + moment), NOW)
    assert not holds(entry.changed(valid_until=NOW), NOW)
    for state in (State.SUPERSEDED, State.FORGOTTEN, State("newer")):
        assert not holds(entry.changed(state=state), NOW)


def test_what_was_counted_since_an_entry_was_read_is_kept_when_it_is_written() -> None:
    read = Memory(id="mem_1", text="x", first_seen=NOW, last_seen=NOW, trials=("a",), access_count=1)
    later = NOW + timedelta(days=1)
    stored = read.changed(trials=("a", "b"), successes=("b",), access_count=3, last_accessed=later, operations=("o",))
    written = read.changed(text="y", pinned=True).counted_as(stored)
    assert (written.text, written.pinned) == ("y", True)
    assert (written.trials, written.successes) == (("a", "b"), ("b",))
    assert (written.access_count, written.last_accessed, written.operations) == (3, later, ("o",))
    # The control: what the change itself counts stays.
    more = stored.changed(trials=("a", "b", "c"), successes=("a", "b", "c"))
    assert more.counted_as(stored) == more
