"""Ranking the turns of conversations."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.recall import turns
from perdure.memory.recall.turns import Asked, limits, named, rank_turns, relevant_turns, without_names
from perdure.values.entries import Turn
from perdure.values.hits import Hit
from perdure.words import stems

NOW = datetime(2026, 5, 8, 12, tzinfo=UTC)


def hit(text: str, position: int = 0, *, cosine: float | None = None, session: str = "s1", at: datetime = NOW) -> Hit:
    turn = Turn(
        id=f"turn_{session}_{position}",
        text=text,
        session=session,
        position=position,
        speaker=text.partition(":")[0],
        first_seen=at,
        last_seen=at,
    )
    return Hit(turn, cosine=cosine, bm25=1.0, words=" ".join(stems(text)))


def asked(question: str, *speakers: str) -> Asked:
    return Asked(question, stems(question), named(question, speakers))


def ranked(question: str, *hits: Hit, speakers: tuple[str, ...] = ("Ada", "Kim")) -> list[str]:
    return [one.entry.id for one in rank_turns(asked(question, *speakers), hits, stored=len(hits), limit=99)]


def parts(question: str, *hits: Hit, speakers: tuple[str, ...] = ("Ada", "Kim")) -> dict[str, dict[str, float]]:
    return {one.entry.id: one.parts for one in rank_turns(asked(question, *speakers), hits, stored=len(hits), limit=99)}


def test_the_constants_are_those_that_were_measured() -> None:
    names = ("_REACH", "_LATER", "_EARLIER", "_ASKED", "_K1", "_B", "_AROUND")
    names += ("_MEANING", "_SPEAKER", "_QUESTION", "_LENGTH", "_WHEN", "_DATE")
    assert [getattr(turns, name) for name in names] == [
        *(4, 0.4, 0.6, 0.9, 1.2, 0.75, 0.3),
        *(0.75, 0.2, -0.2, 0.075, 0.35, 0.6),
    ]
    stored = {0: (200, 100), 700: (200, 100), 6_300: (600, 300), 17_000: (986, 493), 10**9: (1_000, 500)}
    assert {number: limits(number) for number in stored} == stored


def test_a_whole_ranking_is_as_it_was_measured() -> None:
    said = ("Ada: Did you paint the fence?", "Kim: Yes, last week.", "Ada: Which colour?", "Kim: Green, like the door.")
    hits = [hit(text, place, cosine=0.2 + 0.1 * place) for place, text in enumerate(said)]
    found = rank_turns(asked("When did Kim paint the fence?", "Ada", "Kim"), hits, stored=400, limit=99)
    assert [(one.entry.id, one.score) for one in found] == [
        ("turn_s1_1", pytest.approx(1.829585)),
        ("turn_s1_3", pytest.approx(1.638566)),
        ("turn_s1_2", pytest.approx(1.068568)),
        ("turn_s1_0", pytest.approx(0.903972)),
    ]
    words = {one.entry.id: one.parts["words"] for one in found}
    assert words == pytest.approx(
        {"turn_s1_0": 1.0, "turn_s1_1": 0.931604, "turn_s1_2": 0.663445, "turn_s1_3": 0.567858}
    )


def test_a_ranking_tells_of_what_its_scores_are_made() -> None:
    assert parts("parrot", hit("Ada: parrot"))["turn_s1_0"].keys() == {
        *("words", "meaning", "speaker", "question", "length", "when", "date")
    }


def test_the_best_by_words_has_one_however_common_its_words_are() -> None:
    hits = [hit("Ada: parrot", place) for place in (0, 9, 18)]
    assert [of["words"] for of in parts("parrot", *hits).values()] == [1.0, 1.0, 1.0]


def test_a_ranking_is_relevant_up_to_where_it_falls_below_a_share_of_its_best() -> None:
    found = rank_turns(asked("x"), [hit("Ada: a", place) for place in range(5)], stored=5, limit=99)
    scores = (1.0, 0.9, 0.56, 0.54, 0.53)
    scored = [one.changed(score=score) for one, score in zip(found, scores, strict=True)]
    assert relevant_turns(scored) == scored[:3]
    assert relevant_turns(scored[:1]) == scored[:1]
    assert relevant_turns([]) == []


def test_a_reply_is_heard_with_its_question() -> None:
    reply = (hit("Ada: Where did the parrot go?", 0), hit("Kim: Home.", 1))
    alone = (hit("Ada: Where did the parrot go?", 0), hit("Kim: Home.", 9))
    assert parts("parrot", *reply)["turn_s1_1"]["words"] > 0 == parts("parrot", *alone)["turn_s1_9"]["words"]
    other = (hit("Ada: Where did the parrot go?", 0), hit("Kim: Home.", 1, session="s2"))
    assert parts("parrot", *other)["turn_s2_1"]["words"] == 0, "another session is not around it"


def test_later_and_earlier_turns_count_less_with_each_step() -> None:
    hits = [hit("Ada: parrot" if place == 5 else "Kim: x", place) for place in range(10)]
    words = {place: parts("parrot", *hits)[f"turn_s1_{place}"]["words"] for place in range(10)}
    assert words[0] == 0 < words[1] < words[2] < words[3] < words[4] < words[5] == 1.0
    assert words[5] > words[6] > words[7] > words[8] > words[9] > 0


def test_meaning_is_heard_around_and_what_was_not_near_counts_as_the_least_near() -> None:
    hits = [hit("Ada: a", 0, cosine=0.9), hit("Kim: b", 1), hit("Ada: c", 9, cosine=0.1), hit("Kim: d", 20)]
    meaning = {name: of["meaning"] for name, of in parts("x", *hits).items()}
    assert meaning["turn_s1_0"] > meaning["turn_s1_1"] > meaning["turn_s1_9"] == meaning["turn_s1_20"] == 0
    assert {of["meaning"] for of in parts("x", hit("Ada: a"), hit("Kim: b", 1)).values()} == {0.0}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does Kim like?", True),
        ("what does kim's cat like?", True),
        ("Kim and Ada?", False),
        ("Kimono?", False),
    ],
)
def test_who_is_named_alone_is_heard_first(question: str, expected: bool) -> None:
    found = parts(question, hit("Ada: x", 0), hit("Kim: x", 5))
    assert (found["turn_s1_5"]["speaker"] > 0) is expected
    assert found["turn_s1_0"]["speaker"] == 0


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("What does Kim like?", "What does like?"),
        ("Is that Kim's cat, kim?", "Is that cat, ?"),
        ("Kim?", "Kim?"),
        ("Where is the kimono?", "Where is the kimono?"),
    ],
)
def test_names_are_taken_out_unless_nothing_is_left(question: str, left: str) -> None:
    assert without_names(question, ["Kim"]) == left


@pytest.mark.parametrize(
    ("text", "asks"),
    [("Ada: Why?", True), ("Ada: Why? Well.", False), ("Ada: Why? [shared image: a cat]", True), ("Ada: Well.", False)],
)
def test_a_question_answers_nothing(text: str, asks: bool) -> None:
    assert (parts("x", hit(text))["turn_s1_0"]["question"] < 0) is asks


def test_a_question_about_time_looks_for_expressions_of_time() -> None:
    hits = (hit("Kim: I came yesterday.", 0), hit("Kim: I came by bus.", 9))
    assert [parts("When did Kim come?", *hits)[name]["when"] > 0 for name in ("turn_s1_0", "turn_s1_9")] == [
        True,
        False,
    ]
    assert not any(of["when"] for of in parts("How did Kim come?", *hits).values())


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("What was in May 2026?", 1.0),
        ("What was in may 2026?", 1.0),
        ("What was on 8 May 2026?", 1.0),
        ("What was on May 20th, 2026?", 0.4),
        ("What was in 2026?", 1.0),
        ("What was in 2025?", 0.0),
        ("What was in April 2026?", 0.5),
        ("What was in Feb?", 0.0),
        ("What may it be?", 0.0),
        ("What was it?", 0.0),
    ],
)
def test_a_date_in_the_question(question: str, share: float) -> None:
    assert parts(question, hit("Ada: x"))["turn_s1_0"]["date"] == pytest.approx(0.6 * share)


@given(
    st.lists(
        st.tuples(st.text(max_size=30), st.integers(0, 30), st.none() | st.floats(-1, 1), st.sampled_from("ab")),
        max_size=12,
        unique_by=lambda one: (one[1], one[3]),
    ),
    st.text(max_size=60),
    st.integers(0, 10**6),
)
def test_every_turn_is_ranked_once_and_its_score_is_the_sum_of_its_parts(
    said: list[tuple[str, int, float | None, str]], question: str, stored: int
) -> None:
    hits = [
        hit(f"Ada: {text}", place, cosine=cosine, session=session, at=NOW - timedelta(days=place))
        for text, place, cosine, session in said
    ]
    found = rank_turns(asked(question, "Ada"), hits, stored=stored, limit=99)
    assert sorted(one.entry.id for one in found) == sorted(one.entry.id for one in hits)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    for one in found:
        assert one.score == pytest.approx(sum(one.parts.values()), abs=1e-5)
        assert 0 <= one.parts["words"] <= 1
        assert 0 <= one.parts["meaning"] <= 0.75
    assert rank_turns(asked(question, "Ada"), hits[::-1], stored=stored, limit=5) == found[:5]
