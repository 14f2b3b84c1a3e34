"""Tasks: where each is, what it recalled and why, and where the Temporal UI shows it."""

from fastapi import Request
from starlette.responses import Response

from perdure.documents import validated
from perdure.errors import PerdureError
from perdure.values.access_tokens import TokenScope
from worker.gateway.task_list import TaskFilter
from worker.http.console.pages import HTML, page, place_of, sent_to, shown, user_named
from worker.http.endpoints import Routes
from worker.http.path_parts import encoded
from worker.http.request_context import Asker, Here
from worker.http.tasks import Id

routes = Routes("console")

_LISTED = 100


@routes.at("GET", "/tasks", TokenScope.TASKS, media=HTML, browser=True)
@shown
async def tasks_page(*, request: Request, caller: Asker, here: Here) -> Response:
    """List tasks, open ones first: of one user, or of everybody where nobody is named."""
    user, phase = user_named(request), request.query_params.get("phase", "")
    wanted = validated(TaskFilter, {"limit": _LISTED + 1} | ({"phase": phase} if phase else {}), "")
    found = await here.tasks(wanted, caller.user(user) if user else None, by=caller.actor)
    return page(request, "tasks.html", tasks=found[:_LISTED], more=len(found) > _LISTED, phase=phase)


@routes.at("GET", "/tasks/{workflow_id}", TokenScope.TASKS, media=HTML, browser=True)
@shown
async def task_page(*, request: Request, workflow_id: Id, caller: Asker, here: Here) -> Response:
    """Show where a task is, what it asks, how it used memory, and how it ended."""
    user = user_named(request)
    await here.require_task_of(caller.user(user) if user else None, workflow_id, by=caller.actor)
    listed = await here.listed(workflow_id, by=caller.actor)
    state = await here.task_state(workflow_id, by=caller.actor)
    explanation, problem = None, ""
    try:
        explanation = await here.explain(workflow_id, by=caller.actor)
    except PerdureError as error:
        problem = str(error)
    ui, namespace = here.temporal_ui, (await here.client()).namespace
    link = f"{ui}/namespaces/{namespace}/workflows/{encoded(workflow_id)}" if ui else ""
    return page(request, "task.html", task=listed, state=state, explanation=explanation, problem=problem, temporal=link)


@routes.at("POST", "/tasks/{workflow_id}/cancel", TokenScope.TASKS, media=HTML, browser=True)
@shown
async def cancel_here(*, request: Request, workflow_id: Id, caller: Asker, here: Here) -> Response:
    """Ask a task to stop."""
    user = user_named(request)
    await here.require_task_of(caller.user(user) if user else None, workflow_id, by=caller.actor)
    await here.cancel(workflow_id, by=caller.actor)
    return sent_to(place_of(f"/tasks/{encoded(workflow_id)}", request))
