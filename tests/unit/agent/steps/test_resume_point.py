"""How far a step came before it asked, and whether it has to be decided yet that its tool is called."""

from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.agent.steps.calls import Acting, Resumed, StepCall, Value
from perdure.agent.steps.resume_point import Reached, is_undecided
from perdure.policies.ruling import Ruling
from perdure.policies.shape import Outcome
from perdure.skills.steps import ToolStep
from perdure.values.questions import QuestionKind, TakenAnswer

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
RULING = Ruling(outcome=Outcome.ASK, tool="look", step="a", arguments="d", policies=(), version="v")
YES, NO = (TakenAnswer(question_id="a", value=said, at=NOW) for said in ("yes", "no"))
DONE = TakenAnswer(question_id="a", value="done", at=NOW)
APPROVAL, UNKNOWN = QuestionKind.APPROVAL, QuestionKind.UNKNOWN_EFFECT


def call(more: dict[str, Any], reached: dict[str, Any] | None, answer: TakenAnswer) -> StepCall:
    resume = Reached(**reached).model_dump(mode="json") if reached is not None else None
    return StepCall(
        acting=Acting(user="ada", agent="agent", skill="s", task_skill="s", date=NOW.date(), done=0),
        tenant="t_1",
        session="s",
        task_id="t",
        path="a",
        occurred_at=NOW,
        step=ToolStep(id="a", tool="look", **more),
        resumed=Resumed(resume=resume, asked=reached["asked"], answer=answer) if reached else None,
    )


@pytest.mark.parametrize(
    ("more", "reached", "answer", "undecided"),
    [
        ({}, None, YES, False),
        ({"when": "${true}"}, None, YES, True),
        ({"approve": "Go on?"}, None, YES, True),
        ({"approve": "Go on?"}, {"asked": APPROVAL}, YES, False),
        ({"approve": "Go on?", "when": "${true}"}, {"asked": APPROVAL}, YES, False),
        ({"approve": "Go on?"}, {"asked": APPROVAL}, NO, True),
        ({}, {"asked": APPROVAL, "ruling": RULING}, YES, False),
        ({}, {"asked": APPROVAL, "ruling": RULING}, NO, True),
        ({"when": "${true}"}, {"asked": UNKNOWN, "claim": "c"}, DONE, False),
        ({"approve": "Go on?"}, {"asked": UNKNOWN, "claim": "c", "approved": YES}, DONE, False),
        ({"approve": "Go on?"}, {"asked": UNKNOWN, "claim": "c"}, DONE, True),
        ({"approve": "Go on?"}, {"asked": QuestionKind.INPUT, "acted": Value(inline=1)}, DONE, False),
    ],
)
def test_a_step_is_decided_once_and_again_only_where_a_person_said_no_or_nothing(
    more: dict[str, Any], reached: dict[str, Any] | None, answer: TakenAnswer, undecided: bool
) -> None:
    assert is_undecided(call(more, reached, answer)) == undecided
