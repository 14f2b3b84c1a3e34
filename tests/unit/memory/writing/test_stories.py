"""What is believed after two ways of putting things: reversed, given up, said again, and what stays apart."""

import pytest

from tests.support.stories import Story, ToldTurn, believed


def texts(*said: str, by: str = "user") -> list[str]:
    turns = [ToldTurn(day=20 * day, user="u1", said_by=by, text=text) for day, text in enumerate(said)]
    story = Story(id="1", kind="", turns=turns, user="u1", believe=[], not_believe=[])
    return believed(story).texts


REPLACED = (
    ("My wife prefers tea over coffee.", "My wife prefers coffee over tea now."),
    ("My son likes trains more than cars.", "My son likes cars more than trains these days."),
    ("I prefer rye to wheat for toast.", "Changed my mind, I prefer wheat to rye for toast."),
    ("I'd pick the bus before the tram.", "Went off the bus. I'd pick the tram before the bus."),
    ("We like prints more than slides.", "The members won us over: we like slides more than prints."),
    ("I find Rust more pleasant than Go.", "After a year with both I find Go more pleasant than Rust."),
    ("Our team values speed over polish.", "Since the merger our team values polish over speed."),
    (
        "I am happier with a pen than with a stylus.",
        "My hand is fine again, so I am happier with a stylus than with a pen.",
    ),
    ("My daughter plays chess.", "My daughter gave up chess."),
    ("We charge a fee for guests.", "We've done away with the fee for guests."),
    ("The portal supports SOAP.", "Release notes 4.2: the portal no longer supports SOAP"),
    ("We print the menu in colour.", "We used to print the menu in colour but don't any more."),
    ("Bugs are tracked in Jira.", "We replaced it, bugs are tracked in Linear."),
    ("The market is on Mill Lane.", "The works are over and the market is on Castle Square."),
    ("Opening hours are eight to four.", "Opening hours have become nine to five."),
    ("We use Jenkins for our builds.", "The migration is done, all our builds go through Buildkite these days."),
    ("My shoes are Brooks.", "After a fitting I've changed shoes: Saucony it is now."),
    ("I drive a Mazda.", "Traded it in at last, it's a Volvo I drive these days."),
    ("The captain of our team is Benedict.", "New captain of our team after the vote: Katarzyna."),
    ("My daughter's teacher is Ms Petrakis.", "My daughter has a new teacher, Mr Delacroix."),
    ("The club meets in the library.", "The club has moved and meets in the chapel."),
    ("The project I work on is Falcon.", "I've been reassigned, the project I work on is Magpie."),
    ("Our hotline is staffed until 18:00.", "We've hired two; since Monday our hotline is staffed until 20:00."),
    ("Our clinic has a walk-in hour at 4 pm.", "The walk-in hour at our clinic has been abolished."),
    ("I have oat milk in my coffee.", "I've moved to soy milk in my coffee."),
    ("I've cancelled my membership at the gym.", "I've renewed my membership at the gym."),
    ("Our thermostat is set to 22 degrees.", "We've put our thermostat back to 20 degrees."),
)
SAID_AGAIN = (
    ("Our compiler is written in Haskell.", "Haskell is the language our compiler is written in."),
    ("The well by the barn is 40 metres deep.", "Depth of the well by the barn: 40 metres."),
    ("Our shop closes at 18:00 on weekdays.", "On weekdays we close the shop at 18:00."),
    ("I get to work by bike.", "As I said, it's by bike that I go to work."),
    ("My wife is called Ingrid.", "Ingrid is my wife."),
    ("The band is conducted by Ilse.", "Ilse is the one who leads the band."),
    ("The edge cluster runs in Dublin.", "edge cluster location: dublin"),
    ("I hate celery.", "Celery? I loathe the stuff."),
    ("The shop system is written in Kotlin.", "kotlin is what the shop system is coded in"),
    ("I'm left-handed.", "I'm a lefty."),
)
APART = (
    ("I take ibuprofen.", "Because of my asthma I take salbutamol."),
    ("We have a boat.", "We sold the car, we have a van."),
    ("I wear glasses.", "Since May I wear a hearing aid."),
    ("The blue pump runs on diesel, not petrol.", "The red pump runs on petrol, not diesel."),
    ("Nurses wear blue and doctors wear white.", "In the clinic nurses wear white and doctors wear blue."),
    ("Allergies: nuts, milk.", "Allergies: eggs."),
    ("Our bus goes through Leeds.", "Our bus goes through York."),
    ("My seat is 12A.", "I swapped my seat with a child."),
    ("I stretch before training.", "I stretch after training too now."),
    ("Our ram is called Boris.", "Our ram is a Texel."),
    ("The pool is 6 metres long.", "The pool's width: 6 metres."),
    ("We close the shop at 18:00.", "We close the bar at 23:00."),
    ("The customer portal runs on Django.", "The user portal runs on Rails."),
    ("We record interviews with Zoom.", "We record interviews with a microphone."),
    ("We order paper from Staples.", "We purchase paper from Amazon."),
    ("The picture hangs in the hall.", "The picture is in the catalogue."),
    ("We use Redis as a queue.", "We now use Redis as a cache."),
    ("For work I prefer Linux over Windows.", "For games I prefer Windows over Linux."),
    ("I prefer tea over coffee in the morning.", "I prefer coffee over tea in the evening."),
    ("My daughter plays chess.", "My daughter gave up tennis."),
    ("My daughter plays chess.", "My son gave up chess."),
    ("The band is conducted by Ilse.", "Ilse is the one who leads the choir."),
    ("Rye is cheaper than wheat.", "Wheat is tastier than rye."),
)


