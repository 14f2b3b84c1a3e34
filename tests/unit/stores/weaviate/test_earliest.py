"""The earliest of many moments, found by asking alone whether there is any before one."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from perdure.stores.weaviate.earliest import CLOSE, bound
from perdure.stores.weaviate.mapping import NEVER, micros

NOW = datetime(2026, 5, 1, tzinfo=UTC)
_YEAR = 365 * 86_400 * 1_000_000
MOMENTS = st.integers(-NEVER, NEVER - 1) | st.integers(micros(NOW) - _YEAR, micros(NOW) + _YEAR)


class Asked:
    """Moments of which can only be asked whether there are any."""

    def __init__(self, moments: list[int]) -> None:
        self.moments = moments
        self.times = 0

    async def __call__(self, before: int) -> bool:
        self.times += 1
        return any(moment <= before for moment in self.moments)


@given(st.lists(MOMENTS, max_size=20))
async def test_the_earliest_is_among_those_of_a_second(moments: list[int]) -> None:
    found = await bound(asked := Asked(moments), NOW)
    if not moments:
        assert found is None
        return
    assert found is not None
    assert min(moments) <= found <= min(moments) + CLOSE
    assert asked.times <= 45


async def test_what_is_never_due_is_not_found() -> None:
    assert await bound(Asked([NEVER, NEVER]), NOW) is None
