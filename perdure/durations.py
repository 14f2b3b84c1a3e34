"""Durations and moments as people write them, and what waits for one. Pure."""

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from perdure.model import Instant, Passed, refuse_beyond

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

LONGEST_WAIT = timedelta(days=366)
"""How far away the moment may be that a step waits for, and how long what is limited may last: a choice; anything later
should be a task of its own. Temporal takes no time beyond 10,000 years, and what starts with one is tried for ever."""


class Wait(Passed):
    """A step that goes on at a moment, or with an event."""

    step: str
    shown: str = ""
    """Its path for people to read, with the names of list elements in place of their indexes; empty: there are none."""
    until: Instant | None = None
    """None: it waits for its event, however long that takes."""
    event: str = ""
    """The event's name; empty: it waits for the moment alone."""

    @property
    def told(self) -> str:
        """What it waits for, in a few words.

        >>> Wait(step="paid", event="paid 7").told
        "waits for the event 'paid 7'"
        """
        event = f" for the event {self.event!r}" if self.event else ""
        return f"waits{event}" + (f" until {self.until:%Y-%m-%d %H:%M:%S %Z}" if self.until else "")


def duration_of(text: str) -> timedelta:
    """Return the duration that a text states.

    Raises:
        ValueError: It states none.

    >>> duration_of("36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    if not (found := re.fullmatch(r"([0-9]{1,9})([smhd])", text)):
        raise ValueError("is not a duration (write a number and a unit: 7d, 12h, 30m or 45s)")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def with_unit(value: object) -> object:
    """Return what may state a duration.

    Raises:
        ValueError: It is a number, whose unit nobody knows.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f"is a number without a unit (write {value:g}s, {value:g}m or {value:g}h)")  # noqa: TRY004
    return value


def lasting(text: str) -> str:
    """Return a text that states a duration above zero.

    Raises:
        ValueError: It states none, zero, or more than ``LONGEST_WAIT``.
    """
    if not (duration := duration_of(text)):
        raise ValueError("is zero (write a number above 0)")
    if duration > LONGEST_WAIT:
        refuse_beyond(f"is longer than {LONGEST_WAIT.days} days (write less)")
    return text


def is_duration(text: str) -> bool:
    """Return whether a text states a duration, and not a moment."""
    try:
        duration_of(text)
    except ValueError:
        return False
    return True


def moment_of(text: str, now: datetime) -> datetime:
    """Return the moment that a text states: one with its time zone, or how long after now.

    Raises:
        ValueError: It states neither, or a moment further away than ``LONGEST_WAIT``.

    >>> moment_of("2026-01-31T09:00:00+01:00", datetime(2026, 1, 1, tzinfo=UTC)).isoformat()
    '2026-01-31T08:00:00+00:00'
    """
    left = duration_of(text) if is_duration(text) else _moment(text) - now
    _require_near(left)
    try:
        return now.astimezone(UTC) + left
    except OverflowError:
        raise ValueError("is after the year 9999") from None


def check_wait(text: str) -> None:
    """Refuse a text that states no moment a step could wait for, whenever the wait begins.

    Raises:
        ValueError: It states none.
    """
    if is_duration(text):
        _require_near(duration_of(text))
    else:
        _moment(text)


def _require_near(left: timedelta) -> None:
    if left > LONGEST_WAIT:
        most = LONGEST_WAIT.days
        refuse_beyond(f"is further away than {most} days (wait at most {most}d: what comes later is a task of its own)")


def _moment(text: str) -> datetime:
    moment = None
    with suppress(ValueError, OverflowError):
        written = datetime.fromisoformat(text)
        moment = written.astimezone(UTC) if written.tzinfo else None
    if moment is None:
        raise ValueError("is neither a duration nor a moment with its time zone (write 12h, or 2026-01-31T09:00:00Z)")
    return moment
