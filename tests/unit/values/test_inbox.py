"""Questions of anybody's workflow: what may be asked, for how long, and which default counts."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from perdure.errors import InvalidInput
from perdure.values.inbox import ASKED, LONGEST_ASKED, PersonQuestion
from perdure.values.questions import QuestionKind

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def question(**more: Any) -> PersonQuestion:
    return PersonQuestion.model_validate({"user_id": "ada", "text": "Ship it?", **more})


def test_it_is_asked_until_its_time_has_passed_with_its_default() -> None:
    asked = question(within="2d", answer={"type": "yes_no"}, otherwise="no").asked(NOW)
    assert (asked.id, asked.kind, asked.text) == (ASKED, QuestionKind.WORKFLOW, "Ship it?")
    assert (asked.asked_at, asked.until, asked.otherwise) == (NOW, NOW + timedelta(days=2), "no")
    plain = question().asked(NOW)
    assert (plain.until, plain.otherwise) == (NOW + timedelta(days=7), "no answer")


@pytest.mark.parametrize(
    ("answer", "otherwise", "default"),
    [({"type": "yes_no"}, "no", False), ({"type": "integer"}, "3", 3), ({}, None, None), ({}, "text", "text")],
)
def test_a_default_has_the_type_of_the_question(answer: dict[str, Any], otherwise: Any, default: Any) -> None:
    assert question(answer=answer, otherwise=otherwise).default == default


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"answer": {"type": "integer"}, "otherwise": "many"}, "otherwise: 'many' is not an integer"),
        ({"answer": {"type": "choice"}}, "answer.choices: is empty"),
        ({"answer": {"type": "choice", "choices": ["a"]}, "otherwise": "b"}, "otherwise: 'b' is not one of"),
    ],
)
def test_a_default_that_the_question_does_not_take_is_refused(more: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        assert question(**more).default


@pytest.mark.parametrize("within", ["", "0s", "2 days", "367d"])
def test_what_is_no_time_or_too_long_a_one_is_refused(within: str) -> None:
    with pytest.raises(ValidationError):
        question(within=within)
    assert question(within="366d").lasts == timedelta(days=366)


def test_a_question_has_a_text_that_people_can_read() -> None:
    for text in ("", "x" * (LONGEST_ASKED + 1)):
        with pytest.raises(ValidationError):
            question(text=text)
