from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.values.episodes import EPISODES_KEPT, Episode, EpisodeKind, due_at, importance, said_to_people
from perdure.values.statements import Voice

NOW = datetime(2026, 5, 1, tzinfo=UTC)
KINDS, VOICES, WEIGHTS = st.sampled_from(EpisodeKind), st.sampled_from(Voice), st.floats(0, 1)


@given(KINDS | st.just(EpisodeKind("strange")), VOICES | st.just(Voice("strange")), WEIGHTS)
def test_it_is_a_part_of_one(kind: EpisodeKind, by: Voice, weight: float) -> None:
    assert 0 <= importance(kind, by=by, weight=weight) <= 1


@given(VOICES, WEIGHTS, VOICES, WEIGHTS)
def test_a_failure_matters_more_than_any_success(one: Voice, weight: float, other: Voice, less: float) -> None:
    failure = importance(EpisodeKind.ERROR, by=one, weight=weight)
    assert failure > importance(EpisodeKind.TOOL, by=other, weight=less)


@given(VOICES, WEIGHTS)
def test_how_a_failure_was_resolved_matters_more_than_the_failure(by: Voice, weight: float) -> None:
    failure = importance(EpisodeKind.ERROR, by=by, weight=weight)
    assert importance(EpisodeKind.RESOLUTION, by=by, weight=weight) > failure or failure == 1


@given(KINDS, WEIGHTS)
def test_the_user_matters_more_than_an_agent_and_that_more_than_a_tool(kind: EpisodeKind, weight: float) -> None:
    user, agent, tool = (importance(kind, by=by, weight=weight) for by in (Voice.USER, Voice.AGENT, Voice.TOOL))
    assert user > agent > tool or {user, tool} & {0, 1}


@given(KINDS, VOICES, WEIGHTS, WEIGHTS)
def test_what_is_believed_more_matters_no_less(kind: EpisodeKind, by: Voice, one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert importance(kind, by=by, weight=less) <= importance(kind, by=by, weight=more)


@given(st.lists(VOICES | st.just(Voice("strange"))))
def test_every_word_of_the_user_and_of_each_answer_the_last_is_told_and_nothing_else(voices: list[Voice]) -> None:
    told = said_to_people(voices)
    for place, (voice, is_told) in enumerate(zip(voices, told, strict=True)):
        after = voices[place + 1] if place + 1 < len(voices) else Voice.USER
        assert is_told == (voice is Voice.USER or (voice, after) == (Voice.AGENT, Voice.USER))


MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
AGES = st.timedeltas(timedelta(), timedelta(days=5))


@given(MOMENTS, AGES, st.integers(1, EPISODES_KEPT))
def test_what_waits_is_promoted_while_it_is_read_and_before_it_is_evicted(
    last: datetime, age: timedelta, held: int
) -> None:
    first = last - age
    due = due_at(last, first, held)
    assert first <= due <= first + timedelta(hours=20)
    assert due <= last + timedelta(hours=1)
    assert (due == first) == (held >= 800)


@given(MOMENTS, AGES, AGES, st.integers(1, EPISODES_KEPT), st.integers(1, EPISODES_KEPT))
def test_more_that_happens_never_puts_it_off_beyond_its_age(
    last: datetime, age: timedelta, later: timedelta, held: int, more: int
) -> None:
    first = last - age
    assert due_at(last, first, max(held, more)) <= due_at(last, first, min(held, more))
    assert due_at(last + later, first, held) >= due_at(last, first, held)


@pytest.mark.parametrize(
    ("text", "person", "seen"),
    [
        ("a: yes (answered by kim at 2026)", "kim", "a: yes (answered by another person at 2026)"),
        ("Stand by me (sent by person kim at 2026)", "kim", "Stand by me (sent by another person at 2026)"),
        ("a: yes (answered by ki", "kim", "a: yes (answered by another person"),
        ("a: yes (answered by Step by step at 2026)", "Step by step", "a: yes (answered by another person at 2026)"),
        ("a: yes (sent by person Step by st", "Step by step", "a: yes (sent by another person"),
        ("It was written by Jo", "kim", "It was written by Jo"),
        ("a: yes (answered by ada at 2026)", "ada", "a: yes (answered by ada at 2026)"),
        ("a: go (delivered by schedule night at 2026)", "", "a: go (delivered by schedule night at 2026)"),
    ],
)
def test_an_episode_is_taken_away_without_the_name_of_another_person(text: str, person: str, seen: str) -> None:
    episode = Episode(id="e", kind=EpisodeKind.DECISION, text=text, importance=0.5, at=NOW, person=person)
    assert episode.seen_by("ada").text == seen
    assert episode.seen_by("ada").person in ("", "ada")
