"""Routes that ask memory: exactly by lane and key, or by meaning and words."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from perdure.documents import validated
from perdure.memory.recall.query import RecallResult
from perdure.values.access_tokens import TokenScope
from perdure.values.entries import Lane
from perdure.values.requests import LookupKey, RecallRequest
from worker.http.bodies import QueryBody
from worker.http.endpoints import Routes, answered
from worker.http.request_context import Asker, Here, OfParam, UserParam

routes = Routes("recall")


@routes.at("GET", "/v2/control/activity", TokenScope.READ, answers=RecallResult)
async def activity(
    *,
    lane: Annotated[Lane, Query(description="The log: recommendation, feedback or pattern.")],
    key: Annotated[list[LookupKey], Query(description="Exactly this key; may be repeated.", max_length=1_000)],
    caller: Asker,
    here: Here,
    user_id: UserParam = None,
    of: OfParam = None,
) -> Response:
    """Return the records of a log under exactly these keys and nothing else, the newest first: 1,000 at most.

    Whatever is believed of them, and without a search by meaning.
    """
    asked = {"user_id": caller.user(user_id), "of": of, "lane": lane, "keys": tuple(key)}
    return answered(await here.recall(validated(RecallRequest, asked, ""), by=caller.actor))


@routes.at("POST", "/v2/control/query", TokenScope.READ, answers=RecallResult)
async def query(*, body: QueryBody, caller: Asker, here: Here) -> Response:
    """Recall from every tier of memory.

    `context` is the block for a prompt; each item has its score and the parts of it, and `degraded` names the stores
    that did not answer.
    """
    request = validated(RecallRequest, body.asked(caller), "")
    return answered(await here.recall(request, by=caller.actor))
