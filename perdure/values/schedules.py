"""Tasks that are started again and again: when, and what each start is called. Pure values."""

from datetime import UTC, datetime
from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from perdure.durations import lasting
from perdure.errors import InvalidTask
from perdure.model import Instant, Model, Passed
from perdure.values.tasks import AgentTask

LONGEST_ID = 60
"""Characters of a scheduled task's id, so that each start's id, 17 characters longer, is a task id."""

Task = TypeVar("Task", bound=AgentTask)


class Timing(Model):
    """When a task is started. Either a cron expression or an interval is given.

    >>> Timing(cron="0 6 * * MON", zone="Europe/Berlin").told
    'at 0 6 * * MON (Europe/Berlin)'
    """

    cron: Annotated[str, Field(max_length=200)] = ""
    """Minute, hour, day, month and weekday, as Temporal reads them."""
    every: Annotated[str, AfterValidator(lasting), Field(examples=["12h"])] = ""
    """The time between two starts: a number and a unit."""
    zone: Annotated[str, Field(max_length=100)] = "UTC"
    """The time zone of the cron expression, by its IANA name."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if bool(self.cron.strip()) == bool(self.every):
            raise ValueError("needs either a cron expression or an interval")
        return self

    @property
    def told(self) -> str:
        """When, in a few words."""
        return f"every {self.every}" if self.every else f"at {self.cron} ({self.zone})"


class TaskSchedule(Passed):
    """A task that is started again and again, without its inputs."""

    id: str
    """The schedule's id in Temporal."""
    task_id: str
    """The id by which the task was scheduled; each start's own begins with it."""
    about: str
    """What is started, and when."""
    upcoming: tuple[Instant, ...] = ()
    """The next starts, where Temporal says them."""
    recent: tuple[str, ...] = ()
    """The workflow ids of the last starts, oldest first."""
    paused: bool = False


def require_schedulable(task_id: str) -> None:
    """Refuse the id of a task whose starts would have no task id.

    Raises:
        InvalidTask: It is too long.
    """
    if len(task_id) > LONGEST_ID:
        problem = f"has {len(task_id)} characters, and a scheduled task's at most {LONGEST_ID}"
        raise InvalidTask("task_id", problem, fix="choose a shorter one: each start adds its moment")


def started_at(task: Task, moment: datetime) -> Task:
    """Return the task that a schedule starts at a moment: a task of its own, with an id of its own.

    Args:
        task: The task as it was scheduled.
        moment: When the schedule was to start it, by ``TemporalScheduledStartTime``: a start that is late, or made
            twice, is the same task.

    Raises:
        InvalidTask: The task's id is too long.

    >>> task = AgentTask(task_id="weekly", user_id="ada", skill="dependency-audit")
    >>> started_at(task, datetime(2026, 5, 4, 6, tzinfo=UTC)).task_id
    'weekly-20260504T060000Z'
    """
    require_schedulable(task.task_id)
    return task.changed(task_id=f"{task.task_id}-{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}")
