import pytest

from perdure.plurals import counted


@pytest.mark.parametrize(
    ("number", "noun", "told"),
    [
        (0, "item", "0 items"),
        (1, "item", "1 item"),
        (2, "entry", "2 entries"),
        (2, "day", "2 days"),
        (1.0, "day", "1 day"),
        (0.5, "day", "0.5 days"),
        (1234567, "file", "1234567 files"),
    ],
)
def test_nouns_follow_their_number(number: float, noun: str, told: str) -> None:
    assert counted(number, noun) == told


def test_a_plural_of_its_own_is_taken() -> None:
    assert [counted(number, "entry was", "entries were") for number in (1, 2)] == ["1 entry was", "2 entries were"]
