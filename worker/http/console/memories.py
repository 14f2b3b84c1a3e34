"""A user's memories: listed, searched, looked at, changed, approved, taken along, erased."""

import re
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request
from starlette.responses import Response

from perdure.documents import validated
from perdure.errors import InvalidInput, PerdureError
from perdure.values.access_tokens import Caller, TokenScope
from perdure.values.entries import Entry
from perdure.values.holds import Held
from perdure.values.requests import EraseRequest, RecallRequest
from perdure.values.updates import Correction, Pinning, Removal, Update, UpdateRequest
from worker.gateway import Gateway
from worker.gateway.task_list import TaskFilter
from worker.http.console.forms import Form, form_of
from worker.http.console.pages import HTML, page, place_of, sent_to, shown, user_named
from worker.http.endpoints import LINES, Routes
from worker.http.memories import DECIDED_WITHIN, ERASED_WITHIN, Id
from worker.http.request_context import Asker, Here, within

routes = Routes("console")

_LISTED = 200
"""Memories on one page; a choice."""

_COUNTED = 1_000
"""Up to how many tasks, and memories on hold, an erasure is said to touch: nobody waits for more to be listed."""

_AFTER = "after"
"""The part of a page's address that says behind how many memories, the newest first, the page begins."""


@routes.at("GET", "/memories", TokenScope.READ, media=HTML, browser=True)
@shown
async def memories_page(*, request: Request, caller: Asker, here: Here) -> Response:
    """Show what is believed of a user, or what answers a question, with the parts of each score."""
    user, asked = user_named(request), request.query_params.get("ask", "").strip()
    shown_here: dict[str, Any] = {"whose": "", "found": [], "entries": [], "held": [], "asked": "", "left_out": []}
    shown_here |= {"number": 0, "held_problem": "", "first": 0, "newer": "", "older": "", "everything": False}
    if not user:
        return page(request, "memories.html", **shown_here)
    whose = caller.user(user)
    if asked:
        question = validated(RecallRequest, {"user_id": whose, "text": asked, "limit": 25, "explain": True}, "")
        told = await here.recall(question, by=caller.actor)
        more: dict[str, Any] = {"whose": whose, "asked": asked, "found": told.items, "left_out": told.left_out}
        return page(request, "memories.html", **shown_here | more)
    everything = "all" in request.query_params
    entries = await here.memories(whose, everything=everything, by=caller.actor)
    held, problem = await _held(here, whose, caller)
    more: dict[str, Any] = {"whose": whose, "number": len(entries), "held": held, "held_problem": problem}
    more["everything"] = everything
    return page(request, "memories.html", **shown_here | more | _part(request, entries))


