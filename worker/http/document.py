"""The OpenAPI document: complete, with problems as they are answered, the scopes, and how to authenticate."""

from copy import deepcopy
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.utils import deep_dict_update

from worker.http.endpoints import JSON, PERSON, PROTOCOL, SCOPE
from worker.http.examples import PARAMETERS
from worker.http.problems import MEDIA

_ABOUT = (
    "Memory and durable tasks. Each request has `Authorization: Bearer …` with a token of `perdure tokens create`, or "
    "of the configured OpenID provider; `x-perdure-scope` names what it has to permit. Every error is a problem "
    "(RFC 9457) that names the field and the fix."
)


def documented(app: FastAPI) -> dict[str, Any]:
    """Return the document; made once."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title,
            version=app.version,
            description=_ABOUT,
            routes=app.routes,
            openapi_version="3.1.0",
        )
        made["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        for methods in made["paths"].values():
            for operation in methods.values():
                _complete(operation)
        app.openapi_schema = made
    return app.openapi_schema


def _complete(operation: dict[str, Any]) -> None:
    operation["security"] = [{"bearer": []}] if operation.get(SCOPE) else []
    if not operation[PERSON]:
        del operation[PERSON]
    for parameter in operation.get("parameters", ()):
        if (example := PARAMETERS.get(parameter["name"])) is not None:
            parameter["example"] = example
    for status, response in operation["responses"].items():
        content = response.get("content", {})
        if int(status) >= 400 and JSON in content:
            response["content"] = {MEDIA: content[JSON]}
        elif len(content) > 1:
            content.pop(JSON, None)
    # Its refusals are no problems: they keep their media type, beside the problems of whoever lets requests in.
    deep_dict_update(operation, deepcopy(operation.pop(PROTOCOL)))
    for response in operation["responses"].values():
        response.setdefault("headers", {})["X-Request-Id"] = {
            "description": "The request's id, as the log has it.",
            "schema": {"type": "string"},
        }
