"""Answers a question to memory from every tier: chooses what to ask, and combines what was found.

Never changes what is remembered, and never fails for a store.
"""

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import structlog

from perdure.errors import EntryUnreadable
from perdure.memory.audit.audit import Audit
from perdure.memory.consent_book import ConsentBook
from perdure.memory.recall.absences import Absences
from perdure.memory.recall.accesses import AccessNotes
from perdure.memory.recall.context import render
from perdure.memory.recall.decay_paging import past_faded
from perdure.memory.recall.happened import InSession
from perdure.memory.recall.items import explained, interleaved, recalled, sharing, with_others
from perdure.memory.recall.named_memories import answered, directly, links_of
from perdure.memory.recall.names import Speakers
from perdure.memory.recall.omissions import EXPLAINED, LEAST_CONFIDENCE, NOT_MEANT, alternating, omissions
from perdure.memory.recall.query import FoundBy, LeftOut, Query, RecalledItem, RecallResult, Trigger
from perdure.memory.recall.ranking import RELEVANCE_FIRST, Scored, profile_of, rank, relevant, reordered, score_exact
from perdure.memory.recall.related_memories import with_relatives
from perdure.memory.recall.sources import Sought, Sources, Wanted
from perdure.memory.recall.store_requests import StoreRequests
from perdure.memory.recall.telemetry import RecallTelemetry
from perdure.memory.recall.turns import limits, rank_turns, relevant_turns
from perdure.memory.retention import RetentionRules
from perdure.memory.wholeness import Wholeness
from perdure.memory.write_policies import POLICIES, WritePolicy
from perdure.models.embedding import Embedder
from perdure.stores.journal.log import Journal
from perdure.stores.redis.accesses import Accesses
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.leases import Leases
from perdure.stores.spool import Spool
from perdure.stores.weaviate.mapping import KINDS
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together
from perdure.values.entries import Entry
from perdure.values.filters import MIN_CONFIDENCE, Omission
from perdure.values.hits import Hit
from perdure.values.labels import asked_labels
from perdure.values.strategies import Strategy

_log = structlog.get_logger(__name__)

_NOTING_SHARE = 0.4
"""Part of the time limit: if Redis takes longer to tell whether the user was erased, a use is not noted."""
_FALLBACK_MOST = 10
"""How many items the search after a thin exact result may add."""
_EXACT_MOST = 1_000
_CANDIDATES = 30
"""How many each search gives to the ranking: three times what is usually asked for."""


class _Found(NamedTuple):
    items: list[RecalledItem]
    trigger: Trigger = Trigger.NONE


