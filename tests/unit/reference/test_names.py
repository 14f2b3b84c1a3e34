"""Each name and each function that an expression can use is described, with an example that is true."""

import pytest

from perdure.agent.steps import validation
from perdure.expressions.evaluation import callable_names, evaluate
from perdure.reference.names import FUNCTIONS, NAMES, SAMPLE, Entry


@pytest.mark.parametrize("entry", [*NAMES, *FUNCTIONS], ids=lambda entry: entry.name)
def test_an_example_has_the_value_that_is_said(entry: Entry) -> None:
    assert evaluate(f"${{{entry.example}}}", SAMPLE, "example") == entry.gives
    if entry in FUNCTIONS:
        assert f"{entry.name}(" in entry.example


def test_each_function_that_there_is_has_an_example() -> None:
    assert {entry.name for entry in FUNCTIONS} == callable_names()


def test_each_part_of_a_step_and_each_field_of_the_task_has_an_example() -> None:
    parts = validation.TOOL_PARTS.union(*validation.PARTS.values())
    names = {entry.name for entry in NAMES}
    assert {f"steps.<id>.{part}" for part in parts} == {name for name in names if name.startswith("steps.")}
    assert {f"task.{name}" for name in validation.TASK_FIELDS} == {name for name in names if name.startswith("task.")}


def test_each_name_that_a_field_knows_besides_has_an_example() -> None:
    own = {name for fields in validation.OWN_RESULT.values() for names in fields.values() for name in names}
    assert own <= {entry.name for entry in NAMES}


def test_the_first_and_the_last_of_nothing_are_null() -> None:
    assert evaluate(["${[].first()}", "${[].last()}"], {}, "f") == [None, None]
