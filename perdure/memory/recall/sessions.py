"""What a session may still show: what waits to be written to it, and nothing that it learned and that was forgotten."""

from collections.abc import Iterable, Mapping

from perdure.changes import Deletion
from perdure.entries import MemoryType
from perdure.episodes import Episode, EpisodeKind
from perdure.identity import memory_id
from perdure.items import statement
from perdure.memory.recall.query import Query
from perdure.stores.redis.episodes import Episodes
from perdure.stores.spool import Waiting

_RECENT = 10
_IMPORTANT = 5


async def kept(episodes: Episodes, query: Query) -> list[Episode]:
    """Return the newest episodes of a question's session, and the most important ones.

    Raises:
        StoreUnavailable: Redis does not answer.
    """
    return await episodes.told(query.tenant, query.session, recent=_RECENT, important=_IMPORTANT)


def waiting(lines: Iterable[Waiting], session: str) -> list[Episode]:
    """Return the newest episodes of a session that wait on disk; a step that was tried twice has left its own twice."""
    found = {line.episode.id: line.episode for line in lines if line.session == session}
    return sorted(found.values(), key=lambda episode: episode.at)[-_RECENT:]


def learned(tenant: str, episodes: Iterable[Episode]) -> dict[str, str]:
    """Return the texts of the insights among episodes, by the ids of the memories that they may have become."""
    return {
        memory_id(tenant, memory_type, statement(episode.text)): episode.text
        for episode in episodes
        if episode.kind is EpisodeKind.INSIGHT
        for memory_type in MemoryType
    }


def unforgotten(
    episodes: Iterable[Episode], learned: Mapping[str, str], deletions: Mapping[str, Deletion]
) -> list[Episode]:
    """Return episodes without the insights that were forgotten after they were noted.

    Args:
        episodes: What happened.
        learned: The texts of the insights among them, by the ids of their memories.
        deletions: What was forgotten of these.
    """
    gone = [(learned[identifier], line) for identifier, line in deletions.items()]
    return [
        one
        for one in episodes
        if one.kind is not EpisodeKind.INSIGHT
        or not any(one.text == text and line.covers("", one.at) for text, line in gone)
    ]
