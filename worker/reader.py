"""Memory as a process without a worker reads it: by itself if it has the tenant key, otherwise by reference."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial

from perdure.documents import refuse_unknown
from perdure.errors import InvalidInput, StoreUnavailable, UnknownOwner
from perdure.memory.consent_book import consents_of
from perdure.memory.heirs import standing_for
from perdure.memory.membership import members_of
from perdure.memory.recall.items import recalled
from perdure.memory.recall.query import FoundBy, Query, RecalledItem, RecallResult
from perdure.memory.recall.ranking import Scored
from perdure.memory.recall.related_memories import holding
from perdure.memory.updates.exports import ExportedConsent, ExportedHold, ExportedMembership, written
from perdure.memory.updates.id_prefixes import identified
from perdure.memory.updates.updater import unknown
from perdure.memory.updates.versions import rejections, settled_jobs, versions
from perdure.models.embedding import MINILM
from perdure.settings import Addresses, Settings
from perdure.stores.audit.lines import AuditKind
from perdure.stores.journal.lines import Line
from perdure.stores.redis.connection import connect
from perdure.stores.redis.outputs import Outputs
from perdure.stores.tenant_key import TenantKey
from perdure.together import together
from perdure.tolerance import taken_back
from perdure.values.access_tokens import Caller
from perdure.values.changes import Actor
from perdure.values.consents import is_granted, refusal, withheld
from perdure.values.entries import Entry, Memory, Purpose, State, headline_of
from perdure.values.filters import Filters
from perdure.values.jobs import SettledJob
from perdure.values.memberships import Membership
from perdure.values.requests import RecallHandle, RecallRequest, Reference
from perdure.values.updates import Rejection, Version
from worker.snapshots import counted, happened, session_items, whole
from worker.wiring.reading_services import RESULTS_KEPT, ReadingServices, open_reading

_LOADED_WITHIN = 10.0
"""Seconds: loading takes 0.3 on an idle machine (measured), and more than a recall's two on a busy one."""


