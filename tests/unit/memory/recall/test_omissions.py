from datetime import UTC, datetime
from typing import Any

from perdure.memory.recall.items import recalled
from perdure.memory.recall.omissions import EXPLAINED, NOT_MEANT, alternating, omissions
from perdure.memory.recall.query import FoundBy, LeftOut, Query
from perdure.memory.recall.ranking import score_exact
from perdure.values.entries import EntryKind, Memory, State, Turn
from perdure.values.filters import Omission
from perdure.values.hits import Hit

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def memory(name: str, **more: Any) -> Memory:
    return Memory.model_validate({"id": name, "text": name, "first_seen": NOW, "last_seen": NOW, **more})


def told(
    *hits: Hit, given: tuple[Memory, ...] = (), unplaced: tuple[str, ...] = (), **asked: Any
) -> tuple[LeftOut, ...]:
    query = Query.model_validate({"tenant": "t_1", "session": "s", "now": NOW, "min_confidence": 0.7, **asked})
    items = [recalled(score_exact(one, now=NOW), FoundBy.SEMANTIC, "") for one in given]
    objection = query.filters.objection
    return omissions(query, items=items, unplaced=unplaced, hits=hits, objection=objection, floor=0.1)


def test_each_omission_has_its_reason() -> None:
    hits = (
        Hit(memory("doubted", confidence=0.5), cosine=0.9),
        Hit(memory("elsewhere", scopes=("home",)), cosine=0.8),
        Hit(memory("old", state=State.SUPERSEDED), cosine=0.7),
        Hit(memory("over", valid_until=NOW), cosine=0.6),
        Hit(memory("weaker"), cosine=0.5),
        Hit(memory("far"), cosine=0.05),
        Hit(memory("given"), cosine=0.95),
    )
    found = {one.id: one.reason for one in told(*hits, given=(memory("given"),), scopes=("work",))}
    assert found == {
        "doubted": Omission.CONFIDENCE,
        "elsewhere": Omission.SCOPE,
        "old": Omission.SUPERSEDED,
        "over": Omission.FILTERED,
        "weaker": Omission.RELEVANCE,
        "far": Omission.RELEVANCE,
    }


def test_where_all_places_are_taken_the_limit_left_it_out_unless_it_is_far() -> None:
    hits = (
        Hit(memory("near"), cosine=0.1),
        Hit(memory("far"), cosine=0.09),
        Hit(memory("said"), bm25=1.0),
        Hit(memory("by its key")),
        Hit(memory("not meant"), cosine=NOT_MEANT),
    )
    found = {one.id: one.reason for one in told(*hits, given=(memory("given"),), limit=1)}
    assert found == {
        "near": Omission.LIMIT,
        "far": Omission.RELEVANCE,
        "said": Omission.LIMIT,
        "by its key": Omission.LIMIT,
        "not meant": Omission.RELEVANCE,
    }


def test_what_is_in_the_result_and_not_in_the_block_comes_first() -> None:
    found = told(Hit(memory("doubted", confidence=0.5)), given=(memory("a"), memory("b" * 300)), unplaced=("b" * 300,))
    assert [(one.reason, len(one.text)) for one in found] == [(Omission.BUDGET, 200), (Omission.CONFIDENCE, 7)]
    assert found[1] == LeftOut(
        id="doubted", kind=EntryKind.MEMORY, text="doubted", reason=Omission.CONFIDENCE, confidence=0.5
    )


def test_no_more_is_told_than_can_be_read() -> None:
    hits = [Hit(memory(str(number)), cosine=0.5) for number in range(EXPLAINED + 10)]
    assert [one.id for one in told(*hits)] == [str(number) for number in range(EXPLAINED)]


def test_where_no_question_decides_nothing_is_too_far_and_each_is_told_once() -> None:
    hits = (Hit(memory("far"), cosine=0.01), Hit(memory("old", state=State.SUPERSEDED)), Hit(memory("far")))
    found = [(one.id, one.reason) for one in told(*hits, strategy="structured")]
    assert found == [("far", Omission.LIMIT), ("old", Omission.SUPERSEDED)]


def test_many_of_one_kind_take_no_place_of_another() -> None:
    seen: dict[str, Any] = {"first_seen": NOW, "last_seen": NOW}
    said = [
        Turn(id=f"turn_{number}", text="a", session="s", position=number, speaker="Kim", **seen) for number in range(3)
    ]
    hits = [Hit(one, cosine=0.9 - one.position / 10) for one in said]
    hits += [Hit(memory("m2"), cosine=0.2), Hit(memory("m1"), cosine=0.3), Hit(memory("m3"))]
    assert [hit.entry.id for hit in alternating(hits)] == ["m3", "turn_0", "turn_1", "m1", "turn_2", "m2"]
