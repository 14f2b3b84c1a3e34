"""Pre-flight checks: a bad item is refused before any I/O, naming the field and the fix."""

import json
import re
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from perdure.errors import InvalidItem
from perdure.memory.writing.batch_checks import LARGEST_BATCH, batches, read_batch, require_said_in_time
from perdure.tolerance import read_back
from perdure.values.items import LARGEST_PAYLOAD, FeedbackItem, PatternItem, RecommendationItem, RecordItem
from perdure.values.jobs import Batch, UnusableItem
from perdure.values.statements import Said

GOOD: dict[str, JsonValue] = {
    "kind": "memory",
    "content": "Backups are kept for 35 days.",
    "occurrence": "o",
    "occurred_at": datetime(2026, 5, 1, tzinfo=UTC).isoformat(),
}
RECORD: dict[str, JsonValue] = {
    "kind": "record",
    "lane": "pattern",
    "key": "k",
    "payload": 1,
    "occurrence": "o",
    "occurred_at": GOOD["occurred_at"],
}


def nested(deep: int) -> JsonValue:
    value: JsonValue = 1
    for level in range(deep):
        value = [value] if level % 2 else {"in": value}
    return value


@pytest.mark.parametrize(("accepted_at", "refused"), [(datetime(2026, 4, 29, tzinfo=UTC), True), (None, False)])
def test_an_observation_that_is_far_ahead_is_refused_where_it_is_given(
    accepted_at: datetime | None, refused: bool
) -> None:
    with pytest.raises(InvalidItem, match=r"items\[0\]\.occurred_at") if refused else nullcontext():
        read_batch(tenant="t", key="k", items=[GOOD], accepted_at=accepted_at)
    assert read_batch(tenant="t", key="k", items=[GOOD], accepted_at=datetime(2026, 4, 30, tzinfo=UTC)).accepted_at


@pytest.mark.parametrize(
    ("valid_until", "more", "refused"),
    [
        ("2026-04-30T00:00:00Z", {}, True),
        ("2026-05-01T00:00:00Z", {}, True),
        ("2026-05-01T00:00:01Z", {}, False),
        ("2026-04-30T00:00:00Z", {"session": "s"}, False),
        ("2026-04-30T00:00:00Z", {"accepted_at": None}, False),
        ("2026-04-30T18:00:00Z", {"accepted_at": datetime(2026, 4, 30, 12, tzinfo=UTC)}, False),
    ],
)
def test_what_was_over_when_it_was_observed_is_refused_where_somebody_writes_it(
    valid_until: str, more: dict[str, Any], *, refused: bool
) -> None:
    item = GOOD | {"occurred_at": "2026-05-01T00:00:00Z", "valid_until": valid_until}
    given: dict[str, Any] = {"accepted_at": datetime(2026, 5, 2, tzinfo=UTC)} | more
    problem = r"items\[0\]\.valid_until: 2026-0\d-\d\d was over when it was observed \(give a later day"
    with pytest.raises(InvalidItem, match=problem) if refused else nullcontext():
        read_batch(tenant="t", key="k", items=[item], **given)
    imported = item | {"occurrence": "import/mem_1"}
    assert read_batch(tenant="t", key="k", items=[imported], **given).items


@pytest.mark.parametrize(
    ("item", "names"),
    [
        (GOOD | {"contents": "x"}, "did you mean 'content'?"),
        (GOOD | {"confidence": 2}, "items[0].confidence"),
        (GOOD | {"content": ""}, "items[0].content"),
        (GOOD | {"content": "a\x00b"}, "control characters"),
        (GOOD | {"occurred_at": "2026-05-01T00:00:00"}, "items[0].occurred_at"),
        (RECORD | {"occurred_at": "1969-12-31T23:59:59+00:00"}, "items[0].occurred_at: is before 1970"),
        (GOOD | {"content": "recalled EXEC_MEMORY_JSON={}"}, "not remembered again"),
        (RECORD | {"lane": "patern"}, "items[0].lane"),
        (GOOD | {"metadata_json": {"a": "x" * 3_993}}, "items[0].metadata_json: has 4,001 bytes (at most 4,000)"),
        (
            GOOD | dict.fromkeys(("valid_from", "valid_until"), "2026-05-02T00:00:00Z"),
            "valid_until: 2026-05-02 is not",
        ),
        (RECORD | {"kind": ["record"]}, "items[0].kind"),
        (RECORD | {"key": " \t"}, "items[0].key"),
        *(
            (RECORD | {"key": f"a{sign}b"}, "items[0].key: contains control characters")
            for sign in "\x00\x1b\n\t\x7f\x85"
        ),
        (RECORD | {"payload": 2**60}, "too large for JSON"),
        (RECORD | {"payload": nested(65)}, "is nested 65 deep"),
        (RECORD | {"payload": "x" * LARGEST_PAYLOAD}, "remember the insight"),
        ("text", "items[0]"),
    ],
)
def test_a_bad_item_is_refused_with_its_field(item: JsonValue, names: str) -> None:
    with pytest.raises(InvalidItem) as refusal:
        read_batch(tenant="t", key="k", items=[item])
    assert names in str(refusal.value)


