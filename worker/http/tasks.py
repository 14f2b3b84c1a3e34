"""Routes of tasks: starting, looking, answering, steering, cancelling."""

from datetime import timedelta
from typing import Annotated

from fastapi import Path, Query, Request
from pydantic import BeforeValidator
from starlette.responses import Response

from perdure.documents import validated
from perdure.errors import InvalidAnswer, InvalidTask
from perdure.model import Model, Name
from perdure.values.access_tokens import Caller, TokenScope
from perdure.values.events import Event
from perdure.values.explanations import TaskExplanation
from perdure.values.inbox import OpenQuestion
from perdure.values.questions import Answer
from perdure.values.steering import PauseRequest, Redirection, TaskMessage
from perdure.values.task_status import StartedTask, TaskStanding
from perdure.values.tasks import AgentTask, Phase
from worker.gateway import Gateway
from worker.gateway.task_list import ListedTask, TaskFilter
from worker.http.bodies import (
    AnswerBody,
    EventBody,
    MessageBody,
    PauseBody,
    RedirectBody,
    TaskBody,
)
from worker.http.endpoints import EVENTS, Routes, answered, listed
from worker.http.event_stream import EventStream, followed
from worker.http.ingest import LONGEST_WAIT
from worker.http.listeners import while_connected
from worker.http.path_parts import encoded, part_of
from worker.http.request_context import Asker, Here, OnceOnly, UserParam, found_at
from worker.http.request_places import RequestPlaces, whose

routes = Routes("tasks")

Id = Annotated[
    str,
    Path(max_length=1_000, description="The task's `workflow_id`, as its start returned it; a slash in it is `%2F`."),
    BeforeValidator(part_of),
]


class Done(Model):
    """That a request was taken."""

    workflow_id: str


