"""What a session learned and was forgotten since is no longer shown of it."""

from datetime import UTC, datetime, timedelta

from perdure.changes import Deletion
from perdure.entries import MemoryType
from perdure.episodes import Episode, EpisodeKind
from perdure.identity import memory_id
from perdure.items import statement
from perdure.memory.recall.sessions import learned, unforgotten

AT = datetime(2026, 5, 1, tzinfo=UTC)
TRAIN = "I always travel by train."


def episode(kind: EpisodeKind, text: str, *, after: int) -> Episode:
    moment = AT + timedelta(minutes=after)
    return Episode(id=f"{kind}/{text}/{after}", kind=kind, text=text, importance=0.5, at=moment)


def test_an_insight_that_was_forgotten_after_it_was_noted() -> None:
    forgotten = episode(EpisodeKind.INSIGHT, TRAIN, after=0)
    others = [
        episode(EpisodeKind.INSIGHT, TRAIN, after=9),
        episode(EpisodeKind.INSIGHT, "I never fly.", after=0),
        episode(EpisodeKind.TURN, TRAIN, after=0),
    ]
    episodes = [forgotten, *others]
    identifier = memory_id("t", MemoryType.PREFERENCE, statement(TRAIN))
    found = learned("t", episodes)
    assert (found[identifier], memory_id("t", MemoryType.FACT, statement("I never fly.")) in found) == (TRAIN, True)
    line = Deletion(id=identifier, at=AT + timedelta(minutes=5), reason="asked", run="r")
    assert unforgotten(episodes, found, {identifier: line}) == others
    undone = line.changed(restored_at=AT + timedelta(minutes=6))
    assert unforgotten(episodes, found, {identifier: undone}) == episodes
