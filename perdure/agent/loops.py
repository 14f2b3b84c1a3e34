"""Whether a model goes round in circles: the same calls, or the same few turns of calls, again and again. Pure."""

from perdure.agent.turns import Conversation, ModelTurn

LONGEST_LOOP = 3
"""Turns of the longest loop that is noticed, a choice: of longer ones, the limits of turns and tokens are the end."""


def repeated_with(turn: ModelTurn, before: Conversation) -> tuple[int, ...]:
    """Return for loops of one turn, of two and so on, how many turns in a row, up to this one, are as the loop has it.

    Args:
        turn: What the model wants now.
        before: The conversation without it.
    """
    so_far = (*before.repeated, *[0] * LONGEST_LOOP)
    found = [so_far[length - 1] + 1 if _is_as(turn, before, length) else 0 for length in range(1, LONGEST_LOOP + 1)]
    return tuple(found) if any(found) else ()


def repetitions(repeated: tuple[int, ...]) -> int:
    """Return how often in a row the calls of the last turns were wanted before."""
    return max((turns // length for length, turns in enumerate(repeated, 1)), default=0)


def _is_as(turn: ModelTurn, before: Conversation, length: int) -> bool:
    return bool(turn.calls) and len(before.turns) >= length and _same(turn, before.turns[-length])


def _same(turn: ModelTurn, other: ModelTurn) -> bool:
    return sorted(call.digest for call in turn.calls) == sorted(call.digest for call in other.calls)
