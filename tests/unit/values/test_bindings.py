"""What a task id stands for: the same task on another day, and another task under the same name."""

from datetime import date, timedelta

import pytest

from perdure import AgentTask
from perdure.values.beginnings import Beginning
from perdure.values.bindings import TaskBinding
from tests.support.memories import NOW

TASK = AgentTask(task_id="t", user_id="ada", skill="audit", inputs={"lock": "uv.lock"})
DAY = date(2026, 5, 1)
BOUND = TaskBinding.of(TASK, "v1", DAY)
BEGINS = Beginning(step="b", results="0" * 64, at=NOW)


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (BOUND, True),
        (BOUND.changed(day=DAY + timedelta(days=1)), True),
        (BOUND.changed(begins=BEGINS), True),
        (BOUND.changed(begins=BEGINS.changed(of="another")), True),
        (BOUND.changed(version="v2"), False),
        (BOUND.changed(skill="order"), False),
        (TaskBinding.of(TASK.changed(inputs={"lock": "pdm.lock"}), "v1", DAY), False),
        (BOUND.changed(date=DAY), False),
        (None, False),
    ],
)
def test_a_task_is_the_same_on_another_day_and_wherever_it_begins(other: TaskBinding | None, is_same: bool) -> None:
    assert BOUND.is_same(other) is is_same


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (BOUND.changed(version="v2", day=DAY + timedelta(days=1), date=DAY), True),
        (BOUND.changed(skill="order"), False),
        (BOUND.changed(inputs={}), False),
        (BOUND.changed(goal="x"), False),
    ],
)
def test_a_call_is_the_same_whatever_version_its_skill_has(other: TaskBinding, is_same: bool) -> None:
    assert BOUND.is_same_call(other) is is_same
