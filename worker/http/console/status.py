"""How the installation is: each component, and what the checks find."""

from fastapi import Request
from starlette.responses import Response

from perdure.values.access_tokens import TokenScope
from worker.http.console.pages import HTML, page, shown
from worker.http.endpoints import Routes
from worker.http.request_context import Asker, Here

routes = Routes("console")


@routes.at("GET", "/status", TokenScope.OPERATE, media=HTML, browser=True)
@shown
async def status_page(*, request: Request, caller: Asker, here: Here) -> Response:
    """Show whether each component is reachable, since when, and how quickly it answers."""
    components = await here.components(by=caller.actor)
    return page(request, "status.html", components=components)
