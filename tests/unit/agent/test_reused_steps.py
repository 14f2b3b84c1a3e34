"""What a task that begins at a step takes over: what is read of the steps before, and nothing of those it runs."""

from collections.abc import Sequence
from typing import Any

import pytest

from perdure.agent.cursor import MAIN, Cursor
from perdure.agent.reused_steps import (
    LeftBySteps,
    after,
    before,
    begun,
    place_of,
    require_known,
    require_own,
    taken_over,
    undoing,
)
from perdure.agent.route import Route
from perdure.agent.steps.calls import Compensation, Result, Value
from perdure.errors import InvalidTask
from perdure.skills.library import read_skill
from perdure.values.tasks import StepStatus

SKILL = read_skill(
    """
name: order
steps:
  - {let: {rate: 2}}
  - parallel:
      - {id: room, tool: book, args: {}}
      - for_each: "${[1, 2]}"
        as: seat
        steps: [{id: train, tool: book, args: {}}]
  - {id: pay, tool: pay, args: {}}
  - {id: send, tool: send, args: {rate: "${rate}", room: "${steps.room.output}"}}
"""
)
READS: dict[str, Sequence[tuple[str, ...]]] = {
    "send": (("steps", "let rate", "rate"), ("steps", "room", "output")),
    "": (),
}
for _, one, _ in SKILL.walk():
    READS.setdefault(one.id, ())


def result(**parts: Any) -> Result:
    return Result(status=StepStatus.DONE, parts={name: Value(inline=value) for name, value in parts.items()})


LEFT = LeftBySteps(
    results={
        "let rate": result(rate=2),
        "room": result(output="r", answer="a"),
        "seat": result(count=2),
        "parallel": result(count=2),
        "pay": result(output="paid"),
    }
)


def test_a_task_begins_with_what_its_steps_read_of_those_before() -> None:
    taken = taken_over(SKILL, READS, place_of(SKILL, "send"), LEFT)
    assert taken.place == 3
    assert taken.results == {"let rate": result(rate=2), "room": result(output="r")}
    cursor = begun(SKILL, READS, taken.place, taken.results)
    assert (cursor.step, cursor.results, cursor.inline) == (3, taken.results, len('2"r"'))


def test_what_counts_before_a_step_is_what_ran_side_by_side_and_no_element_of_a_list() -> None:
    assert before(SKILL, place_of(SKILL, "pay")) == ("let rate", "room", "seat", "parallel")
    assert before(SKILL, 0) == ()


@pytest.mark.parametrize("step", ["room", "seat", "train"])
def test_a_step_inside_a_block_is_none_to_begin_at(step: str) -> None:
    with pytest.raises(InvalidTask, match=f"from: '{step}' stands inside 'parallel'.*begin at 'parallel'"):
        place_of(SKILL, step)


def test_neither_a_name_nor_an_unknown_step_is_one_to_begin_at() -> None:
    for step in ("let rate", "rate", "sent"):
        with pytest.raises(InvalidTask, match=f"has no step '{step}'"):
            place_of(SKILL, step)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"results": {}}, "'let rate', which stands before 'send', has not ended .* .put it behind"),
        ({"results": {**LEFT.results, "let rate": result(other=1)}}, "'rate', which is named before 'send', was not"),
        (
            {"kinds": {"pay": "wait"}},
            "'pay', which stands before 'send', was a step of another kind .* .begin at 'pay'",
        ),
        ({"results": {name: one for name, one in LEFT.results.items() if name != "room"}}, "begin at 'parallel'"),
    ],
)
def test_each_step_before_has_to_have_left_something(changes: dict[str, Any], problem: str) -> None:
    require_known(SKILL, 3, LEFT, "order-7", is_known=True)
    with pytest.raises(InvalidTask, match=problem):
        require_known(SKILL, 3, LEFT.changed(**changes), "order-7", is_known=True)


def test_inside_a_block_that_was_skipped_nothing_has_a_result() -> None:
    results = {name: one for name, one in LEFT.results.items() if name not in ("room", "seat")}
    skipped = LEFT.changed(results={**results, "parallel": result(count=0)})
    require_known(SKILL, 3, skipped, "order-7", is_known=True)


def test_once_its_runs_are_gone_a_task_begins_at_its_first_step() -> None:
    with pytest.raises(InvalidTask, match=r"before 'pay' are gone .begin at 'parallel': effects that are recorded"):
        require_known(SKILL, 2, LeftBySteps(), "order-7", is_known=False)
    with pytest.raises(InvalidTask, match="begin at 'parallel', which acts anew"):
        require_known(SKILL, 2, LeftBySteps(), "order-7", is_known=False, is_fork=True)


def test_what_another_task_has_run_is_not_run() -> None:
    require_own(SKILL, 2, LEFT.changed(copied=("room",)))
    for step in ("room", "train"):
        with pytest.raises(InvalidTask, match=f"'{step}' would act again"):
            require_own(SKILL, 1, LEFT.changed(copied=(step,)))


def test_only_what_was_done_before_the_step_is_undone_with_it() -> None:
    # The newest run first; what the skill no longer has was done as well.
    paths = ("seat[1].train", "pay", "room", "rooms")
    left = [Compensation(path=path, tool="cancel") for path in paths]
    found = undoing(left, before(SKILL, 2), after(SKILL, 2), ["cancel"])
    assert [one.path for one in found] == ["room", "rooms", "seat[1].train"]
    gone = undoing(left, before(SKILL, 2), after(SKILL, 2), ["other"])[0]
    assert gone.problem == "the skill calls no 'cancel' any more"


def test_a_branch_knows_all_that_ended_in_its_run_and_carries_only_what_is_read() -> None:
    route = Route(SKILL, READS)
    cursors = route.ended({MAIN: Cursor()}, MAIN, result(rate=2))
    cursors = route.entered(cursors, MAIN, (0, 1))
    lane, block = "parallel[0]", "parallel[1]"
    cursors = route.ended(cursors, lane, result(output="r", answer="a"))
    cursors = route.entered(cursors, block, (1, 2))
    for index in range(2):
        cursors = route.ended(cursors, f"seat[{index}]", result(output=index))
    main = cursors[MAIN]
    assert set(main.past) == {"let rate", "room", "seat", "parallel"}
    assert main.past["room"] == result(output="r", answer="a")
    assert set(main.results) == {"let rate", "room"}
    assert "past" not in main.model_dump(mode="json")
