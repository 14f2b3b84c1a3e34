"""Tasks: a mistake in what a person writes is refused at once; what travels between builds is kept."""

from typing import Any

import pytest
from pydantic import ValidationError

from perdure.agent.state import TaskRun
from perdure.errors import InvalidTask
from perdure.tasks import AgentTask

WHOLE: dict[str, Any] = {"task_id": "t", "user_id": "u", "skill": "s"}


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"skil": "x"}, ValidationError),
        ({"limits": {"step": 5}}, InvalidTask),
        ({"memory": "of"}, InvalidTask),
    ],
)
def test_a_task_refuses_what_it_does_not_know(more: dict[str, Any], problem: type[Exception]) -> None:
    with pytest.raises(problem):
        AgentTask(**WHOLE, **more)


def test_a_task_on_its_way_keeps_what_it_does_not_know() -> None:
    more = {"goal": "x", "limits": {"steps": 3, "tokens": 5}, "memory": "private"}
    run = TaskRun.model_validate({**WHOLE, **more})
    again = run.changed(inputs={}).model_dump(mode="json")
    assert (again["goal"], again["limits"]["tokens"], again["memory"]) == ("x", 5, "private")
    assert not hasattr(run.asked, "carried")


def test_a_task_has_bounds_without_asking_for_them() -> None:
    task = AgentTask(**WHOLE)
    assert (task.agent, task.memory, task.limits.steps, task.limits.answer_hours) == ("agent", "on", 10_000, 168)
    assert task.session == "t"
