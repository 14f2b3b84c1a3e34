"""Steps that call activities and workflows of others, by their names in Temporal. Pure values."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from perdure.durations import duration_of
from perdure.model import Name, Passed, one_line
from perdure.names import Workflow
from perdure.skills.header import is_none
from perdure.skills.templates import (
    CompensateTemplate,
    Duration,
    Identifier,
    MemoryTemplate,
    OnFailure,
    RecordTemplate,
    Template,
)
from perdure.tools import Effect

TypeName = Annotated[str, Field(min_length=1, max_length=200), one_line]
"""The name of an activity, of a workflow, or of a task queue."""


class ForeignStep(Passed):
    """What steps with activities and with workflows have in common."""

    id: Identifier
    queue: TypeName
    """The task queue of the workers that run it."""
    args: tuple[JsonValue, ...] = ()
    """Its arguments, in their order."""
    when: Template | None = None
    approve: Template | None = None
    """The question for a person before it is called."""
    retry: Annotated[int, Field(ge=0, le=1_000)] | None = Field(default=None, exclude_if=is_none)
    """How often it is tried; 0 is once; without it 5 times, but once what is ``once``, and a workflow."""
    compensate: CompensateTemplate | None = Field(default=None, exclude_if=is_none)
    """The tool that undoes it, if the task fails or is cancelled later."""
    expect: Template | None = None
    """What must hold of ``output``."""
    on_failure: OnFailure = OnFailure.FAIL
    remember: tuple[RecordTemplate | MemoryTemplate, ...] = ()
    critical: bool = False
    """Whether what it remembers must be searchable before the task goes on."""

    @property
    def seconds(self) -> float:
        """How long one call may take; 0: as long as it takes."""
        return 0.0

    @property
    def lasts(self) -> str | None:
        """How long a workflow may take with all its retries; None: as long as it takes."""
        return None

    @property
    def called(self) -> str:
        """What is called."""
        raise NotImplementedError

    @property
    def type_name(self) -> str:
        """The name under which its workers have it."""
        return self.called

    @property
    def declared(self) -> Effect:
        """What calling it twice would do."""
        raise NotImplementedError


class ActivityStep(ForeignStep):
    """A step that calls an activity."""

    kind: Literal["activity"] = "activity"
    activity: TypeName
    """The activity's name in Temporal."""
    effect: Effect = Effect.ONCE
    """What calling it twice would do."""
    timeout: Duration = "1m"
    """How long one attempt may take."""

    @property
    def seconds(self) -> float:
        """How long one attempt may take."""
        return duration_of(self.timeout).total_seconds()

    @property
    def called(self) -> str:
        """The activity."""
        return self.activity

    @property
    def declared(self) -> Effect:
        """What calling it twice would do."""
        return self.effect


class WorkflowStep(ForeignStep):
    """A step that runs a workflow, once for the task."""

    kind: Literal["workflow"] = "workflow"
    workflow: TypeName
    """The workflow's name in Temporal."""
    timeout: Duration | None = Field(default=None, exclude_if=is_none)
    """How long it may take with all its retries; without it, as long as it takes."""

    @property
    def lasts(self) -> str | None:
        """How long it may take with all its retries."""
        return self.timeout

    @property
    def called(self) -> str:
        """The workflow."""
        return self.workflow

    @property
    def declared(self) -> Effect:
        """What running it twice would do."""
        return Effect.ONCE


class TaskStep(ForeignStep):
    """A step that runs a skill as a task of its own, which is its one argument.

    No skill has such a step: an agent's call of a skill is one.
    """

    kind: Literal["task"] = "task"
    skill: Name

    @property
    def called(self) -> str:
        """The skill."""
        return self.skill

    @property
    def type_name(self) -> str:
        """The workflow of every task."""
        return Workflow.RESUMABLE_AGENT.value

    @property
    def declared(self) -> Effect:
        """What running it twice would do."""
        return Effect.ONCE
