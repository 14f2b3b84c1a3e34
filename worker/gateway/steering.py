"""Requests that steer a running task: pausing it, and having it go on."""

from uuid import uuid4

from perdure.changes import Actor
from perdure.documents import validated
from perdure.errors import InvalidTask
from perdure.names import PAUSE, RESUME
from perdure.steering import PauseRequest
from worker.gateway.base import call
from worker.gateway.tasks import TaskCalls, sent_update


class SteeringCalls(TaskCalls):
    """Steering tasks. Each request counts once, however often it has to be sent."""

    @call
    async def pause(self, workflow_id: str, request: PauseRequest, *, by: Actor) -> None:
        """Have a task pause: what is under way ends, and nothing new begins until ``resume``.

        Args:
            workflow_id: The task.
            request: Why.
            by: Who asks for it.

        Raises:
            InvalidTask: There is no such task, or it has ended, or pauses already.
        """
        await self._steer(workflow_id, PAUSE, request, by)

    @call
    async def resume(self, workflow_id: str, request: PauseRequest, *, by: Actor) -> None:
        """Have a paused task go on.

        Args:
            workflow_id: The task.
            request: Why.
            by: Who asks for it.

        Raises:
            InvalidTask: There is no such task, or it has ended, or is not paused.
        """
        await self._steer(workflow_id, RESUME, request, by)

    async def _steer(self, workflow_id: str, update: str, request: PauseRequest, by: Actor) -> None:
        given = request.model_dump() | {"by": by.model_dump(), "id": request.id or uuid4().hex}
        sent = validated(type(request), given, "", InvalidTask)
        otherwise = f"there is nothing to {update}"
        await self._require_open(workflow_id, otherwise, by)
        afterwards = f"it may still {update}: perdure status shows whether it did"
        async with self._updating(workflow_id, f"{update} the task", otherwise, afterwards):
            await sent_update(await self.task(workflow_id, by=by), update, sent)
