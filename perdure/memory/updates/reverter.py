"""Plans the return of a memory to an earlier version: what is believed again, and what gives way to it.

Who reverts a memory says that it holds. So all that has replaced it since gives way, one after another, and whatever
else is believed and contradicts it. Where an actor other than a person may not say so, nothing is changed.
"""

from collections.abc import Collection

from perdure.errors import InvalidInput
from perdure.memory.updates import corrections, merges, revisions
from perdure.memory.updates.plans import AskedChange, ChangePlan
from perdure.memory.updates.versions import version_of
from perdure.memory.writing.contradictions import doubt, overtaken, suspended, verdict
from perdure.stores.journal.log import Journal
from perdure.stores.weaviate.store import LongTerm
from perdure.values.changes import ActorKind
from perdure.values.entries import Entry, Memory, State
from perdure.values.items import MemoryItem
from perdure.values.jobs import Decision
from perdure.values.updates import Correction

_ASK = "have a person revert it: perdure memories revert"

_LIFE = ("state", "valid_from", "valid_until", "scopes")
"""The fields that decide when and where a memory holds."""


class Reverter:
    """Plans reversions.

    Args:
        longterm: Where the memories are.
        journal: Has the earlier versions.
    """

    def __init__(self, *, longterm: LongTerm, journal: Journal) -> None:
        self._longterm = longterm
        self._journal = journal

    async def plan(self, asked: AskedChange, memory: Memory, version: int) -> ChangePlan:
        """Plan the return of a memory to what it said at a version.

        Raises:
            InvalidInput: There is no such version, what it said was over since, or the actor may not say that it holds.
        """
        attempted = asked.operation in memory.operations
        if version == memory.version and not attempted:
            raise InvalidInput("version", f"{version} is the one that it has", fix="name an earlier one")
        history = await self._journal.history(asked.tenant, memory.id)
        again = revisions.reverted(memory, version_of(history, version), asked.at)
        versions = (line.entry for line in reversed(history) if asked.operation not in line.entry.operations)
        # An earlier attempt may have written the memory, and not what gives way to it.
        before = next((one for one in versions if isinstance(one, Memory)), memory) if attempted else memory
        by = asked.request.by.kind
        item = corrections.item_of(again, Correction(), {}, again.text, by=by, operation=asked.operation, at=asked.at)
        if before.state is State.CURRENT:
            corrections.require_undoubted(before, item, by, again.confidence)
        changed: dict[str, tuple[Entry | None, Entry]] = {memory.id: (memory, again)}
        if again.state is not State.CURRENT or all(getattr(before, name) == getattr(again, name) for name in _LIFE):
            return ChangePlan(memory.id, tuple(changed.values()))
        if again.valid_until is not None and again.valid_until <= asked.at:
            problem = f"what it said at {version} was over on {again.valid_until:%Y-%m-%d}"
            raise InvalidInput("version", problem, fix="remember it with a later valid_until")
        gone = await self._replaced(asked, before, again, item)
        # What overrides the one that replaced it for a while overrides it, too.
        under = [one for taken, _ in gone.values() if isinstance(taken, Memory) for one in taken.suspended]
        changed |= {memory.id: (memory, suspended(again, under, asked.at)), **gone}
        overriding = {one.by for one in under}
        changed |= await self._contradicted(asked, again, item, without=changed.keys(), overriding=overriding)
        return ChangePlan(memory.id, tuple(changed.values()))

    async def _replaced(
        self, asked: AskedChange, before: Memory, again: Memory, item: MemoryItem
    ) -> dict[str, tuple[Entry | None, Entry]]:
        """Return what has replaced a memory, and what replaced that, as far as it is believed; taken back.

        A merger is taken apart: without it, nothing says any more what the other one said.
        """
        changed: dict[str, tuple[Entry | None, Entry]] = {}
        seen, after = {again.id}, before.superseded_by
        while after and after not in seen:
            seen.add(after)
            successor = (await self._longterm.get(asked.tenant, [after])).get(after)
            if not isinstance(successor, Memory):
                break
            if again.valid_until and successor.valid_from and successor.valid_from >= again.valid_until:
                break
            after = successor.superseded_by
            if successor.state is State.CURRENT:
                _require_undoubted(asked, successor, item)
                changed[successor.id] = (successor, successor.superseded(again.id, asked.at))
            others = await self._longterm.get(asked.tenant, [one for one in successor.merged_from if one not in seen])
            for one in others.values():
                if isinstance(one, Memory) and one.superseded_by == successor.id:
                    apart = merges.taken_apart(one)
                    changed[one.id] = (one, revisions.reverted(one, apart, asked.at))
        return changed

    async def _contradicted(
        self, asked: AskedChange, again: Memory, item: MemoryItem, *, without: Collection[str], overriding: set[str]
    ) -> dict[str, tuple[Entry | None, Entry]]:
        """Return what else is believed and contradicts a memory, after the memory was reverted."""
        terms = item.assertion.about if item.assertion else ()
        beside = await self._longterm.about(asked.tenant, terms, {item.content})
        others = [one for one in beside if one.id not in without and asked.operation not in one.operations]
        is_settled = asked.request.by.kind is ActorKind.PERSON
        found = verdict(item, again.id, others, settled_at=asked.at if is_settled else None, overriding=overriding)
        if found.decision is Decision.HOLD:
            raise InvalidInput("version", found.reason, fix=_ASK)
        if found.decision is Decision.REJECT:
            raise InvalidInput("version", found.reason, fix="correct or forget that one first")
        corrections.require_kept(found.over, "version", asked.request.by.kind)
        return {one.id: (one, overtaken(one, item, again.id, asked.at)) for one in found.over}


def _require_undoubted(asked: AskedChange, successor: Memory, item: MemoryItem) -> None:
    """Check that the actor may say that what replaced a memory does not hold: a person may say anything.

    Raises:
        InvalidInput: An actor other than a person would lift a constraint, or contradicts what a person said.
    """
    corrections.require_kept((successor,), "version", asked.request.by.kind)
    if asked.request.by.kind is not ActorKind.PERSON and (reason := doubt(successor, item)):
        raise InvalidInput("version", f"{reason}: {successor.id}", fix=_ASK)
