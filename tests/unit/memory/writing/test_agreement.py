"""How two statements stand to each other: the same, a contradiction, doubtful, or of different things."""

from datetime import UTC, datetime

import pytest

from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.writing.agreement import Agreement, agreement

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)

SAME, CONTRADICTION, LIKELY, APART = Agreement.SAME, Agreement.CONTRADICTION, Agreement.LIKELY, Agreement.APART


def agreed(before: str, after: str) -> Agreement:
    """Return how what one text asserts stands to what an earlier one does."""
    old, new = (assertion_of(text, NOW).assertion for text in (before, after))
    assert old is not None
    assert new is not None
    return agreement(old, new)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The train goes from Ghent to Bruges.", "The train goes from Ghent into Bruges."),
        ("Our editor is Vim.", "Our editor uses Vim."),
        ("My dentist is Kim.", "My dentist is Dr Kim."),
        ("The dentist is Dr Kim.", "The dentist is Prof Kim."),
        ("The standup is at half past 09.", "The standup is at 9:30."),
    ],
)
def test_other_words_that_say_no_more_say_the_same(one: str, other: str) -> None:
    assert (agreed(one, other), agreed(other, one)) == (SAME, SAME)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I don't eat any meat.", "I eat meat."),
        ("I don't eat any meat.", "I eat all meat."),
        ("I don't work on Mondays.", "I work on Mondays at nine."),
        ("The app is in public beta.", "The app is in production."),
        ("The app is in public beta.", "The app is in early review."),
        ("I drink green tea for breakfast.", "I drink black tea for breakfast."),
        ("I use a red pen.", "I use a blue pen."),
    ],
)
def test_of_what_cannot_both_be_each_contradicts_the_other(one: str, other: str) -> None:
    assert (agreed(one, other), agreed(other, one)) == (CONTRADICTION, CONTRADICTION)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("My sister is a nurse.", "My sister is a nurse in Ghent.", APART),
        ("I prefer green tea.", "I like black tea.", APART),
        ("I drink green tea.", "I drink black tea.", LIKELY),
        ("My son is allergic to nuts.", "My son is allergic to wasps now.", APART),
        ("I drink coffee with milk.", "I drink coffee with sugar now.", LIKELY),
    ],
)
def test_what_can_both_be_contradicts_nothing(one: str, other: str, found: Agreement) -> None:
    assert (agreed(one, other), agreed(other, one)) == (found, found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The app integrates with Slack.", "The app integrates with Jira, not with Slack."),
        ("The office is in Ghent.", "The office moved from the old town to Bruges."),
        ("The choir is in the annex.", "The choir moved into the town hall."),
        ("The account belongs to Kim Doe.", "The account moved to Doe."),
    ],
)
def test_what_is_told_to_have_changed_contradicts_what_was_before(before: str, after: str) -> None:
    assert agreed(before, after) is CONTRADICTION
