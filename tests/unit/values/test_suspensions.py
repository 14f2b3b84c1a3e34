from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from perdure.values.suspensions import MOST_SUSPENSIONS, Suspension, joined

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def span(by: str, start: int, until: int) -> Suspension:
    return Suspension(by=by, start=NOW + timedelta(hours=start), until=NOW + timedelta(hours=until))


spans = st.builds(span, st.sampled_from("abc"), st.integers(0, 9), st.integers(10, 19))


@given(st.lists(spans, max_size=8))
def test_each_memory_that_overrides_is_named_once_and_for_all_of_its_time(given_spans: list[Suspension]) -> None:
    found = joined(given_spans, NOW)
    assert {one.by for one in found} == {one.by for one in given_spans}
    assert len({one.by for one in found}) == len(found)
    for one in given_spans:
        [whole] = [each for each in found if each.by == one.by]
        assert whole.start <= one.start
        assert one.until <= whole.until
    assert joined(found, NOW) == found


def test_room_is_made_by_what_is_over_and_then_by_what_begins_last() -> None:
    coming = [span(f"mem_{place:02}", place, place + 1) for place in range(MOST_SUSPENSIONS)]
    today = span("today", 0, 24)
    found = joined([*coming, span("over", -9, -1), today], NOW)
    assert {one.by for one in found} == {one.by for one in (*coming[:-1], today)}
    assert joined([span("over", -9, -1), today], NOW) == (today, span("over", -9, -1))


def test_its_end_is_not_within_it() -> None:
    one = span("a", 1, 3)
    assert [one.covers(NOW + timedelta(hours=hour)) for hour in (0, 1, 2, 3)] == [False, True, True, False]
