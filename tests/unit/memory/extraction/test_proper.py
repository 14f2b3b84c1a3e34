"""A name in the genitive is a name; what is written together with "not" is none."""

import pytest

from perdure.memory.extraction.proper import can_name, without_opening


@pytest.mark.parametrize("word", ["Kevin's", "Brian’s", "O'Brien", "London's", "Kim's"])
def test_a_genitive_can_be_of_a_name(word: str) -> None:
    assert can_name(word)
    assert without_opening(f"On Friday {word} desk") == f"{word} desk"


@pytest.mark.parametrize("word", ["Isn't", "Don’t", "Can't", "I'm", "That's", "Friday's"])
def test_a_contraction_is_no_name(word: str) -> None:
    assert not can_name(word)
