"""What is told once more in words that are put together otherwise: a change of it, the same again, something else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.extraction.telling import tells_of_change, told
from perdure.memory.writing.retelling import changes, restates

CHANGED = (
    (
        "Our transactional mail goes out through Mailgun.",
        "Swapped Mailgun for Postmark on the transactional mail side.",
    ),
    ("The shop closes at 18:00 on weekdays.", "as of today weekday closing time at the shop is 19:30"),
    ("My guitar is strung with 10-gauge strings.", "Moved up to 11-gauge strings on the guitar, and they stay on."),
    ("Freezer samples get logged in an Excel sheet.", "We moved the freezer sample log over to Benchling."),
    ("we use slack with the volunteers", "scratch what I said about slack, the volunteers are all on signal"),
    ("The choir rehearses in St. Olave's hall.", "Rehearsals of the choir take place at the Kulturhus these days."),
    (
        "I drive a diesel Skoda to client sites.",
        "The Skoda has been sold; an electric Kia is what I drive to client sites.",
    ),
    ("I take sugar in my tea every morning.", "Gave up sugar in my morning tea."),
    (
        "Our supplier contracts include an arbitration clause.",
        "There is no arbitration clause in supplier contracts now.",
    ),
    ("I play handball on Thursdays.", "Thursday handball is over for me, I stopped playing."),
    ("The repair workshop accepts card payments.", "Card payments aren't accepted in the repair workshop any more."),
    (
        "My lessons start with listening and then grammar.",
        "Flipped it: my lessons start with grammar and then listening.",
    ),
    ("Anselm reports to Birgitte.", "Since the reorg Birgitte reports to Anselm."),
    ("We milk the cows twice a day.", "The cows are milked three times a day now."),
    (
        "Shop till: runs on Zettle instead of Lightspeed now.",
        "Undone; the till in the shop is on Lightspeed as before.",
    ),
)
SAID_AGAIN = (
    ("Large invoices need two signatures.", "Two signatures are needed for large invoices."),
    ("The allotment gets watered every other evening.", "We water the allotment every other evening."),
    ("The accordion at home is a Hohner Morino.", "My accordion at home is a Hohner Morino."),
)
APART = (
    ("We use Redis as a queue.", "We now use Redis as a cache."),
    ("The kitchen tap drips.", "The bathroom tap drips now."),
    ("My son plays the violin.", "My daughter plays the violin now."),
    ("Order 1412 ships on Monday.", "Invoices are sent on Fridays now."),
    ("We deploy the api on Tuesdays.", "We moved the party to Saturday."),
    ("I like long walks by the lake.", "I no longer like long queues."),
    ("The band plays in Leeds.", "The choir sings in Hull these days."),
    ("For work I prefer Linux over Windows.", "For games I now prefer Windows over Linux."),
)


@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_a_change_is_told_from_the_words_that_both_share(old: str, new: str) -> None:
    assert changes(told(new), told(old))
    assert not restates(told(new), told(old))


@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_what_does_not_tell_of_a_change_changes_nothing(old: str, new: str) -> None:
    assert tells_of_change(new)
    assert not changes(told("The office dog is called Bo."), told(old))
    assert not changes(told(old), told(old))


@pytest.mark.parametrize(("old", "new"), SAID_AGAIN)
def test_the_same_words_in_another_order_say_the_same(old: str, new: str) -> None:
    assert restates(told(new), told(old))
    assert not changes(told(new), told(old))


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_things_stay_apart(one: str, other: str) -> None:
    assert not changes(told(other), told(one))
    assert not restates(told(other), told(one))


def test_where_the_order_says_something_another_order_says_another_thing() -> None:
    one, other = told("Trains go from Ghent to Bruges daily."), told("Trains go from Bruges to Ghent daily.")
    assert not restates(other, one)
    assert restates(one, one)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert isinstance(changes(told(one), told(other)), bool)
    assert not changes(told(one), told(one)) or tells_of_change(one)
    assert restates(told(one), told(other)) == restates(told(other), told(one))
