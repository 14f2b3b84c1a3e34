"""Changes memories by their ids on the real stores, through the one door. What becomes of one, ``revisions`` says."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from perdure.errors import InvalidInput
from perdure.identity import memory_id
from perdure.memory.consent_book import ConsentBook
from perdure.memory.door import Door
from perdure.memory.updates import corrections, future_changes, merges, revisions
from perdure.memory.updates.future_ends import Endings
from perdure.memory.updates.plans import AskedChange, ChangePlan
from perdure.memory.updates.removal import removal
from perdure.memory.updates.reverter import Reverter
from perdure.memory.updates.versions import outcome
from perdure.memory.write_policies import WritePolicy
from perdure.memory.writing.contradictions import overtaken, suspended, suspensions, verdict
from perdure.memory.writing.observation import observed
from perdure.memory.writing.provenance import author_of
from perdure.models.embedding import Embedder
from perdure.refusals import UnknownThing
from perdure.stores.journal.log import Journal
from perdure.stores.weaviate.store import LongTerm
from perdure.values.changes import Actor, Change, Refusal
from perdure.values.entries import Entry, Memory, State, headline_of
from perdure.values.items import MemoryItem, statement
from perdure.values.jobs import Batch, Decision
from perdure.values.updates import (
    Correction,
    Credit,
    Feedback,
    MemoryUpdate,
    Merger,
    Pinning,
    Removal,
    Reversion,
    Updated,
)

CREDITED = "credit"
"""The reason for a change to a memory whose recalling task has ended."""


class Updater:
    """Corrects, refines, pins, forgets, merges, credits and reverts.

    Args:
        longterm: Where the memories are.
        embedder: The model of its vectors.
        journal: Has the earlier versions.
        door: The one way to change them.
        consents: What users consent to.
        grace: How long forgetting can be undone.
        policy: What may be believed, and what only a person may have believed.
    """

    def __init__(
        self,
        *,
        longterm: LongTerm,
        embedder: Embedder,
        journal: Journal,
        door: Door,
        consents: ConsentBook,
        grace: timedelta,
        policy: WritePolicy,
    ) -> None:
        self._longterm = longterm
        self._embedder = embedder
        self._journal = journal
        self._door = door
        self._consents = consents
        self._grace = grace
        self._policy = policy
        self._reverter = Reverter(longterm=longterm, journal=journal)
        self._endings = Endings(longterm, journal)

    async def update(
        self,
        tenant: str,
        request: MemoryUpdate,
        *,
        operation: str,
        at: datetime,
        epoch: int | None = None,
        stated_by: str = "",
    ) -> Updated:
        """Make one change, once for each operation id; of what was accepted under an epoch, if one is given.

        Args:
            tenant: Whose memory.
            request: The change.
            operation: The id of the operation.
            at: When it is made.
            epoch: The tenant's epoch that it was accepted under; None: the one that it has now.
            stated_by: In a team's or an agent's memory, the user who asks, as ``identity.author_id`` says.

        Raises:
            InvalidInput: There is no such memory of the user, it is not as expected, the change makes no sense, or the
                user does not consent to what it would have believed.
            TenantErased: The user was erased meanwhile, or since that epoch.
            VersionConflict: Another writer changed it since it was read: call it again.
            StoreUnavailable: A store does not answer, or has lost data.
        """
        asked = AskedChange(tenant, request, operation, at, stated_by)
        if answer := await self._answer(asked):
            return answer
        epoch = await self._door.epoch(tenant) if epoch is None else epoch
        plan = await self._plan(asked)
        # Before the lease: a model may take seconds, and the plan under it finds the vectors there.
        first = await self._changes(asked, plan)

        async def again() -> tuple[Sequence[Change], Sequence[Refusal]]:
            nonlocal plan, answer
            if answer := await self._answer(asked):
                return (), ()
            plan = await self._plan(asked)
            return await self._changes(asked, plan), ()

        # Only a plan under the lease sees what contradicts a correction and was written just now.
        alone = bool(plan.deletions)
        versions = await self._door.change(
            tenant,
            first if alone else (),
            epoch=epoch,
            deletions=plan.deletions,
            operation=operation,
            again=None if alone else again,
        )
        return answer or _updated(asked, plan.id, versions)

    async def credit(
        self, tenant: str, ids: Sequence[str], *, task: str, succeeded: bool, by: Actor, operation: str
    ) -> None:
        """Count a task as a trial of each of these memories, once; versions stay, and what is forgotten as it is.

        Args:
            tenant: Whose memories.
            ids: Those that the task recalled.
            task: What the task is called in trials: its workflow id.
            succeeded: Whether it did what it was to do.
            by: Who says so.
            operation: The id of the operation.

        Raises:
            LeaseLost: Another writer holds the tenant: call it again.
            StoreUnavailable: A store does not answer, or has lost data.
        """
        trial = revisions.trial_of(tenant, task)

        def credited(entry: Entry, _: Sequence[str]) -> Entry:
            return revisions.credited(entry, trial, succeeded=succeeded) if isinstance(entry, Memory) else entry

        await self._door.count(tenant, ids, credited, operation=operation, by=by, why=CREDITED)

    async def _answer(self, asked: AskedChange) -> Updated | None:
        """Return the result of an operation that is done; None: it is not done.

        It is not planned again, as others may have changed the same entries since.
        """
        request, operation = asked.request, asked.operation
        lines = await self._journal.read(asked.tenant, naming=(operation, request.id))
        if (done := outcome(lines, operation, request.id)) is None:
            return None
        new = [entry.id for entry in done.made if _replaces(entry, request)]
        # An attempt that died before this was audited has settled it.
        whys = {entry.id: revisions.why_of(request.update, entry) for entry in done.made}
        why: dict[str, list[str]] = {one: [] for one in whys.values()} or {revisions.why_of(request.update): []}
        for identifier in sorted(whys.keys() & done.versions.keys()):
            why[whys[identifier]].append(identifier)
        await self._door.audited(asked.tenant, why, operation=operation, by=request.by)
        return _updated(asked, next((one for one in reversed(new) if one in done.versions), request.id), done.versions)

    async def _plan(self, asked: AskedChange) -> ChangePlan:
        plan = await self._with_attempted(asked, await self._unpermitted(asked))
        # What an earlier attempt has written is still to be settled and audited, whatever was withdrawn since.
        made = [
            after
            for before, after in plan.changed
            if isinstance(after, Memory) and not (before and asked.operation in before.operations)
        ]
        await self._consents.require(asked.tenant, revisions.purposes_of(asked.request.update, made))
        return plan

    async def _with_attempted(self, asked: AskedChange, plan: ChangePlan) -> ChangePlan:
        """Return a plan with what an earlier attempt has written besides: it is to be settled with the rest."""
        if not any(before and asked.operation in before.operations for before, _ in plan.changed):
            return plan
        begun = await self._door.begun(asked.tenant, asked.operation) - {after.id for _, after in plan.changed}
        written = (await self._longterm.get(asked.tenant, sorted(begun))).values()
        more = tuple((one, one) for one in written if asked.operation in one.operations)
        return plan._replace(changed=(*plan.changed, *more))

    async def _unpermitted(self, asked: AskedChange) -> ChangePlan:
        match asked.request.update:
            case Correction() as update:
                return await self._correction(asked, update)
            case Removal():
                return await self._removal(asked)
            case Merger(other=other):
                return await self._merger(asked, other)
            case Reversion(version=version):
                memory = await self._memory(asked, asked.request.id)
                return await self._reverter.plan(asked, memory, version)
            case Feedback() | Pinning() | Credit() as update:
                memory = await self._memory(asked, asked.request.id)
                after = revisions.revised(asked.tenant, memory, update, asked.request.by.kind)
                return ChangePlan(memory.id, ((memory, after),))

    async def _changes(self, asked: AskedChange, plan: ChangePlan) -> list[Change]:
        texts = [
            headline_of(after.text)
            for before, after in plan.changed
            if before is None or headline_of(before.text) != headline_of(after.text)
        ]
        vectors = dict(zip(texts, await self._embedder.embed(texts), strict=True)) if texts else {}
        return [
            Change(
                id=after.id,
                expected=before.version if before else 0,
                entry=after,
                vector=vectors.get(headline_of(after.text)),
                by=asked.request.by,
                why=revisions.why_of(asked.request.update, after),
                note=asked.request.note,
                operation=asked.operation,
            )
            for before, after in plan.changed
        ]

    async def _removal(self, asked: AskedChange) -> ChangePlan:
        entry = await self._entry(asked, asked.request.id)
        return await removal(asked, entry, self._longterm, self._endings, grace=self._grace)

    async def _merger(self, asked: AskedChange, other: str) -> ChangePlan:
        if other == asked.request.id:
            raise InvalidInput("other", "a memory cannot be merged with itself", fix="name another memory")
        first = await self._believed(asked, asked.request.id)
        second = await self._believed(asked, other, field="other", expected=False)
        revisions.require_permitted(asked.request.update, [first, second], asked.request.by.kind)
        if not any(asked.operation in one.operations for one in (first, second)):
            merges.require_mergeable(first, second)
        identifier = merges.merged_id(asked.operation, first.id, second.id)
        stored = (await self._longterm.get(asked.tenant, [identifier])).get(identifier)
        whole = merges.merged(identifier, first, second)
        ancestors = [(one, merges.ancestor(one, whole, asked.at)) for one in (first, second)]
        return ChangePlan(identifier, ((stored, whole), *ancestors))

    async def _correction(self, asked: AskedChange, update: Correction) -> ChangePlan:
        memory = await self._believed(asked, asked.request.id)
        fields, text = corrections.fields_of(memory, update, asked.at), update.content or memory.text
        corrections.require_lasting(memory, fields, asked.at)
        by = asked.request.by.kind
        item = corrections.item_of(memory, update, fields, text, by=by, operation=asked.operation, at=asked.at)
        corrections.require_permitted(item, by, self._policy)
        corrections.require_undoubted(memory, item, by, update.confidence)
        corrections.require_believable(item, update, by, self._policy)
        if corrections.says_the_same(memory, item):
            source, sure = corrections.believed_anew(memory, update, by)
            same = revisions.corrected(memory, described=fields, text=text, source=source, confidence=sure, at=asked.at)
            moves = same.valid_from != memory.valid_from or asked.operation in memory.operations
            ending = await self._endings.of(asked, memory) if moves else []
            moved = ((one, future_changes.moved(goes_on, same, asked.at)) for one, goes_on in ending)
            return ChangePlan(memory.id, ((memory, same), *moved))
        return await self._replacement(asked, memory, item, update, fields)

    async def _replacement(
        self, asked: AskedChange, memory: Memory, item: MemoryItem, update: Correction, fields: dict[str, Any]
    ) -> ChangePlan:
        """Plan a correction that says something else: another memory, which replaces this one."""
        target = memory_id(asked.tenant, item.memory_type, statement(item.content))
        terms = item.assertion.about if item.assertion else ()
        beside = await self._longterm.about(asked.tenant, terms, {item.content})
        others = [one for one in beside if one.id != memory.id and asked.operation not in one.operations]
        # What the replaced one was still to end goes on, unless what replaces it ends that as well.
        goes_on = {one.id: one for _, one in await self._endings.of(asked, memory)}
        others = [*goes_on.values(), *(one for one in others if one.id not in goes_on)]
        offered: dict[str, Any] = {"tenant": asked.tenant, "key": asked.operation[:300], "items": (item,)}
        batch = Batch(**offered, by=asked.request.by, accepted_at=asked.at, stated_by=asked.stated_by)
        author, above = author_of(batch, item), corrections.overriding(memory, others)
        found = verdict(item, target, others, author=author, overriding=above)
        if found.decision in (Decision.HOLD, Decision.REJECT):
            raise InvalidInput("content", found.reason, fix="correct or forget that one first")
        corrections.require_kept(found.over, "content", asked.request.by.kind)
        stored = (await self._longterm.get(asked.tenant, [target])).get(target)
        new = observed(stored, target, item, batch, asked.at, replaced=memory.id)
        believed: dict[str, Any] = {"confidence": item.confidence, "source": item.source}
        if isinstance(stored, Memory) and stored.state is not State.FORGOTTEN:
            by = asked.request.by.kind
            if stored.state is State.CURRENT and asked.operation not in stored.operations:
                said = corrections.as_said_of(stored, item, fields)
                corrections.require_undoubted(stored, said, by, update.confidence)
            source, sure = corrections.believed_anew(stored, update, by)
            believed = {**corrections.fields_beside(new, update, fields), "confidence": sure, "source": source}
        under = (*memory.suspended, *suspensions(found.under))
        new = suspended(new.changed(**believed, supersedes=memory.id), under, asked.at)
        replaced: list[tuple[Entry | None, Entry]] = [(memory, memory.superseded(target, asked.at))]
        replaced += [(one, overtaken(one, item, target, asked.at)) for one in found.over]
        replaced += [(one, one) for one in goes_on.values() if one not in found.over]
        if found.same and found.same.id != target and found.same not in found.over:
            replaced.append((found.same, found.same.superseded(target, asked.at)))
        return ChangePlan(target, ((stored, new), *replaced))

    async def _believed(
        self, asked: AskedChange, identifier: str, *, field: str = "id", expected: bool = True
    ) -> Memory:
        memory = await self._memory(asked, identifier, field=field, expected=expected)
        if memory.state is not State.CURRENT and asked.operation not in memory.operations:
            raise InvalidInput(field, f"it was replaced by {memory.superseded_by}", fix="name that one")
        return memory

    async def _memory(self, asked: AskedChange, identifier: str, *, field: str = "id", expected: bool = True) -> Memory:
        entry = await self._entry(asked, identifier, field=field, expected=expected)
        if not isinstance(entry, Memory):
            raise InvalidInput(field, f"is a {entry.kind}, which is what happened", fix="name a memory")
        if entry.state is State.FORGOTTEN:
            raise InvalidInput(field, "it is forgotten", fix="undo that first: perdure forget --undo")
        return entry

    async def _entry(self, asked: AskedChange, identifier: str, *, field: str = "id", expected: bool = True) -> Entry:
        """Return an entry of the user; another user's counts as nonexistent.

        Raises:
            InvalidInput: There is none, or it is no longer at the version that was named.
        """
        entry = (await self._longterm.get(asked.tenant, [identifier])).get(identifier)
        if entry is None:
            raise unknown(field, identifier)
        wanted = asked.request.expected
        if expected and wanted and entry.version != wanted and asked.operation not in entry.operations:
            problem = f"it is at version {entry.version}, and not {wanted}"
            raise InvalidInput("expected", problem, fix="look at it again: perdure memories show")
        return entry


def _updated(asked: AskedChange, identifier: str, versions: dict[str, int]) -> Updated:
    undo = asked.operation if isinstance(asked.request.update, Removal) else ""
    return Updated(tenant=asked.tenant, id=identifier, versions=versions, undo=undo)


def _replaces(entry: Entry, request: MemoryUpdate) -> bool:
    """Return whether an entry is what a correction or a merger made of the one that it names."""
    made = isinstance(request.update, Correction | Merger) and entry.state is State.CURRENT
    return made and isinstance(entry, Memory) and entry.supersedes == request.id


def unknown(field: str, identifier: str) -> UnknownThing:
    """Return the error for an id that does not exist, or is another user's: the two are indistinguishable."""
    return UnknownThing(field, f"there is no {identifier!r} of this user", fix="perdure memories list shows the ids")
