"""Questions of a task: an answer counts once, for the question that is open."""

from datetime import UTC, datetime

import pytest

from perdure.agent.questions import Questions
from perdure.errors import InvalidAnswer
from perdure.questions import Answer, Question, QuestionKind

NOW = datetime(2026, 1, 2, tzinfo=UTC)
QUESTION = Question(id="a", kind=QuestionKind.APPROVAL, text="?", choices=("yes", "no"))


def test_an_answer_must_fit_what_is_open() -> None:
    questions = Questions(())
    with pytest.raises(InvalidAnswer, match=r"nobody asked 'a' .no question is open"):
        questions.check(Answer(question_id="a", value="yes"))
    questions.ask(questions.named(QUESTION, NOW))
    with pytest.raises(InvalidAnswer, match=r"'maybe' is no choice .choose yes or no"):
        questions.check(Answer(question_id="a", value="maybe"))
    questions.check(Answer(question_id="a", value="yes"))
    questions.answer(Answer(question_id="a", value="yes"))
    questions.answer(Answer(question_id="a", value="no"))
    assert questions.open == ()
    assert questions.take("a").value == "yes"
    with pytest.raises(InvalidAnswer, match="'a' is answered already"):
        questions.check(Answer(question_id="a", value="yes"))
    assert questions.named(QUESTION, NOW).id == "a#2"


def test_in_a_replay_an_answer_can_come_before_its_question() -> None:
    questions = Questions(())
    named = questions.named(QUESTION, NOW)
    questions.answer(Answer(question_id="a", value="yes"))
    questions.ask(named)
    assert questions.open == ()
    assert questions.is_answered("a")


def test_a_question_that_is_being_announced_can_be_answered() -> None:
    questions = Questions(())
    named = questions.named(QUESTION, NOW)
    questions.check(Answer(question_id="a", value="yes"))
    questions.answer(Answer(question_id="a", value="yes"))
    with pytest.raises(InvalidAnswer, match="'a' is answered already"):
        questions.check(Answer(question_id="a", value="no"))
    questions.ask(named)
    assert questions.is_answered("a")
    assert questions.open == ()
