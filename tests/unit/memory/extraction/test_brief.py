"""An episode's text is screened before it is cut: no part of what is private is left where it ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.extraction.screening import brief, screen
from perdure.values.episodes import LONGEST

PRIVATE = ["jonathan.doe@example.com", "DE89 3704 0044 0532 0130 00", "4111 1111 1111 1111"]


@pytest.mark.parametrize("private", PRIVATE)
def test_nothing_of_it_is_left_wherever_the_cut_falls(private: str) -> None:
    for before in range(LONGEST - len(private) - 20, LONGEST + 2, 3):
        text = f"{'so it goes. ' * 50}"[:before] + f" my data is {private} and so on" + " and on" * 60
        left = brief(text)
        assert len(left) <= LONGEST
        assert private[:5] not in left


@given(st.text(max_size=LONGEST))
def test_what_is_short_is_only_screened(text: str) -> None:
    assert brief(text) == screen(text).text[:LONGEST]
