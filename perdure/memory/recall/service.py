"""Asks every tier, within one time limit, and puts what they found together.

Never changes what is remembered, and never fails for a store.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from perdure.entries import Entry, Hit
from perdure.episodes import Episode
from perdure.errors import ModelRefused, StoreUnavailable, VectorIndexDamaged
from perdure.losses import Store
from perdure.memory.policies import WritePolicy
from perdure.memory.recall import local
from perdure.memory.recall.context import render
from perdure.memory.recall.items import explained, recalled
from perdure.memory.recall.names import Speakers
from perdure.memory.recall.query import FoundBy, Query, RecalledItem, RecallResult, Trigger
from perdure.memory.recall.ranking import RELEVANCE_FIRST, Profile, rank, score_exact
from perdure.memory.recall.telemetry import Telemetry
from perdure.memory.recall.turns import Asked, limits, named, rank_turns, without_names
from perdure.memory.wholeness import Wholeness
from perdure.models.embedding import Embedder, Vector
from perdure.stores.journal.log import Journal
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.episodes import Episodes
from perdure.stores.spool import Spool
from perdure.stores.weaviate.schema import Kind
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together
from perdure.words import stems

_T = TypeVar("_T")

_FALLBACK_MOST = 10
"""How many items the search after a thin exact result may add."""
_EXACT_MOST = 1_000
_CANDIDATES = 30
"""How many each search gives to the ranking: three times what is usually asked for."""
_EPISODES_RECENT = 10
_EPISODES_IMPORTANT = 5
_COMPARING_SHARE = 0.4
"""Of the time limit: when it is not known by then whether the store lost data, it is not asked. It is compared every
ten seconds, and after it was away."""
_EMBEDDING_SHARE = 0.4
"""Of the time limit: when there is no vector by then, words alone are searched."""
_STORES_SHARE = 0.75
"""Of the time limit: what did not answer by then is looked for on disk."""
_ALL_SHARE = 0.95
"""Of the time limit: the rest is for putting the result together."""


@dataclass
class _Answers:
    """What came back, and what did not."""

    started: float
    degraded: set[str] = field(default_factory=set[str])
    entries: list[Entry] | None = None
    """What the journal knows, once it was asked."""
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Several searches may need the journal at once; one reads it."""


class _Question(NamedTuple):
    """What is asked, as the searches need it."""

    asked: Asked
    vector: Vector | None
    """None: only words can be searched."""
    turns: int
    """How many turns the user has."""


class _Wanted(NamedTuple):
    """What a search is to return: how many at most of each kind, by meaning and by words."""

    kinds: Sequence[Kind]
    near: int
    words: int


