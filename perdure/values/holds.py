"""Memories on hold: what waits for a person to approve it, and what became of it. Pure values."""

import re

from pydantic import ValidationError, field_validator

from perdure.documents import refused
from perdure.errors import InvalidAnswer
from perdure.identity import digest
from perdure.model import Instant, OpenEnum, Passed, Text
from perdure.tolerance import taken_back
from perdure.values.changes import Actor
from perdure.values.items import MemoryItem
from perdure.values.jobs import Batch, Receipt
from perdure.values.questions import Answer, Approval, Question, QuestionKind, choice_of

QUESTION = "approval"
"""The id of the one question that a hold asks."""

_ID = re.compile(r"hold-([A-Za-z0-9_-]{1,64})-[0-9a-f]{32}")


class Silence(OpenEnum):
    """What it means that nobody answers in time. An unknown value counts as ``reject``."""

    REJECT = "reject"
    APPROVE = "approve"


class HoldOutcome(OpenEnum):
    """How a hold ended. An unknown outcome is shown, and counts as neither."""

    APPROVED = "approved"
    REJECTED = "rejected"


class Hold(Passed):
    """A memory that waits for a person: the input of its workflow, which alone has its text."""

    batch: Batch
    """The memory as a batch of its own, which is planned once it is approved."""
    reason: str
    """Why it waits, without content."""
    until: Instant
    """The deadline, after which silence decides."""
    silence: Silence = Silence.REJECT
    doubt: bool = False
    """Whether it is held because it contradicts what is believed, and not by a write policy: approving it then replaces
    what it contradicts."""

    @field_validator("batch")
    @classmethod
    def _is_of_one(cls, batch: Batch) -> Batch:
        if len(batch.items) != 1:
            raise ValueError("a hold is of one memory: give a batch with it alone")
        return batch

    @property
    def question(self) -> Question:
        """What a person is asked."""
        [item] = self.batch.items
        content = item.content if isinstance(item, MemoryItem) else ""
        return Question(
            id=QUESTION,
            kind=QuestionKind.APPROVAL,
            text=f"Remember this ({self.reason})? {content}",
            answer=choice_of(Approval),
            until=self.until,
            otherwise=Approval.YES if self.silence is Silence.APPROVE else Approval.NO,
        )

    def reworded(self, text: str) -> "Hold":
        """Return the hold with what a person wants remembered instead.

        Raises:
            InvalidAnswer: It is no text of a memory.
        """
        [item] = self.batch.items
        if not isinstance(item, MemoryItem):
            raise InvalidAnswer("text", "only a memory can be put in other words")
        try:
            # The answer's own bounds are checked when it is accepted, and a newer build may have wider ones.
            said = taken_back(MemoryItem, {**item.model_dump(), "content": text})
            return self.changed(batch=self.batch.changed(items=(said,)))
        except ValidationError as problem:
            found = refused(problem, MemoryItem, "", InvalidAnswer)
            raise InvalidAnswer("text", found.problem, fix=found.fix) from None


class HeldAnswer(Answer):
    """A person's answer to a hold: the input of its ``answer`` update."""

    text: Text | None = None
    """What to remember instead if it is approved; None: what was offered."""


class Held(Passed):
    """A hold that waits, as a person sees it."""

    id: str
    question: Question


class Decided(Passed):
    """How a hold ended, without its text."""

    outcome: HoldOutcome
    by: Actor
    at: Instant
    reason: str = ""
    """Why it was rejected."""
    receipt: Receipt | None = None
    """The receipt of the job that it became; None: it was rejected."""
    digest: str = ""
    """Identifies the text that it was approved with; empty: as it was offered."""


def hold_id(tenant: str, operation: str, index: int) -> str:
    """Return the id of a hold's workflow: the same for each attempt at the job that its item was offered to.

    Args:
        tenant: Whose memory it is.
        operation: The id of that job.
        index: The item's place in the job's batch.
    """
    return f"hold-{tenant}-{digest('hold/1', operation, index)[:32]}"


def is_of(tenant: str, hold: str) -> bool:
    """Return whether an id is that of a hold of a user.

    >>> is_of("t_1f", hold_id("t_1f", "ingest-t_1f-00ff", 0))
    True
    """
    return hold.rpartition("-")[0] == f"hold-{tenant}"


def tenant_of(hold: str) -> str:
    """Return whose memory a hold is for, by its id; empty: it is not the id of a hold.

    >>> tenant_of(hold_id("t_1f", "ingest-t_1f-00ff", 0))
    't_1f'
    """
    found = _ID.fullmatch(hold)
    return found[1] if found else ""
