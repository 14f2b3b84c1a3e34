"""Durations as people write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.durations import LONGEST_WAIT, check_wait, duration_of, lasting, moment_of

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@given(number=st.integers(0, 999_999_999), unit=st.sampled_from("smhd"))
def test_a_duration_is_a_number_of_its_unit(number: int, unit: str) -> None:
    seconds = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}[unit]
    assert duration_of(f"{number}{unit}") == timedelta(seconds=number * seconds)


@pytest.mark.parametrize("text", ["", "30", "s", "-1s", "1.5h", "1 h", "1w", "1h30m", "1s\n", "1000000000s", "٣s"])
def test_anything_else_is_refused_with_what_can_be_written(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a duration .write a number and a unit"):
        duration_of(text)


@given(minutes=st.integers(-100_000, 366 * 1_440), offset=st.integers(-14 * 4, 14 * 4), text=st.sampled_from("T "))
def test_a_moment_is_the_same_whatever_zone_it_is_written_in(minutes: int, offset: int, text: str) -> None:
    moment = NOW + timedelta(minutes=minutes)
    written = moment.astimezone(timezone(timedelta(minutes=15 * offset))).isoformat(text)
    check_wait(written)
    assert moment_of(written, NOW) == moment
    assert moment_of(written, NOW).tzinfo is UTC


@given(seconds=st.integers(0, int(LONGEST_WAIT.total_seconds())), offset=st.integers(-14, 14))
def test_a_duration_is_counted_from_when_the_wait_begins(seconds: int, offset: int) -> None:
    now = NOW.astimezone(timezone(timedelta(hours=offset)))
    check_wait(f"{seconds}s")
    assert moment_of(f"{seconds}s", now) == NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2h ", "2026-01-31", "2026-01-31T09:00:00", "2026-02-30T09:00:00Z", "0001-01-01T00:00:00+14:00"],
)
def test_what_says_no_moment_is_refused_with_what_can_be_written(text: str) -> None:
    problem = r"is neither a duration nor a moment with its time zone .write 12h"
    with pytest.raises(ValueError, match=problem):
        check_wait(text)
    with pytest.raises(ValueError, match=problem):
        moment_of(text, NOW)


def test_what_is_further_away_than_a_year_is_refused() -> None:
    for text in ("367d", "2027-01-03T03:04:06Z", "9999-12-31T23:59:59Z"):
        with pytest.raises(ValueError, match="is further away than 366 days"):
            moment_of(text, NOW)
    with pytest.raises(ValueError, match="is further away than 366 days"):
        check_wait("367d")
    with pytest.raises(ValueError, match=r"\(wait at most 366d: what comes later is a task of its own\)$"):
        check_wait("400d")
    check_wait("9999-12-31T23:59:59Z")


@pytest.mark.parametrize("text", ["367d", "8785h", "999999999d"])
def test_what_lasts_longer_than_a_year_is_refused(text: str) -> None:
    assert lasting("366d") == "366d"
    with pytest.raises(ValueError, match=r"is longer than 366 days .write less."):
        lasting(text)


def test_a_moment_behind_the_last_year_is_refused() -> None:
    with pytest.raises(ValueError, match="after the year 9999"):
        moment_of("2d", datetime(9999, 12, 31, tzinfo=UTC))
