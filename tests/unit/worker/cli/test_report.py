"""What ``perdure run`` prints of how a task ended."""

import pytest

from perdure.values.tasks import Phase, TaskResult
from worker.cli.tasks import report


@pytest.mark.parametrize(
    ("happened_before", "said"),
    [
        (0, []),
        (1, ["not repeated: 1 effect that had happened before"]),
        (2, ["not repeated: 2 effects that had happened before"]),
    ],
)
def test_effects_that_were_not_repeated_are_counted(
    capsys: pytest.CaptureFixture[str], happened_before: int, said: list[str]
) -> None:
    report(TaskResult(task_id="t", status=Phase.COMPLETED, done=2, happened_before=happened_before))
    ended = "completed: 2 steps done, 0 skipped, 0 failed, 0 items recalled"
    assert capsys.readouterr().out.splitlines() == [ended, *said]
