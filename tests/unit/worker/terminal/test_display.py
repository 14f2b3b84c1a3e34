"""What a person is told of a task: which steps did not do what they were to do, why, and where in their tools."""

import pytest

from perdure.frames import Frame
from perdure.values.tasks import Phase, Progress, StepReport, StepStatus
from worker.terminal.display import not_as_meant, show

OWN = Frame(file="shop.py", line=7, function="order", library=False)
LIBRARY = Frame(file="httpx/_client.py", line=99, function="send", library=True)

FAILED = StepReport(
    step="shops[0].order",
    shown="shops[North].order",
    status=StepStatus.FAILED,
    problem="tool 'order' raised ShopDown: no answer",
    frames=(OWN, LIBRARY),
)
SKIPPED = StepReport(step="mail", status=StepStatus.SKIPPED, problem="when is false")


def progress(**more: object) -> Progress:
    return Progress.model_validate(
        {"task_id": "t", "skill": "restock", "phase": Phase.FAILED, "done": 1, "total": 4, **more}
    )


@pytest.mark.parametrize("verbose", [False, True])
def test_steps_that_failed_or_were_skipped_are_told_with_the_reason_and_the_place(*, verbose: bool) -> None:
    told = list(not_as_meant(progress(incomplete=(FAILED, SKIPPED), failed=1, skipped=1), verbose=verbose))
    assert told == [
        "failed: shops[North].order: tool 'order' raised ShopDown: no answer",
        f"  at {OWN.told}",
        *([f"  at {LIBRARY.told}"] if verbose else []),
        "skipped: mail: when is false",
    ]
    assert "shop.py:7" in OWN.told


def test_those_that_are_not_listed_are_counted() -> None:
    told = list(not_as_meant(progress(incomplete=(FAILED,), failed=3, skipped=2)))
    assert told[-2:] == ["failed: 2 more", "skipped: 2 more"]


@pytest.mark.parametrize("lessons", ["", "\nwhat resolved it before: restart the shop"])
def test_a_problem_is_told_once(capsys: pytest.CaptureFixture[str], lessons: str) -> None:
    of_step = f"step {FAILED.step}: {FAILED.problem}"
    show(progress(incomplete=(FAILED,), failed=1, problem=of_step + lessons))
    shown = capsys.readouterr().out
    assert shown.count(FAILED.problem) == 1
    assert lessons.strip() in shown


def test_a_problem_of_the_task_itself_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    show(progress(incomplete=(SKIPPED,), skipped=1, problem="the task may run 2 steps (limits.steps)"))
    assert "the task may run 2 steps" in capsys.readouterr().out
