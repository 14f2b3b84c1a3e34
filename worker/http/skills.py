"""Routes of skills: what tasks can run."""

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from perdure.values.access_tokens import TokenScope
from worker.gateway.skills import ListedSkill
from worker.http.endpoints import Routes, answered, listed
from worker.http.request_context import Asker, Here

routes = Routes("skills")


@routes.at("GET", "/v2/control/skills", TokenScope.READ, answers=ListedSkill, many=True)
async def skills(*, caller: Asker, here: Here) -> Response:
    """List the skills that the service has, with their versions, inputs and steps."""
    return listed(await here.skills(by=caller.actor))


@routes.at("GET", "/v2/control/skills/{name}", TokenScope.READ, answers=ListedSkill)
async def skill(*, name: Annotated[str, Path(max_length=80)], caller: Asker, here: Here) -> Response:
    """Show one skill."""
    return answered(await here.skill(name, by=caller.actor))
