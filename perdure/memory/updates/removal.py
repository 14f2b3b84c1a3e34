"""What goes when a memory is forgotten by its id: what became it goes along, and what it was still to end goes on."""

from datetime import timedelta

from perdure.errors import InvalidInput
from perdure.memory.updates import revisions
from perdure.memory.updates.future_ends import Endings
from perdure.memory.updates.plans import AskedChange, ChangePlan
from perdure.stores.weaviate.store import LongTerm
from perdure.values.changes import Deletion
from perdure.values.entries import Entry, Memory, State


async def removal(
    asked: AskedChange, entry: Entry, longterm: LongTerm, endings: Endings, *, grace: timedelta
) -> ChangePlan:
    """Plan a removal.

    Args:
        asked: The change.
        entry: What is to be forgotten.
        longterm: Where it is.
        endings: Knows what was to end with it.
        grace: How long forgetting can be undone.

    Raises:
        InvalidInput: It is forgotten already, or the actor may not forget it.
    """
    # An earlier attempt has forgotten it, and may not have come to what goes along.
    is_done = asked.operation in entry.operations
    if is_done and entry.state is not State.FORGOTTEN:
        # Somebody has taken that back.
        return ChangePlan(entry.id, ((entry, entry),))
    if not is_done and entry.state is State.FORGOTTEN:
        raise InvalidInput("id", "it is forgotten already")
    if not is_done and isinstance(entry, Memory):
        revisions.require_permitted(asked.request.update, [entry], asked.request.by.kind)
    ancestors = await _ancestors(asked.tenant, entry, longterm)
    done, gone = ([(entry, entry)], ancestors) if is_done else ([], [entry, *ancestors])
    why, until = revisions.FORGOTTEN, asked.at + grace
    goes_on = [ended for one in [entry, *ancestors] for ended in await endings.of(asked, one)]
    forgotten = [(one, one.forgotten(why, until, on_request=True)) for one in gone]
    return ChangePlan(
        entry.id,
        (*done, *forgotten, *goes_on),
        tuple(Deletion.of(one, at=asked.at, reason=why, sweep=asked.operation, on_request=True) for one in gone),
    )


async def _ancestors(tenant: str, entry: Entry, longterm: LongTerm) -> list[Memory]:
    """Return the memories that became this one, at any remove: they say what it says, and go with it."""
    found: dict[str, Memory] = {}
    wanted = set(entry.merged_from) if isinstance(entry, Memory) else set[str]()
    while wanted:
        stored = await longterm.get(tenant, sorted(wanted))
        gone = [one for one in stored.values() if isinstance(one, Memory) and one.state is State.SUPERSEDED]
        found |= {one.id: one for one in gone}
        wanted = {origin for one in gone for origin in one.merged_from} - found.keys()
    return [*found.values()]
