"""What a recall shows of its session, asked of Redis or else of the disk. Chooses nothing of it itself."""

import asyncio
from collections.abc import Collection
from typing import NamedTuple

from perdure.memory.recall import sessions
from perdure.memory.recall.query import Query
from perdure.memory.recall.sources import Sources
from perdure.memory.recall.timed_calls import TimedCalls
from perdure.values.entries import Purpose
from perdure.values.episodes import EPISODES_KEPT, Episode, permitted


class InSession(NamedTuple):
    """What happened in a session, as far as a recall shows it."""

    shown: list[Episode]
    """The newest and the most important, without what was found; oldest first."""
    found: list[Episode]
    """What shares words with what is looked for in the session, best first."""


async def happened(sources: Sources, calls: TimedCalls, query: Query, withdrawn: Collection[Purpose]) -> InSession:
    """Return what happened in a question's session, as far as it may be shown.

    Args:
        sources: What is asked.
        calls: Asks it in time.
        query: The question.
        withdrawn: What the user does not consent to any more.
    """
    if Purpose.GIVEN in query.withheld:
        return InSession([], [])
    shown, every = await _told(sources, calls, query)
    sought, language = query.in_session, sources.longterm.language
    ranked = await asyncio.to_thread(sessions.found_by_words, sought, every, language) if every else []
    # Some of them may not be shown any more.
    best = ranked[: 3 * sessions.FOUND]
    among = {one.id for one in best}
    told = [*best, *(one for one in shown if one.id not in among)]
    kept = permitted(await _unforgotten(sources, calls, query, told), withdrawn)
    found = [one for one in kept if one.id in among][: sessions.FOUND]
    named, newest = {one.id for one in found}, {one.id for one in shown}
    others = (one for one in kept if one.id in newest and one.id not in named)
    return InSession(sorted(others, key=lambda one: (one.at, one.id)), found)


async def _told(sources: Sources, calls: TimedCalls, query: Query) -> tuple[list[Episode], list[Episode]]:
    """Return the newest and the most important episodes, and all of them where something is looked for."""
    told, tenant, session = sources.episodes.told, query.tenant, query.session
    recent, important = sessions.RECENT, sessions.IMPORTANT
    shown = await calls.ask("redis", "episodes", lambda: told(tenant, session, recent=recent, important=important))
    if shown is None:
        waited = await calls.ask_disk("spool", lambda: sources.spool.read(tenant))
        every = sessions.waiting(waited.episodes if waited else (), session)
        return every[-recent:], every if query.in_session else []
    if not query.in_session:
        return shown, []
    every = await calls.ask("redis", "episodes", lambda: told(tenant, session, recent=EPISODES_KEPT))
    return shown, every or []


async def _unforgotten(sources: Sources, calls: TimedCalls, query: Query, episodes: list[Episode]) -> list[Episode]:
    """Return episodes without those that say what was forgotten since."""
    learned = sessions.learned(query.tenant, episodes)
    if not learned:
        return episodes
    log = sources.deletions.covering
    gone = await calls.ask("redis", "deletions", lambda: log(query.tenant, sorted(learned)))
    return sessions.unforgotten(episodes, learned, gone or {})
