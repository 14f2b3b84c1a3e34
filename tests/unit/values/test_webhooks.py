"""What a webhook is sent: one event for each question, the same each time, signed so that a receiver can tell."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from perdure.values.questions import Approval, Question, QuestionKind, Subject, choice_of
from perdure.values.webhooks import TOLERANCE, is_signed, notice_of, signature

NOW = datetime(2026, 1, 2, tzinfo=UTC)
UNTIL = NOW + timedelta(days=7)
QUESTION = Question(
    id="a",
    kind=QuestionKind.APPROVAL,
    text="Pay Kim?",
    about=Subject(tool="pay", arguments='{"to": "Kim"}'),
    answer=choice_of(Approval),
    asked_at=NOW,
    otherwise="no",
)
SECRET = "a long enough secret"


def test_each_notice_of_one_question_is_the_same_and_that_of_another_is_another() -> None:
    first = notice_of("task-1", "ResumableAgent", QUESTION, UNTIL, content=False)
    assert notice_of("task-1", "ResumableAgent", QUESTION, UNTIL, content=False) == first
    others = [
        notice_of("task-2", "ResumableAgent", QUESTION, UNTIL, content=False),
        notice_of("task-1", "ResumableAgent", QUESTION.changed(id="b"), UNTIL, content=False),
        notice_of("task-1", "ResumableAgent", QUESTION.changed(asked_at=UNTIL), UNTIL, content=False),
    ]
    assert len({first.event, *(one.event for one in others)}) == 4
    assert (first.workflow_id, first.question_id, first.until) == ("task-1", "a", UNTIL)


def test_content_is_in_it_only_where_it_may_be() -> None:
    without = notice_of("task-1", "ResumableAgent", QUESTION, UNTIL, content=False)
    assert json.loads(without.body) == {
        "id": without.event,
        "type": "question.asked",
        "workflow_id": "task-1",
        "workflow_type": "ResumableAgent",
        "question": {
            "id": "a",
            "kind": "approval",
            "answer": {"type": "choice"},
            "asked_at": "2026-01-02T00:00:00+00:00",
            "until": "2026-01-09T00:00:00+00:00",
        },
    }
    told = json.loads(notice_of("task-1", "ResumableAgent", QUESTION, UNTIL, content=True).body)
    assert (told["question"]["text"], told["question"]["otherwise"]) == ("Pay Kim?", "no")
    assert told["question"]["answer"]["choices"] == ["yes", "no"]
    assert told["question"]["about"]["arguments"] == '{"to": "Kim"}'
    assert told["id"] == without.event


@pytest.mark.parametrize("late", [timedelta(), TOLERANCE, -TOLERANCE])
def test_what_was_signed_is_recognised(late: timedelta) -> None:
    assert is_signed(b"body", signature(b"body", SECRET, NOW), SECRET, at=NOW + late)


@pytest.mark.parametrize(
    ("body", "secret", "late"),
    [(b"bode", SECRET, 0), (b"body", "another secret", 0), (b"body", SECRET, 301), (b"body", SECRET, -301)],
)
def test_what_was_changed_or_is_old_is_not(body: bytes, secret: str, late: int) -> None:
    assert not is_signed(body, signature(b"body", SECRET, NOW), secret, at=NOW + timedelta(seconds=late))


@pytest.mark.parametrize("header", ["", "t=,v1=", "v1=00", "t=1,v1=zz", "t=9999999999999,v1=" + "0" * 64])
def test_what_is_no_signature_is_not(header: str) -> None:
    assert not is_signed(b"body", header, SECRET, at=NOW)


def test_the_time_of_a_signature_cannot_be_changed() -> None:
    header = signature(b"body", SECRET, NOW)
    later = header.replace(f"t={int(NOW.timestamp())}", f"t={int(NOW.timestamp()) + 600}")
    assert not is_signed(b"body", later, SECRET, at=NOW + timedelta(minutes=10))
