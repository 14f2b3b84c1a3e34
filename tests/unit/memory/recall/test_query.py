from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.documents import validated
from perdure.errors import InvalidInput
from perdure.memory.recall.query import Query


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
