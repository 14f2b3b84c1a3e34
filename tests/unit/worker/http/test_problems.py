"""Each error has one status, which clients rely on; the table is the only place that says which."""

import json
from http import HTTPStatus
from pathlib import Path

import pytest
import structlog
from starlette.responses import Response

from perdure.base_error import InvalidInput, PerdureError
from perdure.errors import StoreUnavailable
from perdure.refusals import NotAuthenticated, TooManyRequests
from tests.unit.test_errors import PINNED
from worker.http.endpoints import COMMON, REFUSALS
from worker.http.problems import STATUSES, answer_of

BY_STATUS = {
    400: "510",
    401: "500",
    403: "305 501",
    404: "107 116 511",
    405: "512",
    408: "515",
    409: "106 114 115 300 400 401 404 503 117",
    410: "113 304",
    413: "513",
    415: "514",
    422: "100 101 102 103 104 105 108 109 110 111 221 235",
    429: "502",
    500: "000 201 202 207 208 210 211 212 213 214 225",
    502: "112 234 220 223 224 232 403",
    503: "200 203 204 205 206 209 222 230 231 233 236 237 301 302 303 306 402",
}
"""The codes of each status."""


def told(answer: Response) -> dict[str, object]:
    found: dict[str, object] = json.loads(bytes(answer.body))
    return found


def test_every_code_has_the_status_that_was_published() -> None:
    assert {f"PRD{code}": status for status, codes in BY_STATUS.items() for code in codes.split()} == STATUSES
    assert {code for code, _ in PINNED.values()} | {"PRD000"} == STATUSES.keys()


def test_every_status_is_documented() -> None:
    assert {*STATUSES.values()} == {*COMMON}
    assert REFUSALS.keys() == {*COMMON}
    page = Path("docs/http.md").read_text(encoding="utf-8").split("| status | means |")[1]
    assert [status for status in COMMON if str(status) not in page] == []


def test_a_problem_names_the_field_and_the_fix() -> None:
    answer = answer_of(InvalidInput("user_id", "is missing", fix="name the user"), "r1")
    assert (answer.status_code, answer.media_type) == (422, "application/problem+json")
    assert told(answer) == {
        "type": "https://perdure.invalid/errors#PRD100",
        "title": "InvalidInput",
        "status": HTTPStatus.UNPROCESSABLE_ENTITY,
        "detail": "user_id: is missing (name the user)",
        "code": "PRD100",
        "field": "user_id",
        "fix": "name the user",
        "request": "r1",
    }


@pytest.mark.parametrize(
    ("error", "header", "value"),
    [
        (NotAuthenticated("x"), "WWW-Authenticate", "Bearer"),
        (TooManyRequests("x", retry_after=7.4), "Retry-After", "7"),
        (StoreUnavailable("redis", "x"), "Retry-After", "1"),
    ],
)
def test_a_client_is_told_what_to_do(error: PerdureError, header: str, value: str) -> None:
    assert answer_of(error).headers[header] == value


def test_what_cannot_be_encoded_is_answered_all_the_same() -> None:
    assert "?" in str(told(answer_of(InvalidInput("a\ud800", "b\udfff")))["detail"])


def test_what_is_missing_is_logged_and_not_what_is_said_of_it() -> None:
    with structlog.testing.capture_logs() as lines:
        answer_of(StoreUnavailable("redis", "what a caller sent"))
        answer_of(InvalidInput("goal", "is empty"))
    assert lines == [{"event": "unavailable", "code": "PRD200", "store": "redis", "log_level": "warning"}]