class Recall:
    """Reading all tiers.

    Args:
        longterm: Records and memories.
        episodes: What happened in a session.
        journal: Answers for long-term memory when it does not.
        spool: Has the episodes that wait for Redis.
        checks: Has a tenant repaired whose vectors cannot be searched.
        deletions: What was forgotten, which the journal may not know.
        leases: Know whether anybody has written since something was looked for.
        whole: Knows whether the store has lost data, so that its answers would be incomplete.
        embedder: The model whose vectors ``longterm`` holds.
        limit_seconds: How long a recall may take, whatever is down.
        min_confidence: Items with less are left out unless a question says otherwise.
        policies: What may be believed, by name; they decide on items whose jobs are not done.
        rules: How belief decays.
        accesses: Where uses are noted; None: nowhere.
        telemetry: Where spans and figures go; without one, to the global providers, without content.
        consents: What users consent to; without it, the default applies to everybody.
        audit: Records who recalled what; None: it is not recorded.
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
        leases: Leases,
        whole: Wholeness,
        embedder: Embedder,
        limit_seconds: float = 3.0,
        min_confidence: float = MIN_CONFIDENCE,
        policies: Mapping[str, WritePolicy] = POLICIES,
        rules: RetentionRules | None = None,
        accesses: Accesses | None = None,
        telemetry: RecallTelemetry | None = None,
        consents: ConsentBook | None = None,
        audit: Audit | None = None,
    ) -> None:
        self._telemetry = telemetry or RecallTelemetry()
        self._embedder = embedder
        self.min_confidence = min_confidence
        self.rules = rules or RetentionRules()
        self._accesses = AccessNotes(accesses, limit_seconds * _NOTING_SHARE)
        self._audit = audit
        self._sources = Sources(
            longterm=longterm,
            speakers=Speakers(longterm),
            absences=Absences(),
            leases=leases,
            episodes=episodes,
            journal=journal,
            spool=spool,
            checks=checks,
            deletions=deletions,
            whole=whole,
            embedder=embedder,
            policies=policies,
            limit=limit_seconds,
            telemetry=self._telemetry,
            consents=consents,
        )

    async def recall(self, query: Query) -> RecallResult:
        """Answer from every tier.

        A store that does not answer is named in the result's ``degraded``, and never an error.

        Raises:
            EmbeddingMismatch: When the store holds another model's vectors: that is a mistake in the
                settings, and no answer would be right.
            SchemaMismatch: In the same way, when its words are stemmed in another language.
            JournalMismatch: In the same way, when the store belongs to another installation.
            StoreRefused: In the same way, when the store refuses the login that this process is configured with.
        """
        started = time.perf_counter()
        query = query.changed(decay=self.rules.decay)
        if query.min_confidence is None:
            query = query.changed(min_confidence=self.min_confidence)
        with self._telemetry.recall(query) as span:
            asking = StoreRequests(self._sources, query)
            try:
                result, epoch = await self._answered(query, asking, started)
            except EntryUnreadable as problem:
                # The journal has what was written.
                _log.error("the journal answers", tenant=query.tenant, problem=str(problem))
                asking = StoreRequests(self._sources, query)
                asking.degraded.add("weaviate")
                result, epoch = await self._answered(query, asking, started)
            self._telemetry.finished(span, result)
        self._accesses.add(query, result, epoch)
        return result

    async def _answered(self, query: Query, asking: StoreRequests, started: float) -> tuple[RecallResult, int | None]:
        """Return the answer, and the user's epoch."""
        first = asking.withheld(), self._accesses.epoch(query), asking.look_for_loss()
        if query.keys or not _asks_by_meaning(query):
            (withheld, told), epoch, _ = await together(*first)
        else:
            # Embedding takes most of a recall's time, and none of the answers changes the question.
            (withheld, told), epoch, _, _ = await together(*first, asking.sought())
        query = query.changed(withheld=withheld)
        asking.limited(query)
        found, always, happened = await together(
            self._items(query, asking), self._always(query, asking), asking.happened()
        )
        found = found._replace(items=with_others(found.items, always))
        result = await self._told(query, asking, found, happened, started)
        return await self._audited(query, result.changed(withheld=told)), epoch

    async def _audited(self, query: Query, result: RecallResult) -> RecallResult:
        """Audit who recalled what; the result says so if that is impossible."""
        if self._audit is None:
            return result
        ids, operation = [item.id for item in result.items], query.operation or f"recall:{secrets.token_hex(8)}"
        if await self._audit.read(query.tenant, ids, why="recall", operation=operation, by=query.by):
            return result
        return result.changed(degraded=(*result.degraded, "audit"))

    async def settled(self) -> None:
        """Wait until what was recalled is noted as used."""
        await self._accesses.settled()

    async def _told(
        self, query: Query, asking: StoreRequests, found: _Found, happened: InSession, started: float
    ) -> RecallResult:
        rendered = render(
            working=query.working,
            items=found.items,
            episodes=happened.shown,
            found=happened.found,
            degraded=tuple(sorted(asking.degraded)),
            characters=query.context_characters,
            shows_ids=query.shows_ids,
        )
        tells = query.explain or query.tell_left_out
        left_out = await self._left_out(query, asking, found.items, rendered.unplaced) if tells else ()
        return RecallResult(
            items=tuple(found.items),
            episodes=tuple(happened.shown),
            found_in_session=tuple(happened.found),
            trigger=found.trigger,
            degraded=tuple(sorted(asking.degraded)),
            left_out=left_out,
            milliseconds=round((time.perf_counter() - started) * 1000.0, 3),
            context=rendered.text,
        )

    async def _items(self, query: Query, asking: StoreRequests) -> _Found:
        searches = _asks_by_meaning(query)
        if not query.keys:
            # An exact result can never be enough here, so nothing waits for it.
            exact, found = await together(self._exact(query, asking), self._found(query, asking, query.limit))
            trigger = Trigger.NO_KEY if searches else Trigger.NONE
        else:
            exact, found = await self._exact(query, asking), []
            trigger = Trigger.NONE
            if len(exact) < query.enough and not query.is_exact:
                trigger = Trigger.TOO_FEW if searches else Trigger.NONE
                # What is known exactly may be found again, and must not take one of the places.
                found = await self._found(query, asking, min(query.limit, _FALLBACK_MOST) + len(exact))
        known = {item.id for item in exact}
        found = [item for item in found if item.id not in known]
        if query.keys:
            return _Found(exact + found[: min(query.limit, _FALLBACK_MOST)], trigger)
        return _Found(sharing(exact, found, query.limit), trigger)

    async def _exact(self, query: Query, asking: StoreRequests) -> list[RecalledItem]:
        records, found_by = await asking.lookup(_EXACT_MOST if query.keys else query.limit)
        asking.seen += map(Hit, records)
        why = "same lane and key" if query.keys else "same lane"
        return [recalled(score_exact(one, now=query.now, rules=self.rules), found_by, why) for one in records]

    async def _always(self, query: Query, asking: StoreRequests) -> list[RecalledItem]:
        """Return what comes in addition to the limit: constraints if the strategy has them all, and pinned memories."""
        constraints, pinned = await together(asking.constraints(), asking.pinned())

        def given(entry: Entry, found_by: FoundBy, why: str) -> RecalledItem:
            return recalled(score_exact(entry, now=query.now, rules=self.rules), found_by, why)

        return with_others(
            [given(entry, FoundBy.FILTERS, "it is a constraint within the filters") for entry in constraints],
            [given(entry, FoundBy.PINNED, "it is pinned") for entry in pinned],
        )

    async def _found(self, query: Query, asking: StoreRequests, limit: int) -> list[RecalledItem]:
        """Return what the strategy chooses."""
        if query.strategy is Strategy.STRUCTURED:
            return await self._newest(query, asking, limit)
        if not query.text.strip():
            return []
        if query.strategy is Strategy.PRECISE:
            return await self._named(query, asking, limit)
        sought = await asking.sought()
        known, said = await together(
            self._known(query, asking, sought, limit), self._said(query, asking, sought, limit)
        )
        # Their scores cannot be compared, and who reads the first ten would see none of what came second.
        return interleaved(known, said)[:limit]

    async def _newest(self, query: Query, asking: StoreRequests, limit: int) -> list[RecalledItem]:
        # What else is within the filters comes with the same search.
        more = EXPLAINED if query.explain or query.tell_left_out else 0
        find, wanted = partial(asking.newest, KINDS), limit + more
        entries = await past_faded(find, asking.counts, wanted)
        asking.seen += map(Hit, entries)
        within = [entry for entry in entries if asking.counts(entry)]
        found = sorted(within, key=lambda entry: (entry.newest, entry.id), reverse=True)
        chosen = [score_exact(entry, now=query.now, rules=self.rules) for entry in found[:limit]]
        if query.profile is not None:
            chosen = reordered(chosen, profile_of(query.ordered_by), now=query.now, task=query.task, rules=self.rules)
        return [recalled(scored, FoundBy.FILTERS, "it meets the filters") for scored in chosen]

    async def _named(self, query: Query, asking: StoreRequests, limit: int) -> list[RecalledItem]:
        """Return what the question names, what is linked to it, and what replaced it; nothing else."""
        labels, halves = asked_labels(query.text)
        candidates = await with_relatives(await asking.called(labels, halves, linked=labels), asking.memories)
        direct = directly(query.text, candidates)
        links = links_of(candidates, direct)
        candidates |= await with_relatives(await asking.called(links.labels, linked=links.linked), asking.memories)
        found = answered(
            query.text,
            candidates,
            direct,
            counts=asking.counts,
            now=query.now,
            profile=profile_of(query.ordered_by),
            rules=self.rules,
        )
        named = {one.scored.entry.id for one in found}
        asking.seen += [Hit(one, None if one.id in named else NOT_MEANT) for one in candidates.values()]
        return [recalled(one.scored, one.found_by, one.why) for one in found[:limit]]

    async def _known(self, query: Query, asking: StoreRequests, sought: Sought, limit: int) -> list[RecalledItem]:
        found_by = FoundBy.SEMANTIC

        async def search(most: int) -> list[Hit]:
            nonlocal found_by
            hits, found_by = await asking.hits(sought, Wanted(("record", "memory"), most, most))
            return hits

        hits = await past_faded(search, asking.counts, max(_CANDIDATES, limit))
        asking.seen += hits
        within = [hit for hit in hits if asking.counts(hit.entry)]
        ranked = rank(within, now=query.now, floor=self._embedder.relevance_floor, limit=limit, rules=self.rules)
        chosen = ranked if query.strategy is Strategy.SIMILARITY else relevant(ranked)
        profile = profile_of(query.ordered_by)
        if profile is not RELEVANCE_FIRST:
            chosen = reordered(chosen, profile, now=query.now, task=query.task, rules=self.rules)
        return [recalled(scored, found_by, explained(scored, profile)) for scored in chosen]

    async def _said(self, query: Query, asking: StoreRequests, sought: Sought, limit: int) -> list[RecalledItem]:
        if not query.filters.covers("turn") or not (sought.turns or "weaviate" in asking.degraded):
            return []
        hits, found_by = await asking.hits(sought, Wanted(("turn",), *limits(sought.turns)))
        asking.seen += hits
        ranked: Sequence[Scored] = await asyncio.to_thread(
            rank_turns, sought.asked, hits, stored=sought.turns, limit=limit
        )
        chosen = ranked if query.strategy is Strategy.SIMILARITY else relevant_turns(ranked)
        return [recalled(scored, found_by, explained(scored, RELEVANCE_FIRST)) for scored in chosen]

    async def _left_out(
        self, query: Query, asking: StoreRequests, items: Sequence[RecalledItem], unplaced: Sequence[str]
    ) -> tuple[LeftOut, ...]:
        hits = asking.seen
        if query.explain and query.text.strip():
            sought = await asking.sought()
            hits = [*hits, *await asking.nearby(sought, limit=EXPLAINED, min_confidence=LEAST_CONFIDENCE)]
        hits = alternating([hit for hit in hits if asking.objection(hit.entry) is not Omission.CONSENT])
        floor = self._embedder.relevance_floor
        return omissions(query, items=items, unplaced=unplaced, hits=hits, objection=asking.objection, floor=floor)


def _asks_by_meaning(query: Query) -> bool:
    return bool(query.text.strip()) and query.strategy not in {Strategy.PRECISE, Strategy.STRUCTURED}