@routes.at(
    "POST",
    "/v2/control/tasks",
    TokenScope.TASKS,
    answers=StartedTask,
    status=202,
    headers={"Location": "Where the task is asked for."},
)
async def start_task(*, body: TaskBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Start a task, or attach to it.

    A user and a `task_id` are one task: the same request again starts nothing new, and another task under the id is
    refused.
    """
    asked = body.asked(caller, "again")
    identifier = await once.identify(str(asked["user_id"]))
    sending = identifier if once.key else ""
    task = validated(AgentTask, asked, "", InvalidTask)
    repeated = once.is_repeated
    started = await here.start(task, by=caller.actor, again=body.again, sending=sending, repeated=repeated)
    await once.carried_out()
    place = f"/v2/control/tasks/{encoded(started.workflow_id)}"
    return answered(started, 202, found_at(place, caller, task.user_id))


@routes.at("GET", "/v2/control/tasks", TokenScope.TASKS, answers=ListedTask, many=True)
async def list_tasks(
    *,
    caller: Asker,
    here: Here,
    user_id: UserParam = None,
    phase: Phase | None = None,
    skill: Name | None = None,
    agent: Name | None = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
) -> Response:
    """List a user's tasks, open ones first, the newest first. What is listed lags behind by a moment."""
    given = {"phase": phase, "skill": skill, "agent": agent, "limit": limit}
    wanted = validated(TaskFilter, given, "")
    return listed(await here.tasks(wanted, caller.user(user_id), by=caller.actor))


@routes.at("GET", "/v2/control/tasks/{workflow_id}", TokenScope.TASKS, answers=TaskStanding)
async def show_task(
    *,
    request: Request,
    workflow_id: Id,
    caller: Asker,
    here: Here,
    user_id: UserParam = None,
    wait: Annotated[
        float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for its end.", allow_inf_nan=False)
    ] = 0,
) -> Response:
    """Say where a task is, which questions it asks, and how it ended."""
    await _theirs(here, caller, user_id, workflow_id)
    state = here.task_state(workflow_id, wait=timedelta(seconds=wait), by=caller.actor)
    return answered(await while_connected(state, request.receive, request.app.state.ending if wait else None))


@routes.at("GET", "/v2/control/tasks/{workflow_id}/events", TokenScope.TASKS, media=EVENTS)
async def follow_task(
    *, request: Request, workflow_id: Id, caller: Asker, here: Here, user_id: UserParam = None
) -> Response:
    """Follow a task by server-sent events: `progress` whenever it has changed, and `end` with its result.

    `problem` says in between why the task cannot be looked at; the stream ends then too.

    A stream lasts ten minutes at most, and no longer than the service runs; a client connects again, as browsers do by
    themselves.
    """
    await _theirs(here, caller, user_id, workflow_id)
    state = request.app.state
    streams: RequestPlaces = state.streams
    events = followed(here, workflow_id, caller, request_id=request.state.request_id, ending=state.ending)
    return EventStream(events, streams.entered(whose(caller)), state.ending)


@routes.at("GET", "/v2/control/tasks/{workflow_id}/explanation", TokenScope.TASKS, answers=TaskExplanation)
async def explain_task(*, workflow_id: Id, caller: Asker, here: Here, user_id: UserParam = None) -> Response:
    """Say what a task recalled and why, what it wrote, and what was ignored and why."""
    await _theirs(here, caller, user_id, workflow_id)
    return answered(await here.explain(workflow_id, by=caller.actor))


@routes.at("GET", "/v2/control/questions", TokenScope.TASKS, answers=OpenQuestion, many=True)
async def questions(
    *, caller: Asker, here: Here, user_id: UserParam = None, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> Response:
    """List what a user's tasks, workflows and memories on hold ask a person, what waits longest first."""
    return listed(await here.inbox(caller.user(user_id), limit=limit, by=caller.actor))


@routes.at("POST", "/v2/control/tasks/{workflow_id}/answer", TokenScope.TASKS, answers=Done, person=True)
async def answer_question(*, workflow_id: Id, body: AnswerBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Answer a question of a task, or of another workflow. Only a person may: the token has to be one of a person."""
    identifier = await once.identify(await _theirs(here, caller, body.user_id, workflow_id))
    given = validated(Answer, body.model_dump(exclude_unset=True, exclude={"user_id"}), "", InvalidAnswer)
    await once.carry_out(lambda: here.answer(workflow_id, given, sending=identifier, by=caller.actor))
    return answered(Done(workflow_id=workflow_id))


@routes.at("POST", "/v2/control/tasks/{workflow_id}/deliver", TokenScope.TASKS, answers=Done)
async def deliver_event(*, workflow_id: Id, body: EventBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Deliver an event that a step of the task waits for, or will wait for. It is taken once."""
    identifier = await once.identify(await _theirs(here, caller, body.user_id, workflow_id))
    event = validated(Event, {"id": identifier, **body.model_dump(exclude_unset=True, exclude={"user_id"})}, "")
    await once.carry_out(lambda: here.deliver(workflow_id, event, by=caller.actor))
    return answered(Done(workflow_id=workflow_id))


@routes.at("POST", "/v2/control/tasks/{workflow_id}/message", TokenScope.TASKS, answers=Done)
async def message_task(*, workflow_id: Id, body: MessageBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Send a message to the model of a task with a goal, which it reads before its next turn."""
    identifier = await once.identify(await _theirs(here, caller, body.user_id, workflow_id))
    message = validated(TaskMessage, {"text": body.text, "id": identifier}, "", InvalidTask)
    await once.carry_out(lambda: here.message(workflow_id, message, by=caller.actor))
    return answered(Done(workflow_id=workflow_id))


@routes.at("POST", "/v2/control/tasks/{workflow_id}/redirect", TokenScope.TASKS, answers=Done)
async def redirect_task(*, workflow_id: Id, body: RedirectBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Give a task with a goal another one, or constraints."""
    identifier = await once.identify(await _theirs(here, caller, body.user_id, workflow_id))
    given = {"id": identifier, **body.model_dump(exclude_unset=True, exclude={"user_id"})}
    redirection = validated(Redirection, given, "", InvalidTask)
    await once.carry_out(lambda: here.redirect(workflow_id, redirection, by=caller.actor))
    return answered(Done(workflow_id=workflow_id))


@routes.at("POST", "/v2/control/tasks/{workflow_id}/pause", TokenScope.TASKS, answers=Done)
async def pause_task(*, workflow_id: Id, body: PauseBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Pause a task: what is under way ends, and nothing new begins."""
    identifier = await once.identify(await _theirs(here, caller, body.user_id, workflow_id))
    request = validated(PauseRequest, {"because": body.because, "id": identifier}, "", InvalidTask)
    await once.carry_out(lambda: here.pause(workflow_id, request, by=caller.actor))
    return answered(Done(workflow_id=workflow_id))


@routes.at("POST", "/v2/control/tasks/{workflow_id}/resume", TokenScope.TASKS, answers=Done)
async def resume_task(*, workflow_id: Id, body: PauseBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Let a paused task go on."""
    identifier = await once.identify(await _theirs(here, caller, body.user_id, workflow_id))
    request = validated(PauseRequest, {"because": body.because, "id": identifier}, "", InvalidTask)
    await once.carry_out(lambda: here.resume(workflow_id, request, by=caller.actor))
    return answered(Done(workflow_id=workflow_id))


@routes.at("POST", "/v2/control/tasks/{workflow_id}/cancel", TokenScope.TASKS, answers=Done)
async def cancel_task(*, workflow_id: Id, body: PauseBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Ask a task to stop; it finishes what it must not leave half done."""
    await once.identify(await _theirs(here, caller, body.user_id, workflow_id))
    await once.carry_out(lambda: here.cancel(workflow_id, because=body.because, by=caller.actor))
    return answered(Done(workflow_id=workflow_id))


async def _theirs(here: Gateway, caller: Caller, given: str | None, workflow_id: str) -> str:
    """Return the user for whom is asked, whose task it is."""
    user = caller.user(given)
    await here.require_task_of(user, workflow_id, by=caller.actor)
    return user
