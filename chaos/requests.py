"""What is asked for under chaos, and what was answered. Values."""

from dataclasses import dataclass

from perdure import AgentTask
from perdure.values.items import MemoryItem
from perdure.values.jobs import Receipt
from perdure.values.requests import RememberRequest
from perdure.values.tasks import TaskResult


@dataclass
class Started:
    """A task."""

    task: AgentTask
    marks: list[str]
    workflow_id: str = ""
    result: TaskResult | None = None
    """None: it has not ended, or a job of what it learned has not."""
    problem: str = ""


@dataclass
class Submitted:
    """A job."""

    request: RememberRequest
    items: list[MemoryItem]
    job: str = ""
    """Its id; empty: it is not accepted yet."""
    receipt: Receipt | None = None


@dataclass(frozen=True)
class Shown:
    """What a recall showed to a user: a text that names the user whose memory it is."""

    user: str
    text: str
