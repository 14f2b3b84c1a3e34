"""What a batch loses before it is accepted: private data, secrets, and more memories than its session may add."""

from collections.abc import Mapping

from perdure.consents import refusal, withheld
from perdure.items import MemoryItem
from perdure.jobs import Batch, BatchItem, UnusableItem
from perdure.memory.consenting import ConsentBook
from perdure.memory.extraction.private import screened
from perdure.memory.policies import WritePolicy, policy_named
from perdure.memory.writing.observation import purpose_of
from perdure.stores.redis.sessions import SessionWrites


class Intake:
    """Takes batches in, by the write policies of the installation.

    Args:
        policies: By name.
        sessions: Counts what each session has added.
        consents: What users consent to.
    """

    def __init__(self, policies: Mapping[str, WritePolicy], sessions: SessionWrites, consents: ConsentBook) -> None:
        self._consents = consents
        self._policies = policies
        self._sessions = sessions

    async def taken(self, batch: Batch) -> Batch:
        """Return the batch as it is accepted: what is not taken keeps its place, with the reason.

        Raises:
            InvalidInput: There is no such policy.
            StoreUnavailable: Redis does not answer, so what the session has added is not known.
        """
        policy = policy_named(self._policies, batch.policy)
        refused = {one: UnusableItem(reason=refusal(one)) for one in withheld(await self._consents.of(batch.tenant))}
        items: list[BatchItem] = []
        for item in batch.items:
            usable = item if isinstance(item, UnusableItem) else screened(item, policy)
            if not isinstance(usable, UnusableItem):
                usable = refused.get(purpose_of(batch, usable), usable)
            items.append(usable)
        batch = batch.changed(items=tuple(items))
        most = policy.most_a_session
        if most is None or not batch.session:
            return batch
        memories = [item for item in batch.items if isinstance(item, MemoryItem)]
        occurrences = [item.occurrence for item in memories]
        admitted = await self._sessions.admit(batch.tenant, batch.session, occurrences, most=most)
        over = {occurrence for occurrence, may in zip(occurrences, admitted, strict=True) if not may}
        reason = f"session {batch.session} has added {most} memories already (most_a_session in the write policy)"
        admitted_items: list[BatchItem] = [
            UnusableItem(reason=reason) if isinstance(item, MemoryItem) and item.occurrence in over else item
            for item in batch.items
        ]
        return batch.changed(items=tuple(admitted_items))
