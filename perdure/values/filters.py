"""What a recall is limited to, and whether an entry is within it. Pure.

The store's conditions are equivalent but for decay, and for what temporary memories override: it knows neither.
"""

from typing import Annotated, Literal

from pydantic import Field

from perdure.model import Instant, Model, Name, OpenEnum, Unit
from perdure.values.decay import Decay
from perdure.values.entries import Entry, Lane, Memory, MemoryType, Purpose, Record, State, holds

MIN_CONFIDENCE = 0.7
"""Items with less confidence are not recalled, unless a question or the settings say otherwise (R31)."""


class Omission(OpenEnum):
    """Why something is not in a result. An unknown reason is shown as it is."""

    CONFIDENCE = "below confidence"
    """It is believed too little, or too little by now: nobody has used or confirmed it for long."""
    RELEVANCE = "below relevance"
    """It is not relevant enough to the question."""
    LIMIT = "over the limit"
    """Higher-ranked items took all the places."""
    BUDGET = "over the budget"
    """It is in the result, and did not fit into the context block."""
    SCOPE = "other scope"
    SUPERSEDED = "superseded"
    CONSENT = "no consent"
    """The user does not consent to what it is kept for."""
    FILTERED = "filtered"
    """It has another type, tag, time or task than was asked for, or does not hold at this moment."""
    OVERRIDDEN = "overridden"
    """Something temporary that contradicts it holds at this moment."""


class Filters(Model):
    """All that an entry must meet at once (R34)."""

    now: Instant
    """The moment at which it must hold."""
    min_confidence: Unit = 0.0
    """How much it must be believed at that moment."""
    decay: Decay | None = None
    """How belief decays; None: not at all."""
    lane: Lane | None = None
    """Only records of this log; memories count all the same."""
    memory_types: tuple[MemoryType, ...] = ()
    """Only memories, and of these types; empty: of all."""
    tags: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    """Only memories, and with all of these tags."""
    scopes: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    """Only what counts in one of these; what has no scope counts everywhere."""
    since: Instant | None = None
    """Only what was last observed at this moment or later."""
    until: Instant | None = None
    """Only what was last observed before this moment."""
    withheld: tuple[Purpose, ...] = ()
    """Nothing that is kept for these purposes, which the user does not consent to."""
    task: str = ""
    """Only what this task wrote, or what is tagged with its name; turns are of no task."""

    def covers(self, kind: Literal["record", "memory", "turn"]) -> bool:
        """Return whether entries of a kind can meet the filters at all: only memories have types and tags."""
        if kind == "memory":
            return True
        if Purpose.GIVEN in self.withheld:
            return False
        if kind == "record":
            return self.lane is not None or not (self.memory_types or self.tags)
        return not (self.lane or self.memory_types or self.tags or self.task)

    def admits(self, memory_type: MemoryType) -> bool:
        """Return whether memories of a type can meet the filters."""
        return not self.memory_types or memory_type in self.memory_types

    def objection(self, entry: Entry) -> Omission | None:
        """Return why an entry does not meet the filters; None: it does."""
        if (entry.purpose if isinstance(entry, Memory) else Purpose.GIVEN) in self.withheld:
            return Omission.CONSENT
        if entry.state is not State.CURRENT:
            return Omission.SUPERSEDED if entry.state is State.SUPERSEDED else Omission.FILTERED
        if isinstance(entry, Memory) and self._is_elsewhere(entry):
            return Omission.SCOPE
        if not (holds(entry, self.now) and self._is_asked_for(entry)):
            return Omission.FILTERED
        return Omission.CONFIDENCE if self.believed(entry) < self.min_confidence else None

    def overrides(self, memory: Memory) -> bool:
        """Return whether a temporary memory counts against what it contradicts, whatever else is asked for."""
        if memory.purpose in self.withheld or not holds(memory, self.now) or self._is_elsewhere(memory):
            return False
        return memory.pinned or self.believed(memory) >= self.min_confidence

    def believed(self, entry: Entry) -> float:
        """Return how much an entry is believed at the moment at which it must hold."""
        return entry.confidence if self.decay is None else self.decay.believed(entry, self.now)

    def _is_elsewhere(self, memory: Memory) -> bool:
        return bool(self.scopes and memory.scopes) and not set(self.scopes) & set(memory.scopes)

    def _is_asked_for(self, entry: Entry) -> bool:
        if not self.covers(entry.kind):
            return False
        if (self.since and entry.last_seen < self.since) or (self.until and entry.last_seen >= self.until):
            return False
        if isinstance(entry, Memory):
            of_task = not self.task or is_of_task(entry, self.task)
            return of_task and self.admits(entry.memory_type) and set(self.tags) <= set(entry.tags)
        if isinstance(entry, Record):
            in_lane = self.lane is None or entry.lane == self.lane
            return in_lane and (not self.task or is_of_task(entry, self.task))
        return True


def is_of_task(entry: Entry, task: str) -> bool:
    """Return whether a task wrote an entry, or the entry is tagged with it (a kind of task, say)."""
    if isinstance(entry, Memory):
        return task == entry.task or task in entry.tags
    return isinstance(entry, Record) and task == entry.task
