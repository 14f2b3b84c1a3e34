from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.documents import validated
from perdure.errors import InvalidInput
from perdure.memory.recall.query import Query
from perdure.values.changes import PROGRAM
from perdure.values.entries import Lane
from perdure.values.requests import RecallRequest
from perdure.values.strategies import ProfileName, Strategy


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"keys": ("a",)}, "keys need a lane"),
        ({"limit": 0}, "limit"),
        ({"lane": "gossip"}, "lane"),
        ({"now": datetime(2026, 1, 1)}, "now"),
        ({"txt": "a"}, "txt"),
        ({"strategy": "precisely"}, "did you mean 'precise'"),
        ({"profile": "hybird"}, "did you mean 'hybrid'"),
        ({"scopes": ("a b",)}, "scopes"),
        ({"min_confidence": 1.1}, "min_confidence"),
        (
            {"since": datetime(2026, 2, 1, tzinfo=UTC), "until": datetime(2026, 1, 1, tzinfo=UTC)},
            "since 2026-02-01T00:00:00.00:00 is not before until 2026-01-01",
        ),
    ],
)
def test_a_bad_question_is_refused_with_the_field(wrong: dict[str, Any], named: str) -> None:
    fields = {"tenant": "t_1", "session": "s", "now": datetime.now(UTC)} | wrong
    with pytest.raises(InvalidInput, match=named):
        validated(Query, fields, "")


def test_a_question_takes_from_a_request_what_it_knows_and_the_rest_from_its_context() -> None:
    now = datetime.now(UTC)
    asked = RecallRequest(user_id="ada", text="fish", lane=Lane.PATTERN, keys=("a",), limit=7)
    found = Query.of(asked, tenant="t_1", session="s", now=now)
    assert found == Query(
        tenant="t_1", session="s", text="fish", lane=Lane.PATTERN, keys=("a",), limit=7, now=now, by=PROGRAM
    )


def test_a_request_that_is_no_question_is_refused_with_where_it_stands() -> None:
    asked = RecallRequest(user_id="ada", text="fish")
    with pytest.raises(InvalidInput, match=r"^PRD100 steps\[2\].recall.now: is missing"):
        Query.of(asked, "steps[2].recall", tenant="t_1", session="s")


def query(**more: Any) -> Query:
    return Query.model_validate({"tenant": "t_1", "session": "s", "now": datetime(2026, 6, 1, tzinfo=UTC), **more})


def test_a_question_is_limited_to_what_it_says() -> None:
    asked = query(
        lane="pattern", memory_types=("fact",), tags=("a",), scopes=("work",), task="t", min_confidence=0.4
    ).changed(since=datetime(2026, 5, 1, tzinfo=UTC), until=datetime(2026, 5, 2, tzinfo=UTC))
    filters = asked.filters
    for name in type(filters).model_fields:
        assert getattr(filters, name) == getattr(asked, name), name
    assert query().filters.min_confidence == 0.0


def test_an_order_that_prefers_the_task_does_not_filter_by_it() -> None:
    assert query(task="t", strategy=Strategy.HYBRID).filters.task == ""
    assert query(task="t", profile=ProfileName.HYBRID).filters.task == ""
    assert query(task="t", strategy=Strategy.HYBRID, profile=ProfileName.READER).filters.task == "t"


def test_the_order_is_the_strategys_unless_another_is_asked_for() -> None:
    assert query().ordered_by is ProfileName.RELEVANCE_FIRST
    assert query(strategy=Strategy.HYBRID).ordered_by is ProfileName.HYBRID
    assert query(strategy=Strategy.HYBRID, profile=ProfileName.READER).ordered_by is ProfileName.READER


def test_a_request_can_ask_all_that_a_question_can() -> None:
    own = {"tenant", "now", "enough", "working", "context_characters", "withheld", "only_reads", "operation"}
    own |= {"tell_left_out", "shows_ids", "decay", "in_session"}
    assert set(Query.model_fields) - own <= set(RecallRequest.model_fields)
