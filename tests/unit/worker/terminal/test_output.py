"""What is printed, and with which status a command ends."""

import shlex

import pytest
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
from perdure.values.questions import Approval, Question, QuestionKind, choice_of
from worker.exit_status import Exit, status_of
from worker.terminal.display import how_to_answer
from worker.terminal.output import draw


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


def test_a_drawing_is_not_cut_in_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    draw(Tree(Text(f"{'x' * 150} the end")))
    assert capsys.readouterr().err.strip() == f"{'x' * 150} the end"
