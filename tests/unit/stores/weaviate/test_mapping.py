import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import EntryUnreadable, InvalidInput
from perdure.identity import canonical_json
from perdure.stores.weaviate.mapping import NEVER, entry_from, micros, properties_of
from perdure.values.assertions import Assertion
from perdure.values.entries import MARKER, Entry, Lane, Memory, MemoryType, Record, Relation, Source, State, Turn

# To the minute, as offsets are in JSON: what has passed through it has no other.
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(timezones=ZONES)
NOW = datetime(2026, 5, 1, tzinfo=UTC)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=80)
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,9}", fullmatch=True)
LABELS = NAMES.map(lambda name: f"{name} 東")
UNITS = st.floats(0, 1)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e300, 1e300) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
COMMON: dict[str, st.SearchStrategy[Any]] = {
    "occurrences": st.lists(TEXTS, max_size=3).map(tuple),
    "seen": st.integers(1, 10**6),
    "first_seen": MOMENTS,
    "last_seen": MOMENTS,
    "last_accessed": st.none() | MOMENTS,
    "access_count": st.integers(0, 10**6),
    "confidence": UNITS,
    "importance": st.none() | UNITS,
    "valid_until": st.none() | MOMENTS,
    "state": st.sampled_from(State),
    "forget_after": st.none() | MOMENTS,
    "forget_reason": TEXTS,
    "purge_after": st.none() | MOMENTS,
    "version": st.integers(1, 10**6),
    "operations": st.lists(TEXTS, max_size=3).map(tuple),
}
MEMORIES = st.builds(
    Memory,
    id=st.just("mem_1"),
    text=TEXTS.filter(bool),
    memory_type=st.sampled_from(MemoryType),
    source=st.sampled_from(Source),
    tags=st.lists(NAMES, max_size=3).map(tuple),
    names=st.lists(LABELS, max_size=3).map(tuple),
    scopes=st.lists(NAMES, max_size=3).map(tuple),
    relations=st.lists(st.builds(Relation, kind=LABELS, to=LABELS), max_size=3).map(tuple),
    assertion=st.none() | st.builds(Assertion, subject=LABELS, attribute=LABELS, value=LABELS, negated=st.booleans()),
    pinned=st.booleans(),
    valid_from=st.none() | MOMENTS,
    metadata_json=JSON,
    **COMMON,
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    headline = draw(TEXTS)
    try:
        canonical = canonical_json(draw(JSON)).decode()
    except InvalidInput:
        canonical = "null"
    text = f"{headline}\n{MARKER}{canonical}"
    return Record(
        id="exec_1",
        text=text,
        lane=draw(st.sampled_from(Lane)),
        key=draw(TEXTS),
        payload=json.loads(canonical),
        **{name: draw(strategy) for name, strategy in COMMON.items()},
    )


TURNS = st.builds(
    Turn,
    id=st.just("turn_1"),
    text=TEXTS.filter(bool),
    session=TEXTS,
    position=st.integers(0, 9),
    speaker=TEXTS,
    **COMMON,
)


@given(MEMORIES | records() | TURNS)
def test_an_entry_comes_back_as_it_was(entry: Entry) -> None:
    assert stored(entry) == entry


def stored(entry: Entry) -> Entry:
    properties = properties_of(entry)
    return entry_from(entry.kind, str(properties["text"]), str(properties["document"]), 7)


KIND_OF_A_RECORD: list[dict[str, Any]] = [
    {"relations": (Relation(kind="record", to="k8s"),)},
    {"metadata_json": {"kind": "record"}},
    {"payload": {"kind": "record"}},
]


@pytest.mark.parametrize("of", KIND_OF_A_RECORD, ids=["relation", "metadata", "field of a newer build"])
def test_what_stands_in_a_memory_is_not_taken_for_its_kind(of: dict[str, Any]) -> None:
    fields = {"id": "mem_1", "text": "Deploys are on Kim's list", "memory_type": "fact", "source": "explicit"}
    memory = Memory.model_validate({**fields, "first_seen": NOW, "last_seen": NOW, **of})
    assert stored(memory) == memory


def test_a_memory_with_more_labels_than_this_build_gives_is_read() -> None:
    fields = {"id": "mem_1", "memory_type": "fact", "source": "explicit", "tags": [f"t{n}" for n in range(21)]}
    document = json.dumps({"kind": "memory", "first_seen": f"{NOW}", "last_seen": f"{NOW}", **fields})
    found = entry_from("memory", "Deploys on Fridays", document, 7)
    assert isinstance(found, Memory)
    assert len(found.tags) == 21


@pytest.mark.parametrize(
    ("document", "field"), [("{", "document"), ('{"kind": "memory", "tags": {"Kim": 1}, "id": "mem_1"}', "tags")]
)
def test_what_no_build_can_read_is_refused_by_its_field_without_its_content(document: str, field: str) -> None:
    with pytest.raises(
        EntryUnreadable,
        match=rf"the {field} of the memory .* as object 0{{8}}-0000-0000-0000-0{{11}}7",
    ) as caught:
        entry_from("memory", "Kim deploys on Fridays", document, 7)
    assert "Kim" not in str(caught.value)
    assert caught.value.__cause__ is None


@given(records())
def test_a_payload_is_kept_in_the_text_alone(record: Record) -> None:
    assert "payload" not in json.loads(str(properties_of(record)["document"]))


@given(MEMORIES, MEMORIES)
def test_every_write_has_every_property(one: Memory, other: Memory) -> None:
    assert properties_of(one).keys() == properties_of(other).keys()
    assert None not in properties_of(one).values()


@given(
    st.datetimes(datetime(1800, 1, 1), datetime(2255, 1, 1), timezones=st.timezones()),
    st.integers(-(10**12), 10**12),
)
def test_moments_keep_their_order_to_the_microsecond(moment: datetime, apart: int) -> None:
    other = moment + timedelta(microseconds=apart)
    difference = (other.astimezone(UTC) - moment.astimezone(UTC)) // timedelta(microseconds=1)
    assert micros(other) - micros(moment) == difference
    assert float(micros(moment)) == micros(moment)


def test_no_moment_is_the_last_of_all() -> None:
    assert micros(None) == NEVER >= micros(datetime.max.replace(tzinfo=UTC))
    assert micros(datetime.min.replace(tzinfo=UTC)) == -NEVER


@pytest.mark.parametrize("text", ["a", f"a\n{MARKER}[1"])
def test_a_record_that_could_not_be_read_back_is_not_written(text: str) -> None:
    now = datetime.now(UTC)
    record = Record(id="exec_1", text=text, payload=[1], lane=Lane.PATTERN, key="k", first_seen=now, last_seen=now)
    with pytest.raises(InvalidInput, match=MARKER):
        properties_of(record)


def test_a_memory_is_found_by_what_it_is_called_and_by_what_it_is_linked_to() -> None:
    memory = Memory(
        id="mem_1",
        text="x",
        first_seen=datetime(2026, 1, 1, tzinfo=UTC),
        last_seen=datetime(2026, 1, 1, tzinfo=UTC),
        names=("K8s", "Kubernetes"),
        relations=(Relation(kind="runs on", to="Bare Metal"),),
        assertion=Assertion(subject="the cluster", attribute="has", value="14 nodes"),
        task="task-1",
    )
    properties = properties_of(memory)
    assert properties["names"] == ["k8s", "kubernetes", "cluster"]
    assert properties["halves"] == ["10<kuber", "10>netes", "7<clu", "7>ster"]
    assert (properties["linked"], properties["task"]) == (["baremetal"], "task-1")
