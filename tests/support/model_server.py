"""A language model on a real port: answers in the forms of OpenAI's two APIs with what a function says."""

import json
from collections.abc import Callable
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

Answer = Callable[[str, str], str | None]
"""From the instructions and the text to the answer as JSON; None: the model declines."""


def serve_model(server: HTTPServer, answer: Answer) -> str:
    """Have a server answer as OpenAI's does; returns its base URL."""

    def response(request: Request) -> Response:
        asked = json.loads(request.data)
        text = answer(asked["instructions"], asked["input"])
        said = {"type": "refusal", "refusal": "no"} if text is None else {"type": "output_text", "text": text}
        content: list[dict[str, Any]] = [said | ({} if text is None else {"annotations": []})]
        message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}
        return _json(_RESPONSE | {"model": asked["model"], "output": [message]})

    def completion(request: Request) -> Response:
        asked = json.loads(request.data)
        text = answer(asked["messages"][0]["content"], asked["messages"][1]["content"])
        message = {"role": "assistant", "content": text, "refusal": "no" if text is None else None}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return _json({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    server.expect_request("/v1/responses").respond_with_handler(response)
    server.expect_request("/v1/chat/completions").respond_with_handler(completion)
    return server.url_for("/v1")


_RESPONSE: dict[str, Any] = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "tools": [],
}


def _json(value: object) -> Response:
    return Response(json.dumps(value), content_type="application/json")
