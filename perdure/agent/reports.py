"""What people are told of a task: where it is, how it ended, what it recalled and handed to memory. Pure."""

from datetime import datetime, timedelta

from perdure.agent.state import Learned, TaskRun, TaskState
from perdure.values.explanations import NotListed, TaskMemory
from perdure.values.tasks import AgentTask, Phase, Progress, StepStatus, TaskResult

_ENDED = frozenset({Phase.COMPLETED, Phase.FAILED, Phase.CANCELLED})


def deadline_of(task: AgentTask, state: TaskState) -> datetime | None:
    """Return when a task fails unless its work has ended; None: it takes as long as it needs."""
    hours = task.limits.hours
    return None if hours is None else state.started_at + timedelta(hours=hours)


def memory_of(state: TaskState, learned: Learned) -> TaskMemory:
    """Return what a task has recalled and handed to memory."""
    return TaskMemory(
        tenant=state.prepared.tenant,
        recalls=state.recalls,
        jobs=learned.jobs,
        refused=learned.refused,
        owners=state.prepared.owners,
        versions=state.prepared.versions,
        not_listed=NotListed(
            recalls=state.recalls_made - len(state.recalls),
            jobs=learned.started - len(learned.jobs),
            refused=learned.refusals - len(learned.refused),
        ),
    )


def progress_of(task: TaskRun, state: TaskState | None, phase: Phase) -> Progress:
    """Return where a task is; questions and problems are not in its state."""
    progress = Progress(task_id=task.task_id, skill=task.skill, chat=task.chat, phase=phase)
    if state is None:
        return progress
    return progress.changed(
        step=state.step,
        shown=state.shown,
        done=state.done,
        total=state.total,
        skipped=state.ended.get(StepStatus.SKIPPED, 0),
        failed=state.ended.get(StepStatus.FAILED, 0),
        incomplete=state.incomplete,
        recalled=state.recalled,
        remembered=state.learned.remembered,
        tokens=state.tokens,
        unknown=state.unknown,
        compensated=state.compensated,
        uncompensated=state.uncompensated,
        waits=() if phase in _ENDED else state.waits,
        waiting=0 if phase in _ENDED else state.waiting,
        kept=0 if phase in _ENDED else len(state.events.kept),
        versions=state.prepared.versions,
        until=None if phase in _ENDED else deadline_of(task, state),
    )


def result_of(task: TaskRun, state: TaskState | None, status: Phase, problem: str) -> TaskResult:
    """Return how a task ended; its output is not in its state."""
    result = TaskResult(task_id=task.task_id, status=status, problem=problem)
    if state is None:
        return result
    going = tuple(skill.going for skill in state.prepared.skills if skill.deprecated)
    return result.changed(
        done=state.ended.get(StepStatus.DONE, 0),
        skipped=state.ended.get(StepStatus.SKIPPED, 0),
        failed=state.ended.get(StepStatus.FAILED, 0),
        happened_before=state.happened_before,
        incomplete=state.incomplete,
        recalls=state.recalls,
        recalled=state.recalled,
        jobs=state.learned.jobs,
        receipts=state.learned.receipts,
        refused=state.learned.refused,
        tokens=state.tokens,
        unknown=state.unknown,
        compensated=state.compensated,
        uncompensated=state.uncompensated,
        # It is said of the whole task, so that no number of policies can hide it.
        warnings=(*going, *state.warnings),
        warned=len(going) + state.warned,
        interventions=state.steered.interventions,
        versions=state.prepared.versions,
    )
