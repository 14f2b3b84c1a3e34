"""How an error is answered: as problem details (RFC 9457), all made here, each code with the one status it has."""

from typing import Any, cast

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from perdure.documents import join, validated
from perdure.errors import InvalidInput, PerdureError
from perdure.model import Model
from perdure.refusals import (
    NoSuchMethod,
    NoSuchPath,
    NotAuthenticated,
    RequestRefused,
    TooManyRequests,
    oversteps,
)

_log = structlog.get_logger(__name__)

MEDIA = "application/problem+json"

STATUSES = {
    "PRD000": 500,
    "PRD100": 422,
    "PRD101": 422,
    "PRD102": 422,
    "PRD103": 422,
    "PRD104": 422,
    "PRD105": 422,
    "PRD106": 409,
    "PRD107": 404,
    "PRD108": 422,
    "PRD109": 422,
    "PRD110": 422,
    "PRD111": 422,
    "PRD112": 502,
    "PRD113": 410,
    "PRD114": 409,
    "PRD115": 409,
    "PRD116": 404,
    "PRD117": 409,
    "PRD200": 503,
    "PRD201": 500,
    "PRD202": 500,
    "PRD203": 503,
    "PRD204": 503,
    "PRD205": 503,
    "PRD206": 503,
    "PRD207": 500,
    "PRD208": 500,
    "PRD209": 503,
    "PRD210": 500,
    "PRD211": 500,
    "PRD212": 500,
    "PRD213": 500,
    "PRD214": 500,
    "PRD220": 502,
    "PRD221": 422,
    "PRD222": 503,
    "PRD223": 502,
    "PRD224": 502,
    "PRD225": 500,
    "PRD230": 503,
    "PRD231": 503,
    "PRD232": 502,
    "PRD233": 503,
    "PRD234": 502,
    "PRD235": 422,
    "PRD236": 503,
    "PRD237": 503,
    "PRD300": 409,
    "PRD301": 503,
    "PRD302": 503,
    "PRD303": 503,
    "PRD304": 410,
    "PRD305": 403,
    "PRD306": 503,
    "PRD400": 409,
    "PRD401": 409,
    "PRD402": 503,
    "PRD403": 502,
    "PRD404": 409,
    "PRD500": 401,
    "PRD501": 403,
    "PRD502": 429,
    "PRD503": 409,
    "PRD510": 400,
    "PRD511": 404,
    "PRD512": 405,
    "PRD513": 413,
    "PRD514": 415,
    "PRD515": 408,
}
"""The status of each code. What a caller can correct is 4xx; 503 asks to try again; 502 is another's refusal."""

_RETRY_AFTER = "1"
"""Seconds after which a 503 makes sense to be tried again, unless the error says: a choice."""

_PAGE = "https://perdure.invalid/errors#"
"""What a problem's type begins with: it identifies, and leads nowhere; docs/errors.md has the codes."""


class ProblemDetails(Model):
    """An error, as RFC 9457 has it, with what is needed to mend it."""

    type: str = Field(examples=[f"{_PAGE}PRD100"])
    title: str = Field(examples=["InvalidInput"])
    """The error's class."""
    status: int = Field(examples=[422])
    detail: str = Field(examples=["user_id: is missing (name the user: this token is for any user)"])
    code: str = Field(examples=["PRD100"])
    field: str = Field(default="", examples=["user_id"])
    """The path of the invalid field; empty: it is about no field."""
    fix: str = Field(default="", examples=["name the user: this token is for any user"])
    """What to do about it."""
    request: str = Field(default="", examples=["3f2b8c1d9a7e4f60"])
    """The request's id, by which the service's log has more."""


def status_of(error: PerdureError) -> int:
    """Return the status by which an error is answered."""
    return STATUSES.get(error.code, 500)


def problem_of(error: PerdureError, request_id: str = "") -> ProblemDetails:
    """Return what is said of an error."""
    return ProblemDetails(
        type=f"{_PAGE}{error.code}",
        title=type(error).__name__,
        status=status_of(error),
        detail=_sendable(error.message),
        code=error.code,
        field=_sendable(str(getattr(error, "field", ""))),
        fix=_sendable(str(getattr(error, "fix", ""))),
        request=request_id,
    )


def answer_of(error: PerdureError, request_id: str = "", headers: dict[str, str] | None = None) -> Response:
    """Return the answer that an error gets."""
    problem = problem_of(error, request_id)
    given = dict(headers or {})
    if isinstance(error, NotAuthenticated):
        given["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooManyRequests) or problem.status == 503:
        given["Retry-After"] = f"{error.retry_after:.0f}" if error.retry_after else _RETRY_AFTER
    if problem.status == 503:
        # What is missing, and not what is said of it: that may quote what a caller sent.
        _log.warning("unavailable", code=problem.code, store=getattr(error, "store", ""))
    return Response(problem.model_dump_json(), problem.status, given, MEDIA)


def audited(request: Request, error: PerdureError) -> None:
    """Have it audited that a request which was let in is refused for want of a right, or of a place."""
    if oversteps(error) or isinstance(error, TooManyRequests):
        request.state.turned_away = True


def _sendable(text: str) -> str:
    """Return a text that may quote what a caller sent, halves of surrogate pairs too, as one that can be sent."""
    return text.encode("utf-8", "replace").decode()


def handle(app: FastAPI) -> None:
    """Have an application answer every error by these problems."""

    async def of_ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, PerdureError)
        audited(request, error)
        return answer_of(error, _id(request))

    async def of_input(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return answer_of(_refused(request, error), _id(request))

    async def of_framework(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        headers = dict(error.headers or {})
        match error.status_code:
            case 404:
                return answer_of(NoSuchPath("there is no such path"), _id(request), headers)
            case 405:
                return answer_of(NoSuchMethod("the path has no such method"), _id(request), headers)
            case _:
                return answer_of(RequestRefused(str(error.detail)), _id(request), headers)

    app.add_exception_handler(PerdureError, of_ours)
    app.add_exception_handler(RequestValidationError, of_input)
    app.add_exception_handler(HTTPException, of_framework)


def _refused(request: Request, error: RequestValidationError) -> PerdureError:
    """Return the refusal of a request that does not fit its route, in the words in which the command line refuses."""
    first = error.errors()[0]
    where, *location = first["loc"]
    if first["type"] == "json_invalid":
        return RequestRefused(f"the body is not JSON: {first.get('ctx', {}).get('error', '')}")
    route = request.scope.get("route")
    field = getattr(route, "body_field", None)
    if where == "body" and field is not None:
        if not isinstance(error.body, dict):
            return InvalidInput("body", "is not a JSON object", fix="send {…}")
        try:
            validated(field.field_info.annotation, cast("dict[str, Any]", error.body), "")
        except InvalidInput as refusal:
            return refusal
        except ValidationError:
            pass
    problem = str(first["msg"])
    return InvalidInput(join("", *location) or str(where), problem[:1].lower() + problem[1:])


def _id(request: Request) -> str:
    return str(request.scope.get("state", {}).get("request_id", ""))
