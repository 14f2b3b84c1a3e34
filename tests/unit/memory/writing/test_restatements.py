"""What is told once more in words that are put together otherwise: a change of it, the same again, something else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.extraction.content_words import told
from perdure.memory.writing.restatements import changes, restates

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
    ("We play handball on Thursdays.", "Tuesdays are when we play handball now."),
    (
        "Shop till: runs on Zettle instead of Lightspeed now.",
        "Undone; the till in the shop is on Lightspeed as before.",
    ),
    ("Membership of the rowing club is 40 euros.", "The rowing club has put its membership up to 52 euros."),
    ("The Leipzig shop opens at 10:00.", "Opening time at the Leipzig shop was brought forward to 8:30."),
    ("The swimming class for Teo is on Wednesdays.", "They shuffled it all: Teo's swimming class is on Mondays."),
    ("Screens are allowed at our dinner table.", "We banned screens from the dinner table."),
    ("The ledger service calls the tax service.", "We turned it round, the tax service calls the ledger service now."),
    ("The front desk uses Calendora for appointments.", "Calendora was replaced by SlotPilot at the front desk."),
    (
        "Urine samples are labelled before they are chilled.",
        "New protocol: urine samples are chilled before labelling.",
    ),
)
SAID_AGAIN = (
    ("The barn gate has to be shut at dusk.", "At dusk the barn gate has to be shut."),
    ("The quarterly VAT return is filed by Ottoline.", "Ottoline files the quarterly VAT return."),
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
    ("I like hiking.", "I no longer like hiking alone."),
    ("We deploy on Fridays.", "We no longer deploy the legacy app on Fridays."),
    ("The API accepts JSON payloads.", "The API no longer accepts JSON payloads larger than 5 MB."),
    ("Customers pay by invoice.", "New customers can no longer pay by invoice."),
    ("The pool is open on Sundays.", "The pool is no longer open on Sundays after 6."),
    ("My brother drinks coffee every morning.", "Instead of coffee I now drink tea in the morning."),
    ("The car is parked in the office garage.", "I take the bus to the office rather than the car now."),
    ("Transactional mail invoices from Mailgun are paid by Petra.", "Swapped Mailgun for Postmark on the mail side."),
    ("Berlin is where my brother works in a bank.", "I moved away from Berlin, my brother helped with the van."),
    ("Slack notifications are muted at night.", "Scratch what I said about Slack, at night I read mail."),
    ("My wife works from home on Tuesdays.", "I now work from home on Thursdays."),
    ("My sister's rent is 900 euros.", "My rent is 1200 euros now."),
    ("My son takes the bus to school at 7:30.", "I take the bus to school at 8:10 now."),
    ("The EU cluster has 12 nodes.", "The US cluster has 20 nodes now."),
    ("My daughter is 6 years old.", "My daughter's horse is 8 years old now."),
    ("Bus 12 leaves from platform A.", "Bus 14 now leaves from platform B."),
    ("The corner shop in Leeds opens at 10:00.", "The corner shop in Hull now opens at 8:30."),
    ("Release notes are written by Priya.", "Release notes are translated by Jonas now."),
    ("Our team reviews pull requests on Tuesdays.", "Our team also reviews pull requests on Thursdays now."),
    (
        "The Berlin office uses the blue badge printer.",
        "The blue badge printer is used by the Munich office as well now.",
    ),
    ("Alice reviews Bob's code.", "Bob reviews Alice's code."),
    ("Carla manages Dirk.", "Dirk manages Carla."),
    ("Dirk is often managed by Carla.", "Dirk often manages Carla."),
    ("My mother owes my brother 50 euros.", "My brother owes my mother 50 euros."),
    ("Tom lent Mia the drill.", "Mia lent Tom the drill."),
    ("On Mondays Tom cooks and Mia washes up.", "On Mondays Mia cooks and Tom washes up."),
    ("Tea helps.", "Helps tea."),
    ("Object returned by callback methods.", "Object returned by timed callback methods."),
    ("Start recording the inner shape.", "Stop recording the inner shape."),
    ("A new tag is added above the old mark.", "A new tag is added below the old mark."),
    ("Convert the numbers to member names.", "Convert the member names to numbers."),
    ("Called before every file is read.", "Called after every file is read."),
    ("I don't drink coffee, I drink black tea.", "I don't drink black tea, I drink coffee."),
)


@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_a_change_is_told_from_the_words_that_both_share(old: str, new: str) -> None:
    assert changes(told(new), told(old))
    assert not restates(told(new), told(old))


@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_what_does_not_tell_of_a_change_changes_nothing(old: str, new: str) -> None:
    assert told(new).revised
    assert not changes(told("The office dog is called Bo."), told(old))
    assert not changes(told(old), told(old))


@pytest.mark.parametrize(("old", "new"), SAID_AGAIN)
def test_the_same_words_in_another_order_say_the_same(old: str, new: str) -> None:
    assert restates(told(new), told(old))
    assert restates(told(old), told(new))
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
    assert not changes(told(one), told(one)) or told(one).revised
    assert restates(told(one), told(other)) == restates(told(other), told(one))


GUARDED = {
    "as what": ("The team uses the big room as a kitchen.", "The team now uses the big room as a library."),
    "of another kind": ("The old barn is painted red.", "The old barn is painted by Lukas now."),
    "words as many as are shared": ("The garden shed holds rusty bicycles.", "The garden shed holds fresh apples now."),
    "names more than are shared": (
        "Our choir tours with Ilse, Bo, Kim and Ada.",
        "Our choir tours with Jon, Max, Eva and Tim now.",
    ),
    "another number of something": ("Bus 12 leaves from the square.", "Bus 14 leaves from the square now."),
    "a number, and more than is shared": (
        "The branch in Leeds by the river opens at 8:00 on Mondays.",
        "The branch opens at 9:00 now.",
    ),
    "turned, and of something else": (
        "Deliveries go from Ghent to Bruges.",
        "Deliveries of frozen fish go from Bruges to Ghent now.",
    ),
    "something besides": ("The clinic opens at 8:00.", "The clinic also opens at 18:00 now."),
    "something that somebody else does": (
        "Lessons in the hall start with Ilse.",
        "Tom has lessons in the hall with Petra now.",
    ),
    "something done that was not": (
        "Our menus on Mondays are from Lukas.",
        "Our menus on Mondays are printed by Petra now.",
    ),
    "one word alone of each part": ("The fee is for Mondays.", "The fee is 40 now, rent comes on Mondays."),
    "something done otherwise": ("Menus are printed by Lukas.", "Menus are translated by Petra now."),
}


@pytest.mark.parametrize("guard", GUARDED)
def test_each_guard_holds_two_things_apart(guard: str) -> None:
    old, new = GUARDED[guard]
    assert not changes(told(new), told(old))
