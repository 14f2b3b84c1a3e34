"""The rollover of a task's history: what its next run begins with."""

from typing import NoReturn

from temporalio import workflow
from temporalio.common import RawValue

from perdure.agent.state import TaskRun, TaskState
from perdure.errors import TaskFailed

CARRIED_LIMIT = 1_800_000
"""Bytes that a rollover may carry: beyond 2 MB Temporal refuses it again and again."""


def continue_with(task: TaskRun, carried: TaskState | None) -> NoReturn:
    """Continue a task as new, with the state that it has reached.

    Raises:
        TaskFailed: It is more than a rollover may carry.
    """
    task = task.changed(inputs={}, begin=None, pinned=None, carried=carried)
    if (size := len(task.model_dump_json().encode())) > CARRIED_LIMIT:
        raise TaskFailed(
            f"the results of its steps have {size:,} bytes, and at most {CARRIED_LIMIT:,} can be carried on "
            "(return references, or split the task)"
        )
    # Temporal itself carries on only the memo that the workflow was started with.
    workflow.continue_as_new(task, memo=unread_memo())


def unread_memo() -> dict[str, RawValue]:
    """Return the task's memo as it is: it may hold what others have written, in an encoding that is not known here."""
    return {name: RawValue(payload) for name, payload in workflow.info().raw_memo.items()}
