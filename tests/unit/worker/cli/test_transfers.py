"""A file that is no export is named, with what to do; nothing of it is sent."""

import re
from pathlib import Path

import pytest

from perdure.errors import InvalidInput
from worker.cli.transfers import _lines, _placing  # pyright: ignore[reportPrivateUsage]  the command needs servers

FIX = "give a file as 'perdure memories export' wrote it"


@pytest.mark.parametrize("text", ["", "\n"])
def test_an_empty_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "ada.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=re.escape(f"{tmp_path}/ada.jsonl: is empty ({FIX})")):
        _lines(tmp_path / "ada.jsonl")


def test_a_line_that_cannot_be_used_is_told_with_the_file() -> None:
    with (
        pytest.raises(InvalidInput, match=re.escape(f"ada.jsonl: line 3: is not JSON ({FIX})")),
        _placing(Path("ada.jsonl")),
    ):
        raise InvalidInput("line 3", "is not JSON")
    with (
        pytest.raises(InvalidInput, match=re.escape("ada.jsonl: line 1: is of version 9 (import it elsewhere)")),
        _placing(Path("ada.jsonl")),
    ):
        raise InvalidInput("line 1", "is of version 9", fix="import it elsewhere")
    with pytest.raises(InvalidInput, match="PRD100 user_id: is empty"), _placing(Path("ada.jsonl")):
        raise InvalidInput("user_id", "is empty")
