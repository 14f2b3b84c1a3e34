"""How much may be under way at the same time."""

import pytest

from perdure.agent.plan import UNDER_WAY, has_room


@pytest.mark.parametrize(
    ("under_way", "size", "starts"),
    [
        (0, 0, True),
        (0, UNDER_WAY + 1, True),
        (1, UNDER_WAY - 1, True),
        (1, UNDER_WAY, False),
        (UNDER_WAY, 0, True),
        (UNDER_WAY, 1, False),
    ],
)
def test_an_action_starts_where_there_is_room_or_nothing_else(under_way: int, size: int, starts: bool) -> None:
    assert has_room(under_way, size) == starts
