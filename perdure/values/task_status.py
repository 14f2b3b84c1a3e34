"""Where tasks and jobs are, as a service tells it to whoever asked for them. Pure values."""

from perdure.model import Instant, OpenEnum, Passed
from perdure.values.jobs import Receipt
from perdure.values.tasks import Progress, TaskResult


class EarlierRun(Passed):
    """A run of a task that has ended."""

    how: str = ""
    """How it ended: ``completed``, ``failed``, ``cancelled``; otherwise in Temporal's word, such as ``terminated``."""
    ended_at: Instant | None = None
    problem: str = ""
    """What it failed with, if it did."""


class StartedTask(Passed):
    """A task that was started, or that existed already."""

    workflow_id: str
    new: bool
    """Whether this request started it; otherwise it was open, or had completed, under the same id."""
    checked: bool | None = None
    """Whether a worker checked it before it started; False: none has answered, and one checks it as it begins. None: it
    existed already."""
    ended_at: Instant | None = None
    """When it completed, if it did."""
    earlier: EarlierRun | None = None
    """The run before this one under the same id: this one goes on from the effects that it recorded."""


class TaskStanding(Passed):
    """Where a task is."""

    workflow_id: str
    is_open: bool
    phase: str = ""
    """Its phase, as Temporal's list says it: also of one that left no result."""
    progress: Progress | None = None
    """None: no worker can say at the moment."""
    result: TaskResult | None = None
    """How it ended; None: it is open, or left none."""


class JobStatus(OpenEnum):
    """Where a job is. What is slow is running, and never failed; so is what an unknown status says."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class JobState(Passed):
    """Where a job is, and what became of each of its items."""

    job_id: str
    status: JobStatus
    stage: str = ""
    """Of one that runs: what it does, where a worker can tell."""
    receipt: Receipt | None = None
    code: str = ""
    """Of one that failed: the error's code."""
    problem: str = ""
