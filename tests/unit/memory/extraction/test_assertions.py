"""What sentences assert: parts, and how two of them stand to each other."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.extraction.assertions import Stated, assertion_of
from perdure.memory.writing.agreement import Agreement, agreement
from perdure.values.assertions import Assertion

AT = datetime(2026, 5, 6, 12, tzinfo=UTC)
"""A Wednesday."""


def asserted(text: str) -> Assertion:
    assertion = assertion_of(text, AT).assertion
    assert assertion is not None, text
    return assertion


@pytest.mark.parametrize(
    ("text", "subject", "attribute", "value"),
    [
        ("My team lead is Wanjiru.", "team lead", "be", "wanjiru"),
        ("Truth be told, my team lead is Paavo since the split", "team lead", "be", "paavo"),
        ("Paavo is our new team lead.", "team lead", "be", "paavo"),
        ("Lucia took over as team lead", "team lead", "be", "lucia"),
        ("release check passed: the mobile app targets Android 14", "mobile app", "target", "android 14"),
        ("We've moved the standup to half past nine.", "standup", "change", "to @9:30"),
        ("We do the standup at 9:30.", "standup", "be", "at @9:30"),
        ("Dinner at the guesthouse starts at 7 pm", "dinner at guesthouse", "be", "at @19:00"),
        ("Lunch orders go to Marisol.", "lunch orders", "go", "to marisol"),
        ("Dashboards show times in UTC.", "dashboards", "show", "times in utc"),
        ("I don't eat fish.", "fish", "i consume", ""),
        ("I use Firefox as my browser.", "browser", "be", "firefox"),
        ("My car is a red Volvo these days.", "car", "be", "red volvo"),
        ("I drink my coffee black", "coffee", "i consume", "black"),
        ("I live in Tampere.", "i", "be", "in tampere"),
        ("On weekdays I get up at 5:45.", "i", "get up", "at @5:45 on weekdays"),
        ("cache eu: eviction policy lru", "cache eu eviction policy", "be", "lru"),
        ("Milk gets picked up by Dorsey Dairies.", "milk", "pick up", "by dorsey dairies"),
        ("Wanjiru leads the platform team.", "platform team", "who", "by wanjiru"),
        ("After the runner was switched on the test suite takes 5 minutes.", "test suite", "take", "5 minutes"),
        ("There's a lift in the building", "lift", "exist", "in building"),
    ],
)
def test_the_parts_of_a_sentence(text: str, subject: str, attribute: str, value: str) -> None:
    found = asserted(text)
    assert (found.subject, found.attribute, found.value) == (subject, attribute, value)


@pytest.mark.parametrize(
    "text",
    [
        "I no longer eat meat.",
        "I've stopped eating meat",
        "I never eat meat.",
        "Actually I don't eat meat any more.",
        "No meat for me",
        "No meat for me, I don't eat it.",
    ],
)
def test_a_denial_is_one_however_it_is_said(text: str) -> None:
    found = asserted(text)
    assert (found.subject, found.attribute, found.negated) == ("meat", "i consume", True)
    assert not asserted("I eat meat.").negated


@pytest.mark.parametrize("text", ["hello!", "", "hm", "🎉🎉", "Tabs. Not spaces.", "why?", "x" * 2_000, "是的"])
def test_it_abstains_where_there_is_nothing_to_tell(text: str) -> None:
    assert assertion_of(text, AT) == Stated()


SAME = [
    ("I don't drink alcohol.", "No alcohol for me, I don't drink it."),
    ("My barrister is Ms Adeyemi.", "Ms Adeyemi is my barrister."),
    ("We close at six.", "Six o'clock is when we close."),
    ("Our son plays the trombone.", "The trombone is what our son plays."),
    ("I'm allergic to penicillin.", "Penicillin: I'm allergic to it."),
    ("Always book me a window seat.", "As ever, book me a window seat, always."),
    ("The bakery opens at 7.", "As I said, the bakery opens at 7 am."),
    ("We meet on Tuesdays at 15:00.", "We meet at 3 pm on Tuesdays."),
    ("On Mondays I work from home.", "I work from home on Mondays."),
    ("It's Kofi who runs the archive.", "Kofi runs the archive."),
    ("The build takes ten minutes.", "the build takes 10 minutes"),
]
CONTRADICTIONS = [
    ("My team lead is Wanjiru.", "My team lead is Paavo since the split."),
    ("I like pop-up reminders.", "I do not like pop-up reminders any more."),
    ("I like pop-up reminders.", "I hate pop-up reminders."),
    ("I prefer Vim over Emacs.", "Truth be told I prefer Emacs over Vim these days."),
    ("I like tea better than coffee.", "Lately I like coffee better than tea."),
    ("Running before work beats running after work.", "Running after work beats running before work."),
    ("Email is better than phone.", "Phone is better than email."),
    ("The mobile app targets Android 12.", "release check passed: the mobile app targets Android 14"),
    ("We do the standup at 9:30.", "We've moved the standup to 10."),
    ("Dashboards show times in UTC.", "Dashboards show times in CET now."),
    ("The clinic takes walk-ins.", "Actually, the clinic takes no walk-ins."),
    ("We use Jira for tickets.", "We switched to Linear for tickets."),
    ("Our office is in Lund.", "Our office has moved to Malmo."),
    ("The log level is info", "config: log level is debug"),
    ("The library card costs 12 euros.", "The library card costs 20 euros."),
    ("Yoga starts at 18:00.", "Yoga starts at 18:30 instead of 18:00."),
    ("Vaccinations are done by Nurse Hale.", "Nurse Okoro does the vaccinations."),
    ("The shop is open on Sundays.", "The shop is closed on Sundays."),
    ("I want invoices in Swedish kronor.", "I want invoices in Czech koruna."),
    ("There is a lift in the building.", "There isn't a lift in the building."),
]
APART = [
    ("The Turku mirror syncs hourly.", "The Oulu mirror syncs daily."),
    ("Printer 3 takes A4 paper.", "Printer 31 takes A5 paper."),
    ("Server web-1 runs nginx.", "Server web-11 runs caddy."),
    ("schema v2: ids are integers", "schema v3: ids are uuids"),
    ("My pottery class is on Saturdays.", "My pottery class is held at the Riverside hall."),
    ("My bookkeeper is Ximena.", "My bookkeeper works from Valencia."),
    ("The retro takes place on Thursdays.", "The retro lasts forty-five minutes."),
    ("My daughter's recital is in May.", "My daughter's recital takes place in the Orpheum."),
    ("On weekdays I get up at 5:45.", "On weekends I get up at 9:15."),
    ("In summer I swim in the lake.", "In winter I swim in the pool."),
    ("I like jazz.", "I like opera now."),
    ("I like my steak rare.", "I like my eggs hard-boiled."),
    ("For work I use a ThinkPad.", "For music I use a MacBook."),
    ("The conference is in Lisbon.", "The conference is in October."),
    ("I'm allergic to nuts.", "I'm allergic to wasps."),
    ("I don't eat pork.", "I don't eat fish."),
    ("I eat fish.", "I don't eat raw fish."),
    ("Room 12 has a projector.", "Room 12 has a whiteboard."),
    ("The ferry goes from Kiel to Oslo.", "The ferry goes from Oslo to Kiel."),
    ("My brother lives in Ghent.", "My sister lives in Bruges."),
]
DOUBTFUL = [
    ("My flat is on the fourth floor.", "My flat is in Ghent."),
    ("The tenant is a bakery.", "The tenant is late."),
    ("The daily standup is at 9.", "The standup is at 10."),
    ("I drink my coffee with milk.", "I drink my coffee black."),
]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        *((one, other, Agreement.SAME) for one, other in SAME),
        *((one, other, Agreement.CONTRADICTION) for one, other in CONTRADICTIONS),
        *((one, other, Agreement.APART) for one, other in APART),
        *((one, other, Agreement.LIKELY) for one, other in DOUBTFUL),
    ],
)
def test_how_a_sentence_stands_to_an_earlier_one(one: str, other: str, expected: Agreement) -> None:
    first, second = asserted(one), asserted(other)
    assert agreement(first, second) is expected
    assert agreement(first, first) is agreement(second, second) is Agreement.SAME
    if expected is not Agreement.APART:
        assert set(first.about) & set(second.about), "so that the store finds the one by the other"


@pytest.mark.parametrize(("one", "other"), [*SAME, *CONTRADICTIONS])
def test_what_people_say_around_it_changes_nothing(one: str, other: str) -> None:
    for around in ("FYI, {}", "Actually, {}", "Just so you know: {}", "Please note that {}"):
        assert agreement(asserted(one), asserted(around.format(other))) is agreement(asserted(one), asserted(other))


@given(st.text(max_size=300))
def test_any_text_is_read_and_read_alike(text: str) -> None:
    stated = assertion_of(text, AT)
    assert stated == assertion_of(text, AT)
    if stated.assertion:
        assert agreement(stated.assertion, stated.assertion) is Agreement.SAME
        assert Assertion.model_validate_json(stated.assertion.model_dump_json()) == stated.assertion


_WORDS = st.sampled_from(
    [
        "the",
        "my",
        "a",
        "standup",
        "server",
        "is",
        "runs",
        "not",
        "I",
        "we",
        "like",
        "prefer",
        "over",
        "at",
        "9:30",
        "on",
        "Mondays",
        "to",
        "Leeds",
        "now",
        "until",
        "Friday",
        "from",
        "and",
        ",",
        ":",
        "moved",
        "no",
        "for",
        "me",
        "because",
        "it",
        "Anna",
        "web-1",
        "tea",
        "better",
        "than",
        "coffee",
        "there",
        "isn't",
        "who",
        "when",
        "what",
        "instead",
        "of",
    ]
)


@given(st.lists(_WORDS, max_size=25), st.lists(_WORDS, max_size=25))
def test_any_two_sentences_can_be_compared(one: list[str], other: list[str]) -> None:
    first, second = assertion_of(" ".join(one), AT).assertion, assertion_of(" ".join(other), AT).assertion
    if first and second and agreement(first, second) is Agreement.SAME:
        assert agreement(second, first) is not Agreement.CONTRADICTION


def test_many_spaces_take_no_longer_than_few() -> None:
    spaces = " " * 300
    assert assertion_of(f"The safe{spaces}is not{spaces}opened in{spaces}x", AT)


@pytest.mark.parametrize(
    "text",
    [
        "My boss was Ben.",
        "We could move the standup to 10.",
        "They may have changed the date to Friday.",
        "We almost switched to Jira.",
    ],
)
def test_what_was_and_what_could_be_or_nearly_was_asserts_nothing_of_what_is(text: str) -> None:
    assert assertion_of(text, AT).assertion is None


def test_white_space_is_read_in_no_time_however_much_there_is() -> None:
    # It took five seconds before it was evened out.
    begun = time.process_time()
    assert assertion_of(f"my dog{' ' * 900}is Rex", AT) == assertion_of("my dog is Rex", AT)
    assertion_of(f"our{' ' * 900}x", AT)
    assert time.process_time() - begun < 2
