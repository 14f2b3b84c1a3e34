"""Marks of a later build, which has more to say, are read, retired and put back by this one."""

import os
from pathlib import Path

import pytest

from perdure.stores.journal.marks import JournalMarks
from perdure.values.losses import Mark

LONGER = "7 6 5 v1 " + "what-a-later-build-adds " * 3


@pytest.fixture
async def marks(tmp_path: Path) -> JournalMarks:
    found = JournalMarks(tmp_path / "journal")
    await found.begin("key")
    folder = found.folder / ".marks"
    folder.mkdir(exist_ok=True)
    (folder / "later").write_text(f"{LONGER}\n")
    return found


async def test_a_longer_mark_is_retired_and_still_read(marks: JournalMarks) -> None:
    assert (await marks.told()).marks == {"later": Mark(7, 6, 5)}
    os.utime(marks.folder / ".marks" / "later", (1, 1))
    assert await marks.retire(before=2) == ["later"]
    assert (await marks.told()).marks == {"later": Mark(begun=7)}
    # A process that died before it removed it left it so.
    assert await marks.has_idle(before=0)
    assert await marks.retire(before=0) == ["later"]


async def test_a_longer_mark_is_put_back(marks: JournalMarks) -> None:
    await marks.restore({"later": Mark(9, 8, 7)})
    assert (await marks.told()).marks == {"later": Mark(9, 8, 7)}


async def test_a_longer_line_of_one_that_is_gone_is_read(marks: JournalMarks) -> None:
    (marks.folder / ".marks" / "removed").write_text("gone 3 and-more\nolder 2\n")
    assert (await marks.told()).marks == {"later": Mark(7, 6, 5), "gone": Mark(begun=3), "older": Mark(begun=2)}
