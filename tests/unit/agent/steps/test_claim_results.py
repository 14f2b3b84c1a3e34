"""The result of a once tool comes back as it was stored."""

import functools

import pytest
from pydantic import JsonValue

from perdure.agent.steps.claim_results import packed, packed_problem, unpacked
from perdure.errors import InvalidInput, ResultTooLarge
from perdure.model import DEEPEST_VALUE

_ONE: JsonValue = 1
DEEPER: JsonValue = functools.reduce(lambda inner, _: [inner], range(DEEPEST_VALUE + 20), _ONE)


@pytest.mark.parametrize(
    "output", [None, {"problem": "none", "parts": []}, "ä", DEEPER], ids=["nothing", "a mapping", "text", "deeper"]
)
def test_a_result_comes_back_also_one_that_a_newer_build_stored(output: JsonValue) -> None:
    assert unpacked(packed(output)) == output


def test_what_no_parser_on_the_way_would_take_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"nested 197 deep .at most 160"):
        unpacked(packed(functools.reduce(lambda inner, _: [inner], range(197), _ONE)))


@pytest.mark.parametrize(
    "problem", [InvalidInput("result", "is not JSON", fix="return text"), ResultTooLarge("it has 9 bytes")]
)
def test_why_no_step_can_carry_it_is_raised_anew(problem: InvalidInput | ResultTooLarge) -> None:
    with pytest.raises(type(problem)) as raised:
        unpacked(packed_problem(problem))
    assert str(raised.value) == str(problem)
