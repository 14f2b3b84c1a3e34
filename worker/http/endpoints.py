"""How a route is declared: what it takes and answers, and the scope without which nobody reaches it."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from starlette.responses import Response

from perdure.values.access_tokens import TokenScope
from worker.http.examples import EXAMPLES
from worker.http.problems import ProblemDetails

SCOPE = "x-perdure-scope"
"""Where a route's scope stands, in the OpenAPI document too."""

PERSON = "x-perdure-person"
"""Where it stands that a route is for people alone."""

REFUSALS = {
    400: "The request is malformed as a whole",
    401: "There is no token, or one that does not count",
    403: "The token does not permit it",
    404: "There is nothing of this user's under the id",
    405: "The path has no such method",
    408: "The body did not arrive in time",
    409: "It contradicts what was said or done before",
    410: "It is no longer kept",
    413: "The body is too large",
    415: "The body is not JSON in UTF-8",
    422: "A field is invalid; the problem names it, and the fix",
    429: "Too often; Retry-After says when to ask again",
    500: "The service or its installation has a defect",
    502: "Another service refuses, or a workflow ended with an error",
    503: "Something that is needed does not answer; try again",
}
"""What the document says of each status of a refusal."""

COMMON = (400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429, 500, 502, 503)
"""What any route behind a token may answer: the gateway stands behind all of them, with every error that it has."""

OPEN = (503,)

PROTOCOL = "x-perdure-protocol"
"""Where it stands, until the document is made, what a protocol takes and answers by itself."""

BROWSER = "x-perdure-browser"
"""Where it stands that a route is a page: its token may come in a cookie, and its body from a form."""

Handler = Callable[..., Coroutine[Any, Any, Response]]

JSON = "application/json"
EVENTS = "text/event-stream"
LINES = "application/jsonl"


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A route."""

    method: str
    path: str
    scope: TokenScope | None
    """What the token has to permit; None: the route is open to everybody, and says nothing of anybody."""
    handler: Handler
    status: int
    answers: type[BaseModel] | None
    many: bool
    """Whether it answers a list of these."""
    media: str
    refuses: tuple[int, ...]
    """The statuses of its own refusals; each route has those of ``COMMON`` too."""
    headers: Mapping[str, str]
    """What its answer's headers hold, by name."""
    person: bool
    browser: bool
    protocol: Mapping[str, Any]
    """What a protocol that has the route for itself takes and answers: parts of the OpenAPI document's operation."""


class Routes:
    """The routes of one subject, in the order in which they are declared.

    Args:
        subject: What they are about: the tag in the document.
    """

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.endpoints: list[Endpoint] = []

    def at(
        self,
        method: str,
        path: str,
        scope: TokenScope | None,
        *,
        answers: type[BaseModel] | None = None,
        many: bool = False,
        status: int = 200,
        media: str = JSON,
        refuses: tuple[int, ...] = (),
        headers: Mapping[str, str] | None = None,
        person: bool = False,
        browser: bool = False,
        protocol: Mapping[str, Any] | None = None,
    ) -> Callable[[Handler], Handler]:
        """Declare a route; see ``Endpoint``. Its summary and description are the handler's docstring."""

        def declared(handler: Handler) -> Handler:
            endpoint = Endpoint(
                method=method,
                path=path,
                scope=scope,
                handler=handler,
                status=status,
                answers=answers,
                many=many,
                media=media,
                refuses=refuses,
                headers=headers or {},
                person=person,
                browser=browser,
                protocol=protocol or {},
            )
            self.endpoints.append(endpoint)
            return handler

        return declared

    def serve(self, app: FastAPI) -> None:
        """Add the routes to an application."""
        for one in self.endpoints:
            summary, _, description = (one.handler.__doc__ or "").strip().partition("\n")
            app.router.add_api_route(
                one.path,
                one.handler,
                methods=[one.method],
                tags=[self.subject],
                summary=summary.rstrip("."),
                description=" ".join(description.split()),
                status_code=one.status,
                response_class=Response,
                response_model=None,
                operation_id=one.handler.__name__.strip("_"),
                responses=_responses(one),
                include_in_schema=not one.browser,
                openapi_extra={
                    SCOPE: one.scope.value if one.scope else None,
                    PERSON: one.person,
                    BROWSER: one.browser,
                    PROTOCOL: dict(one.protocol),
                },
            )


def _responses(one: Endpoint) -> dict[int | str, dict[str, Any]]:
    """Return what the document says of a route's answers; problems get their media type in ``document``."""
    good: dict[str, Any] = {"description": "Done"}
    if one.answers is not None:
        good["model"] = list[one.answers] if one.many else one.answers
        example = EXAMPLES[one.answers.__name__]
        good["content"] = {JSON: {"example": [example] if one.many else example}}
    else:
        good["content"] = {one.media: {"schema": {"type": "object" if one.media == JSON else "string"}}}
    if one.headers:
        good["headers"] = {
            name: {"description": text, "schema": {"type": "string"}} for name, text in one.headers.items()
        }
    common = COMMON if one.scope else OPEN
    refusals = {
        status: {"model": ProblemDetails, "description": REFUSALS[status]} for status in {*common, *one.refuses}
    }
    return {one.status: good, **dict(sorted(refusals.items()))}


def answered(value: BaseModel, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value as an answer. It is serialized once, by its own model."""
    return Response(value.model_dump_json(), status, headers, JSON)


def listed(values: list[Any], status: int = 200) -> Response:
    """Return a list of values as an answer."""
    return Response(f"[{','.join(one.model_dump_json() for one in values)}]", status, media_type=JSON)