def _part(request: Request, entries: list[Entry]) -> dict[str, Any]:
    """Return the entries on the page that is asked for, and the addresses of those beside it; empty: there is none.

    Raises:
        InvalidInput: It is asked for by something that is no number.
    """
    given = request.query_params.get(_AFTER, "0")
    if not re.fullmatch("[0-9]{1,9}", given):
        raise InvalidInput(_AFTER, "is not a whole number", fix="leave it out: the newest are shown")
    # What was forgotten meanwhile may have left less than there was.
    first = min(int(given), max(0, len(entries) - 1) // _LISTED * _LISTED)

    def at(place: int) -> str:
        return f"?{urlencode({**request.query_params, _AFTER: place})}"

    newer = at(max(0, first - _LISTED)) if first else ""
    older = at(first + _LISTED) if first + _LISTED < len(entries) else ""
    return {"entries": entries[first : first + _LISTED], "first": first, "newer": newer, "older": older}


async def _held(here: Gateway, whose: str, caller: Caller, limit: int = 50) -> tuple[list[Held], str]:
    """Return what is on hold, or why nobody can say: what is believed is shown all the same."""
    try:
        return await here.held(whose, limit=limit, by=caller.actor), ""
    except PerdureError as error:
        return [], str(error)


@routes.at("GET", "/memories/{memory_id}", TokenScope.READ, media=HTML, browser=True)
@shown
async def memory_page(*, request: Request, memory_id: Id, caller: Asker, here: Here) -> Response:
    """Show one memory, and how it came to be what it is."""
    versions = await here.history(caller.user(user_named(request)), memory_id, by=caller.actor)
    return page(
        request,
        "memory.html",
        entry=versions[-1].entry,
        versions=[*reversed(versions)],
        undo=request.query_params.get("undo", ""),
    )


@routes.at("POST", "/memories/{memory_id}/correct", TokenScope.WRITE, media=HTML, browser=True)
@shown
async def correct_here(*, request: Request, memory_id: Id, caller: Asker, here: Here) -> Response:
    """Correct what a memory says."""
    form = form_of(request)
    # Before what the form says: of another user, nothing is said.
    caller.user(user_named(request))
    update = validated(Correction, {"content": form.line_text("content")}, "")
    return await _changed(request, memory_id, form, update, here)


@routes.at("POST", "/memories/{memory_id}/pin", TokenScope.WRITE, media=HTML, browser=True)
@shown
async def pin_here(*, request: Request, memory_id: Id, here: Here) -> Response:
    """Pin a memory, or no longer."""
    form = form_of(request)
    return await _changed(request, memory_id, form, Pinning(pinned=form.has("pinned")), here)


@routes.at("POST", "/memories/{memory_id}/forget", TokenScope.WRITE, media=HTML, browser=True)
@shown
async def forget_here(*, request: Request, memory_id: Id, here: Here) -> Response:
    """Forget a memory, which can be undone for a while."""
    return await _changed(request, memory_id, form_of(request), Removal(), here)


@routes.at("POST", "/holds/{hold_id}", TokenScope.WRITE, media=HTML, browser=True, person=True)
@shown
async def decide_here(*, request: Request, hold_id: Id, caller: Asker, here: Here) -> Response:
    """Approve a memory on hold, also in other words, or reject it."""
    form, user = form_of(request), user_named(request)
    # The inbox of everybody names nobody.
    whose = caller.user(user) if user else None
    if form.text("decision") not in ("approve", "reject"):
        raise InvalidInput("decision", "must be 'approve' or 'reject'", fix="press one of the two buttons")
    approve = form.text("decision") == "approve"
    text = form.line_text("text") if approve else ""
    deciding = here.decide(whose, hold_id, approve=approve, note=form.text("note"), text=text, by=caller.actor)
    await within(DECIDED_WITHIN, deciding, "the decision may be taken already; load the page again")
    return sent_to(place_of("/inbox" if form.has("inbox") else "/memories", request))


@routes.at("GET", "/export", TokenScope.READ, media=LINES, browser=True)
@shown
async def export_here(*, request: Request, caller: Asker, here: Here) -> Response:
    """Return all that is remembered of a user, as a file."""
    lines = await here.exported(caller.user(user_named(request)), by=caller.actor)
    headers = {"Content-Disposition": 'attachment; filename="memories.jsonl"'}
    return Response("".join(f"{line}\n" for line in lines), 200, headers, LINES)


@routes.at("GET", "/erase", TokenScope.ERASE, media=HTML, browser=True)
@shown
async def erase_page(*, request: Request, caller: Asker, here: Here) -> Response:
    """Show what an erasure will touch, and ask for the user's id once more."""
    whose = caller.user(user_named(request))
    entries = await here.memories(whose, everything=True, by=caller.actor)
    held, problem = await _held(here, whose, caller, _COUNTED)
    tasks = await here.tasks(TaskFilter(limit=_COUNTED), whose, by=caller.actor)
    touched: dict[str, Any] = {
        "entries": entries,
        "held": held,
        "tasks": tasks,
        "counted": _COUNTED,
        "held_problem": problem,
    }
    return page(request, "erase.html", whose=whose, receipt=None, **touched)


@routes.at("POST", "/erase", TokenScope.ERASE, media=HTML, browser=True)
@shown
async def erase_here(*, request: Request, caller: Asker, here: Here) -> Response:
    """Erase a user whose id was typed once more, and show the receipt."""
    form, whose = form_of(request), caller.user(user_named(request))
    if form.text("typed").strip() != whose:
        raise InvalidInput("typed", "is not the user's id: nothing was erased", fix=f"type {whose}")
    erasing = here.erase(EraseRequest(user_id=whose), by=caller.actor)
    receipt = await within(ERASED_WITHIN, erasing, "it goes on; an administrator gets the receipt by erasing again")
    return page(request, "erase.html", whose=whose, receipt=receipt)


async def _changed(request: Request, memory_id: Id, form: Form, update: Update, here: Gateway) -> Response:
    caller: Caller = request.state.caller
    asked = {"user_id": caller.user(user_named(request)), "id": memory_id, "update": update, "note": form.text("note")}
    if form.has("expected"):
        asked["expected"] = form.text("expected")
    done = await here.update(validated(UpdateRequest, asked, ""), by=caller.actor)
    place = place_of(f"/memories/{quote(done.id, safe='')}", request)
    more = f"{'&' if '?' in place else '?'}undo={quote(done.undo, safe='')}" if done.undo else ""
    return sent_to(f"{place}{more}")
