"""What is taken out of a batch before it is accepted: private data, secrets, what may not be believed, held items.

So is what is more than its session may add. Assertions are added to its memories unless they come with one.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from perdure.errors import StoreUnavailable
from perdure.memory.consent_book import ConsentBook
from perdure.memory.extraction.preceding_turns import before_items
from perdure.memory.extraction.private import kept_name, screened, with_kept_names
from perdure.memory.extraction.statements import stated
from perdure.memory.write_policies import WritePolicy, policy_named, policy_of
from perdure.memory.writing.behaviour import behaviour_of, place_of
from perdure.memory.writing.conclusions import objection_to
from perdure.memory.writing.provenance import is_conclusion, purpose_of
from perdure.stores.redis.observations import Observations
from perdure.stores.redis.sessions import SessionWrites
from perdure.stores.weaviate.store import LongTerm
from perdure.tolerance import changed_back
from perdure.values.consents import refusal, withheld
from perdure.values.entries import State
from perdure.values.holds import Hold
from perdure.values.items import MemoryItem, imported_id, item_id
from perdure.values.jobs import Batch, BatchItem, PlannedItem, UnusableItem
from perdure.values.requests import RememberRequest

_SEEN_ONCE = "it is a habit that was observed only once: it is kept when it is observed again"
_UNTOLD = "it is a habit, and Redis cannot tell now whether it was observed before: observe it again"

_PLACES = 2
"""In how many places a behaviour has to be observed before it is believed."""


class TakenBatch(NamedTuple):
    """A batch as it is accepted."""

    batch: Batch
    """What is not taken, or has to wait, keeps its place without its text, with the reason."""
    holds: tuple[Hold, ...]
    """What has to wait for a person, each to be put on hold."""


class Intake:
    """Takes batches in, by the write policies of the installation.

    Args:
        policies: By name.
        sessions: Counts what each session has added.
        consents: What users consent to.
        observations: Counts what people are seen to do.
        longterm: Knows what is believed already.
    """

    def __init__(
        self,
        policies: Mapping[str, WritePolicy],
        sessions: SessionWrites,
        consents: ConsentBook,
        observations: Observations,
        longterm: LongTerm,
    ) -> None:
        self._consents = consents
        self._longterm = longterm
        self._observations = observations
        self._policies = policies
        self._sessions = sessions

    def identified(self, request: RememberRequest) -> RememberRequest:
        """Return a request without private data and secrets in what identifies it and its parts.

        Raises:
            InvalidInput: There is no such policy.
        """
        return with_kept_names(request, policy_named(self._policies, request.policy))

    async def taken(self, batch: Batch, *, job: str, at: datetime) -> TakenBatch:
        """Return a batch as it is accepted.

        Args:
            batch: The batch.
            job: The id of its job.
            at: The moment of its acceptance.

        Raises:
            InvalidInput: There is no such policy.
            TenantErased: The user was erased since the batch's epoch.
            StoreUnavailable: Redis does not answer, so what the session has added is not known.
        """
        policy = policy_named(self._policies, batch.policy)
        batch = _identified(batch, policy)
        refused = {one: UnusableItem(reason=refusal(one)) for one in withheld(await self._consents.of(batch.tenant))}
        items: list[BatchItem] = []
        for item, before in zip(batch.items, before_items(batch.items), strict=True):
            usable = item if isinstance(item, UnusableItem) else screened(item, policy, before)
            if isinstance(usable, MemoryItem):
                usable = stated(usable)
            if not isinstance(usable, UnusableItem):
                usable = refused.get(purpose_of(batch, usable), usable)
            items.append(usable)
        if batch.approved is not None:
            return TakenBatch(changed_back(batch, items=tuple(items)), ())
        # What a session said was judged when it was extracted.
        items = items if batch.session else await _believed_of(items, policy)
        items = await self._repeated(batch.tenant, items, batch.epoch)
        batch = await self._admitted(changed_back(batch, items=tuple(items)), policy)
        return _held(batch, policy, job, at)

    async def refusals(self, batch: Batch, *, at: datetime) -> dict[int, str]:
        """Return why items of a batch would be refused if it was submitted now, by their places.

        What would have to wait for a person is not among them, nor what only the planning of its writes refuses. Asking
        notes where a habit was observed, as submitting it does: what is decided then stays the same.

        Args:
            batch: The batch.
            at: The moment.

        Raises:
            InvalidInput: There is no such policy.
            TenantErased: The user was erased since the batch's epoch.
            StoreUnavailable: Redis does not answer, so what the user consents to is not known.
        """
        items = (await self.taken(batch, job="", at=at)).batch.items
        unusable = {place: one for place, one in enumerate(items) if isinstance(one, UnusableItem)}
        return {place: one.reason for place, one in unusable.items() if not one.held}

    async def _repeated(self, tenant: str, items: Sequence[BatchItem], epoch: int | None) -> list[BatchItem]:
        """Return items without behaviour that was observed only once and is not believed yet."""
        once: dict[int, str] = {}
        is_away = False
        for index, item in enumerate(items):
            # What is imported is given by whoever imports it, however often it was seen before it was exported.
            if not isinstance(item, MemoryItem) or imported_id(item) or not (behaviour := behaviour_of(item)):
                continue
            try:
                # Each of a hundred items would wait seconds for a Redis that is away.
                place = place_of(item.occurrence)
                seen = 0 if is_away else await self._observations.seen(tenant, behaviour, place, epoch=epoch)
            except StoreUnavailable:
                seen, is_away = 0, True
            if seen < _PLACES:
                once[index] = item_id(tenant, item)
        believed: set[str] = set()
        try:
            believed = await self._believed(tenant, once.values())
        except StoreUnavailable:
            is_away = True
        refused = UnusableItem(reason=_UNTOLD if is_away else _SEEN_ONCE)
        # An observation of what is believed confirms it, long after the places were forgotten.
        return [refused if index in once and once[index] not in believed else item for index, item in enumerate(items)]

    async def _believed(self, tenant: str, ids: Collection[str]) -> set[str]:
        """Return which of these ids are of memories that are believed.

        Raises:
            StoreUnavailable: Weaviate does not answer.
        """
        entries = await self._longterm.get(tenant, sorted(set(ids))) if ids else {}
        return {entry.id for entry in entries.values() if entry.state is State.CURRENT}

    async def _admitted(self, batch: Batch, policy: WritePolicy) -> Batch:
        most = policy.most_a_session
        if most is None or not batch.session:
            return batch
        adding, holding = _additions(batch, policy)
        believed: set[str] = set()
        with suppress(StoreUnavailable):
            believed = await self._believed(batch.tenant, [item_id(batch.tenant, one) for one in adding.values()])
        # An observation of what is believed adds no memory.
        adding = {index: one for index, one in adding.items() if item_id(batch.tenant, one) not in believed}
        items = list(batch.items)
        for held, offered in ((False, adding), (True, holding)):
            occurrences = [one.occurrence for one in offered.values()]
            admitted = await self._sessions.admit(
                batch.tenant, batch.session, occurrences, most=most, held=held, epoch=batch.epoch
            )
            done = "put on hold" if held else "added"
            reason = f"session {batch.session} has {done} {most} memories already (most_a_session in the write policy)"
            for index, may in zip(offered, admitted, strict=True):
                items[index] = items[index] if may else UnusableItem(reason=reason)
        return changed_back(batch, items=tuple(items))

    def doubtful(self, batch: Batch, held: Iterable[PlannedItem], *, job: str, at: datetime) -> list[Hold]:
        """Return the items of a batch that contradict what is believed, each to be put on hold.

        Args:
            batch: The batch.
            held: What was decided on each of them.
            job: The id of the batch's job.
            at: The moment from which their deadlines count.
        """
        policy = policy_of(self._policies, batch.policy)
        return [
            policy.hold.hold(batch, one.index, item, one.reason, job=job, at=at, doubt=True)
            for one in held
            if isinstance(item := batch.items[one.index], MemoryItem)
        ]


def _identified(batch: Batch, policy: WritePolicy) -> Batch:
    """Return a batch without private data and secrets in its key and its session; its items lose them one by one."""
    note = batch.noted_in
    return changed_back(
        batch,
        key=kept_name(batch.key, policy),
        session=kept_name(batch.session, policy),
        noted_in=note and changed_back(note, session=kept_name(note.session, policy)),
    )


async def _believed_of(items: Sequence[BatchItem], policy: WritePolicy) -> list[BatchItem]:
    """Return items without what an agent or a tool concludes, and may not be believed."""
    believed: list[BatchItem] = []
    for item in items:
        reason = ""
        if isinstance(item, MemoryItem) and is_conclusion(item):
            # It takes 3 to 12 ms a sentence (measured): a hundred of them would keep every other request waiting.
            reason = await asyncio.to_thread(objection_to, item, policy)
        believed.append(UnusableItem(reason=reason) if reason else item)
    return believed


def _additions(batch: Batch, policy: WritePolicy) -> tuple[dict[int, MemoryItem], dict[int, MemoryItem]]:
    """Return the memories of a batch that may be added, and those that wait for a person first, by their places."""
    adding, holding = dict[int, MemoryItem](), dict[int, MemoryItem]()
    for index, item in enumerate(batch.items):
        # What is refused anyway uses up nothing.
        if isinstance(item, MemoryItem) and item.confidence >= policy.minimum_confidence:
            held = policy.hold.reason(item, batch.author.kind) is not None
            (holding if held else adding)[index] = item
    return adding, holding


def _held(batch: Batch, policy: WritePolicy, job: str, at: datetime) -> TakenBatch:
    """Take out what the policy holds; items that it will refuse anyway are not put to a person."""
    items, holds = list(batch.items), list[Hold]()
    for index, item in enumerate(batch.items):
        if not isinstance(item, MemoryItem) or item.confidence < policy.minimum_confidence:
            continue
        reason = policy.hold.reason(item, batch.author.kind)
        if reason is not None:
            holds.append(policy.hold.hold(batch, index, item, reason, job=job, at=at, doubt=False))
            items[index] = UnusableItem(reason=reason, held=True)
    return TakenBatch(changed_back(batch, items=tuple(items)), tuple(holds))
