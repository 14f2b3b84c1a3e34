"""What is printed, and with which status a command ends."""

import shlex
from collections.abc import Callable
from contextlib import suppress

import pytest
import typer
from rich.text import Text
from rich.tree import Tree

from perdure.errors import (
    InvalidInput,
    PerdureError,
    StoreRefused,
    StoreUnavailable,
    TaskFailed,
    WorkflowCancelled,
)
from perdure.models.errors import ModelBusy, ModelKeyRefused, ModelRefused
from perdure.values.questions import Approval, EffectFate, Question, QuestionKind, choice_of
from worker.exit_status import Exit, status_of
from worker.terminal.display import how_to_answer
from worker.terminal.output import draw, fail, out, plain, say


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidInput("skill", "is missing"), Exit.REFUSED),
        (TaskFailed("no"), Exit.FAILED),
        (WorkflowCancelled("it was cancelled"), Exit.FAILED),
        (StoreUnavailable("redis", "down"), Exit.UNAVAILABLE),
        (StoreRefused("redis", "AuthenticationError", fix="correct the password"), Exit.REFUSED),
        (ModelRefused("openai", "BadRequestError, HTTP 400"), Exit.REFUSED),
        (ModelKeyRefused("openai", "AuthenticationError, HTTP 401"), Exit.REFUSED),
        (ModelBusy("openai", "RateLimitError", 3.0), Exit.UNAVAILABLE),
    ],
)
def test_the_exit_status_says_what_kind_of_error_it_was(error: PerdureError, status: Exit) -> None:
    assert status_of(error) is status


def test_the_command_that_answers_can_be_pasted_into_a_shell() -> None:
    question = Question(id="rows[0].a*", kind=QuestionKind.APPROVAL, text="May it?", answer=choice_of(Approval))
    first, second = how_to_answer("task-1", question).splitlines()

    assert first == "? May it? [yes | no]"
    assert shlex.split(second) == ["perdure", "answer", "task-1", "rows[0].a*", "ANSWER"]


def test_whoever_decides_about_an_unknown_effect_is_told_what_follows() -> None:
    question = Question(id="pay", kind=QuestionKind.UNKNOWN_EFFECT, text="Paid?", answer=choice_of(EffectFate))
    assert how_to_answer("task-1", question).splitlines()[:2] == [
        "? Paid? [done | not_done]",
        "  done: the step ends, without an output; not_done: it acts again",
    ]


def test_a_drawing_is_not_cut_in_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    draw(Tree(Text(f"{'x' * 150} the end")))
    assert capsys.readouterr().err.strip() == f"{'x' * 150} the end"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\tcolumns\nand Ünïcode 🙂", "two\tcolumns\nand Ünïcode 🙂"),
        ("\x1b]0;title\x07\x1b[2Jred", "\ufffd]0;title\ufffd\ufffd[2Jred"),
        ("over\rwritten \x9b31m", "over\ufffdwritten \ufffd31m"),
    ],
)
def test_nothing_that_a_model_says_steers_the_terminal(text: str, shown: str) -> None:
    assert plain(text) == shown


SHOWS: dict[str, Callable[[str], object]] = {
    "a result": lambda text: out.print(text, markup=False),
    "a styled result": lambda text: out.print(Text(text)),
    "a line": say,
    "an error": lambda text: fail(text, Exit.FAILED),
    "a drawing": lambda text: draw(Tree(text)),
}
"""What prints."""


@pytest.mark.parametrize("shows", SHOWS.values(), ids=SHOWS)
def test_what_a_tool_says_cannot_fake_the_line_that_a_person_answers(
    shows: Callable[[str], object], capsys: pytest.CaptureFixture[str]
) -> None:
    with suppress(typer.Exit):
        shows("Pay 9,000?\x1b[2K\x1b[1GPay 9?\x1b[31m")
    said = "".join(capsys.readouterr())
    assert "Pay 9,000?" in said
    assert "\x1b" not in said
