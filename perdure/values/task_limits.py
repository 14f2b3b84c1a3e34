"""How far one task may go. Pure values."""

from typing import Annotated

from pydantic import Field

from perdure.model import Request


class Limits(Request):
    """Bounds on one task."""

    steps: Annotated[int, Field(ge=1, le=100_000)] = 10_000
    """How many steps it may run; a conversation, for each message."""
    tokens: Annotated[int, Field(ge=1)] = 10_000_000
    """How many tokens of language models it may use, read and written, before no model is asked any more; a
    conversation, for each message."""
    hours: Annotated[float, Field(gt=0, le=24 * 365)] | None = None
    """How long it may take before it fails, waits and pauses included; without it, as long as it needs."""
    answer_hours: Annotated[float, Field(gt=0, le=24 * 365)] = 24 * 7
    """How long a question waits for its answer before the task fails; in a conversation, only the call that asks."""
    idle_hours: Annotated[float, Field(gt=0, le=24 * 365)] = 24
    """How long a conversation waits for the next message before it ends."""
