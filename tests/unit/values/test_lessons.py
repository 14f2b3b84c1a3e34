"""What a lesson says, what it is found by, and which failures a later call resolves."""

from datetime import UTC, datetime

import pytest

from perdure.values.entries import MARKER, MemoryType
from perdure.values.lessons import (
    LONGEST_QUOTE,
    MetFailure,
    by_another_call,
    by_person,
    lesson_of,
    lesson_tags,
    quoted,
    resolved_by,
    shown_lessons,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def failure(path: str = "a", **more: object) -> MetFailure:
    return MetFailure.model_validate({"path": path, "tool": "send", "cause": "OSError", **more})


def test_a_lesson_says_what_failed_why_and_what_resolved_it() -> None:
    item = lesson_of(failure(problem="no route"), "It ended the task.", task_id="t", at=NOW)
    assert item.content == 'send failed with OSError ("no route"). It ended the task.'
    assert (item.memory_type, item.tags) == (MemoryType.OUTCOME, ("lesson", "tool-send", "cause-OSError"))
    assert item.occurrence.startswith("lesson/t/a/OSError/")
    assert item.occurred_at == NOW


@pytest.mark.parametrize("problem", [MARKER, "\x00", "x" * 9_000], ids=["marker", "control", "huge"])
def test_what_no_memory_may_hold_is_left_out_of_a_lesson(problem: str) -> None:
    item = lesson_of(failure(problem=problem, cause="OSError"), "So.", task_id="t", at=NOW)
    assert item.content == "send failed with OSError."


def test_the_longest_step_of_the_longest_task_still_has_an_occurrence() -> None:
    item = lesson_of(failure("x" * 300, cause="C" * 100), "So.", task_id="t" * 200, at=NOW)
    assert len(item.occurrence) == 500


@pytest.mark.parametrize("name", ["a b", "ü", "x" * 80, "a:b", ""])
def test_a_name_that_is_no_tag_is_found_by_its_digest(name: str) -> None:
    _, tool, cause = lesson_tags(name, name)
    assert tool != cause
    assert lesson_tags(name, "E")[1] == tool != lesson_tags(f"{name}2", "E")[1]
    assert lesson_of(failure(tool=name), "So.", task_id="t", at=NOW).tags[1] == tool


def test_what_a_tool_raises_is_quoted_as_one_short_line() -> None:
    assert quoted(" a\n\tb\x1b[0m \u2028c ") == "a b [0m c"
    assert len(quoted("x" * 999)) == LONGEST_QUOTE
    assert quoted("x" * LONGEST_QUOTE) == "x" * LONGEST_QUOTE


@pytest.mark.parametrize(
    ("answer", "note", "said"),
    [
        ("retry", "", "A person had it tried again, and it succeeded."),
        ("skip", "not needed", "A person had the step skipped: not needed"),
        ("stop", "", "A person stopped the task."),
        ("anything", "", "A person stopped the task."),
    ],
)
def test_a_lesson_says_what_a_person_did(answer: str, note: str, said: str) -> None:
    assert by_person(failure(answer=answer, note=note)) == said


def test_a_lesson_names_the_arguments_that_differed_and_not_their_values() -> None:
    assert by_another_call(["path", "mode"]) == "It succeeded with another value of path, mode."
    assert by_another_call([]) == "It succeeded when it was called again."


def test_lessons_are_shown_a_line_each() -> None:
    assert shown_lessons(["one", "two"]).splitlines()[1:] == ["- one", "- two"]
    assert shown_lessons([]) == ""


def test_a_call_resolves_the_failures_of_its_tool_that_it_has_something_in_common_with() -> None:
    one = failure("1", arguments={"path": "a"})
    same_cause = failure("2", arguments={"path": "b"})
    other_tool = failure("3", tool="read")
    shared, apart = [failure(path, arguments={"to": "x", "text": text}) for path, text in (("4", "a"), ("5", "b"))]
    assert resolved_by([one, same_cause, other_tool], "send", {"path": "c"}) == [same_cause]
    assert resolved_by([shared], "send", {"to": "x", "text": "z"}) == [shared]
    assert resolved_by([apart], "send", {"to": "y", "text": "z"}) == []
    assert resolved_by([apart], "send", {}) == [apart], "arguments that the history does not have"
    another = one.changed(cause="KeyError")
    assert resolved_by([one, another], "send", {"path": "c"}) == [one, another]
