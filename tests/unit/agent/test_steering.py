"""A task is paused, told something, redirected: each request counts once, also after a rollover."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from perdure.agent.steering import (
    HANDLED_KEPT,
    INTERVENTIONS_KEPT,
    MOST_FEEDBACK,
    MOST_UNREAD,
    Steering,
    judged_by_people,
)
from perdure.errors import InvalidTask
from perdure.model import Instant
from perdure.values.changes import PROGRAM, Actor, ActorKind
from perdure.values.steering import (
    LONGEST_MESSAGE,
    LONGEST_SENDER,
    MOST_CONSTRAINTS,
    Cancellation,
    InterventionKind,
    PauseRequest,
    Redirection,
    Steered,
    TaskFeedback,
    TaskMessage,
)
from perdure.values.tasks import Evaluation, Judgement

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ADA = Actor(kind=ActorKind.PERSON, id="ada")


def rolled(steering: Steering) -> Steering:
    """Return what the next run of the task has."""
    return Steering(Steered.model_validate_json(steering.steered.model_dump_json()))


def asked(identifier: str = "", **more: str) -> PauseRequest:
    return PauseRequest(id=identifier, by=ADA, **more)


def paused(request: PauseRequest, at: Instant = NOW) -> Steering:
    steering = Steering(Steered())
    steering.check_pause(request)
    steering.pause(request, at)
    return steering


def test_who_paused_it_when_and_why_is_kept_until_it_goes_on() -> None:
    steering = rolled(paused(asked(because="the shop is closed")))
    assert steering.paused is not None
    assert steering.paused.told == "paused by person ada on 2026-01-02 00:00:00 UTC: the shop is closed"
    steering.check_resume(asked())
    steering.resume(asked(because="it is open again"), NOW)
    assert (steering.is_paused, steering.paused) == (False, None)
    kinds = [one.kind for one in steering.steered.interventions]
    assert kinds == [InterventionKind.PAUSED, InterventionKind.RESUMED]
    told = "resumed by person ada on 2026-01-02 00:00:00 UTC: it is open again"
    assert steering.steered.interventions[1].told == told


def test_what_changes_nothing_is_refused_with_the_reason() -> None:
    steering = paused(asked("one"))
    with pytest.raises(InvalidTask, match=r"task: is paused by person ada on 2026-01-02 .* \(to continue: perdure"):
        steering.check_pause(asked("two"))
    steering.resume(asked(), NOW)
    with pytest.raises(InvalidTask, match="task: is not paused"):
        steering.check_resume(asked("three"))


def test_a_request_that_comes_again_is_accepted_and_changes_nothing() -> None:
    steering = rolled(paused(asked("one")))
    steering.check_pause(asked("one"))
    steering.pause(asked("one"), NOW)
    steering.resume(asked("two"), NOW)
    for request in (asked("one"), asked("two")):
        steering.check_pause(request)
        steering.check_resume(request)
        steering.pause(request, NOW)
    assert not steering.is_paused
    assert (steering.received, len(steering.steered.interventions)) == (4, 2)
    steering.pause(asked(), NOW)
    steering.resume(asked("two"), NOW)
    assert steering.is_paused, "a late duplicate does not have it go on"


def test_what_is_kept_is_bounded_and_counted() -> None:
    steering = Steering(Steered())
    for number in range(HANDLED_KEPT + 3):
        steering.pause(asked(f"p{number}"), NOW)
        steering.resume(asked(f"r{number}"), NOW)
    kept = steering.steered
    assert (len(kept.handled), kept.handled[-1]) == (HANDLED_KEPT, f"r{HANDLED_KEPT + 2}")
    assert len(kept.interventions) == INTERVENTIONS_KEPT
    assert steering.received == 2 * (HANDLED_KEPT + 3)
    assert steering.received_bytes > steering.received * 30


def test_a_task_that_ends_does_not_pause_any_more() -> None:
    steering = paused(asked())
    steering.close()
    assert (steering.paused, steering.is_paused) == (None, False)
    for check in (steering.check_pause, steering.check_resume):
        with pytest.raises(InvalidTask, match="task: is ending"):
            check(asked())


def test_what_is_malformed_is_refused_with_its_field() -> None:
    steering = Steering(Steered())
    long = PauseRequest(by=Actor(kind=ActorKind.PERSON, id="x" * (LONGEST_SENDER + 1)))
    with pytest.raises(InvalidTask, match="by: has an id of 201 characters"):
        steering.check_pause(long)
    with pytest.raises(InvalidTask, match=r"becuase: is not a field here \(did you mean 'because'"):
        steering.check_pause(PauseRequest.model_validate({"becuase": "x"}))


def test_a_message_waits_until_the_model_takes_its_turn_and_counts_once() -> None:
    steering = Steering(Steered())
    for request in (TaskMessage(text="Look there.", id="one", by=ADA), TaskMessage(text="And there.", by=ADA)):
        steering.check_message(request)
        steering.tell(request, NOW)
    steering = rolled(steering)
    steering.check_message(TaskMessage(text="Look there.", id="one"))
    steering.tell(TaskMessage(text="Look there.", id="one"), NOW)
    assert [(one.text, one.by, one.at) for one in steering.unread] == [
        ("Look there.", ADA, NOW),
        ("And there.", ADA, NOW),
    ]
    steering.read()
    assert (rolled(steering).unread, steering.received) == ((), 1)
    steering.tell(TaskMessage(text="Look there.", id="one"), NOW)
    assert steering.unread == (), "the model has seen it"
    told = [one.told for one in steering.steered.interventions]
    assert told == ["told by person ada on 2026-01-02 00:00:00 UTC"] * 2, "without what was said"


def test_a_redirection_says_what_changes() -> None:
    steering = Steering(Steered())
    for goal, constraints in (("Find this", ()), (" ", ("a",)), ("Find that", ("a", "b"))):
        request = Redirection(goal=goal, constraints=constraints, because="new facts", by=ADA)
        steering.check_message(request)
        steering.redirect(request, NOW)
    assert [(one.goal, one.constraints) for one in steering.unread] == [
        ("Find this", ()),
        ("", ("a",)),
        ("Find that", ("a", "b")),
    ]
    assert [one.what for one in steering.steered.interventions] == [
        "another goal",
        "1 constraint",
        "another goal and 2 constraints",
    ]
    told = "redirected by person ada on 2026-01-02 00:00:00 UTC (1 constraint): new facts"
    assert steering.steered.interventions[1].told == told


def test_what_there_is_no_room_for_is_refused_and_a_duplicate_is_not() -> None:
    steering = Steering(Steered())
    with pytest.raises(InvalidTask, match="goal: is missing, and there are no constraints"):
        steering.check_message(Redirection(goal=" "))
    most = Redirection(constraints=tuple("x" * MOST_CONSTRAINTS), id="most")
    steering.check_message(most)
    with pytest.raises(InvalidTask, match=r"constraints: would be more than 20 with the 1 that there are"):
        steering.check_message(most, constraints=1)
    steering.redirect(most, NOW)
    steering.check_message(most, constraints=20)
    with pytest.raises(InvalidTask, match=r"constraints: would be more than 20 with the 20"):
        steering.check_message(Redirection(constraints=("y",)))
    for number in range(1, MOST_UNREAD):
        steering.tell(TaskMessage(text="x", id=f"{number}"), NOW)
    with pytest.raises(InvalidTask, match=r"task: has 20 messages that its model has not seen \(send it again"):
        steering.check_message(TaskMessage(text="x"))
    steering.check_message(TaskMessage(text="x", id="7"))
    steering.read()
    long = TaskMessage(text="\N{SNOWMAN}" * LONGEST_MESSAGE)
    while sum(len(one.text.encode()) for one in steering.unread) < 88_000:
        steering.check_message(long)
        steering.tell(long, NOW)
    with pytest.raises(InvalidTask, match=r"task: has more than 100,000 bytes"):
        steering.check_message(long)


def test_what_says_nothing_or_too_much_is_no_message() -> None:
    for text in ("", " \n", "x" * (LONGEST_MESSAGE + 1)):
        with pytest.raises(ValidationError):
            TaskMessage(text=text)
    with pytest.raises(ValidationError):
        Redirection(constraints=("",))


def test_feedback_is_a_persons_counts_once_and_becomes_part_of_the_evaluation() -> None:
    steering = Steering(Steered())
    program = TaskFeedback(passed=True)
    with pytest.raises(InvalidTask, match="by: is of the kind 'system', and only people judge a task"):
        steering.check_feedback(program)
    first = TaskFeedback(passed=False, step="a[1].b", text="Another one.", id="one", by=ADA)
    for request in (TaskFeedback(passed=True, by=ADA), first, first):
        steering.check_feedback(request)
        steering.judge(request, NOW)
    steering = rolled(steering)
    judged = Judgement(by="expect", passed=True, reason="it is")
    evaluation = judged_by_people(Evaluation(judgements=(judged,)), steering.steered.feedback)
    assert evaluation is not None
    assert [(one.by, one.passed, one.reason) for one in evaluation.judgements] == [
        ("expect", True, "it is"),
        ("person", True, "the task (person ada, 2026-01-02 00:00:00 UTC)"),
        ("person", False, "step a[1].b: Another one. (person ada, 2026-01-02 00:00:00 UTC)"),
    ]
    assert not evaluation.passed
    assert [one.what for one in steering.steered.interventions] == ["passed", "step a[1].b: not passed"]
    assert judged_by_people(None, ()) is None


@pytest.mark.parametrize(
    ("reason", "by", "because"),
    [
        (Cancellation(because="the shop: closed", by=ADA).model_dump_json(), ADA, "the shop: closed"),
        ("the shop\nis closed", PROGRAM, "the shop is closed"),
        ("", PROGRAM, ""),
        ('{"because": "x"}', PROGRAM, '{"because": "x"}'),
        ("7", PROGRAM, "7"),
        ("x" * 900, PROGRAM, "x" * 500),
        (Cancellation(by=Actor(kind=ActorKind.PERSON, id="a" * 201)).model_dump_json(), PROGRAM, None),
    ],
)
def test_who_had_a_task_stop_and_why_is_what_the_reason_of_its_cancellation_says(
    reason: str, by: Actor, because: str | None
) -> None:
    steering = Steering(Steered())
    steering.cancelled(reason, NOW)
    [found] = rolled(steering).steered.interventions
    assert (found.kind, found.by, found.at) == (InterventionKind.CANCELLED, by, NOW)
    assert because is None or found.because == because


def test_the_last_word_of_people_counts_in_the_evaluation() -> None:
    steering = Steering(Steered())
    words = [("", False), ("a", True), ("a", False), ("b", False), ("a", True), ("", False), ("b", True), ("", True)]
    passed: list[bool] = []
    for step, word in words:
        steering.judge(TaskFeedback(passed=word, step=step, by=ADA), NOW)
        evaluation = judged_by_people(None, steering.steered.feedback)
        assert evaluation is not None
        passed.append(evaluation.passed)
    assert passed == [False] * 7 + [True]
    steering.judge(TaskFeedback(passed=False, step="a", by=ADA), NOW)
    steering.judge(TaskFeedback(passed=True, step="a", by=ADA), NOW)
    evaluation = judged_by_people(None, steering.steered.feedback)
    assert evaluation is not None
    assert [(one.passed, one.reason.partition(" (")[0]) for one in evaluation.judgements] == [
        (True, "the task"),
        (True, "step a"),
    ]


def test_feedback_is_bounded() -> None:
    steering = Steering(Steered())
    for _ in range(MOST_FEEDBACK):
        steering.judge(TaskFeedback(passed=True, by=ADA), NOW)
    with pytest.raises(InvalidTask, match="task: has been judged 50 times already"):
        steering.check_feedback(TaskFeedback(passed=True, by=ADA))
    full = Steering(steering.steered.changed(handled=("one",)))
    full.check_feedback(TaskFeedback(passed=True, id="one", by=ADA))
