import pytest

from worker.terminal.conversation import plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\tcolumns\nand Ünïcode 🙂", "two\tcolumns\nand Ünïcode 🙂"),
        ("\x1b]0;title\x07\x1b[2Jred", "\ufffd]0;title\ufffd\ufffd[2Jred"),
        ("over\rwritten \x9b31m", "over\ufffdwritten \ufffd31m"),
    ],
)
def test_nothing_that_a_model_says_steers_the_terminal(text: str, shown: str) -> None:
    assert plain(text) == shown