@pytest.mark.parametrize(("before", "after"), REPLACED)
def test_what_is_turned_round_or_given_up_is_believed_no_more(before: str, after: str) -> None:
    assert texts(before, after) == [after.lower()]


@pytest.mark.parametrize(("first", "second"), SAID_AGAIN)
def test_what_is_said_again_in_other_words_is_one_memory(first: str, second: str) -> None:
    assert len(texts(first, second)) == 1


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_things_do_not_replace_each_other(one: str, other: str) -> None:
    assert len(texts(one, other)) == 2


BOTH_HOLD = (
    ("Alex reviews pull requests.", "Alex no longer merges pull requests."),
    ("The service reads from Kafka.", "The service no longer writes to Kafka."),
    ("Anna writes the newsletter.", "Anna no longer edits the newsletter."),
    ("Customers can pay invoices online.", "Customers can no longer edit invoices online."),
    ("Our cat sleeps in the kitchen.", "Our cat no longer eats in the kitchen."),
    ("My daughter's name is Mia.", "My daughter is eight now."),
    ("Our team's name is Falcon.", "Our team is remote."),
    ("Anna Berg is our lawyer.", "Anna Berg resigned from the school board."),
    ("Anna is the head of sales.", "Anna resigned as head of the choir."),
    ("Invoices are sent by Anna.", "Invoices are sent via email."),
    ("I commute by train.", "I commute via Milan."),
    ("Payments are taken through Stripe.", "Payments are taken via PayPal."),
    ("Membership of the club is 40 euros.", "The club raised its junior membership to 20 euros."),
    ("Team Blue has 5 members.", "Team Blue in Oslo grew to 12 members."),
    ("Bob emails Alice every day.", "Alice emails Bob now."),
    ("Tom manages Anna.", "Anna manages Tom's brother now."),
    ("The bank I work at is ING.", "The bank I work with is KBC."),
    ("The city I fly to is Rome.", "The city I fly from is Oslo."),
)
"""Pairs of which the second one speaks of somebody or something else, of a part, or of another thing that is done."""


@pytest.mark.parametrize(("first", "second"), BOTH_HOLD)
def test_what_speaks_of_something_else_replaces_nothing(first: str, second: str) -> None:
    assert len(texts(first, second)) == 2


CHANGED_PLACES = (
    ("On our boat Anja is skipper and Bo is crew.", "Since the regatta Bo is skipper and Anja is crew on our boat."),
    (
        "The small van does the north route, the big van the south route.",
        "Swapped over: the big van does the north route, the small van the south route.",
    ),
    (
        "I write reports in English and notes in Czech.",
        "I've flipped it: I write reports in Czech and notes in English.",
    ),
    ("Tabs, not spaces, in our code.", "We changed it: spaces, not tabs, in our code."),
)
KEPT_THEIR_PLACES = (
    ("Anja is skipper and Bo is crew on our boat.", "On our boat Anja is skipper and Bo is crew."),
    ("Bo is crew and Anja is skipper.", "Anja is skipper and Bo is crew."),
    ("In our team Paavo leads the choir, and the band.", "In our team the choir, and the band, is led by Paavo."),
    ("On Mondays Tom cooks and Mia washes up.", "On Mondays Mia cooks and Tom washes up."),
    ("We meet on Monday and Friday at noon.", "We meet on Friday and Monday at noon."),
)


@pytest.mark.parametrize(("before", "after"), CHANGED_PLACES)
def test_of_two_that_have_changed_places_the_later_is_believed(before: str, after: str) -> None:
    assert texts(before, after) == [after.lower()]


@pytest.mark.parametrize(("before", "after"), KEPT_THEIR_PLACES)
def test_two_that_are_only_said_in_another_order_replace_nothing(before: str, after: str) -> None:
    assert before.lower() in texts(before, after)


HOLDS_AGAIN = (
    ("The eggs are collected by Juma.", "The eggs are collected by Solveig now.", "Juma collects the eggs again."),
    (
        "The kids take the 7:40 bus to school.",
        "Since the holidays the kids take the 8:05 bus to school.",
        "The kids take the 7:40 bus to school again.",
    ),
    (
        "Our parcels are delivered by van.",
        "Our parcels are delivered by cargo bike now.",
        "That change was undone, our parcels are delivered by van.",
    ),
    ("My editor is Vim.", "I've switched to Helix as my editor.", "That didn't last. Vim is my editor again."),
    (
        "The eggs are collected by Juma.",
        "The eggs are collected by Solveig now.",
        "The eggs are collected by Bo now.",
        "Juma collects the eggs again.",
    ),
)


@pytest.mark.parametrize("told", HOLDS_AGAIN)
def test_what_holds_again_takes_the_place_of_what_replaced_it(told: tuple[str, ...]) -> None:
    assert texts(*told) in ([told[0].lower()], [told[-1].lower()])


def test_a_ban_that_is_lifted_is_believed_no_longer() -> None:
    banned, lifted = "Smoking is banned on the balcony.", "We no longer ban smoking on the balcony."
    assert texts(banned, lifted) == [lifted.lower()]
