"""A task's file: what is refused about a field of it is told with its line, whoever refuses it."""

from pathlib import Path

import pytest

from perdure.errors import InvalidInput, InvalidTask, Unconfirmed
from worker.cli.task_files import TaskFile, read_task_file

TASK = "task_id: t\nuser_id: ada\nskill: greet\ninputs:\n  who: you\n  to: [a, b]\n"


@pytest.fixture
def source(tmp_path: Path) -> TaskFile:
    path = tmp_path / "task.yaml"
    path.write_text(TASK, encoding="utf-8")
    found = read_task_file(path)
    # What was read is what is told of: the file may be a pipe, or may have been removed since.
    path.unlink()
    return found


@pytest.mark.parametrize(("field", "line"), [("skill", 3), ("inputs.who", 5), ("inputs.to[1]", 6), ("inputs.on", 4)])
def test_a_problem_of_a_field_has_its_line(source: TaskFile, field: str, line: int) -> None:
    with pytest.raises(InvalidTask, match=rf"task\.yaml:{line}: ") as raised, source.placing():
        raise InvalidTask(field, "is wrong", fix="correct it")
    assert (raised.value.place, raised.value.fix) == (f"{source.path}:{line}", "correct it")


@pytest.mark.parametrize("field", ["settings", "steps[0].tool", "skills[0]", "--from"])
def test_a_problem_of_something_else_has_none(source: TaskFile, field: str) -> None:
    with pytest.raises(InvalidInput) as raised, source.placing():
        raise InvalidInput(field, "is wrong")
    assert raised.value.place == ""


def test_what_has_a_place_keeps_it_and_what_is_to_be_confirmed_gets_none(source: TaskFile) -> None:
    elsewhere = InvalidInput("inputs.who.default", "is wrong", place="skills/greet.yaml:7")
    assert source.placed(elsewhere) is elsewhere
    asked = Unconfirmed("task_id", "differs", confirmation="c")
    assert source.placed(asked) is asked
