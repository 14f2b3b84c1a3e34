"""Forgetting: what the rules would forget now and soon, what the guard holds back, and how it is undone."""

from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import Request
from starlette.responses import Response

from perdure.errors import PerdureError
from perdure.values.access_tokens import Caller, TokenScope
from perdure.values.entries import Entry, State
from perdure.values.requests import ForgetRequest, UndoRequest
from worker.gateway import Gateway
from worker.http.console.forms import form_of
from worker.http.console.pages import HTML, page, shown, user_named
from worker.http.endpoints import Routes
from worker.http.request_context import Asker, Here, within

routes = Routes("console")

_WITHIN = 120.0
"""Seconds that a sweep may take before the page stops waiting for it; a choice."""

_SOON = timedelta(days=30)
"""How far ahead the page looks; a choice."""

_LISTED = 50


@routes.at("GET", "/forgetting", TokenScope.ERASE, media=HTML, browser=True)
@shown
async def forgetting_page(*, request: Request, caller: Asker, here: Here) -> Response:
    """Offer a dry run, a sweep and its undoing; of a user who is named, show what is due, and what can be undone."""
    return await _page(request, caller, here, sweep=request.query_params.get("sweep", ""))


@routes.at("POST", "/forgetting/sweep", TokenScope.ERASE, media=HTML, browser=True, person=True)
@shown
async def sweep_here(*, request: Request, caller: Asker, here: Here) -> Response:
    """Forget what the rules no longer keep, or only say what that would be."""
    form, user = form_of(request), user_named(request)
    asked = ForgetRequest(
        dry_run=not form.has("forget"), user_id=caller.user(user) if user else "", approved=form.has("approved")
    )
    sweeping = here.forget(asked, by=caller.actor)
    swept = await within(_WITHIN, sweeping, "the sweep goes on")
    return await _page(request, caller, here, swept=swept, sweep="" if swept.dry_run else swept.sweep)


@routes.at("POST", "/forgetting/undo", TokenScope.ERASE, media=HTML, browser=True, person=True)
@shown
async def undo_here(*, request: Request, caller: Asker, here: Here) -> Response:
    """Bring back what a sweep forgot."""
    form, user = form_of(request), user_named(request)
    asked = UndoRequest(sweep=form.text("sweep").strip(), user_id=caller.user(user) if user else "")
    undone = await within(_WITHIN, here.undo(asked, by=caller.actor), "the undoing goes on")
    return await _page(request, caller, here, undone=undone)


async def _page(request: Request, caller: Caller, here: Gateway, **told: Any) -> Response:
    user = user_named(request)
    standing: dict[str, Any] = {"due": [], "undoable": [], "more": 0, "problem": "", "texts": {}}
    if user and TokenScope.READ in caller.scopes:
        try:
            entries = await here.memories(caller.user(user), everything=True, by=caller.actor)
        except PerdureError as error:
            # What can be done is offered all the same.
            standing["problem"] = str(error)
        else:
            standing |= _standing(entries, datetime.now(UTC))
            standing["texts"] = {one.id: one.text for one in entries}
    shown_here: dict[str, Any] = {"swept": None, "undone": None, "sweep": ""}
    return page(request, "forgetting.html", **shown_here | standing | told)


def _standing(entries: list[Entry], now: datetime) -> dict[str, Any]:
    """Return what is due soon, the next first, what can be undone, the latest first, and how many are not listed."""
    due = [one for one in entries if one.state is State.CURRENT and one.forget_after and one.forget_after < now + _SOON]
    undoable = [one for one in entries if one.state is State.FORGOTTEN and one.purge_after and one.purge_after > now]
    due.sort(key=lambda one: (one.forget_after or now, one.id))
    undoable.sort(key=lambda one: (one.purge_after or now, one.id), reverse=True)
    left = max(0, len(due) - _LISTED) + max(0, len(undoable) - _LISTED)
    return {"due": due[:_LISTED], "undoable": undoable[:_LISTED], "more": left}
