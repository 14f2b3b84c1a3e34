"""Forgetting: what the rules would forget now, what the guard holds back, and how it is undone."""

from fastapi import Request
from starlette.responses import Response

from perdure.values.access_tokens import TokenScope
from perdure.values.requests import ForgetRequest, UndoRequest
from worker.http.console.forms import own_form
from worker.http.console.pages import HTML, page, shown, user_named
from worker.http.endpoints import Routes
from worker.http.request_context import Asker, Here, within

routes = Routes("console")

_WITHIN = 120.0
"""Seconds that a sweep may take before the page stops waiting for it; a choice."""


@routes.at("GET", "/forgetting", TokenScope.ERASE, media=HTML, browser=True)
@shown
async def forgetting_page(*, request: Request, caller: Asker, here: Here) -> Response:
    """Offer a dry run, a sweep and its undoing; show nothing that was not asked for."""
    return page(request, "forgetting.html", swept=None, undone=None, sweep=request.query_params.get("sweep", ""))


@routes.at("POST", "/forgetting/sweep", TokenScope.ERASE, media=HTML, browser=True, person=True)
@shown
async def sweep_here(*, request: Request, caller: Asker, here: Here) -> Response:
    """Forget what the rules no longer keep, or only say what that would be."""
    form, user = own_form(request), user_named(request)
    asked = ForgetRequest(
        dry_run=not form.has("forget"), user_id=caller.user(user) if user else "", approved=form.has("approved")
    )
    sweeping = here.forget(asked, by=caller.actor)
    swept = await within(_WITHIN, sweeping, "the sweep goes on")
    return page(request, "forgetting.html", swept=swept, undone=None, sweep="" if swept.dry_run else swept.sweep)


@routes.at("POST", "/forgetting/undo", TokenScope.ERASE, media=HTML, browser=True, person=True)
@shown
async def undo_here(*, request: Request, caller: Asker, here: Here) -> Response:
    """Bring back what a sweep forgot."""
    form, user = own_form(request), user_named(request)
    asked = UndoRequest(sweep=form.text("sweep").strip(), user_id=caller.user(user) if user else "")
    undone = await within(_WITHIN, here.undo(asked, by=caller.actor), "the undoing goes on")
    return page(request, "forgetting.html", swept=None, undone=undone, sweep="")
