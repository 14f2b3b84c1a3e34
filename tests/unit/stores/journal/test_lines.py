from datetime import UTC, datetime

from perdure.entries import MemoryItem
from perdure.episodes import Episode, EpisodeKind
from perdure.jobs import Batch
from perdure.stores.journal.lines import (
    BatchLine,
    DeletionLine,
    EpisodeLine,
    MirrorLine,
    RestorationLine,
    decode,
    encode,
    is_about_an_episode,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LINES: list[MirrorLine] = [
    BatchLine(
        job_id="j",
        batch=Batch(
            tenant="t_1", key="k", items=(MemoryItem(content="two\nlines \u2028", occurrence="o", occurred_at=NOW),)
        ),
        at=NOW,
    ),
    DeletionLine(ids=("mem_1",), reason="expired", at=NOW, occurrences=("occ_1",)),
    RestorationLine(ids=("mem_1",), run="r", at=NOW),
    EpisodeLine(
        session="s", episode=Episode(id="e", kind=EpisodeKind.ERROR, text="404", importance=0.5, at=NOW, step="1")
    ),
]


def test_every_kind_of_line_comes_back_as_it_was() -> None:
    written = [encode(line) for line in LINES]
    assert all(line.count(b"\n") == 1 for line in written)
    assert list(decode(written).lines) == LINES


def test_lines_about_episodes_are_known_without_parsing() -> None:
    told = [is_about_an_episode(encode(line)) for line in LINES]
    assert told == [isinstance(line, EpisodeLine) for line in LINES]
