"""Reading answers of memory services whose forms differ."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perdure.client.answers import LIST_KEYS, listed, recalled
from perdure.client.problems import problem_of
from perdure.errors import InvalidInput, PerdureError, StoreUnavailable
from perdure.memory.recall.query import FoundBy, RecalledItem, RecallResult, Trigger
from perdure.refusals import AnswerUnusable, NotAuthenticated, RequestRefused, UnknownThing
from perdure.values.entries import EntryKind

NOW = datetime(2026, 5, 4, tzinfo=UTC)

NAMES = [*LIST_KEYS, "x", "score", "text", "id", "created_at", "context", "milliseconds", "payload"]

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["\ud800", 10**400]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("place", range(len(LIST_KEYS)))
def test_the_first_list_counts_whatever_it_is_called(place: int) -> None:
    answer: dict[str, Any] = {key: [key] for key in reversed(LIST_KEYS[place:])}
    answer |= dict.fromkeys(LIST_KEYS[:place], "no list")
    assert listed(answer) == (LIST_KEYS[place], [LIST_KEYS[place]])


def test_where_it_was_the_last_time_is_looked_first() -> None:
    assert listed({"entries": [1], "data": [2]}, "data") == ("data", [2])
    assert listed({"entries": [1], "data": {}}, "data") == ("entries", [1])
    assert listed([1], "data") == ("", [1])


@pytest.mark.parametrize("answer", [None, "x", 7, {}, {"entries": {}}, {"found": []}])
def test_what_has_no_list_is_refused(answer: object) -> None:
    with pytest.raises(AnswerUnusable, match="entries, evidence, results, items, records, memories, data"):
        listed(answer)


@given(JSON)
@example({"items": [], "context": "\ud800"})
@example(
    {
        "items": [
            {
                "id": "m1",
                "kind": "memory",
                "text": "\ud800",
                "found_by": "semantic",
                "last_seen": "2026-05-04T00:00:00Z",
            }
        ]
    }
)
def test_any_answer_is_read_or_refused_and_nothing_of_its_list_is_lost(answer: Any) -> None:
    try:
        key, found = recalled(answer, now=NOW)
    except AnswerUnusable:
        return
    assert len(found.items) == len(answer[key] if key else answer)
    assert all(item.text for item in found.items)
    # What another one reads of it is the same again.
    assert type(found).model_validate_json(found.model_dump_json()).items == found.items


def test_what_perdure_answers_arrives_as_it_was() -> None:
    item = RecalledItem(
        id="m1",
        kind=EntryKind.MEMORY,
        text="Deploys happen on Tuesdays.",
        found_by=FoundBy.SEMANTIC,
        score=0.8,
        parts={"words": 0.8},
        why="by its words",
        last_seen=NOW,
    )
    sent = RecallResult(items=(item,), trigger=Trigger.NO_KEY, degraded=("redis",), milliseconds=3.5, context="a block")
    assert recalled(sent.model_dump(mode="json"), now=NOW) == ("items", sent)


def test_what_others_answer_is_filled_in() -> None:
    entry = {"memory": "Ada likes marzipan.", "uuid": "u7", "similarity": 0.4, "created_at": "2026-05-01T10:00:00Z"}
    key, found = recalled({"memories": [entry, "a bare text", {"n": 1}], "context": 7, "took": 3}, now=NOW)
    first, bare, odd = found.items
    assert (key, first.text, first.id, first.score) == ("memories", "Ada likes marzipan.", "u7", 0.4)
    assert first.last_seen == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert (bare.text, bare.last_seen, odd.text) == ("a bare text", NOW, '{"n": 1}')
    assert found.context == '- Ada likes marzipan.\n- a bare text\n- {"n": 1}'
    assert bare.id != odd.id


@pytest.mark.parametrize(
    ("status", "answer", "kind", "told"),
    [
        (
            422,
            {"title": "InvalidInput", "code": "PRD100", "detail": "limit: is 0", "field": "limit", "fix": "give 1"},
            InvalidInput,
            "PRD100 limit: is 0",
        ),
        (404, {"title": "UnknownThing", "code": "PRD116", "detail": "job: there is no 'x'"}, UnknownThing, "no 'x'"),
        (422, {"detail": "limit is too small", "field": "limit"}, InvalidInput, "limit: limit is too small"),
        (401, None, NotAuthenticated, "it answers 401"),
        (503, {"error": "busy"}, StoreUnavailable, "memory service: busy"),
        (418, ["odd"], RequestRefused, "it answers 418"),
        (409, {"title": "PerdureError", "code": "PRD999", "detail": "x"}, RequestRefused, "x"),
    ],
    ids=str,
)
def test_a_refusal_is_the_error_that_it_was_there(
    status: int, answer: object, kind: type[PerdureError], told: str
) -> None:
    error = problem_of(status, answer)
    assert type(error) is kind
    assert told in str(error)
    if isinstance(error, InvalidInput) and status == 422:
        assert error.field == "limit"
