"""What a session may still show: what waits to be written to it, what is found by its words, and what is not forgotten.

Pure.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from perdure.identity import memory_id, session_digest
from perdure.stores.spool import Waiting
from perdure.values.changes import Deletion
from perdure.values.entries import MemoryType
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.items import statement
from perdure.words import ENGLISH, stems

RECENT = 10
"""How many of a session's newest episodes a recall shows; a choice."""

IMPORTANT = 5
"""How many of its most important ones; a choice."""

FOUND = 8
"""How many of those that share words with what is looked for; a choice: half of a block of the usual length."""

_TELLING = frozenset({EpisodeKind.INSIGHT, EpisodeKind.TURN, EpisodeKind.DECISION})
"""What may say what a memory says."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def waiting(lines: Iterable[Waiting], session: str) -> list[Episode]:
    """Return the episodes of a session that wait on disk, oldest first, each once.

    A step that was tried twice has left its own twice. A session's stand-in names the session as its name does.
    """
    wanted = session_digest(session)
    found = {line.episode.id: line.episode for line in lines if session_digest(line.session) == wanted}
    return sorted(found.values(), key=lambda episode: episode.at)


def found_by_words(text: str, episodes: Sequence[Episode], language: str = ENGLISH) -> list[Episode]:
    """Return the episodes that share words with a text, best first.

    A word counts the more, the fewer of the episodes have it, and not at all if more than half of them do, as they have
    "turn". Of equal ones the newest is first. None is left out for being worse than the best one: what somebody has
    just asked is an episode as well, and shares all its words with the question.

    Args:
        text: What is looked for.
        episodes: All of a session.
        language: Whose endings are taken off the words.
    """
    wanted = set(stems(text, language))
    shared = [(one, wanted.intersection(stems(one.text, language))) for one in episodes]
    having, most = Counter(word for _, words in shared for word in words), max(1, len(episodes) // 2)
    rarity = {
        word: math.log1p((len(episodes) - often + 0.5) / (often + 0.5))
        for word, often in having.items()
        if often <= most
    }
    # Summed exactly, so that the order of a set changes nothing.
    scored = [(math.fsum(rarity.get(word, 0.0) for word in words), one) for one, words in shared]
    ranked = sorted(scored, key=lambda each: (-each[0], -each[1].at.timestamp(), each[1].id))
    return [one for score, one in ranked if score > 0]


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
