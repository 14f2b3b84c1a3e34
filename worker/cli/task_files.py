"""Tasks as people name them: in YAML files, or by their ids. Asks no server."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from perdure.documents import unreadable, validated
from perdure.errors import InvalidInput, InvalidTask, Unconfirmed
from perdure.settings import Settings
from perdure.values.tasks import AgentTask
from perdure.yaml_text import placed, placing, read_document

if TYPE_CHECKING:
    from perdure.skills.shape import Skill


@dataclass(frozen=True)
class TaskFile:
    """A task as it is written in a file."""

    path: Path
    text: str
    task: AgentTask

    def placed(self, error: InvalidInput) -> InvalidInput:
        """Return an error with the file and the line, if it is about a field of the task; others stay as they are."""
        field = re.split(r"[.\[]", error.field, maxsplit=1)[0]
        # What is to be confirmed is no mistake in the file.
        if field not in AgentTask.model_fields or isinstance(error, Unconfirmed):
            return error
        return placed(error, self.path, self.text)

    @contextmanager
    def placing(self) -> Generator[None]:
        """Add the file and the line to errors about a field of the task that the block raises, a worker's even."""
        try:
            yield
        except InvalidInput as error:
            raise self.placed(error) from None


def read_task(path: Path) -> AgentTask:
    """Read a task from YAML; see ``read_task_file``."""
    return read_task_file(path).task


def read_task_file(path: Path) -> TaskFile:
    """Read a task from YAML, with the text that it is written in.

    Raises:
        InvalidTask: Naming the field and the fix; where it is a skill, the task that runs it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, FileNotFoundError) and (skill := _skill_of(str(path))) is not None:
            raise _is_skill(str(path), skill) from None
        raise unreadable(path, error, InvalidTask) from error
    with placing(path, text):
        document = read_document(text, path.name, InvalidTask)
        if "steps" in document and "task_id" not in document:
            # Skills take a moment to load, which a task need not wait for.
            from perdure.skills.library import read_skill  # noqa: PLC0415

            raise _is_skill(path.name, read_skill(text, path.name))
        return TaskFile(path, text, validated(AgentTask, document, "", InvalidTask))


def workflow_id_of(task: str, user: str = "") -> str:
    """Return the workflow id that a person names: an id as it is, or the id of the task in a YAML file.

    Args:
        task: What they name.
        user: Whose task it is, where they name it by its own id; empty: they do not.
    """
    if user:
        return validated(AgentTask, {"task_id": task, "user_id": user, "skill": "any"}, "", InvalidTask).workflow_id
    return read_task(Path(task)).workflow_id if task.endswith((".yaml", ".yml")) else task


def _skill_of(name: str) -> "Skill | None":
    """Return the skill of a name, if this installation has one."""
    # Its libraries take a moment to load, which a task that is there need not wait for.
    from worker.wiring.registries import skills_of  # noqa: PLC0415

    library = skills_of(Settings())
    return library.get(name) if name in library.names() else None


def _is_skill(named: str, skill: "Skill") -> InvalidTask:
    inputs = ", ".join(f"{name}: …" for name, spec in skill.inputs.items() if spec.required and spec.default is None)
    lines = (f"task_id: {skill.name}-1", "user_id: ada", f"skill: {skill.name}", f"inputs: {{{inputs}}}")
    task = "".join(f"\n  {line}" for line in lines)
    return InvalidTask(named, "is a skill, and what runs is a task, which names it", fix=f"write, in a file:{task}")
