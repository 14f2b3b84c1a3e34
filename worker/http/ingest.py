"""Routes of jobs: items to remember are accepted, and what became of them is asked for."""

from datetime import timedelta
from typing import Annotated
from uuid import uuid4

from fastapi import Path, Query, Request
from starlette.responses import Response

from perdure.documents import validated
from perdure.errors import InvalidInput, InvalidItem
from perdure.model import Model
from perdure.values.access_tokens import TokenScope
from perdure.values.requests import RememberRequest
from perdure.values.task_status import JobState
from worker.http.bodies import IngestBody
from worker.http.endpoints import Routes, answered
from worker.http.listeners import while_connected
from worker.http.request_context import Asker, Here, OfParam, OnceOnly, UserParam, found_at

LONGEST_WAIT = 60
"""Seconds that a request may wait for a job's end: proxies often cut off what takes longer."""

routes = Routes("ingest")


class AcceptedBatch(Model):
    """A batch that was accepted: it is on disk, and its job ends."""

    job_id: str


@routes.at(
    "POST",
    "/v2/control/ingest",
    TokenScope.WRITE,
    answers=AcceptedBatch,
    status=202,
    headers={"Location": "Where the job is asked for."},
)
async def ingest(*, body: IngestBody, caller: Asker, here: Here, once: OnceOnly) -> Response:
    """Accept items to remember.

    The same items under the same key are the same job again; other items under it are refused. An item without
    `occurrence` is observed under the batch's key and its place. `occurred_at` is the moment of acceptance if left out.
    """
    if once.key and body.key and once.key != body.key:
        raise InvalidInput("key", "differs from the header Idempotency-Key", fix="send one of the two")
    once.key = once.key or body.key
    asked = body.asked(caller)
    await once.identify(str(asked["user_id"]))
    key = once.key or f"http-{uuid4().hex}"
    items = [
        {"occurrence": f"{key}/{place}"} | one if isinstance(one, dict) else one for place, one in enumerate(body.items)
    ]
    request = validated(RememberRequest, {**asked, "key": key, "items": items}, "", InvalidItem)
    job = await here.remember(request, by=caller.actor)
    place = found_at(f"/v2/control/ingest/jobs/{job}", caller, request.user_id, body.of)
    return answered(AcceptedBatch(job_id=job), 202, place)


@routes.at("GET", "/v2/control/ingest/jobs/{job_id}", TokenScope.WRITE, answers=JobState)
async def job(
    *,
    request: Request,
    job_id: Annotated[str, Path(max_length=200)],
    caller: Asker,
    here: Here,
    user_id: UserParam = None,
    of: OfParam = None,
    wait: Annotated[
        float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for its end.", allow_inf_nan=False)
    ] = 0,
) -> Response:
    """Say where a job is, and what became of each item.

    What is slow is `running`, however long it takes; `failed` is said of a job that ended so, with the reason.
    """
    user = caller.user(user_id)
    asked = here.job(user, job_id, of=of, wait=timedelta(seconds=wait), by=caller.actor)
    return answered(await while_connected(asked, request.receive, request.app.state.ending if wait else None))
