"""Questions of a task: an answer counts once, for the question that is open."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from perdure.agent.questions import Questions
from perdure.errors import InvalidAnswer
from perdure.skills.linked_skills import DEEPEST
from perdure.skills.step_reader import DEPTH
from perdure.values.questions import Answer, AnswerSpec, AnswerType, Approval, Question, QuestionKind, choice_of

NOW = datetime(2026, 1, 2, tzinfo=UTC)
QUESTION = Question(id="a", kind=QuestionKind.APPROVAL, text="?", answer=choice_of(Approval))


def test_an_answer_must_fit_what_is_open() -> None:
    questions = Questions(())
    with pytest.raises(InvalidAnswer, match=r"there is no question 'a' .no question is open"):
        questions.check(Answer(question_id="a", value="yes"))
    questions.ask(questions.named(QUESTION, NOW))
    with pytest.raises(InvalidAnswer, match=r"'maybe' is not one of the choices .choose yes or no"):
        questions.check(Answer(question_id="a", value="maybe"))
    questions.check(Answer(question_id="a", value="yes"))
    questions.answer(Answer(question_id="a", value="yes"), NOW)
    questions.answer(Answer(question_id="a", value="no"), NOW)
    assert questions.open == ()
    taken = questions.take(QUESTION)
    assert (taken.value, taken.at) == ("yes", NOW)
    with pytest.raises(InvalidAnswer, match="'a' is answered already"):
        questions.check(Answer(question_id="a", value="yes"))
    assert questions.named(QUESTION, NOW).id == "a#2"


def test_in_a_replay_an_answer_can_come_before_its_question() -> None:
    questions = Questions(())
    named = questions.named(QUESTION, NOW)
    questions.answer(Answer(question_id="a", value="yes"), NOW)
    questions.ask(named)
    assert questions.open == ()
    assert questions.is_answered("a")


def test_a_question_that_is_being_announced_can_be_answered() -> None:
    questions = Questions(())
    named = questions.named(QUESTION, NOW)
    questions.check(Answer(question_id="a", value="yes"))
    assert (questions.open, questions.takes) == ((), (named,)), "the webhook asks whether it is still to be told"
    questions.answer(Answer(question_id="a", value="yes"), NOW)
    assert questions.takes == ()
    with pytest.raises(InvalidAnswer, match="'a' is answered already"):
        questions.check(Answer(question_id="a", value="no"))
    questions.ask(named)
    assert questions.is_answered("a")
    assert questions.open == ()


def test_a_question_from_another_build_is_shown_and_answered_as_text() -> None:
    strange = Question.model_validate(
        {"id": "b", "kind": "policy", "text": "?", "answer": {"type": "signature", "curve": 1}, "weight": 3}
    )
    questions = Questions(())
    questions.ask(questions.named(strange, NOW))
    assert [one.kind for one in questions.open] == ["policy"]
    answer = Answer(question_id="b", value="signed")
    questions.check(answer)
    questions.answer(answer, NOW)
    assert questions.take(strange).value == "signed"


@pytest.mark.parametrize("value", [3, {"curve": 1}, "a" * 4_001])
def test_an_answer_that_only_another_build_accepts_is_taken_as_it_was_given(value: JsonValue) -> None:
    for kind in ("signature", "integer"):
        strange = QUESTION.changed(answer={"type": kind})
        questions = Questions(())
        questions.ask(questions.named(strange, NOW))
        questions.answer(Answer(question_id="a", value=value), NOW)
        assert questions.take(strange).value == value


def test_an_answer_with_an_unknown_field_is_refused_and_its_question_stays_open() -> None:
    questions = Questions(())
    questions.ask(questions.named(QUESTION, NOW))
    answer = Answer.model_validate({"question_id": "a", "value": "yes", "bye": "me"})
    with pytest.raises(InvalidAnswer, match=r"PRD106 bye: is not a field here .did you mean 'by'"):
        questions.check(answer)
    assert [one.id for one in questions.open] == ["a"]


def test_several_questions_can_be_on_their_way_at_once() -> None:
    questions = Questions(())
    first, second = questions.named(QUESTION, NOW), questions.named(QUESTION, NOW)
    assert (first.id, second.id) == ("a", "a#2")
    for one in (first, second):
        questions.check(Answer(question_id=one.id, value="no"))


def test_what_is_withdrawn_takes_no_answer() -> None:
    questions = Questions(())
    questions.ask(questions.named(QUESTION, NOW))
    questions.named(QUESTION, NOW)
    questions.withdraw_all()
    for identifier in ("a", "a#2"):
        with pytest.raises(InvalidAnswer, match="no question is open"):
            questions.check(Answer(question_id=identifier, value="yes"))


def test_answers_of_earlier_runs_are_known() -> None:
    questions = Questions(("a",))
    assert questions.answered == ("a",)
    assert questions.named(QUESTION, NOW).id == "a#2"


def test_a_question_carries_when_it_was_asked() -> None:
    questions = Questions(())
    assert questions.named(QUESTION, NOW).asked_at == NOW


def test_a_question_that_nobody_answered_in_time_takes_no_answer_and_the_others_are_named() -> None:
    questions = Questions(())
    for identifier in ("b", "a", "c"):
        questions.ask(questions.named(QUESTION.changed(id=identifier), NOW))
    questions.lapse("b")
    with pytest.raises(InvalidAnswer, match=r"the time to answer 'b' is over .open: a, c."):
        questions.check(Answer(question_id="b", value="yes"))


def test_a_question_that_was_put_is_no_longer_about_to_be() -> None:
    questions = Questions(())
    questions.ask(questions.named(QUESTION, NOW))
    questions.lapse("a")
    with pytest.raises(InvalidAnswer, match="the time to answer 'a' is over"):
        questions.check(Answer(question_id="a", value="yes"))
    questions.ask(QUESTION)


def test_a_question_that_lapsed_is_known_in_later_runs_and_a_late_answer_is_none_to_the_next_one() -> None:
    questions = Questions(())
    questions.ask(questions.named(QUESTION, NOW))
    questions.lapse("a")
    later = Questions(questions.answered, questions.lapsed)
    for one in (questions, later):
        assert one.named(QUESTION, NOW).id == "a#2"
        with pytest.raises(InvalidAnswer, match="the time to answer 'a' is over"):
            one.check(Answer(question_id="a", value="yes"))


def test_the_deepest_step_can_be_answered_by_its_path() -> None:
    longest = ".".join(["a" * 40 + "[99999]"] * (DEPTH + 1) * DEEPEST)
    assert Answer(question_id=longest, value="yes").question_id == longest


@pytest.mark.parametrize(
    ("kind", "given", "taken"),
    [
        (AnswerType.INTEGER, "7", 7),
        (AnswerType.NUMBER, "1.5", 1.5),
        (AnswerType.YES_NO, "yes", True),
        (AnswerType.YES_NO, "no", False),
        (AnswerType.TEXT, "7", "7"),
    ],
)
def test_an_answer_is_taken_as_a_value_of_its_type(kind: AnswerType, given: str, taken: JsonValue) -> None:
    questions = Questions(())
    question = questions.named(QUESTION.changed(kind=QuestionKind.INPUT, answer=AnswerSpec(type=kind)), NOW)
    questions.ask(question)
    questions.answer(Answer(question_id="a", value=given), NOW)
    assert questions.take(question).value is taken if isinstance(taken, bool) else taken
