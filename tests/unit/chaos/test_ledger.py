"""What counts as an open effect: what was begun, has not ended, and whose process lives."""

import os
from pathlib import Path

import pytest

from chaos.ledger import events_of, note, note_death, read


@pytest.mark.parametrize(
    ("lines", "open_"),
    [
        ((), 0),
        (("begun a 1",), 1),
        (("begun a 1", "done a 1"), 1),
        (("begun a 1", "done a 1", "ended a 1"), 0),
        # Its time-out cut it off, and nothing happened.
        (("begun a 1", "ended a 1"), 0),
        (("begun a 1", "died - 1"), 0),
        (("begun a 1", "begun b 1", "begun c 2", "died - 1"), 1),
        # The next attempt is open on its own account, and ends.
        (("begun a 1", "died - 1", "begun a 2"), 1),
        (("begun a 1", "died - 1", "begun a 2", "done a 2", "ended a 2"), 0),
        # A process that was only stopped keeps what it had begun, beside who took over.
        (("begun a 1", "begun a 2", "done a 2", "ended a 2"), 1),
        # A later process may get the same id.
        (("died - 1", "begun a 1"), 1),
    ],
)
def test_what_a_dead_process_had_begun_is_not_open(lines: tuple[str, ...], open_: int) -> None:
    assert events_of(lines).open.total() == open_


def test_each_process_has_its_own_open_effects() -> None:
    lines = ["begun a 1", "begun b 2", "begun c 2", "done a 1", "ended a 1", "ended b 2", "begun d 3", "died - 3"]
    assert events_of(lines).open == {2: 1}


def test_an_effect_happened_as_often_as_it_was_done() -> None:
    assert events_of(["begun a 1", "done a 1", "died - 1", "begun a 2", "done a 2", "ended a 2"]).done == {"a": 2}


def test_a_ledger_reads_as_it_was_written(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    assert read(ledger) == ({}, {})
    note(str(ledger), "begun", "a")
    note(str(ledger), "done", "a")
    assert read(ledger) == ({"a": 1}, {os.getpid(): 1})
    note_death(ledger, os.getpid())
    assert read(ledger) == ({"a": 1}, {})


def test_no_line_is_written_in_two_pages(tmp_path: Path) -> None:
    # A process that is killed between them would leave half a line, to which the next one is joined.
    ledger = tmp_path / "ledger"
    for number in range(200):
        note(str(ledger), "begun", ("k" if number % 2 else "é") * (number % 90 + 1))
    ends = [place for place, byte in enumerate(ledger.read_bytes()) if byte == ord("\n")]
    starts = [0, *(end + 1 for end in ends[:-1])]
    page = os.sysconf("SC_PAGESIZE")
    assert [(start, end) for start, end in zip(starts, ends, strict=True) if start // page != end // page] == []


def test_a_line_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at most 255 bytes"):
        note(str(tmp_path / "ledger"), "begun", "k" * 300)
