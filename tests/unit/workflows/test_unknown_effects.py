"""Effects of unknown fate are named in a task's end: by what Redis knows, and by what no person has answered."""

from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.agent.preparation import PreparedTask
from perdure.agent.state import Branch, TaskState
from perdure.agent.steps.task_calls import Kept
from perdure.values.questions import Question, QuestionKind
from workflows.unknown_effects import unknown_at_end

NOW = datetime(2026, 1, 2, 3, tzinfo=UTC)
PREPARED = PreparedTask.model_validate(
    {"tenant": "t_1", "version": "v", "tools": {}, "inputs": {}, "date": NOW.date(), "heartbeat": 4}
)
ASKED = Branch(path="asked", question=Question(id="asked", kind=QuestionKind.UNKNOWN_EFFECT, text="Did it happen?"))


def state_of(**more: Any) -> TaskState:
    return TaskState(prepared=PREPARED, started_at=NOW, renewed_at=NOW, **more)


@pytest.mark.parametrize("answered", [True, False], ids=["Redis has lost them", "Redis is away"])
def test_what_nobody_told_of_in_time_stays_unknown(answered: bool) -> None:
    state = state_of(unknown=("late",), branches={"b": ASKED})
    assert unknown_at_end(state, Kept(answered=answered), completed=True) == ("asked", "late")


def test_what_the_end_cut_off_is_what_redis_says_unless_that_is_away() -> None:
    state = state_of(cut_off=("cut", "ended well"), unkept=("kept nowhere",))
    known = Kept(answered=True, unknown=("cut", "kept nowhere"))
    assert unknown_at_end(state, known, completed=False) == ("cut",)
    assert unknown_at_end(state, Kept(answered=False), completed=False) == ("cut", "ended well")


def test_of_what_no_claim_tells_only_a_task_that_did_not_complete_speaks() -> None:
    state = state_of(uncertain=("torn",))
    assert unknown_at_end(state, Kept(answered=True), completed=False) == ("torn",)
    assert unknown_at_end(state, Kept(answered=True), completed=True) == ()
