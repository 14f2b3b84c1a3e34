"""Routes of single memories, and of a user's memory as a whole."""

from typing import Annotated

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from perdure.documents import validated
from perdure.model import Model
from perdure.values.access_tokens import Caller, TokenScope
from perdure.values.entries import Entry
from perdure.values.erasures import ErasureReceipt
from perdure.values.holds import Decided, Held
from perdure.values.requests import ConsentRequest, Consents, EraseRequest
from perdure.values.updates import Correction, Pinning, Removal, Update, Updated, UpdateRequest, Version
from worker.gateway import Gateway
from worker.http.bodies import ChangeBody, ConsentBody, CorrectBody, DecideBody, EraseBody, PinBody
from worker.http.endpoints import LINES, Routes, answered, listed
from worker.http.request_context import Asker, Here, OfParam, OnceOnly, UserParam, within

routes = Routes("memories")

Id = Annotated[str, Path(max_length=200, description="The memory's id, as recall gives it.")]

_CHANGE = ("note", "expected", "of")

DECIDED_WITHIN = 60.0
"""Seconds that a decision on a hold may take: its memory is written first, by a job; a choice."""

ERASED_WITHIN = 600.0
"""Seconds that an erasure may take, a choice: one of a user with many tasks waits for each to end."""


class Memories(Model):
    """What is remembered, the newest first."""

    memories: tuple[Entry, ...]


class MemoryHistory(Model):
    """One memory as it is, and how it came to be so."""

    memory: Entry
    versions: Annotated[tuple[Version, ...], Field(min_length=1)]
    """The versions that are kept, the oldest first."""


@routes.at("GET", "/v2/control/memories", TokenScope.READ, answers=Memories)
async def memories(
    *,
    caller: Asker,
    here: Here,
    user_id: UserParam = None,
    of: OfParam = None,
    everything: Annotated[
        bool, Query(description="Also what was replaced or forgotten, and records and turns.")
    ] = False,
) -> Response:
    """List what is believed of a user, the newest first."""
    found = await here.memories(caller.user(user_id), of=of, everything=everything, by=caller.actor)
    return answered(Memories.model_construct(memories=tuple(found)))


@routes.at("GET", "/v2/control/memories/{memory_id}", TokenScope.READ, answers=MemoryHistory)
async def memory(
    *, memory_id: Id, caller: Asker, here: Here, user_id: UserParam = None, of: OfParam = None
) -> Response:
    """Show all that is known about one memory, with its history: who changed it, when and why."""
    found = await here.history(caller.user(user_id), memory_id, of=of, by=caller.actor)
    return answered(MemoryHistory.model_construct(memory=found[-1].entry, versions=tuple(found)))


@routes.at("POST", "/v2/control/memories/{memory_id}/correct", TokenScope.WRITE, answers=Updated)
async def correct(*, memory_id: Id, body: CorrectBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Correct what a memory says; fields that are left out stay.

    A correction that says something else is another memory, which replaces this one: the answer has its id.
    """
    said = body.model_dump(mode="json", exclude_unset=True, exclude={"user_id", *_CHANGE})
    return await _changed(memory_id, body, validated(Correction, said, ""), caller=caller, here=here, once=once)


@routes.at("POST", "/v2/control/memories/{memory_id}/pin", TokenScope.WRITE, answers=Updated)
async def pin(*, memory_id: Id, body: PinBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Have a memory in every context, or no longer; while it is, the rules never forget it."""
    return await _changed(memory_id, body, Pinning(pinned=body.pinned), caller=caller, here=here, once=once)


@routes.at("POST", "/v2/control/memories/{memory_id}/forget", TokenScope.WRITE, answers=Updated)
async def forget(*, memory_id: Id, body: ChangeBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Forget one memory, record or turn; `undo` is the id by which that is undone for 30 days."""
    return await _changed(memory_id, body, Removal(), caller=caller, here=here, once=once)


async def _changed(
    memory_id: str, body: ChangeBody, update: Update, *, caller: Caller, here: Gateway, once: OnceOnly
) -> Response:
    user = caller.user(body.user_id)
    asked = {"user_id": user, "id": memory_id, "update": update, "sending": await once.identify(user)}
    asked |= body.model_dump(mode="json", exclude_unset=True, include={*_CHANGE})
    return answered(await here.update(validated(UpdateRequest, asked, ""), by=caller.actor))


@routes.at("GET", "/v2/control/holds", TokenScope.READ, answers=Held, many=True)
async def holds(
    *,
    caller: Asker,
    here: Here,
    user_id: UserParam = None,
    of: OfParam = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """List the memories that wait for a person's approval, the oldest first."""
    return listed(await here.held(caller.user(user_id), of=of, limit=limit, by=caller.actor))


@routes.at("POST", "/v2/control/holds/{hold_id}", TokenScope.WRITE, answers=Decided, person=True)
async def decide(
    *, hold_id: Annotated[str, Path(max_length=200)], body: DecideBody, caller: Asker, here: Here, once: OnceOnly
) -> Response:
    """Approve a memory on hold, also in other words, or reject it.

    Only a person may: the token has to be one of a person. The same decision again returns what became of the first.
    """
    user = caller.user(body.user_id)
    await once.identify(user)
    deciding = here.decide(
        user, hold_id, of=body.of, approve=body.approve, note=body.note, text=body.text, by=caller.actor
    )
    afterwards = "the decision may be taken already; the same one again returns what became of it"
    return answered(await within(DECIDED_WITHIN, deciding, afterwards))


@routes.at("POST", "/v2/control/consent", TokenScope.WRITE, answers=Consents)
async def consent(*, body: ConsentBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Record what a user consents to, and return what holds; with neither grant nor withdraw, only return it."""
    asked = body.asked(caller)
    asked["sending"] = await once.identify(str(asked["user_id"]))
    # Sent again, it says what it said then, and nothing about what was said or erased since.
    asked["asked_at"] = once.first_at
    return answered(await here.consent(validated(ConsentRequest, asked, ""), by=caller.actor))


@routes.at("GET", "/v2/control/export", TokenScope.READ, media=LINES)
async def export(*, caller: Asker, here: Here, user_id: UserParam = None, of: OfParam = None) -> Response:
    """Return all that is remembered of a user, with its history, as JSON Lines after a header."""
    lines = await here.exported(caller.user(user_id), of=of, by=caller.actor)
    return Response("".join(f"{line}\n" for line in lines), media_type=LINES)


@routes.at("POST", "/v2/control/erase", TokenScope.ERASE, answers=ErasureReceipt)
async def erase(*, body: EraseBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Erase all that is kept of a user, or of a team or an agent, and prove it.

    The receipt says what no erasure reaches. The tokens of a user who is erased no longer count.
    """
    asked = body.asked(caller)
    sending = await once.identify(str(asked["user_id"]))
    erasing = here.erase(validated(EraseRequest, asked, ""), sending=sending, by=caller.actor)
    return answered(await within(ERASED_WITHIN, erasing, "the erasure goes on; erase again for a receipt"))
