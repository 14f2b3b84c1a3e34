"""From when and until when sentences say that they hold."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.extraction.times import Period, period_of

AT = datetime(2026, 5, 6, 15, 30, tzinfo=UTC)
"""A Wednesday."""


def day(month: int, number: int, year: int = 2026) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "rest", "end"),
    [
        ("Until Friday the demo runs on canvas-2.", "the demo runs on canvas-2.", day(5, 9)),
        ("the van is at the airport until tomorrow", "the van is at the airport", day(5, 8)),
        ("Until next Sunday we eat at noon", "we eat at noon", day(5, 11)),
        ("Until the end of the week our office is in Lund.", "our office is in Lund.", day(5, 11)),
        ("Until the end of June we close at 5 pm", "we close at 5 pm", day(7, 1)),
        ("till next week Ana is on call", "Ana is on call", day(5, 11)),
        ("Until March the pool is shut", "the pool is shut", day(3, 1, 2027)),
        ("The gym is closed until 5 June", "The gym is closed", day(6, 6)),
        ("The gym is closed until June 5th, 2027", "The gym is closed", day(6, 6, 2027)),
        ("The gym is closed through 2026-05-20", "The gym is closed", day(5, 21)),
        ("For the next two weeks calls go to Petter.", "calls go to Petter.", day(5, 21)),
        ("For the rest of this month I am away", "I am away", day(6, 1)),
        ("This week the desk is upstairs", "the desk is upstairs", day(5, 11)),
        ("The desk is upstairs today", "The desk is upstairs", day(5, 7)),
    ],
)
def test_until_when(text: str, rest: str, end: datetime) -> None:
    assert period_of(text, AT) == Period(rest, None, end)


@pytest.mark.parametrize(
    ("text", "rest", "start"),
    [
        ("From next week on lunch orders go to Thabo.", "lunch orders go to Thabo.", day(5, 11)),
        ("From Monday on Hale does them.", "Hale does them.", day(5, 11)),
        ("Starting next month we meet on Fridays", "we meet on Fridays", day(6, 1)),
        ("Starting tomorrow, the shop opens at 10", "the shop opens at 10", day(5, 7)),
        ("As of 1 March the rate is 5%", "the rate is 5%", day(3, 1)),
        ("The rate is 4% effective June 1, 2027", "The rate is 4%", day(6, 1, 2027)),
        ("From the 15th on parking is free", "parking is free", day(5, 15)),
        ("From the 2nd on parking is free", "parking is free", day(6, 2)),
        ("In three months the card will cost 20 euros.", "the card will cost 20 euros.", day(8, 6)),
        ("Lessons will cost 35 euros from September", "Lessons will cost 35 euros", day(9, 1)),
        ("Next week we switch to Linear", "we switch to Linear", day(5, 11)),
        ("As of next year dues are 50 euros", "dues are 50 euros", day(1, 1, 2027)),
    ],
)
def test_from_when(text: str, rest: str, start: datetime) -> None:
    assert period_of(text, AT) == Period(rest, start, None)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Next week swim practice is in lane 6.", day(5, 11), day(5, 18)),
        ("From 3 August until 10 August the clinic is closed", day(8, 3), day(8, 11)),
        ("From next Monday until the end of June we meet online", day(5, 11), day(7, 1)),
        ("Starting tomorrow and until Friday I sit upstairs", day(5, 7), day(5, 9)),
    ],
)
def test_for_a_while_that_is_to_come(text: str, start: datetime, end: datetime) -> None:
    assert period_of(text, AT)[1:] == (start, end)


@pytest.mark.parametrize(
    "text",
    [
        "The shop is open from Monday to Friday",
        "From 9 to 5 I work",
        "Until 6 pm the desk is staffed",
        "My passport is valid until 2031",
        "The lease runs until June",
        "The train from Leeds is late",
        "My recital is in May",
        "The meeting is tomorrow",
        "Invoices are due in 30 days",
        "We test until the repair is done",
        "The retro lasts two weeks",
        "Until Friday",
        "",
    ],
)
def test_a_time_that_is_what_is_said_stays(text: str) -> None:
    assert period_of(text, AT) == Period(text)


_PHRASES = (
    "until {}",
    "from {} on",
    "starting {}",
    "as of {}",
    "for the next {} days",
    "in {} months",
    "from {} to {}",
)
_MOMENTS = ("Friday", "next week", "31 February", "30 June", "the 31st", "2026-13-40", "the end of February", "999")


@given(
    st.sampled_from(_PHRASES),
    st.sampled_from(_MOMENTS),
    st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),
)
def test_at_any_moment_a_period_ends_after_it_and_after_it_began(phrase: str, moment: str, at: datetime) -> None:
    found = period_of(f"{phrase.format(moment, moment)} the lamp is red", at)
    assert "lamp is red" in found.text
    if found.valid_until:
        assert found.valid_until > at
        assert found.valid_from is None or found.valid_from < found.valid_until
