"""Named events: what is delivered to a task, and the names that steps wait for. Pure values."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field

from perdure.errors import InvalidEvent
from perdure.model import Instant, Passed, Request, ShallowJson, json_size, one_line, refuse_beyond
from perdure.values.changes import PROGRAM, Actor

LONGEST_NAME = 200
"""Characters of an event's name."""

LARGEST_EVENT = 20_000
"""Bytes of an event's value as JSON, a choice: a hundred of them fit ten times into what a task can carry along."""


def event_name(text: str) -> str:
    """Return the name of an event as it is compared: two that look the same are the same.

    Raises:
        ValueError: It is empty, too long, or no single line.
    """
    name = unicodedata.normalize("NFC", text)
    if not name.strip():
        raise ValueError("names no event (write a name)")
    if len(name) > LONGEST_NAME:
        refuse_beyond(f"has {len(name):,} characters (an event's name has at most {LONGEST_NAME})")
    return _line(name)


def _line(name: str) -> str:
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise ValueError("contains control characters (an event's name is one line of text)")
    return name


EventName = Annotated[str, AfterValidator(event_name), Field(examples=["paid 7"])]
"""An event's name: one line of at most 200 characters."""


class Event(Request):
    """Something that happened outside a task: the input of the ``deliver`` update.

    >>> Event(name="paid 7", value={"amount": 20}, id="evt-1").name
    'paid 7'
    """

    name: EventName
    """The name that a step waits for."""
    value: ShallowJson = None
    """The output of the step that takes it: at most 20 kB as JSON."""
    id: Annotated[str, Field(max_length=100), one_line] = ""
    """The sender's own id for it: the task takes an id once. Empty: each delivery is an event of its own."""
    by: Actor = PROGRAM
    """Who delivers it."""

    @property
    def size(self) -> int:
        """Bytes of its value as JSON."""
        return json_size(self.value)


class TakenEvent(Event):
    """An event that a task has accepted."""

    at: Instant
    """When, in the workflow's time."""


class EventBox(Passed):
    """A task's events, which travel when the history is rolled over."""

    kept: tuple[TakenEvent, ...] = ()
    """Events that no step has waited for yet, in the order in which they came."""
    waiting: dict[str, EventName] = Field(default_factory=dict[str, EventName])
    """The event that each waiting branch waits for, in the order in which they began to."""
    handled: tuple[str, ...] = ()
    """The ids of those that came last."""


def require_small(event: Event) -> None:
    """Refuse an event whose value or sender's name is larger than a task accepts.

    Raises:
        InvalidEvent: One of them is larger.
    """
    if (size := event.size) > LARGEST_EVENT:
        fix = f"at most {LARGEST_EVENT:,}: store it elsewhere, and deliver where it is"
        raise InvalidEvent("value", f"has {size:,} bytes as JSON", fix=fix)
    if (length := len(event.by.id)) > LONGEST_NAME:
        raise InvalidEvent("by", f"has {length:,} characters", fix=f"at most {LONGEST_NAME}")
