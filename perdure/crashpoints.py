"""Named commit points: places where a process can be killed on purpose, to prove that nothing breaks.

Each boundary between an effect and its record calls ``reached`` with its name. Unarmed, that is one
dictionary look-up. ``PERDURE_CRASH_AT`` arms points for a whole process: ``name`` kills at the first
call, ``name:13`` at the thirteenth; several are separated by commas. ``name:13:stop`` suspends the
process instead (SIGSTOP), which is how a zombie attempt is made.
"""

import os
import signal
from collections import Counter
from enum import StrEnum

VARIABLE = "PERDURE_CRASH_AT"


class CrashPoint(StrEnum):
    """Every commit point there is."""

    SUBMIT_HELD = "submit.held"
    """Held items have their workflows; the rest is not in the journal yet."""
    SUBMIT_JOURNALED = "submit.journaled"
    """The batch is in the journal; its job is not started."""
    SUBMIT_STARTED = "submit.started"
    """The job is started; its submitter does not know yet."""
    PLAN_DECIDED = "plan.decided"
    APPLY_LEASED = "apply.leased"
    CHANGE_JOURNALED = "change.journaled"
    """The change is in the journal; none of it is in the store."""
    APPLY_HALF_WRITTEN = "apply.half_written"
    """Some objects of the batch are written, the others are not."""
    APPLY_WRITTEN = "apply.written"
    """All are written; Temporal does not know yet."""
    CHANGE_AUDITED = "change.audited"
    """The audit has the change; the caller does not know yet."""
    CONFIRM_READ = "confirm.read"
    REPAIR_DELETED = "repair.deleted"
    """Entries that no search finds are deleted, and not yet rewritten."""
    HOLD_APPROVED = "hold.approved"
    """A person has approved a memory; it is not submitted yet."""
    NOTICE_STARTED = "notice.started"
    """The delivery of a question is started; who asks does not know yet."""
    NOTICE_DELIVERED = "notice.delivered"
    """The webhook has accepted a question; Temporal does not know yet."""
    TASK_BOUND = "task.bound"
    """A task's id is bound to where the task begins; nothing has run yet, and Temporal does not know."""
    TOOL_CLAIMED = "tool.claimed"
    """A once effect is claimed; nothing has happened yet."""
    TOOL_ACTED = "tool.acted"
    """The effect happened; its result is not stored."""
    TOOL_STORED = "tool.stored"
    """The result is stored; Temporal does not know yet."""
    FORGET_LOGGED = "forget.logged"
    """The deletion lines are written; nothing is tombstoned or purged yet."""
    FORGET_TOMBSTONED = "forget.tombstoned"
    FORGET_PURGED = "forget.purged"
    PROMOTE_TAKEN = "promote.taken"
    """Episodes are taken to be promoted; none of them is submitted."""
    PROMOTE_SUBMITTED = "promote.submitted"
    """Their job has begun; they still wait."""
    CONSOLIDATE_MERGED = "consolidate.merged"
    """Two memories are merged; the caller does not know yet."""
    CREDIT_WRITTEN = "credit.written"
    """The trials are counted; what the task recalled still waits to be credited."""
    FEEDBACK_KEPT = "feedback.kept"
    """What a person says of a task that has ended is kept; it is not counted yet."""
    ERASE_RAISED = "erase.raised"
    """The user's epoch is raised in one more store."""
    ERASE_DROPPED = "erase.dropped"
    """Weaviate has nothing of the user any more; journal and Redis have."""
    ERASE_JOURNAL = "erase.journal"
    """Weaviate and the journal have nothing of the user any more; Redis has."""


_calls: Counter[str] = Counter()


def _armed(setting: str) -> dict[str, tuple[int, int]]:
    armed: dict[str, tuple[int, int]] = {}
    for part in filter(None, setting.split(",")):
        name, _, rest = part.partition(":")
        nth, _, how = rest.partition(":")
        armed[CrashPoint(name)] = (int(nth or 1), signal.SIGSTOP if how == "stop" else signal.SIGKILL)
    return armed


_points = _armed(os.environ.get(VARIABLE, ""))


def reached(point: CrashPoint) -> None:
    """Mark a commit point as reached; the process dies here if the point is armed."""
    if point not in _points:
        return
    _calls[point] += 1
    nth, how = _points[point]
    if _calls[point] == nth:
        os.kill(os.getpid(), how)
