"""Bodies are the house's requests without what a caller must not say; the document is complete."""

import json
from typing import Any

import pytest
from pydantic import BaseModel, JsonValue

from perdure.settings import Settings
from perdure.values.requests import ConsentRequest, EraseRequest, RecallRequest, RememberRequest
from perdure.values.tasks import AgentTask
from perdure.values.updates import Correction
from worker.gateway import Gateway
from worker.http import bodies
from worker.http.app import ROUTES, make_app
from worker.http.document import documented
from worker.http.problems import MEDIA

NEVER = {"by", "asked_at"}
"""Who asks, and when, is not for the caller to say."""


@pytest.mark.parametrize(
    ("body", "request_", "left_out"),
    [
        (bodies.QueryBody, RecallRequest, set[str]()),
        (bodies.IngestBody, RememberRequest, {"session", "turns"}),
        (bodies.ConsentBody, ConsentRequest, {"sending"}),
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


PROTOCOL = "/mcp"
"""What a protocol answers by itself, with refusals of its own."""


def operations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(path, one) for path, methods in document["paths"].items() for one in methods.values()]


def test_each_answer_has_an_example_that_is_one(document: dict[str, Any]) -> None:
    for routes in ROUTES:
        for one in routes.endpoints:
            if one.answers is None or one.browser:
                continue
            answer = document["paths"][one.path][one.method.lower()]["responses"][str(one.status)]
            content = answer["content"]["application/json"]
            shown = content["example"][0] if one.many else content["example"]
            read = one.answers.model_validate_json(json.dumps(shown))
            assert is_part(shown, read.model_dump(mode="json")), one.path
            assert content["schema"], one.path


def is_part(value: JsonValue, whole: Any) -> bool:
    """Return whether all fields of a value are fields of another one, with the same content."""
    if isinstance(value, dict):
        return all(name in whole and is_part(part, whole[name]) for name, part in value.items())
    if isinstance(value, list):
        return len(value) == len(whole) and all(is_part(*pair) for pair in zip(value, whole, strict=True))
    return value == whole


def test_whatever_has_to_be_given_has_an_example(document: dict[str, Any]) -> None:
    bare: list[str] = []
    for path, one in operations(document):
        bare += [f"{path} {given['name']}" for given in one.get("parameters", ()) if _lacks_example(given)]
    for name, schema in document["components"]["schemas"].items():
        if name.endswith("Body"):
            given = schema.get("properties", {})
            bare += [f"{name}.{field}" for field in schema.get("required", ()) if "examples" not in given[field]]
    assert bare == []


def _lacks_example(parameter: dict[str, Any]) -> bool:
    return bool(parameter["required"]) and "example" not in parameter


def test_each_operation_says_all_that_it_may_answer(document: dict[str, Any]) -> None:
    for path, one in operations(document):
        assert one["summary"], path
        good = [status for status in one["responses"] if int(status) < 400]
        assert good == (["200", "202"] if path == PROTOCOL else good[:1]), path
        assert one["responses"][good[0]]["content"], path
        for status, answer in one["responses"].items():
            assert "X-Request-Id" in answer["headers"], (path, status)
            own = path == PROTOCOL and status in {"400", "404", "406"}
            assert own or int(status) < 400 or list(answer["content"]) == [MEDIA], (path, status)
        assert bool(one["security"]) == bool(one.get("x-perdure-scope")), path
    names = [one["operationId"] for _, one in operations(document)]
    assert len(names) == len({*names})


def test_each_body_has_an_example_or_needs_none(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for path, one in operations(document):
        if "requestBody" not in one:
            continue
        body = one["requestBody"]["content"]["application/json"]
        if path == PROTOCOL:
            assert set(body["schema"]["required"]) <= body["example"].keys()
            continue
        name = body["schema"]["$ref"].rpartition("/")[2]
        fields = schemas[name]["properties"]
        needed = [field for field in schemas[name].get("required", ()) if "examples" not in fields[field]]
        assert {fields[field].get("type") for field in needed} <= {"string", "boolean"}, (path, needed)


def test_what_a_protocol_refuses_is_said_beside_the_problems(document: dict[str, Any]) -> None:
    answers = document["paths"][PROTOCOL]["post"]["responses"]
    assert {status: set(answers[status].get("content", ())) for status in ("200", "202", "400", "404", "406")} == {
        "200": {"application/json", "text/event-stream"},
        "202": set(),
        "400": {MEDIA, "application/json"},
        "404": {MEDIA, "application/json"},
        "406": set(),
    }
    assert list(answers["422"]["content"]) == [MEDIA]
