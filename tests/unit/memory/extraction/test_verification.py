"""What a language model states has to stand in what was said, also what of it is denied."""

import pytest

from perdure.memory.extraction.verification import source_of

RIGHT = [
    ("I have a dog, no cat.", "I have a dog"),
    ("I have a dog, no cat.", "no cat"),
    ("I have no cat but a dog.", "I have a dog"),
    ("I have no cat but a dog.", "I have no cat"),
    ("We moved to Leeds, not Hull.", "We moved to Leeds"),
    ("We moved to Leeds, not Hull.", "not Hull"),
    ("I don't eat meat, fish or eggs.", "I never eat fish"),
    ("I don't eat meat, fish or eggs.", "I don't eat eggs"),
    ("I don't eat meat because I love animals.", "I love animals"),
    ("I don't eat meat because I love animals.", "I don't eat meat"),
    ("I stopped smoking.", "I don't smoke"),
    ("The lift is not used on Sundays.", "Nobody uses the lift on Sundays"),
    ("Nobody uses the lift on Sundays.", "The lift is not used on Sundays"),
    ("Deploys never happen on Fridays, only on Tuesdays.", "Deploys happen only on Tuesdays"),
    ("I drink tea without milk and take the stairs.", "I drink tea without milk"),
    ("I can't swim, and I cycle to work.", "I cycle to work"),
    ("No parking in the yard; the street is free.", "The street is free"),
    ("I have not only a dog but a cat.", "I have a dog and a cat"),
    ("Kim runs the desk, Lee doesn't.", "Kim runs the desk"),
    ("We meet on Mondays no more.", "We don't meet on Mondays"),
    ("I have neither a car nor a bike.", "I have no bike"),
    ("The API doesn't need a key, the console does need one.", "The API needs no key"),
    ("I never, ever eat fish.", "I never eat fish"),
    ("Never, ever call me at work.", "Never call me at work"),
    ("I do not, under any circumstances, eat nuts.", "I do not eat nuts"),
    ("I don't have a cat or a dog.", "I don't have a dog"),
    ("I don't have a cat or a dog.", "I don't have a cat"),
    ("I am not a doctor or a nurse.", "I am not a nurse"),
    ("We don't, as a rule, deploy on Fridays.", "We don't deploy on Fridays"),
    ("I can't have nuts, eggs, milk.", "I can't have milk"),
    ("I'm not a vegan, a vegetarian or a pescatarian.", "I'm not a vegetarian"),
    ("I'm not a vegan, a vegetarian or a pescatarian.", "I'm not a pescatarian"),
    ("Don't call me, please, after 9pm.", "Don't call me after 9pm"),
    ("I don't have a cat or a dog, but I have a horse.", "I have a horse"),
    ("I never eat fish, my wife does.", "I never eat fish"),
    ("No, I live in Hull.", "I live in Hull"),
    ("I never, if I can help it, eat fish.", "I never eat fish"),
    ("I don't eat meat because animals suffer.", "animals suffer"),
]
"""What was said, and what may be believed of it."""

