"""Which statements pass, are hedged, planned or asked, however they are put, and which only look so."""

from datetime import UTC, datetime

import pytest

from perdure.memory.extraction.grounds.changes import holds_from_now_on
from perdure.memory.extraction.rules import extraction_of
from perdure.values.statements import Ground, Said, Voice

LEFT = {
    Ground.TRANSIENT: (
        "The kids are in the next room.",
        "Three people ahead of me at the counter.",
        "The lid won't come off.",
        "Neither printer will turn on.",
        "I have the oven on.",
        "Wind's picking up.",
        "The clouds are too low to see the summit.",
        "My right knee keeps clicking.",
        "My toes have gone numb.",
        "The plumber hasn't come.",
        "worker-3: idle for 14min",
        "Wearing two jumpers.",
        "Caught a cold at the camp.",
        "Missed the last ferry.",
        "Need a coffee.",
        "Dinner's in the oven.",
        "Only one bar of signal.",
    ),
    Ground.UNSTABLE: (
        "The odds are the shed is dry.",
        "Part of me likes the red one.",
        "Not 100% on it: the fee is forty.",
        "Something tells me the key is under the mat.",
        "My rough estimate is thirty metres.",
        "I'm eighty percent sure the class is on Mondays.",
        "I could be wrong, the shop shuts at six.",
        "idk, the green one is the spare",
        "I seem to recall the boiler is a Vaillant.",
    ),
    Ground.INTENTION: (
        "One of these weekends I'll sort the shed.",
        "Some day I want to sail the Hebrides.",
        "I need to remember to descale the kettle.",
        "I mustn't forget to post the form.",
        "We have half a mind to sell the boat.",
        "I want to repot the ferns.",
        "We vowed to walk more.",
    ),
    Ground.QUESTION: (
        "I'd be interested to know whether the pool opens on Sundays.",
        "Which is softer, the pine or the birch",
        "Point me to the form for refunds.",
        "Looking for advice on tiles.",
    ),
    Ground.CHATTER: ("Aye, that will do.", "mmm, nicely put", "Much appreciated, safe travels!", "Well said."),
    Ground.HEARSAY: (
        "The other dads say the coach drinks.",
        "You hear stories about the landlord.",
        "By all accounts the baker is broke.",
        "A little bird told me Nadia resigned.",
    ),
}
KEPT = (
    "I like the window open, tonight or any night.",
    "I might be the only one, but I take my tea without sugar.",
    "I was going to replace the valve and did: the new one stopped the drip.",
    "When I ask a question, answer before you explain.",
    "The pump won't start without priming.",
    "I want to be called Bo.",
    "We have to use TLS 1.3.",
    "The estimate sheet is in euros.",
    "I have a cat on insulin.",
    "I can't be persuaded to use tabs, tomorrow or ever.",
    "Invoices are archived for seven years.",
)


@pytest.mark.parametrize(("ground", "text"), [(ground, text) for ground, texts in LEFT.items() for text in texts])
def test_what_does_not_stand_is_left(ground: Ground, text: str) -> None:
    made = extraction_of(Said(text=text, by=Voice.USER, at=datetime(2026, 5, 1, tzinfo=UTC), occurrence="session/1"))
    assert not made.candidates, ground


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_so_is_believed(text: str) -> None:
    made = extraction_of(Said(text=text, by=Voice.USER, at=datetime(2026, 5, 1, tzinfo=UTC), occurrence="session/1"))
    assert made.candidates


@pytest.mark.parametrize(
    ("words", "holds"),
    [
        ("We switched to tabs.", True),
        ("The language has changed to English.", True),
        ("I've come round to oat milk.", True),
        ("The weather has changed.", False),
        ("We drink tea.", False),
    ],
)
def test_what_changed_for_good_holds_from_now_on(words: str, *, holds: bool) -> None:
    assert holds_from_now_on(words) is holds
