"""What a session learned and was forgotten since is no longer shown of it."""

from datetime import UTC, datetime, timedelta

from perdure.identity import memory_id
from perdure.memory.recall.sessions import learned, unforgotten
from perdure.values.changes import Deletion
from perdure.values.entries import MemoryType
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.items import statement

AT = datetime(2026, 5, 1, tzinfo=UTC)
TRAIN = "I always travel by train."


def episode(kind: EpisodeKind, text: str, *, after: int) -> Episode:
    moment = AT + timedelta(minutes=after)
    return Episode(id=f"{kind}/{text}/{after}", kind=kind, text=text, importance=0.5, at=moment)


def test_what_says_it_and_was_noted_before_it_was_forgotten_is_left_out() -> None:
    gone = [
        episode(EpisodeKind.INSIGHT, TRAIN, after=0),
        episode(EpisodeKind.TURN, f"user: Hm. {TRAIN}", after=0),
        episode(EpisodeKind.DECISION, "a: yes (answered)", after=0).changed(said=TRAIN),
        episode(EpisodeKind.INSIGHT, "a: look states: something", after=0).changed(said=TRAIN),
    ]
    others = [
        episode(EpisodeKind.INSIGHT, TRAIN, after=9),
        episode(EpisodeKind.INSIGHT, "I never fly.", after=0),
        episode(EpisodeKind.TURN, "user: I always travel by train to work.", after=0),
        episode(EpisodeKind.TOOL, TRAIN, after=0),
    ]
    episodes = [*gone, *others]
    identifier = memory_id("t", MemoryType.PREFERENCE, statement(TRAIN))
    found = learned("t", episodes)
    assert found[memory_id("t", MemoryType.FACT, statement("I never fly."))] == {others[1].id}
    line = Deletion(id=identifier, at=AT + timedelta(minutes=5), reason="asked", sweep="r")
    assert unforgotten(episodes, found, {identifier: line}) == others
    undone = line.changed(restored_at=AT + timedelta(minutes=6))
    assert unforgotten(episodes, found, {identifier: undone}) == episodes