WRONG = [
    ("I have a dog, no cat.", "no dog"),
    ("I have a dog, no cat.", "I have a cat"),
    ("I have a dog, no cat.", "I have a cat and no dog"),
    ("I have no cat but a dog.", "I have no dog"),
    ("I have no cat but a dog.", "I have a cat"),
    ("We moved to Leeds, not Hull.", "We moved to Hull"),
    ("We moved to Leeds, not Hull.", "We moved to Hull, not Leeds"),
    ("I don't eat meat, fish or eggs.", "I eat fish"),
    ("I don't eat meat, fish or eggs.", "I eat eggs"),
    ("I don't eat meat because I love animals.", "I don't love animals"),
    ("I stopped smoking.", "I smoke"),
    ("The lift is not used on Sundays.", "The lift is used on Sundays"),
    ("Nobody uses the lift on Sundays.", "The lift is used on Sundays"),
    ("Deploys never happen on Fridays, only on Tuesdays.", "Deploys happen on Fridays"),
    ("I drink tea without milk and take the stairs.", "I drink tea with milk"),
    ("I can't swim, and I cycle to work.", "I don't cycle to work"),
    ("I can't swim, and I cycle to work.", "I can swim"),
    ("No parking in the yard; the street is free.", "parking in the yard"),
    ("Kim runs the desk, Lee doesn't.", "Kim doesn't run the desk"),
    ("The API doesn't need a key.", "The API needs a key"),
    ("Kim runs the desk, Lee doesn't.", "Lee runs the desk"),
    ("We meet on Mondays no more.", "We meet on Mondays"),
    ("I never, ever eat fish.", "I eat fish"),
    ("Never, ever call me at work.", "Call me at work"),
    ("I do not, under any circumstances, eat nuts.", "I eat nuts"),
    ("I don't have a cat or a dog.", "I have a dog"),
    ("I am not a doctor or a nurse.", "I am a nurse"),
    ("We don't, as a rule, deploy on Fridays.", "We deploy on Fridays"),
    ("I can't have nuts, eggs, milk.", "I can have milk"),
    ("I can't have nuts, eggs, milk.", "I can have eggs"),
    ("I'm not a vegan, a vegetarian or a pescatarian.", "I am a vegetarian"),
    ("I'm not a vegan, a vegetarian or a pescatarian.", "I am a pescatarian"),
    ("Don't call me, please, after 9pm.", "Call me after 9pm"),
    ("I don't have a cat or a dog, but I have a horse.", "I don't have a horse"),
    ("No, I live in Hull.", "I don't live in Hull"),
    ("I never, if I can help it, eat fish.", "I eat fish"),
    ("I don't eat meat because animals suffer.", "animals don't suffer"),
    ("I don't eat meat, Kim eats fish.", "Kim doesn't eat fish"),
    ("Don't call me, send an email.", "Don't send an email"),
    ("I don't work on Mondays, on Tuesdays I do.", "I don't work on Tuesdays"),
    ("Not Hull, Leeds.", "not Leeds"),
]
"""What was said, and what turns it round."""


@pytest.mark.parametrize(("text", "content"), RIGHT)
def test_what_was_said_is_verified(text: str, content: str) -> None:
    assert source_of(content, "", text) is not None


@pytest.mark.parametrize(("text", "content"), WRONG)
def test_what_was_denied_or_affirmed_of_something_else_is_not(text: str, content: str) -> None:
    assert source_of(content, "", text) is None


@pytest.mark.parametrize(
    ("text", "content", "value", "stands"),
    [
        ('The spare key of the shed is "K-17".', "The spare key of the shed is K-17", "K-17", True),
        (
            "The platform team's daily standup begins at 9:30.",
            "The platform team's standup begins at 09:30",
            "09:30",
            True,
        ),
        ("Standup begins at 9:30.", "Standup begins at 09:30", "09:30", True),
        ("Returns arrived on 2026-05-01.", "Returns arrived on 2026-5-1", "2026-5-1", True),
        ("The fee on transfers is 1.05 percent.", "The fee on transfers is 1.5 percent", "1.5", False),
        ("The public gateway takes uploads of 50 files.", "The public gateway takes uploads of 5 files", "5", False),
        ("The public gateway takes uploads of 5 files.", "The public gateway takes uploads of 50 files", "50", False),
        ("The broken pump of the shed is in (OPS-7).", "The broken pump of the shed is in OPS-8", "OPS-8", False),
        ("The blue van parks outside.", "The blue van parks outside daily", "", True),
        ("The blue van parks outside.", "The blue van parks outside daily, honestly", "", False),
    ],
)
def test_numbers_stand_exactly_and_of_the_words_four_fifths(text: str, content: str, value: str, stands: bool) -> None:
    assert (source_of(content, value, text) is not None) is stands
