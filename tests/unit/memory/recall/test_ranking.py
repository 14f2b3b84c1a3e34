import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perdure.memory.recall.ranking import (
    HYBRID,
    PROFILES,
    READER,
    RELEVANCE_FIRST,
    Profile,
    Scored,
    quality_parts,
    rank,
    relevant,
    reordered,
    score_exact,
    until_it_falls,
)
from perdure.memory.retention import RetentionRules
from perdure.values.entries import Memory, MemoryType, Source
from perdure.values.hits import Hit
from perdure.values.strategies import ProfileName

SURE = Profile(name="sure", words=0.5, quality=1.0, confidence=1.0, recency=0.0, frequency=0.0)
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def memory(name: str, *, days: float = 0.0, confidence: float = 0.9, used: int = 0) -> Memory:
    seen = NOW - timedelta(days=days)
    return Memory(
        id=f"mem_{name}",
        text=name,
        memory_type=MemoryType.FACT,
        source=Source.EXPLICIT,
        first_seen=seen,
        last_seen=seen,
        confidence=confidence,
        access_count=used,
    )


@st.composite
def hits(draw: st.DrawFn) -> list[Hit]:
    found: list[Hit] = []
    for number in range(draw(st.integers(0, 12))):
        entry = memory(
            str(number), days=draw(st.floats(0, 400)), confidence=draw(st.floats(0, 1)), used=draw(st.integers(0, 99))
        )
        cosine = draw(st.none() | st.floats(-1, 1))
        bm25 = draw(st.floats(0.01, 30)) if cosine is None else draw(st.none() | st.floats(0.01, 30))
        found.append(Hit(entry, cosine, bm25))
    return found


@given(hits(), st.floats(0, 0.5), st.integers(1, 15))
def test_a_ranking_is_bounded_ordered_and_explained(found: list[Hit], floor: float, limit: int) -> None:
    ranked = rank(found, now=NOW, floor=floor, limit=limit)
    assert len(ranked) <= limit
    assert len({one.entry.id for one in ranked}) == len(ranked)
    scores = [one.score for one in ranked]
    assert scores == sorted(scores, reverse=True)
    for one in ranked:
        assert 0.0 <= one.score <= 1.0
        assert {"relevance", "confidence", "recency", "frequency", "quality", "score"} <= one.parts.keys()
        share = RELEVANCE_FIRST.quality
        expected = (1 - share) * one.parts["relevance"] + share * one.parts["quality"]
        assert one.score == pytest.approx(expected, abs=1e-5)


@given(hits(), st.integers(1, 15), st.randoms())
def test_the_order_of_the_hits_does_not_matter(found: list[Hit], limit: int, chance: random.Random) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)
    assert rank(found, now=NOW, floor=0.2, limit=limit) == rank(shuffled, now=NOW, floor=0.2, limit=limit)


@given(hits(), st.integers(1, 15))
def test_a_shorter_answer_is_the_beginning_of_a_longer_one(found: list[Hit], limit: int) -> None:
    whole = rank(found, now=NOW, floor=0.0, limit=100)
    assert rank(found, now=NOW, floor=0.0, limit=limit) == whole[:limit]


@given(hits())
def test_nothing_below_the_floor_comes_without_words(found: list[Hit]) -> None:
    for one in rank(found, now=NOW, floor=0.3, limit=100):
        assert one.parts.get("cosine", 0.0) >= 0.3 - 1e-6 or one.parts.get("bm25", 0.0) > 0.0


def test_quality_does_not_make_the_irrelevant_first() -> None:
    right = Hit(memory("right", days=200, confidence=0.7), cosine=0.6, bm25=8.0)
    popular = Hit(memory("popular", confidence=1.0, used=99), cosine=0.3, bm25=0.5)
    assert [one.entry.id for one in rank([popular, right], now=NOW, floor=0.25, limit=2)] == [
        "mem_right",
        "mem_popular",
    ]


def test_the_better_is_looked_at_as_far_down_as_its_quality_can_lift_it() -> None:
    even = Profile(name="even", words=1.0, quality=0.4, confidence=1.0, recency=0.0, frequency=0.0)
    near, sure = Hit(memory("near", confidence=0.0), bm25=1.0), Hit(memory("sure", confidence=1.0), bm25=0.5)
    [first] = rank([near, sure], now=NOW, floor=0.0, limit=1, profile=even)
    assert (first.entry.id, first.score) == ("mem_sure", pytest.approx(0.7))


