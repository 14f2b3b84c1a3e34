"""What was said, and what an extractor makes of it. Pure values."""

from collections.abc import Sequence
from typing import Annotated, Protocol

from pydantic import AfterValidator, Field

from perdure.model import Instant, ObservedAt, OpenEnum, Passed, Request, Text, Unit, refuse_beyond
from perdure.values.assertions import Assertion
from perdure.values.entries import Label, MemoryType, Source


class Voice(OpenEnum):
    """Who said something. An unknown voice is believed as little as a tool's."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"


LONGEST_BEFORE = 8_000
"""Characters of the preceding context: as many as a text may have, although an extractor needs only the last few."""


def _is_short(before: str) -> str:
    if len(before) > LONGEST_BEFORE:
        problem = f"has {len(before):,} characters, at most {LONGEST_BEFORE:,}"
        refuse_beyond(f"{problem} (give only the last thing that was said)")
    return before


class Said(Request):
    """One thing that was said: a turn, a tool's result, the outcome of a task."""

    text: Text
    by: Voice = Voice.USER
    before: Annotated[str, AfterValidator(_is_short)] = ""
    """What was said before it, if that matters: "user: do you know my size?"."""
    at: ObservedAt
    occurrence: Annotated[str, Field(min_length=1, max_length=500)]
    """Where it was said: the session and turn, the task and step, or the caller's own key."""
    speaker: Annotated[str, Field(max_length=80)] = ""
    """Who said it by name, for a transcript; empty: "user", "agent" or "tool"."""


class Ground(OpenEnum):
    """Why something that was said is not believed. An unknown ground is shown as it is."""

    PRIVATE = "pii"
    """It identifies a person."""
    SECRET = "secret"  # noqa: S105  the name of a ground
    """It gives access to something."""
    TRANSIENT = "transient"
    """It is true only now."""
    UNSTABLE = "unstable"
    """It is hedged."""
    CHATTER = "chatter"
    QUESTION = "question"
    INTENTION = "intention"
    """A plan is not a result."""
    SENSITIVE = "inferred_sensitive"
    """Somebody's guess at identity, health, politics, religion and the like."""
    INSTRUCTION = "instruction"
    """An order inside a tool's output or a quoted document."""
    HEARSAY = "hearsay"
    """About somebody else, and not verified."""
    RECALLED = "recalled"
    """Memory quoted back."""
    UNCLEAR = "unclear"
    """The extractor cannot determine what it states."""


class Candidate(Passed):
    """Something that may be believed, in words taken from what was said."""

    content: Text
    memory_type: MemoryType = MemoryType.FACT
    source: Source = Source.EXPLICIT
    confidence: Unit = 0.9
    assertion: Assertion | None = None
    names: tuple[Label, ...] = ()
    valid_from: Instant | None = None
    valid_until: Instant | None = None


class Left(Passed):
    """A part of what was said that is not believed, and why."""

    ground: Ground
    reason: str
    """In words that a person can read; it quotes nothing."""


class Extraction(Passed):
    """What an extractor makes of one thing that was said."""

    candidates: tuple[Candidate, ...] = ()
    left: tuple[Left, ...] = ()
    """What is not believed; if something was only taken out, in addition to the candidate that is left."""


class Extractor(Protocol):
    """Finds what may be believed in what was said."""

    async def extract(self, said: Sequence[Said]) -> list[Extraction]:
        """Return the result for each thing that was said, in order."""
        ...