class Reader:
    """Recalls in this process, and checks that it belongs to the installation until each store has answered.

    Args:
        reading: The services.
        seconds: How long a check may take.
    """

    def __init__(self, reading: ReadingServices, seconds: float) -> None:
        self._reading = reading
        self._seconds = seconds
        self.unanswered: list[Callable[[], Awaitable[object]]] = [
            lambda: reading.installation.require(reading.tenant_key),
            reading.whole.examine,
            reading.longterm.open,
        ]
        """The checks that a store has not answered yet."""
        self._loads = reading.embedder.name == MINILM

    async def recall(self, request: RecallRequest) -> RecallResult:
        """Recall by the service that workers use.

        Checks that no store has answered yet run in parallel: a store that is down, or too slow, costs no time and
        leaves the result degraded.

        Raises:
            InvalidInput: The question is malformed.
            UnknownOwner: The user does not belong to the owner that it names, or there is no such owner.
            TenantKeyMismatch: The data was written under another key.
            EmbeddingMismatch: The collections were made with another model.
            SchemaMismatch: Their words are stemmed in another language.
            JournalMismatch: The workers share another journal.
        """
        refuse_unknown(request)
        tenant = await self.tenant(request.user_id, request.of)
        await self._load(request.text)
        query = Query.of(request, tenant=tenant, now=datetime.now(UTC))
        result, _ = await together(self._reading.recall.recall(query), self._check_all())
        return result

    async def warm(self) -> None:
        """Load the model before anybody asks."""
        await self._load("warm")

    async def _load(self, text: str) -> None:
        """Load the model of this machine before the first question: a recall's time is too short for it."""
        if self._loads and text:
            self._loads = False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOADED_WITHIN):
                    await self._reading.embedder.embed([text])

    async def read(self, user_id: str, handle: RecallHandle, *, by: Actor) -> list[RecalledItem]:
        """Return what a handle names, or what that was merged into, without what no longer holds or is consented to.

        Args:
            user_id: Who reads; what is not theirs, or their team's or agent's, counts as nonexistent.
            handle: What was recalled.
            by: Who reads, for the audit.

        Raises:
            UnknownOwner: The user does not, or no longer, belong to the owner from whom it was recalled.
            StoreUnavailable: Weaviate does not answer.
        """
        tenant = await self.tenant(user_id, handle.of)
        found = await self._holding(tenant, [item.id for item in handle.items])
        read: dict[str, Scored] = {}
        for item in handle.items:
            if entry := found.get(item.id):
                read.setdefault(entry.id, Scored(entry=entry, score=item.score, parts={}))
        await self.audited(tenant, list(read), "handle", by)
        return [recalled(one, FoundBy.HANDLE, "by handle") for one in read.values()]

    async def texts(
        self, tenant: str, ids: Collection[str], owners: Collection[str] = (), *, by: Actor
    ) -> dict[str, str]:
        """Return, by id, the texts of the given entries that hold now and that the user consents to.

        Args:
            tenant: Whose.
            ids: The entries.
            owners: The teams and agents whose memory counts too, where the user belongs to them.
            by: Who reads.

        Raises:
            StoreUnavailable: Weaviate does not answer.
        """
        found: dict[str, str] = {}
        for of in (None, *owners):
            with contextlib.suppress(UnknownOwner):
                reached = await self._reading.members.reached(tenant, of)
                held = await self._holding(reached, list(ids))
                told = {one: headline_of(entry.text) for one, entry in held.items()}
                await self.audited(reached, list({entry.id: None for entry in held.values()}), "explain", by)
                found |= told
        return found

    async def memories(self, user_id: str, of: str | None, *, everything: bool, by: Actor) -> list[Entry]:
        """Return what is remembered of a user or an owner, the newest first.

        Args:
            user_id: Who asks.
            of: The team or agent whose memory it is; None: the user's own.
            everything: Also what was replaced or forgotten, and records and turns.
            by: Who reads.
        """
        return await self._listed(await self.tenant(user_id, of), everything=everything, by=by)

    async def common(self, *, by: Actor) -> list[Entry]:
        """Return what is remembered of the installation, for all its users, the newest first."""
        return await self._listed(self._reading.tenant_key.tenant_of_installation, everything=False, by=by)

    async def common_history(self, identifier: str, *, by: Actor) -> list[Version]:
        """Return the versions of an entry of the installation that are kept, oldest first.

        Raises:
            InvalidInput: There is no such entry.
        """
        return await self._history(self._reading.tenant_key.tenant_of_installation, identifier, by=by)

    async def _listed(self, tenant: str, *, everything: bool, by: Actor) -> list[Entry]:
        _, stored = await whole(self._reading, tenant)
        found = [
            entry
            for entry in stored.values()
            if everything or (isinstance(entry, Memory) and entry.state is State.CURRENT)
        ]
        await self.audited(tenant, [entry.id for entry in found], "list", by)
        used = await counted(self._reading, tenant, found)
        return sorted(used, key=lambda entry: (entry.newest, entry.id), reverse=True)

    async def history(self, user_id: str, of: str | None, identifier: str, *, by: Actor) -> list[Version]:
        """Return the versions of an entry that are kept, oldest first.

        Raises:
            InvalidInput: There is no such entry of the user or owner.
        """
        found = await self._history(await self.tenant(user_id, of), identifier, by=by)
        names = {} if of is None else await self._reading.members.names(of)
        return [one.changed(by=one.by.changed(id=names.get(one.by.id, one.by.id))) for one in found]

    async def identified(self, user_id: str, of: str | None, beginnings: Sequence[str]) -> list[str]:
        """Return the ids of a user's entries that begin so; what none begins with, as it is.

        Raises:
            InvalidInput: Several begin so.
        """
        _, stored = await whole(self._reading, await self.tenant(user_id, of))
        return [identified(one, stored) for one in beginnings]

    async def _history(self, tenant: str, identifier: str, *, by: Actor) -> list[Version]:
        lines, stored = await whole(self._reading, tenant)
        identifier = identified(identifier, stored)
        if identifier not in stored:
            raise unknown("id", identifier)
        await self.audited(tenant, [identifier], "history", by)
        *earlier, last = versions(lines, identifier)
        [used] = await counted(self._reading, tenant, [last.entry])
        return [*earlier, last.changed(entry=used)]

    async def rejected(self, user_id: str, of: str | None, *, limit: int, by: Actor) -> list[Rejection]:
        """Return what was lately refused, the newest first."""
        tenant = await self.tenant(user_id, of)
        lines, _ = await whole(self._reading, tenant)
        found = rejections(lines)[:limit]
        await self.audited(tenant, [one.job for one in found], "rejected", by)
        return found

    async def settled(self, tenant: str, jobs: Collection[str], owners: Collection[str] = ()) -> list[SettledJob]:
        """Return what the journal knows of those of the given jobs that are done.

        Args:
            tenant: Whose.
            jobs: The ids of the jobs.
            owners: The teams and agents whose journals count too, where the user belongs to them.
        """
        found: list[SettledJob] = []
        for of in (None, *owners):
            with contextlib.suppress(UnknownOwner):
                reached = await self._reading.members.reached(tenant, of)
                found += settled_jobs(await self._reading.journal.read(reached), jobs)
        return found

    async def tenant(self, user_id: str, of: str | None) -> str:
        """Return the tenant of the memory that a user asks for.

        Raises:
            UnknownOwner: The user does not belong to the owner, or there is no such owner.
        """
        return await self._reading.members.tenant(user_id, of)

    async def members(self, of: str, *, by: Actor) -> list[Membership]:
        """Return who belongs to a team or an agent."""
        found = await self._reading.members.of(of)
        if found:
            tenant = self._reading.tenant_key.tenant_of_owner(of)
            await self.audited(tenant, [one.member for one in found], "members", by)
        return found

    async def require_consent(self, user_id: str, of: str | None, purpose: Purpose) -> None:
        """Check that a purpose is consented to.

        Raises:
            InvalidInput: It is not; with what to do.
        """
        if not await self.consents(user_id, of, purpose):
            raise InvalidInput("consent", refusal(purpose))

    async def consents(self, user_id: str, of: str | None, purpose: Purpose) -> bool:
        """Return whether a purpose is consented to, of the user's own memory or the owner's."""
        return is_granted(await self._reading.consents.of(await self.tenant(user_id, of)), purpose)

    async def exported(self, user_id: str, of: str | None, holds: Sequence[ExportedHold], *, by: Actor) -> list[str]:
        """Return the lines of an export of all that is remembered of a user or an owner.

        Args:
            user_id: Who asks.
            of: The team or agent whose memory it is; None: the user's own.
            holds: What is on hold, read before: what is approved or promoted meanwhile is then in both places, and
                never in neither.
            by: Who reads.
        """
        tenant = await self.tenant(user_id, of)
        episodes = [one.changed(episode=one.episode.seen_by(user_id)) for one in await happened(self._reading, tenant)]
        kept = await session_items(self._reading, tenant)
        lines, known = await whole(self._reading, tenant)
        await self.audited(tenant, [*known, *(one.id for one in holds)], "export", by)
        stored = {entry.id: entry for entry in await counted(self._reading, tenant, known.values())}
        said = consents_of(lines).values()
        consents = [ExportedConsent(consent=one.changed(by=one.by.seen_by(user_id))) for one in said]
        members = await self._memberships(self._reading.tenant_key.tenant_of(user_id), of, lines)
        others = (*consents, *members, *holds, *episodes, *kept)
        at = datetime.now(UTC)
        return await asyncio.to_thread(lambda: list(written(stored, lines, at=at, others=others, user_id=user_id)))

    async def _memberships(self, user: str, of: str | None, lines: list[Line]) -> list[ExportedMembership]:
        """Return a user's memberships, or an owner's; of others than the user without their ids, which are theirs."""
        if of is None:
            found = [("", owner, one) for owner, one in (await self._reading.members.owners(user)).items()]
        else:
            owner = self._reading.tenant_key.tenant_of_owner(of)
            found = [(of, owner, one) for one in members_of(lines).values() if one.belongs]
        return [ExportedMembership(owner=owner, of=name, membership=one.seen_by(user)) for name, owner, one in found]

    async def audited(self, tenant: str, ids: Sequence[str], why: str, by: Actor) -> None:
        """Audit who read what. If that is impossible, reading goes on with a warning."""
        await self._reading.audit.read(tenant, ids, why=why, operation=f"{why}:{secrets.token_hex(8)}", by=by)

    async def admission(self, caller: Caller | None, what: str, operation: str, *, admitted: bool, by: Actor) -> None:
        """Audit that somebody came in to a service, or did not: for the user whom the token reaches, or for nobody."""
        key, bound = self._reading.tenant_key, caller.user_id if caller else None
        tenant = key.tenant_of_installation if bound is None else key.tenant_of(bound)
        token, kind = (caller.token,) if caller else (), AuditKind.ADMITTED if admitted else AuditKind.TURNED_AWAY
        await self._reading.audit.read(tenant, token, why=what, operation=operation, by=by, kind=kind)

    async def _holding(self, tenant: str, ids: Sequence[str]) -> dict[str, Entry]:
        """Return, by id, what stands for those of the given entries that hold now and that the user consents to."""
        get = partial(self._reading.longterm.get, tenant)
        stands, _ = await together(standing_for(ids, get), self._check_all())
        denied = withheld(await self._reading.consents.of(tenant))
        recall, now = self._reading.recall, datetime.now(UTC)
        allowed = Filters(now=now, withheld=denied, min_confidence=recall.min_confidence, decay=recall.rules.decay)
        return await holding(stands, allowed, get)

    async def _check_all(self) -> None:
        # Each ends in time by itself. One that another's refusal cuts off while it connects leaves its socket open.
        ended = await asyncio.gather(*map(self._check, self.unanswered), return_exceptions=True)
        for refused in (one for one in ended if one is not None):
            raise refused

    async def _check(self, check: Callable[[], Awaitable[object]]) -> None:
        with contextlib.suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(self._seconds):
                await check()
            # Another recall may have had the same answer meanwhile.
            self.unanswered = [one for one in self.unanswered if one is not check]


@asynccontextmanager
async def open_reader(settings: Settings, addresses: Addresses) -> AsyncGenerator[Reader]:
    """Open memory for reading in this process.

    It changes nothing: it creates neither a key nor a collection.

    Raises:
        InvalidInput: What is in the key's file is not a key.
        TenantKeyMissing: This process cannot read the tenant key.
    """
    async with open_reading(settings, addresses, TenantKey.load(settings.tenant_key_file)) as reading:
        yield Reader(reading, settings.recall_seconds)


async def fetch(addresses: Addresses, reference: Reference) -> RecallResult:
    """Fetch the result that a worker left.

    Raises:
        ResultExpired: It was left more than a few minutes ago.
        StoreUnavailable: Redis does not answer.
    """
    async with contextlib.aclosing(connect(addresses.redis_url)) as redis:
        found = await Outputs(redis, RESULTS_KEPT, kind="result").get(reference.tenant, reference.id)
    return taken_back(RecallResult, found)
