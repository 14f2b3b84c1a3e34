"""The inbox: all that waits for a person, answered in place."""

from fastapi import Request
from starlette.responses import Response

from perdure.documents import validated
from perdure.errors import InvalidAnswer
from perdure.values.access_tokens import TokenScope
from perdure.values.changes import ActorKind
from perdure.values.questions import Answer
from worker.http.console.forms import form_of
from worker.http.console.pages import HTML, is_part, page, place_of, sent_to, shown, user_named
from worker.http.endpoints import Routes
from worker.http.request_context import Asker, Here
from worker.http.tasks import Id

routes = Routes("console")

_LISTED = 50


@routes.at("GET", "/inbox", TokenScope.TASKS, media=HTML, browser=True)
@shown
async def inbox_page(*, request: Request, caller: Asker, here: Here) -> Response:
    """Show what waits for a person: of one user, or of everybody where nobody is named."""
    user = user_named(request)
    whose = caller.user(user) if user else None
    # Of everybody, only whoever may decide on what is held sees it: others could neither read nor answer it elsewhere.
    decides = caller.actor.kind is ActorKind.PERSON and {TokenScope.READ, TokenScope.WRITE} <= caller.scopes
    found = await here.inbox(whose, holds=bool(whose) or decides, limit=_LISTED + 1, by=caller.actor)
    return page(request, "inbox.html", questions=found[:_LISTED], more=len(found) > _LISTED)


@routes.at("POST", "/inbox/{workflow_id}", TokenScope.TASKS, media=HTML, browser=True, person=True)
@shown
async def answer_in_place(*, request: Request, workflow_id: Id, caller: Asker, here: Here) -> Response:
    """Answer one question; what becomes of it is shown where it stood."""
    form, user = form_of(request), user_named(request)
    # What is held is decided by a route of its own, with the scope that this needs.
    await here.require_task_of(caller.user(user) if user else None, workflow_id, by=caller.actor)
    given = {"question_id": form.text("question"), "value": form.text("value"), "note": form.text("note")}
    await here.answer(workflow_id, validated(Answer, given, "", InvalidAnswer), by=caller.actor)
    if is_part(request):
        return page(request, "answered.html", problem="", value=given["value"])
    return sent_to(place_of("/inbox", request))
