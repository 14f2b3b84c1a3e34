"""What a person reads in the Temporal UI."""

from datetime import UTC, datetime

from perdure.agent.display import details
from perdure.durations import Wait
from perdure.values.changes import Actor, ActorKind
from perdure.values.explanations import RecallSummary
from perdure.values.questions import Approval, Question, QuestionKind, Subject, choice_of
from perdure.values.steering import Intervention, InterventionKind
from perdure.values.tasks import Phase, Progress

NOW = datetime(2026, 1, 2, tzinfo=UTC)
APPROVAL = Question(id="a[1].b", kind=QuestionKind.APPROVAL, text="Go on?", answer=choice_of(Approval))
PLAIN = Progress(task_id="t", skill="audit", phase=Phase.RUNNING, done=3, total=9)


def recalled(step: str, number: int) -> RecallSummary:
    return RecallSummary(
        step=step,
        recalled=number,
        ids=tuple(f"exec_{index}{'x' * 20}" for index in range(number)),
        scores=tuple(1.0 - index / 10 for index in range(number)),
        why=f"{number} exact",
        degraded=False,
        milliseconds=12.3,
    )


def test_details_say_where_it_is_what_it_waits_for_and_what_it_recalled() -> None:
    about = Subject(tool="send", arguments='{"to": "Kim"}', attempted_at=NOW, idempotency_key="key")
    free = Question(id="c", kind=QuestionKind.INPUT, text="How many?", about=about)
    progress = PLAIN.changed(
        phase=Phase.WAITING, step="a[1].b", failed=1, recalled=7, remembered=5, questions=(APPROVAL, free)
    )
    progress = progress.changed(problem="the disk is full", unknown=("x", "y"), until=NOW)
    shown = details(progress, [recalled("known", 4), recalled("three", 3), recalled("none", 0)], "task-t-1")
    assert shown.split("\n\n") == [
        "**waiting** · skill `audit` · 3 of 9 steps",
        "It ends by 2026-01-02 00:00:00 UTC at the latest",
        "0 skipped, 1 failed",
        "Now at `a[1].b`",
        "Problem: the disk is full",
        "Nobody knows whether the effect happened of: `x`, `y`",
        "### Waits for a person\nGo on? (yes | no)",
        "Answer with `perdure answer task-t-1 'a[1].b' VALUE`, or send the update `answer` with\n"
        '```json\n{"question_id":"a[1].b","value":"yes","by":""}\n```',
        "### Waits for a person\nHow many?",
        '- about send {"to": "Kim"}\n- attempted at 2026-01-02 00:00:00 UTC\n- idempotency key key',
        "Answer with `perdure answer task-t-1 'c' VALUE`, or send the update `answer` with\n"
        '```json\n{"question_id":"c","value":"…","by":""}\n```',
        "### Recalled 7\n"
        "- `none`: 0 exact in 12 ms\n"
        f"- `three`: 3 exact in 12 ms: {BEST}\n"
        f"- `known`: 4 exact in 12 ms: {BEST} and 1 more",
        "Handed 5 to memory",
    ]


BEST = ", ".join(f"`exec_{index}{'x' * 11}` {1 - index / 10:.2f}" for index in range(3))


def test_a_task_of_which_there_is_nothing_to_tell_is_one_line() -> None:
    assert details(PLAIN, [], "task-t-1") == "**running** · skill `audit` · 3 of 9 steps"
    assert "1 skipped, 0 failed" in details(PLAIN.changed(skipped=1), [], "task-t-1")


def test_a_task_without_a_skill_works_towards_a_goal_whose_steps_nobody_knows() -> None:
    progress = PLAIN.changed(skill="", total=0, tokens=12_345)
    assert details(progress, [], "task-t-1").split("\n\n") == [
        "**running** · a goal · 3 steps",
        "12,345 tokens of its model",
    ]