def test_of_equally_relevant_ones_the_better_is_first() -> None:
    old = Hit(memory("old", days=80), cosine=0.5)
    new = Hit(memory("new"), cosine=0.5)
    assert [one.entry.id for one in rank([old, new], now=NOW, floor=0.25, limit=2)] == ["mem_new", "mem_old"]


def test_where_only_words_answered_they_decide() -> None:
    few, many = Hit(memory("few"), bm25=1.0), Hit(memory("many"), bm25=4.0)
    ranked = rank([few, many], now=NOW, floor=0.25, limit=2)
    assert [one.parts["relevance"] for one in ranked] == [1.0, 0.25]


@pytest.mark.parametrize(("days", "recency"), [(-3, 1.0), (0, 1.0), (45, 0.5), (81, 0.1), (1000, 0.1)])
def test_ninety_days_take_all_but_a_tenth(days: float, recency: float) -> None:
    assert quality_parts(memory("a", days=days), NOW)["recency"] == pytest.approx(recency)


@pytest.mark.parametrize(("used", "frequency"), [(0, 0.0), (25, 0.5), (50, 1.0), (999, 1.0)])
def test_fifty_uses_are_often(used: int, frequency: float) -> None:
    assert quality_parts(memory("a", used=used), NOW)["frequency"] == frequency


def test_what_was_asked_for_by_name_is_wholly_relevant() -> None:
    scored = score_exact(memory("a"), now=NOW)
    assert scored.parts["relevance"] == 1.0


def test_the_weights_of_a_profile_are_its_own() -> None:
    words = Profile(name="words", words=1.0, quality=0.0)
    near, said = Hit(memory("near"), cosine=0.9, bm25=1.0), Hit(memory("said"), cosine=0.3, bm25=9.0)
    assert rank([near, said], now=NOW, floor=0.0, limit=1, profile=words)[0].entry.id == "mem_said"
    assert RELEVANCE_FIRST.name == "relevance-first"


def test_what_was_not_used_for_a_half_life_is_believed_half_as_much() -> None:
    old, new = memory("old", days=210, confidence=0.8), memory("new", confidence=0.5)
    assert score_exact(old, now=NOW).parts["confidence"] == 0.4
    found = [Hit(old, cosine=0.6), Hit(new, cosine=0.6)]
    assert [one.entry.id for one in rank(found, now=NOW, floor=0.0, limit=2, profile=SURE)] == ["mem_new", "mem_old"]
    never = RetentionRules(half_life_days=None)
    kept = rank(found, now=NOW, floor=0.0, limit=2, profile=SURE, rules=never)
    assert [one.entry.id for one in kept] == ["mem_old", "mem_new"]
    for rules, first in ((RetentionRules(), "mem_new"), (never, "mem_old")):
        assert reordered(kept, SURE, now=NOW, rules=rules)[0].entry.id == first


def test_quality_is_half_confidence_then_freshness_then_use() -> None:
    never = RetentionRules(half_life_days=None)
    scored = score_exact(memory("a", days=45, confidence=0.8, used=10), now=NOW, rules=never)
    assert scored.parts["quality"] == pytest.approx(0.5 * 0.8 + 0.3 * 0.5 + 0.2 * 0.2)


def relevances(*found: tuple[str, float | None, float | None], floor: float = 0.25) -> dict[str, float]:
    hits = [Hit(memory(name), cosine, bm25) for name, cosine, bm25 in found]
    return {one.entry.text: one.parts["relevance"] for one in rank(hits, now=NOW, floor=floor, limit=9, profile=EVEN)}


EVEN = Profile(name="even", words=0.5, quality=0.5)


def test_relevance_is_meaning_between_the_extremes_and_words_up_to_the_best() -> None:
    assert relevances(("a", 0.8, 0.5), ("b", 0.6, 0.25), ("c", 0.4, None), ("d", None, 0.1)) == {
        "a": 1.0,
        "b": 0.5,
        "c": 0.0,
        "d": 0.1,
    }
    assert relevances(("a", 0.9, None), ("b", 0.7, None), ("c", 0.5, None)) == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert relevances(("a", 0.5, 0.4), ("b", 0.5, 0.8)) == {"a": 0.75, "b": 1.0}
    assert relevances(("at the floor", 0.25, None), ("below it", 0.2499, None)) == {"at the floor": 1.0}


def test_of_equal_scores_the_later_observation_is_first_then_the_smaller_id() -> None:
    plain = Profile(name="plain", words=0.5, quality=0.0)
    hits = [Hit(memory(name, days=days), 0.5) for name, days in (("c", 1), ("b", 1), ("a", 2))]
    assert [one.entry.text for one in rank(hits, now=NOW, floor=0.0, limit=3, profile=plain)] == ["b", "c", "a"]