def test_a_bad_item_among_good_ones_keeps_its_place() -> None:
    batch = read_batch(tenant="t", key="k", items=[GOOD, {"kind": "memory"}, RECORD])
    assert [isinstance(item, UnusableItem) for item in batch.items] == [False, True, False]


@pytest.mark.parametrize("items", [[], [GOOD] * 101])
def test_a_batch_has_1_to_100_items(items: list[JsonValue]) -> None:
    with pytest.raises(InvalidItem, match="1 to 100"):
        read_batch(tenant="t", key="k", items=items)


def test_a_batch_is_bounded_as_a_whole() -> None:
    large = RECORD | {"payload": "x" * 15_000}
    read_batch(tenant="t", key="k", items=[large] * 25)
    with pytest.raises(InvalidItem, match="split them"):
        read_batch(tenant="t", key="k", items=[large] * 30)


@pytest.mark.parametrize(
    ("about", "field"), [({"key": ""}, "key"), ({"key": "k" * 301}, "key"), ({"agent": "my agent"}, "agent")]
)
def test_what_is_wrong_with_the_batch_itself_is_named_too(about: dict[str, str], field: str) -> None:
    whole: dict[str, Any] = {"tenant": "t", "key": "k"} | about
    with pytest.raises(InvalidItem, match=f"^PRD105 {field}: "):
        read_batch(items=[GOOD], **whole)


def test_a_batch_is_measured_in_bytes() -> None:
    wide = [GOOD | {"content": chr(0x1F4A1) * 8_000, "occurrence": f"o{number}"} for number in range(13)]
    with pytest.raises(InvalidItem, match="split them"):
        read_batch(tenant="t", key="k", items=wide)


def test_white_space_around_a_key_makes_no_other_key() -> None:
    [trimmed, as_it_is] = read_batch(
        tenant="t", key="k", items=[RECORD | {"key": " numpy\n"}, RECORD | {"key": "numpy"}]
    ).items
    assert trimmed == as_it_is, "the store would find either under both"


def test_a_batch_of_exactly_the_largest_size_is_taken() -> None:
    def sized(last: int) -> list[JsonValue]:
        full = [RECORD | {"payload": "x" * 15_000, "occurrence": f"o{number:02}"} for number in range(26)]
        return [*full, RECORD | {"payload": "x" * last, "occurrence": "o26"}]

    small = read_batch(tenant="t", key="k", items=sized(1))
    rest = LARGEST_BATCH - sum(len(item.model_dump_json()) for item in small.items) + 1
    read_batch(tenant="t", key="k", items=sized(rest))
    with pytest.raises(InvalidItem, match="split them"):
        read_batch(tenant="t", key="k", items=sized(rest + 1))


def test_a_batch_of_a_hundred_is_taken() -> None:
    hundred = [GOOD | {"occurrence": f"o{number}"} for number in range(100)]
    assert len(read_batch(tenant="t", key="k", items=hundred, task="task-1", agent="auditor").items) == 100


