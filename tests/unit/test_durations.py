"""Durations as people write them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.durations import duration_of


@given(number=st.integers(0, 999_999_999), unit=st.sampled_from("smhd"))
def test_a_duration_is_a_number_of_its_unit(number: int, unit: str) -> None:
    seconds = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}[unit]
    assert duration_of(f"{number}{unit}") == timedelta(seconds=number * seconds)


@pytest.mark.parametrize("text", ["", "30", "s", "-1s", "1.5h", "1 h", "1w", "1h30m", "1s\n", "1000000000s", "٣s"])
def test_anything_else_is_refused_with_what_can_be_written(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no duration .write a number and a unit"):
        duration_of(text)
