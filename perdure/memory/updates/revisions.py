"""What a requested change makes of a memory. Pure: absolute values from the stored state and the request.

Each function takes memories as they are stored and returns them as they should be; the door sets versions.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from perdure.errors import InvalidInput
from perdure.identity import digest
from perdure.model import Unit
from perdure.values.changes import ActorKind
from perdure.values.entries import OCCURRENCES_KEPT, Described, Entry, Memory, MemoryType, Purpose, Source, State
from perdure.values.filters import MIN_CONFIDENCE
from perdure.values.updates import (
    Correction,
    Credit,
    Feedback,
    MemoryUpdate,
    Merger,
    Pinning,
    Removal,
    Reversion,
    Update,
)

GOES_ON = "what was to end it does not come"
"""The reason for a change to what was to end with something that is forgotten."""

FORGOTTEN = "forgotten on request"
"""The reason for forgetting something by request. It stays in the deletion log, which has no content."""

HELPFUL = 0.1
"""What positive feedback adds to a memory's confidence (R32)."""

UNHELPFUL = -0.2
"""What negative feedback takes from it (R32)."""

_REVERTED = (*Described.model_fields, "text", "confidence", "importance", "valid_until")
"""The fields that an earlier version restores: a memory's content and confidence, but not its evidence."""

_REPLACEMENT = ("superseded_by", "superseded_at", "contradicted")
"""The fields that say what replaces a memory, which go with its end."""


def operation_of(tenant: str, request: MemoryUpdate, run: str) -> str:
    """Return the id of a change's operation.

    Args:
        tenant: Whose memory.
        request: The change. Feedback that says what it is about, and any change that names the version that it
            expects, or its sending, is the same operation however often it is requested.
        run: The run that was started for it, which identifies any other change.
    """
    by = (request.by.kind.value, request.by.id)
    match request.update:
        case Feedback(helpful=helpful, key=key) if key:
            named = digest("feedback/1", tenant, request.id, *by, helpful, key)
        case update if request.expected:
            asked = update.model_dump(mode="json")
            named = digest("change/1", tenant, request.id, *by, request.expected, asked)
        case update if request.sending:
            named = digest("sent change/1", tenant, request.id, *by, request.sending, update.model_dump(mode="json"))
        case _:
            return f"update:{run}"
    return f"update:{named[:32]}"


def purposes_of(update: Update, made: Iterable[Memory]) -> set[Purpose]:
    """Return the purposes for which a change writes content: a correction is given, a merger has those of both.

    Args:
        update: The change.
        made: The memories that it writes, as they are afterwards.
    """
    match update:
        case Correction():
            return {Purpose.GIVEN}
        case Merger():
            return {one.purpose for one in made}
        case Reversion():
            return {one.purpose for one in made if one.state is State.CURRENT}
        case _:
            return set()


def require_permitted(update: Update, memories: Iterable[Memory], by: ActorKind) -> None:
    """Check that the actor may do this to the memories: a person may do anything.

    Raises:
        InvalidInput: An actor other than a person would lift a constraint.
    """
    if by is ActorKind.PERSON or not isinstance(update, Removal | Merger):
        return
    for memory in memories:
        if memory.memory_type is MemoryType.CONSTRAINT:
            problem = f"it would lift a constraint: {memory.id}"
            raise InvalidInput("update", problem, fix=f"have a person do it: perdure memories {update.kind}")


def revised(tenant: str, memory: Memory, update: Feedback | Pinning | Credit, by: ActorKind) -> Memory:
    """Return a memory after a change that keeps its content."""
    match update:
        case Feedback(helpful=helpful):
            return refined(memory, helpful=helpful, by=by)
        case Pinning(pinned=pinned):
            return memory.changed(pinned=pinned)
        case Credit(task=task, succeeded=succeeded):
            return credited(memory, trial_of(tenant, task), succeeded=succeeded)


def refined(memory: Memory, *, helpful: bool, by: ActorKind) -> Memory:
    """Return a memory after feedback; only a person's takes a constraint out of recall."""
    guarded = memory.memory_type is MemoryType.CONSTRAINT and by is not ActorKind.PERSON
    least = min(memory.confidence, MIN_CONFIDENCE) if guarded else 0.0
    confidence = round(min(1.0, max(least, memory.confidence + (HELPFUL if helpful else UNHELPFUL))), 6)
    return memory.changed(confidence=confidence)


def credited(memory: Memory, trial: str, *, succeeded: bool) -> Memory:
    """Return a memory after a task that recalled it has ended; a repeated report of a task is not counted again.

    Args:
        memory: The memory.
        trial: The task, see ``trial_of``.
        succeeded: Whether it succeeded, as far as is known now.
    """
    if trial not in memory.trials and len(memory.trials) >= OCCURRENCES_KEPT:
        return memory
    trials = memory.trials if trial in memory.trials else (*memory.trials, trial)
    others = tuple(one for one in memory.successes if one != trial)
    if not succeeded:
        return memory.changed(trials=trials, successes=others)
    return memory.changed(trials=trials, successes=memory.successes if trial in memory.successes else (*others, trial))


def trial_of(tenant: str, task: str) -> str:
    """Return the short form of a task's id, as a memory lists it."""
    return digest("trial/1", tenant, task)[:12]


def corrected(
    memory: Memory, *, described: Mapping[str, Any], text: str, source: Source, confidence: Unit, at: datetime
) -> Memory:
    """Return a memory that still says the same, in other words or with other fields.

    Args:
        memory: The memory.
        described: The fields that change, by name.
        text: What it says.
        source: How it came to be believed.
        confidence: How much that is believed.
        at: When it was corrected.
    """
    return memory.changed(
        **described,
        text=text,
        confidence=confidence,
        source=source,
        last_seen=max(memory.last_seen, at),
        recorded_at=max(memory.newest[1], at),
    )


def reverted(memory: Memory, earlier: Memory, at: datetime) -> Memory:
    """Return a memory with the content of an earlier version, believed again if it was then.

    Args:
        memory: As it is.
        earlier: As it was.
        at: When it is reverted.
    """
    fields = {name: getattr(earlier, name) for name in _REVERTED}
    if earlier.state is not State.CURRENT:
        return memory.changed(**fields)
    fields |= {name: getattr(earlier, name) for name in _REPLACEMENT}
    if memory.state is State.CURRENT:
        return memory.changed(**fields)
    believed = {"state": State.CURRENT, "suspended": (), "kept_at": earlier.kept_at}
    return memory.changed(**fields, **believed, last_seen=max(memory.last_seen, at), recorded_at=at)


def why_of(update: Update, after: Entry | None = None) -> str:
    """Return why an entry changes, as its history shows it.

    Args:
        update: The change.
        after: What the entry is afterwards; None: the change is about this one.
    """
    match update:
        case Removal():
            return GOES_ON if after and after.state is not State.FORGOTTEN else FORGOTTEN
        case Pinning(pinned=False):
            return "unpin"
        case _:
            return update.kind
