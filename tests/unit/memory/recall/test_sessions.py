"""What a session learned and was forgotten since is no longer shown of it; the rest is found by its words."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.identity import memory_id, stand_in
from perdure.memory.recall.sessions import FOUND, found_by_words, learned, unforgotten, waiting
from perdure.stores.spool import Waiting
from perdure.values.changes import Deletion
from perdure.values.entries import MemoryType
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.items import statement

AT = datetime(2026, 5, 1, tzinfo=UTC)
TRAIN = "I always travel by train."


def episode(kind: EpisodeKind, text: str, *, after: int) -> Episode:
    moment = AT + timedelta(minutes=after)
    return Episode(id=f"{kind}/{text}/{after}", kind=kind, text=text, importance=0.5, at=moment)


def test_what_says_it_and_was_noted_before_it_was_forgotten_is_left_out() -> None:
    gone = [
        episode(EpisodeKind.INSIGHT, TRAIN, after=0),
        episode(EpisodeKind.TURN, f"user: Hm. {TRAIN}", after=0),
        episode(EpisodeKind.DECISION, "a: yes (answered)", after=0).changed(said=TRAIN),
        episode(EpisodeKind.INSIGHT, "a: look states: something", after=0).changed(said=TRAIN),
    ]
    others = [
        episode(EpisodeKind.INSIGHT, TRAIN, after=9),
        episode(EpisodeKind.INSIGHT, "I never fly.", after=0),
        episode(EpisodeKind.TURN, "user: I always travel by train to work.", after=0),
        episode(EpisodeKind.TOOL, TRAIN, after=0),
    ]
    episodes = [*gone, *others]
    identifier = memory_id("t", MemoryType.PREFERENCE, statement(TRAIN))
    found = learned("t", episodes)
    assert found[memory_id("t", MemoryType.FACT, statement("I never fly."))] == {others[1].id}
    line = Deletion(id=identifier, at=AT + timedelta(minutes=5), reason="asked", sweep="r")
    assert unforgotten(episodes, found, {identifier: line}) == others
    undone = line.changed(restored_at=AT + timedelta(minutes=6))
    assert unforgotten(episodes, found, {identifier: undone}) == episodes


def test_what_waits_is_found_under_what_stands_for_its_session() -> None:
    lines = [
        Waiting(session=name, episode=episode(EpisodeKind.TURN, text, after=after))
        for after, (name, text) in enumerate([("a@b.com", "one"), (stand_in("a@b.com"), "two"), ("c@d.com", "three")])
    ]
    assert [one.text for one in waiting(lines, "a@b.com")] == ["one", "two"]
    assert waiting(lines, stand_in("a@b.com")) == waiting(lines, "a@b.com")


def said(*texts: str) -> list[Episode]:
    """Return turns, the first one being the oldest."""
    return [episode(EpisodeKind.TURN, text, after=after) for after, text in enumerate(texts)]


TURNS = said(
    "turn 1: The staging database listens on port 5433.",
    "turn 2: I looked at the database of the shop.",
    *(
        f"turn {number}: I looked at {'a page' if number % 3 else 'a file'}, number {number}."
        for number in range(3, 30)
    ),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Which ports does staging use?", [0]),
        ("databases", [1, 0]),
        ("What about it?", []),
        ("", []),
        ("elephants", []),
        ("I looked: a number, in a turn", []),
    ],
)
def test_what_happened_is_found_by_its_words_the_newest_first_among_equals(text: str, found: list[int]) -> None:
    assert found_by_words(text, TURNS) == [TURNS[place] for place in found]


def test_a_rare_word_counts_more_than_one_that_many_have() -> None:
    assert found_by_words("Which file is the shop's?", TURNS)[0] == TURNS[1]


def test_all_that_share_a_word_are_found() -> None:
    files = [one for one in TURNS if "file" in one.text]
    assert len(files) > FOUND
    assert found_by_words("files", TURNS) == files[::-1]


def test_what_was_asked_itself_does_not_keep_out_what_it_asks_for() -> None:
    question = "Do you remember which port I told you that Zorblatt uses while we were travelling?"
    turns = [*said("turn 1: Zorblatt runs at 5433."), *TURNS[2:], episode(EpisodeKind.TURN, question, after=90)]
    assert turns[0] in found_by_words(question, turns)


def test_nothing_is_found_in_an_empty_session() -> None:
    assert found_by_words("anything", []) == []


@given(st.permutations(TURNS))
def test_the_order_in_which_they_are_read_changes_nothing(episodes: list[Episode]) -> None:
    text = "The database of the shop and the file 7"
    assert found_by_words(text, episodes) == found_by_words(text, TURNS)
