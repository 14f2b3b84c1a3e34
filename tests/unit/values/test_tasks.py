"""Tasks: a mistake in what a person writes is refused at once; what travels between builds is kept."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from pydantic import JsonValue, ValidationError

from perdure.agent.state import TaskRun
from perdure.errors import InvalidTask
from perdure.model import DEEPEST_VALUE
from perdure.values.bindings import TaskBinding
from perdure.values.items import MemoryItem
from perdure.values.questions import Answer
from perdure.values.tasks import AgentTask, tokens_in

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


@pytest.mark.parametrize("model", [AgentTask, TaskRun])
def test_a_task_about_a_day_that_nothing_can_be_dated_to_is_refused(model: type[AgentTask]) -> None:
    with pytest.raises((ValidationError, InvalidTask), match=r"is before 1970 \(give the day that the task is about"):
        model.model_validate({**WHOLE, "date": "1969-12-31"})
    first = model.model_validate({**WHOLE, "date": "1970-01-01"}).date
    assert first is not None
    noon = datetime(first.year, first.month, first.day, 12, tzinfo=UTC)
    assert MemoryItem(content="x", occurrence="x", occurred_at=noon).occurred_at == noon


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


DAY = date(2026, 5, 1)


def bound(version: str = "v1", day: date = DAY, **more: Any) -> TaskBinding:
    return TaskBinding.of(AgentTask(**{**WHOLE, **more}), version, day)


def test_a_binding_holds_names_and_digests_and_stays_what_it_is_for_ever() -> None:
    binding = bound(inputs={"who": "Kim"}, date=DAY)
    assert (binding.skill, binding.version, binding.date, binding.day) == ("s", "v1", DAY, DAY)
    assert binding.inputs == {"who": "03c42a01c33f4412e7aeb1dcd790a90c"}
    assert binding.digest == "fde12a90dacd22f14432caa7d486393f13679099039823d589bd4e08cfa0edff"
    assert bound(day=date(2026, 4, 30)).digest != bound().digest
    assert bound().digest == "96138df930ddbe7319cd642fccfb62d7411c85064b779d9f252c4e3a0261beef"


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        (bound(), bound(skill="b"), "skill (was 'b' and is now 's')"),
        (bound(skill="", goal="x", inputs={}), bound(skill="b", inputs={}), "skill (was 'b' and is now a goal)"),
        (bound(), bound(version="v2"), "skill ('s' has changed since)"),
        (bound(skill="", goal="x"), bound(skill="", goal="y"), "goal"),
        (bound(skill="", goal="x"), bound(skill="", goal="x", version="v2"), "its agent, which has changed"),
        (bound(inputs={"a": 1, "b": 2}), bound(inputs={"b": 3, "c": 4}), "inputs.a, inputs.b, inputs.c"),
        (bound(inputs={"a": 1}, date=DAY), bound(inputs={"a": 1}), "date (was not given and is now 2026-05-01)"),
        (bound(), bound(date=DAY), "date (was 2026-05-01 and is now not given)"),
        (bound(), bound(day=date(2026, 4, 30)), "its day (was 2026-04-30 and is now 2026-05-01: run it again)"),
        (bound(version="v2"), bound(day=date(2026, 4, 30)), "skill ('s' has changed since)"),
        (bound(inputs={"a": 1}), bound(version="v2"), "inputs.a, skill ('s' has changed since)"),
    ],
)
def test_another_task_under_the_same_id_is_refused_with_what_differs(
    one: TaskBinding, other: TaskBinding, differs: str
) -> None:
    error = one.refused("t", other)
    problem = f"'t' is already used by another task, which differs in {differs}"
    assert (error.field, error.problem) == ("task_id", problem)
    going_on = "; with --from, it goes on at a step" if one.skill else ""
    assert error.fix == f"choose a new task_id, or give what it was started with{going_on}"


def test_inputs_and_answers_that_no_task_could_carry_are_refused() -> None:
    value: JsonValue = "x"
    for _ in range(DEEPEST_VALUE):
        value = [value]
    assert AgentTask(task_id="t", user_id="u", skill="s", inputs={"given": value}).inputs == {"given": value}
    assert Answer(question_id="q", value=value).value == value
    with pytest.raises(ValidationError, match="nested 129 deep"):
        AgentTask(task_id="t", user_id="u", skill="s", inputs={"given": [value]})
    with pytest.raises(ValidationError, match="nested 129 deep"):
        Answer(question_id="q", value=[value])


@pytest.mark.parametrize(
    ("more", "summary"),
    [
        ({"skill": "ship"}, "skill ship"),
        ({"skill": "ship", "agent": "helper"}, "skill ship for helper"),
        ({"goal": "Tidy up."}, "a goal"),
        ({"goal": "Tidy up.", "agent": "helper"}, "a goal for helper"),
    ],
)
def test_a_summary_names_the_agent_that_a_task_names(more: dict[str, str], summary: str) -> None:
    assert AgentTask.model_validate({"task_id": "t", "user_id": "ada", **more}).summary == summary


@pytest.mark.parametrize(
    ("result", "tokens"), [({"tokens": 7}, 7), ({}, 0), ({"tokens": "many"}, 0), (["tokens"], 0), (None, 0)]
)
def test_the_tokens_of_a_called_task_are_counted_where_its_result_says_them(result: object, tokens: int) -> None:
    assert tokens_in(result) == tokens
