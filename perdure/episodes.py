"""Episodes: what happened in a session."""

from typing import Annotated

from pydantic import Field

from perdure.model import Instant, OpenEnum, Stored, Unit


class EpisodeKind(OpenEnum):
    """What kind of thing happened. An unknown kind is shown as it is."""

    TURN = "turn"
    TOOL = "tool"
    DECISION = "decision"
    ERROR = "error"
    INSIGHT = "insight"


class Episode(Stored):
    """Something that happened in a session: what was learned from it, never the raw output."""

    id: Annotated[str, Field(min_length=1, max_length=300)]
    """Where it happened, so that a retry is the same episode."""
    kind: EpisodeKind
    text: Annotated[str, Field(min_length=1, max_length=500)]
    importance: Unit
    at: Instant
    step: str = ""
    """The path of the step that it belongs to, if any."""
