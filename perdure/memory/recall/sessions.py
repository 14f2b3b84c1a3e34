"""What a session may still show: what waits to be written to it, and nothing that it learned and that was forgotten."""

import re
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

_TELLING = frozenset({EpisodeKind.INSIGHT, EpisodeKind.TURN, EpisodeKind.DECISION})
"""What may say what a memory says."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")


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


def learned(tenant: str, episodes: Iterable[Episode]) -> dict[str, set[str]]:
    """Return the ids of episodes that say something, by the ids of the memories that it may have become."""
    found: dict[str, set[str]] = {}
    for episode in episodes:
        for text in _statements(episode) if episode.kind in _TELLING else ():
            for memory_type in MemoryType:
                found.setdefault(memory_id(tenant, memory_type, statement(text)), set()).add(episode.id)
    return found


def unforgotten(
    episodes: Iterable[Episode], learned: Mapping[str, set[str]], deletions: Mapping[str, Deletion]
) -> list[Episode]:
    """Return episodes without those that say what was forgotten after it was said.

    Args:
        episodes: What happened.
        learned: The ids of those that say something, by the ids of its memories.
        deletions: What was forgotten of these.
    """
    gone = [(learned[identifier], line) for identifier, line in deletions.items()]
    return [one for one in episodes if not any(one.id in ids and line.covers("", one.at) for ids, line in gone)]


def _statements(episode: Episode) -> set[str]:
    """Return what memory may have made of an episode: its words, and each sentence of them."""
    text = episode.said or episode.text
    # A turn begins with who said it.
    texts = {text, text.partition(": ")[2]} if episode.kind is EpisodeKind.TURN else {text}
    sentences = {sentence for one in texts for sentence in _SENTENCE.split(one)}
    return {one for one in texts | sentences if one.strip()}
