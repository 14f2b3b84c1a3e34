"""How many calls of a tool are made at once, and in a minute. Pure values."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Self, cast

from pydantic import Field, model_validator

from perdure.errors import InvalidInput, Unavailable
from perdure.model import Model
from perdure.plurals import counted

MINUTE = 60.0
"""Seconds."""


class LimitReached(Unavailable):
    """A limit of a tool's calls is reached: the step has not acted, and is tried after ``retry_after`` seconds."""

    code = "PRD233"
    benign = True

    def __init__(self, tool: str, limit: str, retry_after: float) -> None:
        super().__init__(f"tool {tool!r} is called {limit}: waits for its turn")
        self.retry_after = retry_after


class CallLimit(Model):
    """How often a tool may be called, by all workers of an installation together.

    >>> CallLimit(per_minute=30, per_user=True).told
    'at most 30 times a minute for a user'
    """

    at_once: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Calls that may be under way at the same time."""
    per_minute: Annotated[int, Field(ge=1, le=10_000)] | None = Field(default=None, examples=[None])
    """Calls that may begin within any 60 seconds."""
    per_user: bool = False
    """Whether each user has a limit of their own."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.at_once is None) == (self.per_minute is None):
            raise ValueError("needs either at_once or per_minute (give a tool two limits for both)")
        return self

    @property
    def most(self) -> int:
        """How many calls may have a place."""
        return self.at_once or self.per_minute or 0

    @property
    def told(self) -> str:
        """The limit, in a few words."""
        for_user = " for a user" if self.per_user else ""
        return f"at most {counted(self.most, 'time')} {'at once' if self.at_once else 'a minute'}{for_user}"


def limits_of(given: object, what: str) -> tuple[CallLimit, ...]:
    """Return limits as somebody gives them in Python, where nothing has checked what they are.

    Raises:
        InvalidInput: They are not limits, or two are of one kind; with what they limit.
    """
    fix = "give a list: limits=[CallLimit(per_minute=30)]"
    if not isinstance(given, Sequence):
        raise InvalidInput(what, f"has the limits {given!r}, which are not a list", fix=fix)
    found = list[CallLimit]()
    for one in cast("Sequence[object]", given):
        if not isinstance(one, CallLimit):
            raise InvalidInput(what, f"has {one!r} among its limits, which is not one", fix=fix)
        found.append(one)
    require_distinct(found, what)
    return tuple(found)


def require_distinct(limits: Iterable[CallLimit], what: str) -> None:
    """Refuse two limits of one kind.

    Raises:
        InvalidInput: There are two, with what they limit.
    """
    kinds = [(one.at_once is None, one.per_user) for one in limits]
    if len(set(kinds)) < len(kinds):
        fix = "give one of each kind: at_once or per_minute, per_user or not"
        raise InvalidInput(what, "has two limits of one kind", fix=fix)
