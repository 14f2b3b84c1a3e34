"""Marks of a process that has ended, and of a later build, which has more to say: read, retired and put back."""

import os
from pathlib import Path

import pytest

from perdure.memory.wholeness import IDLE
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
    assert await marks.resting(IDLE) == {"later": Mark(7, 6, 5)}
    assert await marks.retire({"later": Mark(7, 6, 5)}) == ["later"]
    assert (await marks.told()).marks == {"later": Mark(begun=7)}
    # A process that died before it removed it left it so.
    assert await marks.resting(IDLE) == {"later": Mark(7, 6, 5)}
    assert await marks.retire({"later": Mark(7, 6, 5)}) == ["later"]


async def test_what_has_ended_counts_until_it_is_retired_and_writes_no_more(marks: JournalMarks) -> None:
    assert await marks.write("p", Mark(1, 1), new=True)
    assert "p" not in await marks.resting(IDLE), "the control: it may go on"
    await marks.end("p")
    assert not await marks.write("p", Mark(2, 1), new=False)
    assert (await marks.told()).marks["p"] == Mark(1, 1)
    resting = await marks.resting(IDLE)
    assert resting == {"p": Mark(1, 1)}
    assert await marks.retire(resting) == ["p"]
    await marks.end("p")
    assert (await marks.told()).marks["p"] == Mark(begun=1), "who says late that it ended brings nothing back"
    await marks.removed("p")
    assert (await marks.told()).gone == {"p": Mark(begun=1)}
    assert await marks.retire(resting) == []
    await marks.end("p")
    assert "p" not in (await marks.told()).marks


async def test_what_came_further_since_it_was_found_is_not_retired(marks: JournalMarks) -> None:
    assert await marks.write("p", Mark(1, 1), new=True)
    os.utime(marks.folder / ".marks" / "p", (1, 1))
    resting = await marks.resting(IDLE)
    assert resting == {"p": Mark(1, 1)}
    await marks.write("p", Mark(2, 2), new=False)
    await marks.end("p")
    assert await marks.retire(resting) == []
    assert (await marks.told()).marks["p"] == Mark(2, 2)


async def test_where_the_journal_is_gone_nothing_is_made_by_who_ends(tmp_path: Path) -> None:
    await JournalMarks(tmp_path / "journal").end("p")
    assert not (tmp_path / "journal").exists()


async def test_a_longer_mark_is_put_back(marks: JournalMarks) -> None:
    await marks.restore({"later": Mark(9, 8, 7)})
    assert (await marks.told()).marks == {"later": Mark(9, 8, 7)}


async def test_a_longer_line_of_one_that_is_gone_is_read(marks: JournalMarks) -> None:
    (marks.folder / ".marks" / "removed").write_text("gone 3 and-more\nolder 2\n")
    told = await marks.told()
    assert told.marks == {"later": Mark(7, 6, 5)}
    assert told.gone == {"gone": Mark(begun=3), "older": Mark(begun=2)}