@given(hits(), st.integers(1, 15), st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
@example([Hit(memory("a"), 0.9 - 1e-8), Hit(memory("b"), 0.9), Hit(memory("c"), 0.1)], 1, 0.0)  # Equal, as rounded.
def test_what_cannot_be_lifted_to_a_place_is_left_out_and_nothing_else(
    found: list[Hit], limit: int, quality: float
) -> None:
    profile = Profile(name="any", words=0.5, quality=quality)
    whole = rank(found, now=NOW, floor=0.0, limit=100, profile=profile)
    assert rank(found, now=NOW, floor=0.0, limit=limit, profile=profile) == whole[:limit]


def test_parts_are_told_to_six_places() -> None:
    one = score_exact(memory("a", days=1 / 7), now=NOW)
    assert one.parts["recency"] == round(1 - 1 / 7 / 90, 6)


@given(hits(), st.integers(1, 15))
def test_what_is_relevant_is_the_beginning_of_what_fills_the_places(found: list[Hit], limit: int) -> None:
    ranked = rank(found, now=NOW, floor=0.0, limit=limit)
    kept = relevant(ranked)
    assert kept == ranked[: len(kept)]


@pytest.mark.parametrize(
    ("strengths", "kept"),
    [([], 0), ([1.0], 1), ([1.0, 0.5, 0.49, 0.9], 2), ([0.4, 1.0, 0.5], 0), ([0.0, 0.0], 2)],
)
def test_a_result_ends_before_the_first_that_is_much_weaker_than_the_strongest(
    strengths: list[float], kept: int
) -> None:
    assert until_it_falls(strengths, 0.5) == kept


def found_by(name: str, cosine: float | None, bm25: float | None) -> Scored:
    scored = score_exact(memory(name), now=NOW)
    parts = {"cosine": cosine, "bm25": bm25}
    return scored.changed(parts=scored.parts | {key: value for key, value in parts.items() if value is not None})


def test_relevance_falls_where_meaning_and_words_have_half_of_the_strongest() -> None:
    both, near, said = found_by("both", 0.8, 4.0), found_by("near", 0.8, None), found_by("said", None, 4.0)
    assert relevant([both, near, said]) == [both, near, said]
    assert relevant([both, found_by("far", 0.79, None), said]) == [both]
    assert relevant([near, found_by("half", 0.4, None), found_by("far", 0.39, None)])[1:] == [
        found_by("half", 0.4, None)
    ]
    assert relevant([said]) == [said]
    assert relevant([found_by("against", -0.1, 4.0), found_by("less", None, 2.0)])[1:] == [found_by("less", None, 2.0)]


def test_the_profiles_of_the_seeds_are_there_under_their_names() -> None:
    assert {name: PROFILES[name] for name in map(str, ProfileName)} == PROFILES
    weights = [(one.confidence, one.recency, one.frequency, one.task) for one in (READER, HYBRID)]
    assert weights == [(0.5, 0.3, 0.2, 0.0), (0.4, 0.3, 0.2, 0.1)]


def test_a_profile_orders_what_relevance_chose_and_adds_nothing() -> None:
    near = Hit(memory("near", days=80), cosine=0.9)
    sure = Hit(memory("sure", confidence=1.0, used=50), cosine=0.5)
    chosen = rank([near, sure], now=NOW, floor=0.0, limit=2)
    assert [one.entry.id for one in chosen] == ["mem_near", "mem_sure"]
    ordered = reordered(chosen, READER, now=NOW)
    assert [one.entry.id for one in ordered] == ["mem_sure", "mem_near"]
    assert (ordered[0].score, ordered[0].parts["cosine"]) == (1.0, 0.5)
    assert "task" not in ordered[0].parts


def test_what_is_of_the_task_has_a_tenth_more() -> None:
    mine, other = memory("mine").changed(tags=("audit",)), memory("other")
    chosen = rank([Hit(mine, cosine=0.5), Hit(other, cosine=0.6)], now=NOW, floor=0.0, limit=2)
    first, second = reordered(chosen, HYBRID, now=NOW, task="audit")
    assert (first.entry.id, first.parts["task"], second.parts["task"]) == ("mem_mine", 1.0, 0.0)
    assert first.score - second.score == pytest.approx(0.1)
    assert first.score == pytest.approx(0.4 * 0.9 + 0.3 + 0.1)


def test_what_was_not_searched_for_may_be_less_relevant() -> None:
    assert score_exact(memory("a"), now=NOW, relevance=0.5).parts["relevance"] == 0.5
