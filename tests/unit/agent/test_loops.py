"""Loops of a model: how often the same turns, one after the other, were wanted before."""

import pytest

from perdure.agent.loops import repeated_with, repetitions
from perdure.agent.turns import Conversation, ModelTurn, WantedCall


def turn(wants: str) -> ModelTurn:
    return ModelTurn(calls=tuple(WantedCall(tool="t", digest=one) for one in wants))


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ("a", [0]),
        ("a a a", [0, 1, 2]),
        ("a b a b a b", [0, 0, 0, 1, 1, 2]),
        ("a b c a b c a b c", [0, 0, 0, 0, 0, 1, 1, 1, 2]),
        ("a b c d a b c d a b c d", [0] * 12),
        ("ab ba", [0, 1]),
        ("a b a c a d a e", [0] * 8),
        ("a b a b c a b", [0, 0, 0, 1, 0, 0, 0]),
        ("a a b b a a b b", [0, 1, 0, 1, 0, 1, 0, 1]),
        ("a - a - a -", [0] * 6),
    ],
)
def test_a_loop_is_counted_by_its_rounds(turns: str, expected: list[int]) -> None:
    conversation, found = Conversation(), list[int]()
    for wants in turns.split():
        one = turn(wants.replace("-", ""))
        repeated = repeated_with(one, conversation)
        found.append(repetitions(repeated))
        # Older turns give way to a summary.
        conversation = conversation.changed(turns=(*conversation.turns, one)[-5:], repeated=repeated)
    assert found == expected
