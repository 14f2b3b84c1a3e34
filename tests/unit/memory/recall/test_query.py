from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.documents import validated
from perdure.entries import Lane
from perdure.errors import InvalidInput
from perdure.memory.recall.query import Query
from perdure.requests import RecallRequest


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"keys": ("a",)}, "keys need a lane"),
        ({"limit": 0}, "limit"),
        ({"lane": "gossip"}, "lane"),
        ({"now": datetime(2026, 1, 1)}, "now"),
        ({"txt": "a"}, "txt"),
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
    assert found == Query(tenant="t_1", session="s", text="fish", lane=Lane.PATTERN, keys=("a",), limit=7, now=now)


def test_a_request_that_is_no_question_is_refused_with_where_it_stands() -> None:
    asked = RecallRequest(user_id="ada", text="fish")
    with pytest.raises(InvalidInput, match=r"^PRD100 steps\[2\].recall.now: is missing"):
        Query.of(asked, "steps[2].recall", tenant="t_1", session="s")
