from hypothesis import given
from hypothesis import strategies as st

from perdure.episodes import EpisodeKind, importance
from perdure.said import Voice

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
