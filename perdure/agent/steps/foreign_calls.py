"""What passes between a task's workflow and steps that call activities and workflows of others. Pure values."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from perdure.agent.steps.calls import Acting, Resumed, StepContext
from perdure.errors import InvalidTask
from perdure.identity import content_digest, idempotency_key
from perdure.model import Instant, Passed
from perdure.names import Workflow
from perdure.skills.foreign import ActivityStep, ForeignStep, TaskStep, WorkflowStep
from perdure.skills.header import is_empty, is_none
from perdure.values.bindings import TaskBinding
from perdure.values.tasks import TaskEnvelope, tokens_in

ForeignKind = Annotated[ActivityStep | WorkflowStep | TaskStep, Field(discriminator="kind")]
"""A step that calls an activity, or runs a workflow or a task."""


class ForeignCall(StepContext):
    """The input of the activity that works out a call, and claims it."""

    step: ForeignKind
    acting: Acting
    resumed: Resumed | None = None
    binding: TaskBinding | None = None
    """What the first claim binds the task's id to."""
    earlier: Instant | None = None
    """Since when attempts before this one may have claimed the call, in this run or another; None: none did."""


class EndCall(StepContext):
    """The input of the activity that takes up the outcome of a call."""

    step: ForeignKind
    binding: TaskBinding | None = None
    owner: str
    """Who has the claim."""
    arguments: str
    """The digest of what was called."""
    shown: str
    """What a person reads of its arguments."""
    began: Instant
    output: JsonValue = None
    too_large: int = 0
    """The bytes of an output that is too large to be sent; 0: it is sent."""
    tokens: int = Field(default=0, exclude_if=is_empty)
    """What models have used for a task whose output is too large."""
    problem: str = ""
    """Why it failed; empty: it did not."""
    not_done: bool = False
    """Whether it is known that nothing happened, though it failed."""
    warnings: tuple[str, ...] = ()

    @property
    def used(self) -> int:
        """Tokens that models have used for what was called, where that is a task."""
        is_task = self.step.type_name == Workflow.RESUMABLE_AGENT
        return (self.tokens or tokens_in(self.output)) if is_task else 0


def workflow_id(tenant: str, task_id: str, path: str, arguments: str) -> str:
    """Return the id of the workflow that a step runs: the same in each run of the task that calls it with the same.

    Args:
        tenant: Whose task it is.
        task_id: The task.
        path: The step.
        arguments: The digest of what is called.
    """
    return f"step-{content_digest([idempotency_key(tenant, task_id, path), arguments])[:32]}"


def child_of(call: ForeignCall, arguments: str, args: Sequence[JsonValue]) -> str:
    """Return the id of the workflow that a call runs; empty: it runs none.

    Args:
        call: The call.
        arguments: The digest of what is called.
        args: The arguments.
    """
    match call.step:
        case ActivityStep():
            return ""
        case TaskStep():
            # Under this id it is found as any task is: shown, answered, cancelled.
            return TaskEnvelope.model_validate(args[0]).workflow_id
        case WorkflowStep():
            return workflow_id(call.tenant, call.task_id, call.path, arguments)


def task_of(call: ForeignCall, args: Sequence[JsonValue]) -> TaskBinding | None:
    """Return what the id of the task stands for that a call of a skill is; None: it calls something else."""
    match args:
        case [{"pinned": {"version": str(version)}} as task] if isinstance(call.step, TaskStep):
            return TaskBinding.of(TaskEnvelope.model_validate(task), version, call.acting.date)
        case _:
            return None


class AwaitCall(Passed):
    """The input of the activity that waits for a workflow which runs already."""

    workflow_id: str
    task: TaskBinding | None = Field(default=None, exclude_if=is_none)
    """What the task has to be that is waited for; None: the id alone tells."""
    was_found: bool = Field(default=False, exclude_if=is_empty)
    """Whether a call before this one may have started it; otherwise somebody else has."""


class Awaited(Passed):
    """What a workflow gave back."""

    output: JsonValue = None


def of_user(args: list[JsonValue], user: str, field: str) -> list[JsonValue]:
    """Return the arguments of a task, which is that of the user whose task calls it: nobody acts as somebody else.

    Raises:
        InvalidTask: It names another user, or what only a task's own calls have.
    """
    match args:
        case [{"user_id": given}, *_] if given != user:
            raise InvalidTask(
                field, "is another user than that of this task", fix="leave it out: it is the same user's"
            )
        case [{"pinned": _}, *_]:
            raise InvalidTask(field.replace("user_id", "pinned"), "is not a field here", fix="leave it out")
        case [dict() as task, *more]:
            return [{**task, "user_id": user}, *more]
        case _:
            return args


def arguments_of(step: ForeignStep, args: list[JsonValue]) -> dict[str, JsonValue]:
    """Return what a call is made with, as policies and people see it: of a task, its inputs."""
    task = args[0] if isinstance(step, TaskStep) else None
    return {**TaskEnvelope.model_validate(task).inputs} if task else {"queue": step.queue, "args": args}
