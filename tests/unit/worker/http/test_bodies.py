"""Bodies are the house's requests without what a caller must not say; the document is complete."""

from typing import Any

import pytest
from pydantic import BaseModel

from perdure.settings import Settings
from perdure.values.requests import ConsentRequest, EraseRequest, RecallRequest, RememberRequest
from perdure.values.tasks import AgentTask
from perdure.values.updates import Correction
from worker.gateway import Gateway
from worker.http import bodies
from worker.http.app import make_app
from worker.http.document import documented
from worker.http.problems import MEDIA

NEVER = {"by", "asked_at"}
"""Who asks, and when, is not for the caller to say."""


@pytest.mark.parametrize(
    ("body", "request_", "left_out"),
    [
        (bodies.QueryBody, RecallRequest, set[str]()),
        (bodies.IngestBody, RememberRequest, {"session", "turns"}),
        (bodies.ConsentBody, ConsentRequest, set[str]()),
        (bodies.EraseBody, EraseRequest, set[str]()),
        (bodies.TaskBody, AgentTask, {"chat"}),
        (bodies.CorrectBody, Correction, {"kind", "asked"}),
    ],
)
def test_a_body_has_the_fields_of_its_request(
    body: type[BaseModel], request_: type[BaseModel], left_out: set[str]
) -> None:
    own = {"again", *bodies.ChangeBody.model_fields} - request_.model_fields.keys()
    assert body.model_fields.keys() - own == request_.model_fields.keys() - NEVER - left_out
    assert not NEVER & body.model_fields.keys()


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return documented(make_app(Settings(), Gateway(Settings(), None), local=True))


def operations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(path, one) for path, methods in document["paths"].items() for one in methods.values()]


def test_each_operation_says_all_that_it_may_answer(document: dict[str, Any]) -> None:
    for path, one in operations(document):
        assert one["summary"], path
        good = [status for status in one["responses"] if int(status) < 400]
        assert len(good) == 1, path
        assert one["responses"][good[0]]["content"], path
        for status, answer in one["responses"].items():
            assert int(status) < 400 or list(answer["content"]) == [MEDIA], (path, status)
        assert bool(one["security"]) == bool(one.get("x-perdure-scope")), path
    names = [one["operationId"] for _, one in operations(document)]
    assert len(names) == len({*names})


def test_each_body_has_an_example_or_needs_none(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for path, one in operations(document):
        if "requestBody" not in one:
            continue
        name = one["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        fields = schemas[name]["properties"]
        needed = [field for field in schemas[name].get("required", ()) if "examples" not in fields[field]]
        assert {fields[field].get("type") for field in needed} <= {"string", "boolean"}, (path, needed)