class Recall:
    """Reading all tiers.

    Args:
        longterm: Records and memories.
        episodes: What happened in a session.
        journal: Answers for long-term memory when it does not.
        spool: Has the episodes that wait for Redis.
        checks: Has a tenant repaired whose vectors cannot be searched.
        deletions: What was forgotten, which the journal may not know.
        whole: Knows whether the store has lost what was written to it, and would answer too little.
        embedder: The model whose vectors ``longterm`` holds.
        limit_seconds: How long a recall may take, whatever is down.
        profile: The weights of the ranking.
        policy: What may be believed; it decides on items whose jobs are not done.
        telemetry: Where spans and figures go; without one, to the global providers, without content.
    """

    def __init__(
        self,
        *,
        longterm: LongTerm,
        episodes: Episodes,
        journal: Journal,
        spool: Spool,
        checks: Checks,
        deletions: Deletions,
        whole: Wholeness,
        embedder: Embedder,
        limit_seconds: float = 3.0,
        profile: Profile = RELEVANCE_FIRST,
        policy: WritePolicy | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._longterm = longterm
        self._speakers = Speakers(longterm)
        self._episodes = episodes
        self._journal = journal
        self._spool = spool
        self._checks = checks
        self._deletions = deletions
        self._whole = whole
        self._policy = policy or WritePolicy()
        self._embedder = embedder
        self._limit = limit_seconds
        self._profile = profile
        self._telemetry = telemetry or Telemetry()

    async def recall(self, query: Query) -> RecallResult:
        """Answer from every tier.

        A store that does not answer is named in the result's ``degraded``, and never an error.

        Raises:
            EmbeddingMismatch: When the store holds another model's vectors: that is a mistake in the
                settings, and no answer would be right.
            JournalMismatch: In the same way, when the store belongs to another installation.
            StoreRefused: In the same way, when the store refuses the login that this process is configured with.
        """
        started = time.perf_counter()
        with self._telemetry.recall(query) as span:
            answers = _Answers(started=asyncio.get_running_loop().time())
            await self._look_for_loss(answers)
            (items, trigger), episodes = await together(self._items(query, answers), self._session(query, answers))
            degraded = tuple(sorted(answers.degraded))
            context = render(
                working=query.working,
                items=items,
                episodes=episodes,
                degraded=degraded,
                characters=query.context_characters,
            )
            result = RecallResult(
                items=tuple(items),
                episodes=tuple(episodes),
                trigger=trigger,
                degraded=degraded,
                milliseconds=round((time.perf_counter() - started) * 1000.0, 3),
                context=context,
            )
            self._telemetry.finished(span, result)
        return result

    async def _look_for_loss(self, answers: _Answers) -> None:
        """Answer from the journal where the store has lost data: it would answer too little, or what was forgotten."""
        lost = True
        with contextlib.suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout_at(answers.started + self._limit * _COMPARING_SHARE):
                lost = await self._whole.lost(Store.WEAVIATE)
        if lost:
            answers.degraded.add("weaviate")

    async def _items(self, query: Query, answers: _Answers) -> tuple[list[RecalledItem], Trigger]:
        if not query.keys:
            # An exact result can never be enough here, so nothing waits for it.
            exact, found = await together(self._exact(query, answers), self._found(query, answers, query.limit))
            trigger = Trigger.NO_KEY if query.text.strip() else Trigger.NONE
        else:
            exact, found = await self._exact(query, answers), []
            trigger = Trigger.NONE
            if len(exact) < query.enough and query.text.strip():
                trigger = Trigger.TOO_FEW
                # What is known exactly may be found again, and must not take one of the places.
                found = await self._found(query, answers, min(query.limit, _FALLBACK_MOST) + len(exact))
        known = {item.id for item in exact}
        found = [item for item in found if item.id not in known]
        if query.keys:
            return exact + found[: min(query.limit, _FALLBACK_MOST)], trigger
        return _shared(exact, found, query.limit), trigger

    async def _exact(self, query: Query, answers: _Answers) -> list[RecalledItem]:
        if query.lane is None:
            return []
        limit = _EXACT_MOST if query.keys else query.limit
        records = None
        if "weaviate" not in answers.degraded:
            call = self._longterm.lookup(query.tenant, lane=query.lane, keys=query.keys, limit=limit, now=query.now)
            records = await self._ask(answers, "weaviate", "lookup", call)
        found_by = FoundBy.EXACT
        if records is None:
            found_by = FoundBy.JOURNAL
            records = local.exact(query, await self._local(query, answers))[:limit]
        why = "same lane and key" if query.keys else "same lane"
        return [recalled(score_exact(one, now=query.now, profile=self._profile), found_by, why) for one in records]

    async def _found(self, query: Query, answers: _Answers, limit: int) -> list[RecalledItem]:
        """Return what is found by meaning and words: what is known, and then what was said."""
        if not query.text.strip():
            return []
        asked = await self._asked(query, answers)
        known, said = await together(
            self._known(query, answers, asked, limit), self._said(query, answers, asked, limit)
        )
        return _shared(known, said, limit)

    async def _asked(self, query: Query, answers: _Answers) -> _Question:
        """Return the question's names, words and vector."""
        up = "weaviate" not in answers.degraded
        names = self._speakers.known(query.tenant) if up and _of_conversations(query) else Counter[str]()
        vector = None
        if names is None:
            # Most questions name nobody, so the whole question is embedded meanwhile.
            call = self._ask(answers, "weaviate", "speakers", self._speakers.of(query.tenant))
            found, vector = await together(call, self._embedded(query.text, answers))
            names = found or Counter[str]()
        asked = Asked(query.text, stems(query.text), named(query.text, names))
        if up and (vector is None or asked.names):
            vector = await self._embedded(without_names(query.text, asked.names), answers)
        return _Question(asked, vector, names.total())

    async def _embedded(self, text: str, answers: _Answers) -> Vector | None:
        end = answers.started + self._limit * _EMBEDDING_SHARE
        vectors = await self._ask(answers, "embedding", "embed", self._embedder.embed([text]), end)
        return vectors[0] if vectors else None

    async def _known(self, query: Query, answers: _Answers, asked: _Question, limit: int) -> list[RecalledItem]:
        most = max(_CANDIDATES, limit)
        hits, found_by = await self._search(query, answers, asked, _Wanted(("record", "memory"), most, most))
        floor = self._embedder.relevance_floor
        ranked = rank(hits, now=query.now, floor=floor, limit=limit, profile=self._profile)
        return [recalled(scored, found_by, explained(scored, self._profile)) for scored in ranked]

    async def _said(self, query: Query, answers: _Answers, asked: _Question, limit: int) -> list[RecalledItem]:
        if not _of_conversations(query) or not (asked.turns or "weaviate" in answers.degraded):
            return []
        hits, found_by = await self._search(query, answers, asked, _Wanted(("turn",), *limits(asked.turns)))
        ranked = await asyncio.to_thread(rank_turns, asked.asked, hits, stored=asked.turns, limit=limit)
        return [recalled(scored, found_by, explained(scored, self._profile)) for scored in ranked]

    async def _search(
        self, query: Query, answers: _Answers, asked: _Question, wanted: _Wanted
    ) -> tuple[list[Hit], FoundBy]:
        """Return the hits of the store, or of the journal where it does not answer, and which of them answered."""

        async def search(vector: Vector | None) -> list[Hit]:
            return await self._longterm.search(
                query.tenant,
                text=query.text,
                vector=vector,
                limit=wanted.near,
                now=query.now,
                kinds=wanted.kinds,
                lane=query.lane,
                memory_types=query.memory_types,
                min_confidence=query.min_confidence,
                word_limit=wanted.words,
            )

        hits = None
        if "weaviate" not in answers.degraded:
            try:
                hits = await self._ask(answers, "weaviate", "search", search(asked.vector))
            except VectorIndexDamaged:
                answers.degraded.add("vectors")
                await self._ask(answers, "redis", "note", self._checks.note(query.tenant, datetime.now(UTC)))
                hits = await self._ask(answers, "weaviate", "search", search(None))
        if hits is not None:
            return hits, FoundBy.SEMANTIC
        entries = [entry for entry in await self._local(query, answers) if entry.kind in wanted.kinds]
        found = await self._ask_disk(answers, "journal", asyncio.to_thread(local.by_words, query, entries))
        return found or [], FoundBy.JOURNAL

    async def _session(self, query: Query, answers: _Answers) -> list[Episode]:
        recent, important = await together(
            self._ask(answers, "redis", "recent", self._episodes.recent(query.tenant, query.session, _EPISODES_RECENT)),
            self._ask(
                answers,
                "redis",
                "important",
                self._episodes.important(query.tenant, query.session, _EPISODES_IMPORTANT),
            ),
        )
        if recent is None or important is None:
            waited = await self._ask_disk(answers, "spool", self._spool.read(query.tenant))
            waiting = [line.episode for line in waited.episodes if line.session == query.session] if waited else []
            found = sorted(waiting, key=lambda episode: episode.at)[-_EPISODES_RECENT:]
        else:
            found = recent + important
        distinct = {episode.id: episode for episode in found}
        return sorted(distinct.values(), key=lambda episode: (episode.at, episode.id))

    async def _local(self, query: Query, answers: _Answers) -> Sequence[Entry]:
        async def read() -> list[Entry]:
            log = self._ask(answers, "redis", "deletions", self._deletions.all(query.tenant))
            lines, forgotten = await together(self._journal.read(query.tenant), log)
            # Some 30 µs an item: in a thread, so that neither the time limit nor heartbeats wait for it.
            return await asyncio.to_thread(local.recallable, query, lines, self._policy, forgotten or ())

        async with answers.reading:
            if answers.entries is None:
                answers.entries = await self._ask_disk(answers, "journal", read()) or []
            return answers.entries

    async def _ask_disk(self, answers: _Answers, place: str, call: Awaitable[_T]) -> _T | None:
        return await self._ask(answers, place, "read", call, answers.started + self._limit * _ALL_SHARE)

    async def _ask(
        self, answers: _Answers, store: str, operation: str, call: Awaitable[_T], end: float | None = None
    ) -> _T | None:
        try:
            with self._telemetry.call(store, operation):
                async with asyncio.timeout_at(end or answers.started + self._limit * _STORES_SHARE):
                    return await call
        except (StoreUnavailable, ModelRefused, TimeoutError):
            answers.degraded.add(store)
            # It may come back with other data.
            self._whole.doubt()
            return None


def _of_conversations(query: Query) -> bool:
    """Return whether turns are asked for too: they have neither a lane nor a type."""
    return query.lane is None and not query.memory_types


def _shared(exact: list[RecalledItem], found: list[RecalledItem], limit: int) -> list[RecalledItem]:
    """Share the places: a full log must not starve what was found by meaning, nor the other way round."""
    kept = exact[: max(limit - len(found), (limit + 1) // 2)]
    return kept + found[: limit - len(kept)]
