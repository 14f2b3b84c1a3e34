"""Lessons: what failed in a task, why, and what resolved it, as memories that name tool and cause. Pure values."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError

from perdure.identity import UserId, digest
from perdure.model import Instant, Passed, Request, Text
from perdure.values.changes import PROGRAM, Actor
from perdure.values.entries import MemoryType, Source
from perdure.values.explanations import RecallSummary
from perdure.values.items import MemoryItem

LESSON = "lesson"
"""The tag of every lesson."""

LESSONS_KNOWN = 5
"""Lessons that are recalled about one failure, the newest: a choice, some 400 tokens at most."""

LESSONS_WRITTEN = 20
"""Lessons that one task may write, a choice: a task that fails more often has one cause, or learns nothing."""

FAILURES_KEPT = 20
"""Failures that may still be resolved, the newest: a choice. They travel with the task."""

LONGEST_QUOTE = 200
"""Characters of an error's text, and of a person's note, that a lesson has."""

IMPORTANCE = 0.7
"""How much a lesson matters, a choice: forgotten later than what merely happened."""


GONE_ON = "gone on"
"""The ``answer`` of a failure after which a person had the task go on at a step."""


class MetFailure(Passed):
    """A failure that a task has met and that is neither resolved nor the end of it yet."""

    path: str
    """The step, or the call of a model's turn."""
    tool: str
    cause: str
    """The class of the error."""
    problem: str = ""
    """The text of the error: one line, shortened."""
    arguments: dict[str, str] = Field(default_factory=dict[str, str])
    """Digests of the arguments that a model gave, by name; empty where they are a skill's."""
    answer: str = ""
    """What a person decided about it; empty: nobody was asked, or has answered."""
    note: str = ""
    """Why, in the person's words."""


class LessonsCall(Passed):
    """The input of the activity that recalls lessons about a failure."""

    tenant: str
    epoch: int | None = None
    session: str
    task_id: str
    path: str
    """The step that failed."""
    tool: str
    cause: str
    counts: bool
    """Whether what is recalled counts as used, and is credited with how the task ends."""
    now: Instant


class KnownLessons(Passed):
    """Lessons about one failure: the user's own first, then those of the installation, each newest first."""

    lessons: tuple[str, ...] = ()
    recall: RecallSummary | None = None
    """How they were recalled; it names the user's own."""


class LessonRequest(Request):
    """A request to promote a user's lesson to the installation, for all its users, or to withdraw one from it."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    """The lesson: the user's, or, to withdraw it, the installation's."""
    user_id: UserId | None = None
    """Whose lesson is promoted; None: one is withdrawn."""
    text: Text | None = None
    """What it says from then on, as the person who promotes it has read it."""
    by: Actor = PROGRAM
    asked_at: Instant | None = None
    """When it was asked, so that an erasure of the user since then keeps it out; None: when a worker is asked."""


class LessonSet(Passed):
    """What became of such a request."""

    tenant: str
    """The user's, or, where one was withdrawn, the installation's."""
    job: str = ""
    """The job that writes a promoted lesson; empty: one was withdrawn."""


def lesson_tags(tool: str, cause: str) -> tuple[str, str, str]:
    """Return the tags of the lessons about a tool and a cause.

    >>> lesson_tags("send", "ConnectionError")
    ('lesson', 'tool-send', 'cause-ConnectionError')
    """
    return LESSON, _tag("tool", tool), _tag("cause", cause)


def lesson_of(failure: MetFailure, resolution: str, *, task_id: str, at: Instant) -> MemoryItem:
    """Return the lesson of a failure.

    The same failure of the same step of a task, resolved in the same way, is one observation of it, however often the
    task runs. Two tasks that learn the same observe one lesson.

    Args:
        failure: The failure.
        resolution: What became of it, as a sentence.
        task_id: The task.
        at: When it was observed.
    """
    of: dict[str, Any] = {
        "memory_type": MemoryType.OUTCOME,
        "source": Source.LEARNED,
        "tags": lesson_tags(failure.tool, failure.cause),
        "importance": IMPORTANCE,
        "occurrence": f"lesson/{task_id}/{failure.path}/{failure.cause}/{digest('resolution/1', resolution)[:12]}"[
            -500:
        ],
        "occurred_at": at,
    }
    why = f' ("{failure.problem}")' if failure.problem else ""
    try:
        return MemoryItem(content=f"{failure.tool} failed with {failure.cause}{why}. {resolution}", **of)
    except ValidationError:
        # What a tool raises may say anything, also what no memory may hold.
        return MemoryItem(content=f"{failure.tool} failed with {_plain(failure.cause)}.", **of)


def quoted(text: str) -> str:
    """Return a text as one line that fits a lesson."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"


def by_person(failure: MetFailure) -> str:
    """Return what a person did about a failure, as a sentence."""
    did = {
        "retry": "A person had it tried again, and it succeeded",
        "skip": "A person had the step skipped",
        GONE_ON: "A person had the task go on from there, and it succeeded",
    }.get(failure.answer, "A person stopped the task")
    return f"{did}: {failure.note}" if failure.note else f"{did}."


def by_another_call(changed: Iterable[str]) -> str:
    """Return how a model's later call differed from the one that failed, as a sentence.

    Args:
        changed: The names of the arguments that had other values.
    """
    names = ", ".join(changed)
    return f"It succeeded with another value of {names}." if names else "It succeeded when it was called again."


def shown_lessons(lessons: Iterable[str]) -> str:
    """Return lessons as the lines that a person, or a model, reads after a failure; empty: there are none."""
    lines = [f"- {one}" for one in lessons]
    return "\n".join(["What earlier tasks learned about this failure:", *lines]) if lines else ""


def resolved_by(failures: Iterable[MetFailure], tool: str, arguments: Mapping[str, str]) -> list[MetFailure]:
    """Return the failures of a model's calls that a later call of the same tool resolves: of each cause the last.

    A call with nothing in common with one that failed, of several arguments, was for something else.
    """
    found: dict[str, MetFailure] = {}
    for one in failures:
        shared = one.arguments.items() & arguments.items()
        if one.tool == tool and (shared or len(one.arguments) <= 1 or not arguments):
            found[one.cause] = one
    return list(found.values())


def _tag(kind: str, name: str) -> str:
    plain = f"{kind}-{name}"
    return plain if re.fullmatch(r"[A-Za-z0-9._-]{1,80}", plain) else f"{kind}-{digest('tag/1', name)[:24]}"


def _plain(cause: str) -> str:
    return re.sub(r"\W", "", cause)[:80] or "an error"
