from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.promotion.promoter import promotion_of

NAMES = st.text(max_size=3)


def test_a_promotion_is_named_by_what_it_promotes() -> None:
    assert promotion_of("t_1", "s", ["e1", "e2"]) == "7c9671a370c4e278d850405c5d2e829263493d9e10ce6fd6a748b5fb30c83e73"


@given(st.lists(st.tuples(NAMES, NAMES, st.lists(NAMES, max_size=3)), min_size=2, max_size=2, unique_by=repr))
def test_no_two_promotions_share_a_name(two: list[tuple[str, str, list[str]]]) -> None:
    assert promotion_of(*two[0]) != promotion_of(*two[1])
