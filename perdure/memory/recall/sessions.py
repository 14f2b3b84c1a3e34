"""What a session may still show: what waits to be written to it, and what it learned that is not forgotten. Pure."""

import re
from collections.abc import Iterable, Mapping

from perdure.identity import memory_id
from perdure.stores.spool import Waiting
from perdure.values.changes import Deletion
from perdure.values.entries import MemoryType
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.items import statement

RECENT = 10
"""How many of a session's newest episodes a recall shows; a choice."""

IMPORTANT = 5
"""How many of its most important ones; a choice."""

_TELLING = frozenset({EpisodeKind.INSIGHT, EpisodeKind.TURN, EpisodeKind.DECISION})
"""What may say what a memory says."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def waiting(lines: Iterable[Waiting], session: str) -> list[Episode]:
    """Return the newest episodes of a session that wait on disk; a step that was tried twice has left its own twice."""
    found = {line.episode.id: line.episode for line in lines if line.session == session}
    return sorted(found.values(), key=lambda episode: episode.at)[-RECENT:]


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
