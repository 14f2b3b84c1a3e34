"""What the OpenAPI document permits, the request behind it takes, as far as bounds say."""

from collections.abc import Mapping
from typing import Any

import pytest

from perdure.model import Model
from perdure.values.events import Event
from perdure.values.questions import Answer
from perdure.values.steering import PauseRequest, Redirection, TaskMessage
from perdure.values.tasks import AgentTask
from perdure.values.updates import Correction
from worker.http import bodies

PAIRS: list[tuple[type[Model], type[Model]]] = [
    (bodies.AnswerBody, Answer),
    (bodies.EventBody, Event),
    (bodies.MessageBody, TaskMessage),
    (bodies.RedirectBody, Redirection),
    (bodies.PauseBody, PauseRequest),
    (bodies.CorrectBody, Correction),
    (bodies.TaskBody, AgentTask),
]
BOUNDS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum")


def bounds(field: Mapping[str, Any]) -> dict[str, Any]:
    either: list[dict[str, Any]] = [one for one in field.get("anyOf", []) if one.get("type") != "null"]
    return {name: value for one in (field, *either) for name, value in one.items() if name in BOUNDS}


@pytest.mark.parametrize(("body", "request_type"), PAIRS, ids=lambda kind: kind.__name__)
def test_nothing_is_permitted_that_the_request_refuses(body: type[Model], request_type: type[Model]) -> None:
    ours, theirs = (kind.model_json_schema()["properties"] for kind in (body, request_type))
    shared = ours.keys() & theirs.keys() - {"user_id"}
    assert shared
    for name in shared:
        permitted, taken = bounds(ours[name]), bounds(theirs[name])
        for bound, value in taken.items():
            assert bound in permitted, (name, bound)
            assert permitted[bound] >= value if bound.startswith("min") else permitted[bound] <= value, (name, bound)
