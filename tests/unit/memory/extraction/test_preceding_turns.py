"""An answer that only its question shows to be private: it is screened wherever the question is known."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure.errors import InvalidInput
from perdure.memory.extraction.grounds.short_answers import EARLIER, given_kind, leaves_open
from perdure.memory.extraction.preceding_turns import answering, before_items, open_question, turns_said
from perdure.memory.extraction.private import screened, screened_json
from perdure.memory.extraction.rules import extraction_of
from perdure.memory.extraction.screening import answered, brief_before, brief_end, screen
from perdure.memory.write_policies import Private, WritePolicy
from perdure.values.items import TurnItem
from perdure.values.jobs import UnusableItem
from perdure.values.statements import Ground, Said, Voice

AT = datetime(2026, 5, 1, tzinfo=UTC)

GIVEN = [
    ("What is your PIN?", "2958", "PIN"),
    ("What's your password?", "hunter2 of course", "password"),
    ("agent: and the network password?", "the wifi at mine is kaffee-um-drei", "password"),
    ("Please enter your password.", "kaffee und kuchen", "password"),
    ("The archive is asking for its passphrase.", "thirteen purple herons, all lower case", "password"),
    ("Your PIN, please.", "oh, one four seven", "PIN"),
    ("Which API key shall I use?", "8f2c99", "key"),
    ("I need your date of birth to continue.", "2 November 1991.", "date of birth"),
    ("Where should it be delivered to?", "7 Marlpit Lane", "home address"),
    ("What number can the driver call you on?", "900 123", "phone number"),
    ("Thanks, I have your e-mail. What is the account number?", "00112233", "IBAN"),
]
NOTHING = [
    ("I forgot my password.", "Click the link on the page."),
    ("user: I can't reset my password", "Click on step 2."),
    ("I've sent the e-mail. Anything else?", "Yes, a table for 2 at 7."),
    ("The PIN of the old phone has expired.", "It was made in 2019."),
    ("What's your password?", "I forgot it."),
    ("What's your password?", "Why?"),
    ("What's your password?", "ok"),
    ("What's your API key?", "I prefer to use 2 of them."),
    ("How many rooms are there?", "7"),
    ("", "2958"),
]

ANSWERS = [
    json.loads(line) for line in (Path(__file__).parent / "preceding/answers.jsonl").read_text("utf-8").splitlines()
]
"""Many more of both, with whether the answer gives something private."""


def said(*turns: tuple[str, Voice]) -> list[Said]:
    return [Said(text=text, by=by, at=AT, occurrence=f"s/{n}") for n, (text, by) in enumerate(turns)]


def turn(text: str, position: int, *, session: str = "s", by: Voice = Voice.USER) -> dict[str, Any]:
    common = {"occurrence": f"{session}/{position}", "occurred_at": AT.isoformat(), "speaker": "ada"}
    return {"kind": "turn", "content": text, "session": session, "position": position, "by": by.value, **common}


@pytest.mark.parametrize(("before", "text", "kind"), GIVEN)
def test_what_a_question_asks_for_is_taken_out_of_the_answer(before: str, text: str, kind: str) -> None:
    found = screen(text, before=before)
    assert (found.text, [one.value for one in found.kinds], found.says_something) == (f"[{kind}]", [kind], False)
    assert screen(found.text, before=before).text == found.text, "it is screened at several doors"
    assert answered(text, before) == f"[{kind}]"


@pytest.mark.parametrize(("before", "text"), NOTHING)
def test_what_gives_nothing_private_is_left_as_it_is(before: str, text: str) -> None:
    assert given_kind(text, before) is None
    assert screen(text, before=before) == screen(text)
    assert answered(text, before) == text


def test_a_value_that_is_asked_for_is_private_and_an_ordinary_turn_is_not() -> None:
    assert len(ANSWERS) > 600
    assert [(case, screen(case["text"], before=case["before"])) for case in ANSWERS if not is_right(case)] == []


def is_right(case: dict[str, Any]) -> bool:
    found = screen(case["text"], before=case["before"])
    if case["private"]:
        return not found.says_something and found.text.startswith("[")
    return found == screen(case["text"])


def test_a_password_may_be_in_a_sentence_of_which_memory_believes_nothing() -> None:
    for question, answer in (
        ("What is your password?", "I use hunter2."),
        ("What is your password?", "I always use swordfish."),
        ("What is your PIN?", "The number is 2958."),
        ("Wie lautet dein Passwort?", "Ich nehme immer Sonnenblume."),
    ):
        one = Said(text=answer, before=question, at=AT, occurrence="s/1")
        assert extraction_of(one).candidates == ()
    one = Said(text="I always use Redis 7.", before="Pin the versions in CI.", at=AT, occurrence="s/1")
    assert [found.content for found in extraction_of(one).candidates] == ["I always use Redis 7."], "the control"


@pytest.mark.parametrize("filler", ["One moment.", "Ok, one moment.", "Let me look it up.", "Einen Moment bitte"])
def test_what_puts_an_answer_off_leaves_a_question_open(filler: str) -> None:
    assert leaves_open(filler)
    question = ("What is your PIN?", Voice.AGENT)
    assert given_kind("2958", open_question([question, (filler, Voice.USER)]))
    items = [turn("What is your PIN?", 1, by=Voice.AGENT), turn(filler, 2), turn("2958", 3)]
    assert given_kind("2958", before_items(items)[2])


CLOSED = [
    [
        ("Do you still remember the wifi password?", Voice.AGENT),
        ("Yes!", Voice.USER),
        ("Great.", Voice.AGENT),
        ("I moved to Berlin last week.", Voice.USER),
    ],
    [
        ("What is your password?", Voice.AGENT),
        ("Sunshine!", Voice.USER),
        ("You are connected now.", Voice.AGENT),
        ("I live in Berlin now.", Voice.USER),
    ],
    [
        ("I need a password for the new laptop.", Voice.USER),
        ("Okay.", Voice.AGENT),
        ("My brother Tom lives in Berlin.", Voice.USER),
    ],
    [
        ("Bitte Passwort im Formular eingeben.", Voice.AGENT),
        ("Ok.", Voice.USER),
        ("Danke!", Voice.AGENT),
        ("Ich wohne in Berlin.", Voice.USER),
    ],
    [
        ("What is your password?", Voice.AGENT),
        ("Done.", Voice.USER),
        ("hunter2 was a good film", Voice.USER),
    ],
    [
        ("What is your PIN?", Voice.AGENT),
        ("One moment.", Voice.AGENT),
        ("4411 people came", Voice.USER),
    ],
]


@pytest.mark.parametrize("turns", CLOSED, ids=lambda turns: turns[-1][0])
def test_any_other_turn_closes_it(turns: list[tuple[str, Voice]]) -> None:
    assert not answering(said(*turns))[-1].before
    before = open_question(turns[:-1])
    assert answered(turns[-1][0], before) == turns[-1][0]


@pytest.mark.parametrize(
    "between",
    [
        [("One moment.", Voice.USER)],
        [("Let me look.", Voice.USER), ("Take your time.", Voice.AGENT), ("", Voice.AGENT)],
        [("The form is shown.", Voice.TOOL), ("The field is empty.", Voice.TOOL)],
    ],
    ids=lambda between: between[0][0],
)
def test_what_does_not_follow_a_question_directly_has_to_look_like_its_answer(
    between: list[tuple[str, Voice]],
) -> None:
    for kind, values in {
        "PIN": ("2958", "one four seven"),
        "password": ("hunter2 of course", "it is Tulip-1999x"),
    }.items():
        before = open_question([(f"What is your {kind}?", Voice.AGENT), *between])
        assert [answered(value, before) for value in values] == [f"[{kind}]"] * 2
        assert answered(values[0], brief_before(before)) == f"[{kind}]", "it is kept with an episode"
        for text in ("You are connected now.", "I live in Berlin now.", "I moved in 2019.", "We rehearse at 7."):
            assert answered(text, before) == text


@pytest.mark.parametrize("text", ["We rehearse at 7.", "Why?", "What is your name?", "2958", "ok", "Thanks!", "Done."])
def test_what_says_or_asks_something_closes_it(text: str) -> None:
    assert not leaves_open(text)
    assert open_question([("What is your PIN?", Voice.AGENT), (text, Voice.USER)]) == text


def test_an_answer_that_was_taken_out_asks_for_nothing() -> None:
    for taken_out in ("[password]", "[PIN]", "user: [password]"):
        assert given_kind("I always travel by train, at 7.", taken_out) is None
        assert not leaves_open(taken_out)


def test_a_question_is_answered_in_its_own_session() -> None:
    question, answer = turn("What is your PIN?", 1, session="a", by=Voice.AGENT), turn("2958", 2, session="a")
    other = [turn("How many rooms?", 1, session="b", by=Voice.AGENT), turn("2958 of them", 2, session="b")]
    items = [TurnItem(**one) for one in (question, other[0], answer, other[1])]
    found = turns_said(items)
    assert [one.before for one in found] == ["", "", "What is your PIN?", ""]
    assert [(one.text, one.occurrence) for one in found] == [(one.content, one.occurrence) for one in items]


def test_what_stands_in_the_answer_itself_says_what_it_is() -> None:
    assert screen("ada@example.com", before="Which address shall I write to?").text == "[email]"


@pytest.mark.parametrize("allow", ["+49 30 901820", "@example.org"])
def test_what_the_policy_allows_is_no_private_answer(allow: str) -> None:
    for text in ("+49 30 901820", "It is desk@example.org."):
        kept = screen(text, ("+49 30 901820", "@example.org"), "agent: What is your e-mail or phone number?")
        assert (kept.text, kept.kinds) == (text, ())
    assert screen("It is 2958", (allow,), "What is your PIN?").text == "[PIN]"


def test_the_question_is_the_turn_before_and_a_tool_in_between_leaves_it_open() -> None:
    turns = said(
        ("What is your PIN?", Voice.AGENT),
        ("2958", Voice.USER),
        ("And your password?", Voice.AGENT),
        ("The form is shown, and the field for it has been filled in with what the vault has.", Voice.TOOL),
        ("hunter2 of course", Voice.USER),
        ("We rehearse at 7.", Voice.USER),
    )
    found = answering(turns)
    assert [bool(one.before) for one in found] == [False, True, False, False, True, False]
    assert found[1].before == "What is your PIN?"
    assert found[4].before.startswith(f"And your password?{EARLIER}The form is shown")
    [own] = answering([turns[1].changed(before="agent: How many?")])
    assert own.before == "agent: How many?"


def test_of_items_a_turn_follows_the_one_before_it_in_its_session() -> None:
    question, answer = turn("What is your PIN?", 7, by=Voice.AGENT), turn("2958", 8)
    items = [
        answer,
        turn("2958", 1, session="other"),
        {"kind": "memory", "content": "2958"},
        question,
        "no item",
        {"kind": "turn", "content": 7},
    ]
    assert before_items(items) == ["What is your PIN?", "", "", "", "", ""]
    assert before_items([TurnItem(**question), TurnItem(**answer)]) == ["", "What is your PIN?"]


@pytest.mark.parametrize("private", list(Private))
def test_an_item_that_answers_is_refused_as_the_policy_says(private: Private) -> None:
    policy, item, before = WritePolicy(private=private), turn("2958", 1), "What is your PIN?"
    reason = "it says nothing besides private data or a secret"
    if private is Private.REFUSE:
        reason = "it holds PIN (the write policy refuses private data and secrets)"
        with pytest.raises(InvalidInput, match="it holds PIN"):
            screened_json(item, policy, "items[0]", before)
    else:
        assert screened_json(item, policy, "items[0]", before) == {**item, "content": "[PIN]"}
    assert screened(TurnItem(**item), policy, before) == UnusableItem(reason=reason)
    assert screened(TurnItem(**item), policy) == TurnItem(**item), "the control: nothing was asked"


def test_nothing_is_believed_of_it_and_the_reason_says_what_it_is() -> None:
    one = Said(text="2958", before="agent: What is your PIN?", at=AT, occurrence="s/1")
    found = extraction_of(one)
    assert found.candidates == ()
    assert [(left.ground, left.reason) for left in found.left] == [(Ground.SECRET, "It gives access to something: PIN")]


def test_the_end_of_a_long_reply_has_its_question_and_no_part_of_what_is_private() -> None:
    for length in range(440, 700, 7):
        text = f"Your card 4111 1111 1111 1111 {'is known here ' * 80}"[: length + 30] + " What is your PIN?"
        end = brief_end(text)
        assert end.endswith("What is your PIN?")
        assert len(end) <= 500
        assert "1111" not in end


def test_who_asked_is_no_part_of_the_limit_by_which_a_question_is_cut() -> None:
    for length in (480, 485, 493, 500, 650):
        question = f"{'It is locked. ' * 60}"[: length - 18] + " What is your PIN?"
        found = brief_before(f"agent: {question}")
        assert found.startswith("agent: ")
        assert found.endswith("What is your PIN?")
        assert brief_before(found) == found, "it is screened at several doors"
    assert brief_before("What is your PIN?") == "What is your PIN?"


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("What is your PIN?", marks=pytest.mark.slow),
        "What is your password?",
        pytest.param("What is your e-mail address?", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "text", ["!", "-", "[a----", "[a", "no!", "a.b", "at ", "at.", "at-dot", "x_1", "i can't ", "moment please "]
)
def test_no_answer_takes_long_to_be_found_none(text: str, question: str) -> None:
    screen(text, before=question)
    started = time.thread_time()
    screen(text * (24_000 // len(text)), before=question)
    leaves_open(text * 100 + "x")
    assert time.thread_time() - started < 3, "with time in square it takes three times as long"


def test_no_turn_takes_long_to_be_found_no_question() -> None:
    for words in ("what do you ", "your new and ", "please enter the ", "is your ", "password ", "ok, "):
        started = time.thread_time()
        given_kind("swordfish", words * (8_000 // len(words)))
        assert time.thread_time() - started < 1