def test_of_two_items_that_cannot_be_used_both_are_named() -> None:
    with pytest.raises(InvalidItem) as refusal:
        read_batch(tenant="t", key="k", items=[{"kind": "memory"}, {"kind": "x"}])
    assert refusal.value.field == "items"
    assert refusal.value.problem == (
        "none can be used: PRD105 items[0].content: is missing (add it); "
        "PRD105 items[1].kind: is neither record, memory nor turn (write kind: record, kind: memory, or kind: turn)"
    )


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"memory": "x"}, "PRD105 items[0].memory: is not a field here (write kind: memory, and the text as content)"),
        ({"content": "x"}, "PRD105 items[0].kind: is missing (write kind: record, kind: memory, or kind: turn)"),
    ],
    ids=["as a skill writes it", "of no kind"],
)
def test_an_item_that_does_not_say_what_it_is_is_told_how(item: dict[str, JsonValue], reason: str) -> None:
    batch = read_batch(tenant="t", key="k", items=[item, GOOD])
    assert batch.items[0] == UnusableItem(reason=reason)


def test_the_reason_stays_with_the_item_that_cannot_be_used() -> None:
    batch = read_batch(tenant="t", key="k", items=[GOOD, "text"], task="task-1")
    assert batch.items[1] == UnusableItem(reason="PRD105 items[1]: is text (write a mapping: name: value)")
    assert (batch.task, batch.agent, batch.tenant, batch.key) == ("task-1", None, "t", "k")


def test_a_batch_of_which_nothing_else_is_said_is_given_by_nobody_known() -> None:
    read = read_batch(tenant="t", key="k", items=[GOOD])
    assert read == Batch(tenant="t", key="k", items=read.items)


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"lane": "recommendation"}, "intent: is empty (say what"),
        ({"lane": "recommendation", "intent": " "}, "intent: is empty (say what"),
        ({"lane": "feedback"}, "payload: has no answer, correction or rating (write"),
        ({"lane": "feedback", "payload": {"answer": None, "by": "Kim"}}, "payload: has no answer"),
        (
            {"lane": "feedback", "payload": {"rating": 4}},
            "payload: has a rating that is not a number from 0 to 1 (divide",
        ),
        ({"lane": "feedback", "payload": {"rating": 1.5}}, "payload: has a rating that is not a number from 0 to 1"),
        ({"lane": "feedback", "payload": {"rating": True}}, "payload: has a rating that is not a number"),
        ({"lane": "pattern", "payload": {}}, "payload: is empty (write what was seen"),
        ({"lane": "patern"}, "lane: 'patern' is not one of the choices (did you mean 'pattern'?)"),
        ({"lane": None}, "lane: "),
    ],
)
def test_each_lane_is_checked_by_its_own_model(record: dict[str, JsonValue], field: str) -> None:
    with pytest.raises(InvalidItem, match=re.escape(f"items[0].{field}")):
        read_batch(tenant="t", key="k", items=[RECORD | record])


@pytest.mark.parametrize(
    ("record", "model"),
    [
        ({"lane": "recommendation", "intent": "cut costs"}, RecommendationItem),
        ({"lane": "feedback", "payload": {"rating": 1, "of": "the plan"}}, FeedbackItem),
        ({"lane": "feedback", "payload": {"answer": False}}, FeedbackItem),
        ({"lane": "pattern", "payload": 0}, PatternItem),
    ],
)
def test_a_batch_keeps_the_model_of_each_lane_on_its_way(record: dict[str, JsonValue], model: type[RecordItem]) -> None:
    batch = read_batch(tenant="t", key="k", items=[RECORD | record])
    [item] = read_back(Batch, batch.model_dump_json()).items
    assert type(item) is model
    assert item == batch.items[0]


def test_a_record_of_a_newer_builds_lane_is_read_back_as_what_all_lanes_have_in_common() -> None:
    batch = read_batch(tenant="t", key="k", items=[RECORD])
    text = batch.model_dump_json().replace('"pattern"', '"audit"')
    assert type(read_back(Batch, text).items[0]) is RecordItem


def test_batches_are_as_large_as_a_job_may_take() -> None:
    given: list[JsonValue] = [{"kind": "memory", "content": "x" * 7_000} for _ in range(250)]
    found = list(batches(given))
    assert [item for batch in found for item in batch] == given
    assert all(len(batch) <= 100 and len(json.dumps(batch)) < LARGEST_BATCH for batch in found)


def test_what_was_said_more_than_a_day_ahead_is_refused_by_its_place() -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    said = [Said(text="x", at=now + timedelta(hours=hours), occurrence="o") for hours in (0, 23, 25)]
    require_said_in_time(said[:2], now, "said")
    with pytest.raises(InvalidItem, match=r"said\[2\]\.at"):
        require_said_in_time(said, now, "said")
