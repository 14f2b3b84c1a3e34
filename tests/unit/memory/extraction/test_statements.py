"""What a memory's own words assert: nothing where its sentences assert several things, nothing over what was given."""

from datetime import UTC, datetime, timedelta

import pytest

from perdure.memory.extraction.assertions import Stated, assertion_of
from perdure.memory.extraction.statements import restated, stated, stated_by
from perdure.values.assertions import Assertion
from perdure.values.items import MemoryItem

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)
TEXT = "Until tomorrow the demo runs on canvas-2."
ITEM = MemoryItem(content=TEXT, occurrence="o", occurred_at=NOW)
GIVEN = Assertion(subject="demo", attribute="be", value="on canvas-3")


@pytest.mark.parametrize("text", ["Deploys happen on Tuesdays.", "Scratch that. Deploys happen on Wednesdays."])
def test_one_statement_is_asserted(text: str) -> None:
    assert stated_by(text, NOW) == assertion_of(text, NOW)
    assert stated_by(text, NOW).assertion is not None


@pytest.mark.parametrize("text", ["Deploys happen on Tuesdays. The office is in Leeds.", "The cat sat. " * 100])
def test_of_several_statements_none_is(text: str) -> None:
    assert stated_by(text, NOW) == Stated()


def test_a_memory_gets_what_its_text_says_when_it_was_observed() -> None:
    found = stated(ITEM)
    assert found.assertion == assertion_of(TEXT, NOW).assertion
    assert (found.valid_from, found.valid_until) == (None, assertion_of(TEXT, NOW).valid_until)
    assert found.valid_until is not None
    assert stated(found) is found


def test_what_its_caller_says_stays() -> None:
    end = NOW + timedelta(days=9)
    assert stated(ITEM.changed(valid_until=end)).valid_until == end
    given = ITEM.changed(assertion=GIVEN)
    assert stated(given) is given


def test_what_states_nothing_stays_as_it_is() -> None:
    item = ITEM.changed(content="tea")
    assert stated(item) is item


def test_new_words_go_before_what_was_given() -> None:
    found = restated(ITEM.changed(assertion=GIVEN, valid_until=NOW), NOW)
    assert found == stated(ITEM)
    plain = restated(ITEM.changed(content="tea", assertion=GIVEN, valid_until=NOW), NOW)
    assert (plain.assertion, plain.valid_until) == (None, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "The server might be in Paris.",
        "When it rains, the party is in the hall.",
        "The server is in Paris, and the backup is in Rome.",
        "I live in Munich (my parents live in Kiel).",
        "My boss is Anna, she is allergic to nuts.",
        "The port is 8080 - the token rotates monthly.",
    ],
)
def test_what_was_or_may_be_and_what_says_more_than_one_thing_replaces_nothing(text: str) -> None:
    assert assertion_of(text, NOW).assertion is not None, "the control: a part of it asserts something"
    assert stated_by(text, NOW) == Stated()


@pytest.mark.parametrize("text", ["The trial ends in 14 days.", "Closed from Saturday until Monday."])
def test_only_what_says_from_when_or_until_when_it_holds_is_dated(text: str) -> None:
    assert assertion_of(text, NOW).dates, "the control"
    assert not stated_by(text, NOW).dates


def test_a_date_of_the_text_that_contradicts_a_given_one_does_not_count() -> None:
    given = ITEM.changed(valid_from=NOW + timedelta(days=30))
    assert stated(ITEM).valid_until is not None, "the control"
    assert stated(given).valid_until is None


@pytest.mark.parametrize(("given", "counts"), [(timedelta(), False), (timedelta(microseconds=-1), True)])
def test_what_would_end_when_it_begins_is_not_taken_from_the_text(given: timedelta, counts: bool) -> None:
    end = stated(ITEM).valid_until
    assert end is not None
    assert (stated(ITEM.changed(valid_from=end + given)).valid_until == end) is counts


def test_a_beginning_in_the_text_after_the_end_that_was_given_does_not_count() -> None:
    item = ITEM.changed(content="From tomorrow the demo runs on canvas-2.")
    begin = stated(item).valid_from
    assert begin is not None
    assert stated(item.changed(valid_until=begin)).valid_from is None
    assert stated(item.changed(valid_until=begin + timedelta(days=1))).valid_from == begin, "the control"
