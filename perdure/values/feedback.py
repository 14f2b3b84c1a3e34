"""What people say of a task after it has ended, and how the task counts then: their last word wins. Pure."""

from collections.abc import Iterable

from perdure.model import Instant, Passed, Stored
from perdure.values.steering import GivenFeedback, TaskFeedback

MOST_LATE = 50
"""Times that people judge a task after its end, a choice: as many as while it runs."""


class FeedbackNote(Passed):
    """The input of the activity that writes a person's word on a running task into the task's session."""

    tenant: str
    epoch: int | None = None
    session: str
    id: str
    """The sender's id for the word, or that of its update."""
    given: GivenFeedback


class LateFeedback(Stored):
    """What a person said of one run of a task after it had ended."""

    id: str
    """The sender's id for it: the same one again is the same word."""
    first_run: str
    """The first run of the task's workflow: what is said of one end of a task is not said of a later one."""
    given: GivenFeedback


class LateFeedbackCall(Passed):
    """The input of the workflow, and of the activity, that take a person's word on a task that has ended."""

    workflow_id: str
    first_run: str
    """The first run of the workflow that the person has seen the end of."""
    feedback: TaskFeedback
    at: Instant | None = None
    """When it was said; set by the workflow, since its retries say the same again."""


class LateVerdict(Passed):
    """What holds of a task after a person's word."""

    tenant: str
    succeeded: bool
    """How it counts from now on."""
    credited: int
    """How many recalled memories it counts for."""
    feedback: tuple[GivenFeedback, ...]
    """All that was said of this end of it, oldest first."""


def ordered(said: Iterable[LateFeedback]) -> list[LateFeedback]:
    """Return what was said, oldest first."""
    return sorted(said, key=lambda one: (one.given.at, one.id))


def standing(said: Iterable[GivenFeedback]) -> list[GivenFeedback]:
    """Return what still stands of what was said, oldest first: the last word on the task, and on each step since then.

    Args:
        said: Oldest first.
    """
    found: dict[str, GivenFeedback] = {}
    for one in said:
        if one.step:
            # At the end, as the last word.
            found.pop(one.step, None)
        else:
            found.clear()
        found[one.step] = one
    return list(found.values())


def verdict(said: Iterable[LateFeedback]) -> bool | None:
    """Return whether people say that a task succeeded; None: what they say leaves that as it was at its end.

    The last word on the whole task decides, unless a step was said to have failed after it. That a step passed takes
    back that it failed, and says nothing of the others.
    """
    last = standing(one.given for one in ordered(said))
    if any(one.step and not one.passed for one in last):
        return False
    return next((one.passed for one in last if not one.step), None)