def test_what_became_of_the_effects_of_a_task_that_failed_is_told_the_last_twenty_of_each() -> None:
    undone = tuple(f"u{number}" for number in range(22))
    left = tuple(f"l{number}: no" for number in range(22))
    shown = details(PLAIN.changed(compensated=undone, uncompensated=left, unknown=("x",)), [], "task-t-1")
    assert shown.split("\n\n")[1:] == [
        f"Undone: `{'`, `'.join(undone[2:])}` (22)",
        *(f"Not undone: {one}" for one in left[2:]),
        "Nobody knows whether the effect happened of: `x`",
    ]


def test_more_that_wait_than_are_named_are_counted() -> None:
    progress = PLAIN.changed(phase=Phase.PAUSED, waits=(Wait(step="a", until=NOW),), waiting=3, unread=2)
    assert details(progress, [], "task-t-1").split("\n\n")[2:] == [
        "and 2 more wait",
        "Messages that its model has not seen yet: 2",
    ]


def test_of_a_recall_the_best_three_are_named_and_the_others_counted() -> None:
    five = recalled("r", 5).changed(scores=(0.9, 0.8, 0.7, 0.6), why="by meaning")
    line = details(PLAIN, [five], "task-t-1").splitlines()[-1]
    named = ", ".join(f"`exec_{number}{'x' * 11}` {score:.2f}" for number, score in enumerate((0.9, 0.8, 0.7)))
    assert line == f"- `r`: by meaning in 12 ms: {named} and 2 more"


def test_the_latest_five_recalls_are_shown_latest_first() -> None:
    shown = details(PLAIN, [recalled(f"r{number}", 1) for number in range(7)], "task-t-1")
    assert [line[3:5] for line in shown.splitlines() if line.startswith("- ")] == ["r6", "r5", "r4", "r3", "r2"]


def test_what_waits_for_an_event_says_for_which() -> None:
    waits = (Wait(step="a", until=NOW, event="paid 7"), Wait(step="b", event="sent"))
    shown = details(PLAIN.changed(phase=Phase.PAUSED, waits=waits, waiting=2, kept=3), [], "task-t-1")
    assert [line for line in shown.splitlines() if line][-3:] == [
        "`a` waits for the event 'paid 7' until 2026-01-02 00:00:00 UTC",
        "`b` waits for the event 'sent'",
        "Events that no step has waited for yet: 3",
    ]


def test_what_waits_says_until_when() -> None:
    shown = details(PLAIN.changed(phase=Phase.PAUSED, waits=(Wait(step="a[1].pause", until=NOW),)), [], "task-t-1")
    assert shown.splitlines()[-1] == "`a[1].pause` waits until 2026-01-02 00:00:00 UTC"


def test_details_say_who_paused_it_and_what_else_was_done_to_it() -> None:
    ada = Actor(kind=ActorKind.PERSON, id="ada")
    done = [Intervention(kind=InterventionKind.PAUSED, by=ada, at=NOW, because=f"{number}") for number in range(6)]
    shown = details(PLAIN.changed(paused=done[-1], interventions=tuple(done)), [], "task-t-1").split("\n\n")
    assert shown[1:3] == [
        "### Paused\npaused by person ada on 2026-01-02 00:00:00 UTC: 5",
        "It goes on with `perdure resume task-t-1`",
    ]
    assert shown[3].splitlines() == [
        "### What was done to it",
        *(f"- paused by person ada on 2026-01-02 00:00:00 UTC: {number}" for number in range(1, 6)),
    ]


def test_details_call_elements_by_their_names() -> None:
    waits = (Wait(step="shops[0].pause", shown="shops[North].pause", until=NOW), Wait(step="paid", event="paid 7"))
    progress = PLAIN.changed(step="shops[0].pause, paid", shown="shops[North].pause, paid", waits=waits, waiting=2)
    assert details(progress, [], "task-t-1").split("\n\n")[1:] == [
        "Now at `shops[North].pause, paid`",
        "`shops[North].pause` waits until 2026-01-02 00:00:00 UTC",
        "`paid` waits for the event 'paid 7'",
    ]
