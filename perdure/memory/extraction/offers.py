"""From what was said to the items that are offered to memory. Pure."""

from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue

from perdure.values.requests import NotBelieved, ObserveRequest
from perdure.values.statements import Candidate, Extraction, Said


def turns(request: ObserveRequest) -> list[JsonValue]:
    """Return what was said as turns, word for word and in its order."""
    return [
        {
            "kind": "turn",
            "content": one.text,
            "speaker": one.speaker or one.by.value,
            "by": one.by.value,
            "session": request.session,
            "position": request.start + place,
            "occurrence": one.occurrence,
            "occurred_at": one.at.isoformat(),
        }
        for place, one in enumerate(request.said)
    ]


def believed(said: Sequence[Said], found: Sequence[Extraction]) -> list[JsonValue]:
    """Return the memories that may be believed; each with where it was observed, so that a retry counts once."""
    return [
        _memory(one, candidate, place)
        for one, extraction in zip(said, found, strict=True)
        for place, candidate in enumerate(extraction.candidates)
    ]


def left_out(found: Sequence[Extraction]) -> tuple[NotBelieved, ...]:
    """Return what is not believed, and why."""
    return tuple(
        NotBelieved(index=index, ground=left.ground, reason=left.reason)
        for index, extraction in enumerate(found)
        for left in extraction.left
    )


def _memory(one: Said, candidate: Candidate, place: int) -> JsonValue:
    said: dict[str, Any] = candidate.model_dump(mode="json", exclude_defaults=True)
    occurrence = f"{one.occurrence}#{place}" if place else one.occurrence
    return {**said, "kind": "memory", "occurrence": occurrence, "occurred_at": one.at.isoformat()}
