"""Requests that steer a running task: pausing it, having it go on, telling its model something."""

from uuid import uuid4

from perdure.changes import Actor
from perdure.documents import validated
from perdure.errors import InvalidTask
from perdure.names import FEEDBACK, MESSAGE, PAUSE, REDIRECT, RESUME
from perdure.steering import PauseRequest, Redirection, SteeringRequest, TaskFeedback, TaskMessage
from worker.gateway.base import call
from worker.gateway.tasks import TaskCalls, require_person, sent_update


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

    @call
    async def message(self, workflow_id: str, message: TaskMessage, *, by: Actor) -> None:
        """Send a message to the model of a task with a goal, which it sees before its next turn.

        Args:
            workflow_id: The task.
            message: What it is told.
            by: Who tells it.

        Raises:
            InvalidTask: There is no such task, or it runs a skill, or has ended; or its model has too much to read.
        """
        await self._steer(workflow_id, MESSAGE, message, by)

    @call
    async def redirect(self, workflow_id: str, redirection: Redirection, *, by: Actor) -> None:
        """Redirect a task with a goal to another one, or by constraints, which its model sees before its next turn.

        What the task's id stands for stays the goal that it was started with.

        Args:
            workflow_id: The task.
            redirection: What it should achieve, and what has to hold.
            by: Who redirects it.

        Raises:
            InvalidTask: There is no such task, or it runs a skill, or has ended; or it has too many constraints.
        """
        await self._steer(workflow_id, REDIRECT, redirection, by)

    @call
    async def feedback(self, workflow_id: str, feedback: TaskFeedback, *, by: Actor) -> None:
        """Say whether a running task, or a step of it, did what it should: it counts in the task's evaluation.

        Args:
            workflow_id: The task.
            feedback: What a person says.
            by: The person.

        Raises:
            InvalidInput: The actor is not a person.
            InvalidTask: There is no such task, or it has ended.
        """
        require_person(by)
        await self._steer(workflow_id, FEEDBACK, feedback, by)

    async def _steer(self, workflow_id: str, update: str, request: SteeringRequest, by: Actor) -> None:
        given = request.model_dump() | {"by": by.model_dump(), "id": request.id or uuid4().hex}
        sent = validated(type(request), given, "", InvalidTask)
        otherwise = f"it takes no {update} any more"
        await self._require_open(workflow_id, otherwise, by)
        afterwards = f"the {update} may still be taken: perdure status shows whether it was"
        async with self._updating(workflow_id, f"take the {update}", otherwise, afterwards):
            await sent_update(await self.task(workflow_id, by=by), update, sent)
