"""How a task used memory: what it recalled, what it wrote, and what was ignored. Pure values."""

from pydantic import Field

from perdure.model import Passed
from perdure.values.entries import Purpose
from perdure.values.filters import Omission
from perdure.values.jobs import Receipt, SettledJob


class RecallSummary(Passed):
    """What one recall of a task gave, and why; without content."""

    step: str
    recalled: int
    """How many items it gave."""
    ids: tuple[str, ...]
    """The first of them."""
    scores: tuple[float, ...]
    why: str
    """What each phase returned, and what triggered the fallback."""
    degraded: bool
    milliseconds: float
    left_out: dict[Omission, int] = Field(default_factory=dict[Omission, int])
    """How much of what its searches found was left out, by reason; 50 in all at most."""
    withheld: tuple[Purpose, ...] = ()
    """Purposes whose entries were not looked at, since the user no longer consents to them."""


class NotListed(Passed):
    """How much a task used memory before the part that is listed."""

    recalls: int = 0
    jobs: int = 0
    refused: int = 0


class TaskMemory(Passed):
    """What a task has recalled and handed to memory so far; without content."""

    tenant: str = ""
    recalls: tuple[RecallSummary, ...] = ()
    """The last recalls, at most 50."""
    jobs: tuple[str, ...] = ()
    """The last ingest jobs, at most 50."""
    refused: tuple[str, ...] = ()
    """What could not be remembered, each with its step and the reason; the last 10."""
    owners: tuple[str, ...] = ()
    """The teams and agents whose memory its skill names."""
    not_listed: NotListed = NotListed()
    """What came before the last ones."""
    versions: dict[str, str] = Field(default_factory=dict[str, str])
    """What it is pinned to, as ``Progress.versions``."""


class TaskExplanation(Passed):
    """How a task used memory: what it recalled and why, what it wrote, and what was ignored and why."""

    recalls: tuple[RecallSummary, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    """Of its ingest jobs that have ended: what became of each item, and why."""
    running: tuple[str, ...] = ()
    """Its ingest jobs that have not."""
    failed: dict[str, str] = Field(default_factory=dict[str, str])
    """Its ingest jobs that failed, and why."""
    settled: tuple[SettledJob, ...] = ()
    """Its ingest jobs that Temporal no longer has, as the journal knows them."""
    elsewhere: tuple[str, ...] = ()
    """Jobs of another installation's memory, which knows what became of them."""
    gone: tuple[str, ...] = ()
    """Its ingest jobs that are no longer known, or not in this process."""
    refused: tuple[str, ...] = ()
    """What did not get as far as a job, and why."""
    not_listed: NotListed = NotListed()
    """How much the task used memory before all this."""
    versions: dict[str, str] = Field(default_factory=dict[str, str])
    """The versions of skills, agent and prompts that the task used, by kind and name (``prompt licence``), and the
    language models."""
    texts: dict[str, str] = Field(default_factory=dict[str, str])
    """The texts that memory still has, by id; empty if this process cannot read memory."""
