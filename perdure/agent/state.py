"""What a task's workflow knows, as one value: it is what travels when the history is rolled over. Does nothing."""

from typing import Annotated, Literal

from pydantic import Field

from perdure.agent.skill_plan import Cursor
from perdure.agent.steps.calls import PreparedTask, TaskFacts
from perdure.entries import Item
from perdure.jobs import Batch, Receipt
from perdure.model import Instant, Passed
from perdure.tasks import AgentTask, Phase, Progress, RecallSummary, StepStatus, TaskResult

RECALLS_KEPT = 50
JOBS_KEPT = 50
RECEIPTS_KEPT = 10
REFUSED_KEPT = 10
ANSWERED_KEPT = 500
"""An answer is taken only for an open question; the answered ones just tell why another is refused."""


class Learned(Passed):
    """What a task learned, and how far it has come on its way to memory."""

    buffer: tuple[Item, ...] = ()
    """To be remembered, and not yet handed to a job."""
    batches: int = 0
    """How many batches were made of what was to be remembered."""
    unsent: tuple[Batch, ...] = ()
    """Batches whose job was not accepted yet."""
    remembered: int = 0
    """Items that were handed over."""
    jobs: Annotated[tuple[str, ...], Field(max_length=JOBS_KEPT)] = ()
    receipts: Annotated[tuple[Receipt, ...], Field(max_length=RECEIPTS_KEPT)] = ()
    refused: Annotated[tuple[str, ...], Field(max_length=REFUSED_KEPT)] = ()


class TaskState(Passed):
    """Everything about a running task that its next step, or a person, may need."""

    prepared: PreparedTask
    started_at: Instant
    cursor: Cursor = Cursor()
    ended: dict[StepStatus, int] = Field(default_factory=dict[StepStatus, int])
    """How many steps ended in which way."""
    total: int
    """Steps known so far."""
    recalled: int = 0
    recalls: Annotated[tuple[RecallSummary, ...], Field(max_length=RECALLS_KEPT)] = ()
    learned: Learned = Learned()
    answered: Annotated[tuple[str, ...], Field(max_length=ANSWERED_KEPT)] = ()
    """The ids of answered questions."""

    @property
    def done(self) -> int:
        """How many steps ended, in any way."""
        return sum(self.ended.values())


class TaskRun(AgentTask):
    """The input of one run of the workflow: a task, and what is known of it when its history was rolled over."""

    carried: TaskState | None = None

    def facts(self, prepared: PreparedTask) -> TaskFacts:
        """Give what expressions call ``task``."""
        return TaskFacts(id=self.task_id, date=prepared.date, agent=self.agent)


def progress_of(task: TaskRun, state: TaskState | None, phase: Phase, step: str) -> Progress:
    """Give where a task is; questions and problems are not in its state."""
    if state is None:
        return Progress(task_id=task.task_id, skill=task.skill, phase=phase)
    return Progress(
        task_id=task.task_id,
        skill=task.skill,
        phase=phase,
        step=step,
        done=state.done,
        total=state.total,
        skipped=state.ended.get(StepStatus.SKIPPED, 0),
        failed=state.ended.get(StepStatus.FAILED, 0),
        recalled=state.recalled,
        remembered=state.learned.remembered,
    )


def result_of(
    task: TaskRun, state: TaskState | None, status: Literal["completed", "failed", "cancelled"], problem: str
) -> TaskResult:
    """Give how a task ended; its output is not in its state."""
    result = TaskResult(task_id=task.task_id, status=status, problem=problem)
    if state is None:
        return result
    return result.changed(
        done=state.ended.get(StepStatus.DONE, 0),
        skipped=state.ended.get(StepStatus.SKIPPED, 0),
        failed=state.ended.get(StepStatus.FAILED, 0),
        recalls=state.recalls,
        recalled=state.recalled,
        jobs=state.learned.jobs,
        receipts=state.learned.receipts,
        refused=state.learned.refused,
    )
