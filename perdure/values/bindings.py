"""What the id of a task stands for once something was done under it: digests that tell it from another. Pure values."""

import datetime
from typing import Self

from pydantic import Field, JsonValue

from perdure.errors import InvalidTask
from perdure.identity import content_digest, digest
from perdure.model import Stored
from perdure.values.beginnings import Beginning
from perdure.values.tasks import AgentTask


def _is_none(value: object) -> bool:
    return value is None


class TaskBinding(Stored):
    """What a task id stands for once something was done under it: names and digests, no content."""

    skill: str
    """Its name; empty for a goal."""
    goal: str = ""
    """The digest of the goal."""
    version: str
    """The digest of the content of the skill, or of the agent, together with its prompts."""
    inputs: dict[str, str]
    """The digest of each input that was given."""
    date: datetime.date | None = None
    """The task's date, if it was given one."""
    day: datetime.date
    """The day that the task is about: a later run of the same task takes it over."""
    begins: Beginning | None = Field(default=None, exclude_if=_is_none)
    """Where its runs begin, if not at the first step; no part of what distinguishes it."""

    @classmethod
    def of(cls, task: AgentTask, version: str, day: datetime.date) -> Self:
        """Return what a task is bound to."""
        inputs = {name: content_digest(value)[:32] for name, value in task.inputs.items()}
        goal = content_digest(task.goal)[:32] if task.goal else ""
        return cls(skill=task.skill, goal=goal, version=version, inputs=inputs, date=task.date, day=day)

    @property
    def digest(self) -> str:
        """A digest that distinguishes it from another task under the same id."""
        inputs: dict[str, JsonValue] = {**self.inputs}
        date = self.date.isoformat() if self.date else ""
        goal = (self.goal,) if self.goal else ()
        # A run that does not know that it is one of a fork's must not claim what the fork has copied.
        of = ("of", self.begins.of) if self.begins is not None and self.begins.of else ()
        return digest("binding/1", self.skill, self.version, inputs, date, self.day.isoformat(), *goal, *of)

    def is_same(self, other: Self | None) -> bool:
        """Return whether another binding is of the same task, whatever day each is about, and wherever it begins."""
        return other is not None and other.digest == self.changed(day=other.day, begins=other.begins).digest

    def is_same_call(self, other: Self) -> bool:
        """Return whether another binding is of the same skill with the same inputs, whatever version each has.

        To run the skill again would repeat what that task did, as its version tells nothing of its effects.
        """
        return (self.skill, self.goal, self.inputs) == (other.skill, other.goal, other.inputs)

    def differences(self, bound: "TaskBinding") -> list[str]:
        """Return what differs from another task under the same id, without content."""
        names = sorted(self.inputs.keys() | bound.inputs.keys())
        found = [f"inputs.{name}" for name in names if self.inputs.get(name) != bound.inputs.get(name)]
        if self.skill != bound.skill:
            before, now = [repr(one) if one else "a goal" for one in (bound.skill, self.skill)]
            found.append(f"skill (was {before} and is now {now})")
        elif self.goal != bound.goal:
            found.append("goal")
        elif self.version != bound.version:
            found.append(f"skill ({self.skill!r} has changed since)" if self.skill else "its agent, which has changed")
        if self.date != bound.date:
            found.append(f"date (was {bound.date or 'not given'} and is now {self.date or 'not given'})")
        if not found and (self.begins and self.begins.of) != (bound.begins and bound.begins.of):
            # Nothing could tell where it begins, either.
            found.append("where it begins (run it again)")
        if not found:
            # It was prepared while nothing could tell the day.
            found.append(f"its day (was {bound.day} and is now {self.day}: run it again)")
        return found

    def refused(self, task_id: str, bound: "TaskBinding") -> InvalidTask:
        """Return the error that refuses this task under an id bound to another one, with the differences."""
        found = ", ".join(self.differences(bound))
        problem = f"{task_id!r} is already used by another task, which differs in {found}"
        fix = "choose a new task_id, or give what it was started with"
        fix += "; with --from, it goes on at a step" if self.skill else ""
        return InvalidTask("task_id", problem, fix=fix)


def was_compensated(task_id: str) -> InvalidTask:
    """Return the error that refuses a task whose effects were undone: what is recorded of them is no longer true."""
    return InvalidTask("task_id", f"the effects of {task_id!r} were undone", fix="choose a new task_id")
