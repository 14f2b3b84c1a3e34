from datetime import UTC, datetime

from perdure.values.entries import Entry, Memory
from perdure.values.hits import Hit

NOW = datetime(2026, 5, 1, tzinfo=UTC)
MEMORY = Memory(id="mem_1", text="x", first_seen=NOW, last_seen=NOW)


def test_an_entry_that_was_found_is_read_once_and_has_no_scores_of_its_own() -> None:
    read: list[Entry] = []

    def reading() -> Entry:
        read.append(MEMORY)
        return MEMORY

    hit = Hit(reading)
    assert (hit.cosine, hit.bm25, hit.words, read) == (None, None, "", [])
    assert hit.entry is hit.entry is MEMORY
    assert len(read) == 1
