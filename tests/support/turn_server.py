"""A language model that takes turns, on a real port: speaks both of OpenAI's dialects, and fails as servers do.

What it says is decided by a function of what it is asked, so that a turn that is asked again is answered alike.
"""

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response


@dataclass(frozen=True)
class Asked:
    """What a turn was asked with, in whichever dialect."""

    instructions: str
    first: str
    """The first message: the goal, with what goes with it."""
    outputs: tuple[str, ...]
    """What the calls that it still sees gave, oldest first."""
    told: tuple[str, ...]
    """What it was told after the first message."""
    turns: int
    """Its own turns that it still sees."""
    tools: frozenset[str]
    model: str = ""
    """The model that is asked."""


@dataclass(frozen=True)
class Call:
    """A tool call that it wants."""

    tool: str
    arguments: Mapping[str, Any] | str
    """Text: as it is, also where it is no JSON."""


@dataclass(frozen=True)
class Says:
    """A turn."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    declines: bool = False
    is_cut: bool = False
    before: Callable[[int], None] = lambda _: None
    """Called before each piece of a turn that is asked for in pieces, with its number."""
    breaks_off: bool = False
    """Whether the pieces end before the turn does."""


@dataclass(frozen=True)
class Fails:
    """A fault instead of a turn."""

    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str = "{}"


@dataclass(frozen=True)
class Hangs:
    """No answer; only a server with threads answers others meanwhile."""

    until: threading.Event


Script = Callable[[Asked], Says | Fails | Hangs]


class TurnServer:
    """Serves a script, and counts what it was asked."""

    def __init__(self, server: HTTPServer, script: Script) -> None:
        self._script = script
        self.streams = True
        """Whether it gives a turn in pieces where it is asked to."""
        self._lock = threading.Lock()
        self.asked: list[Asked] = []
        self.tokens = 0
        """Tokens of all turns that it gave."""
        server.expect_request("/v1/responses").respond_with_handler(self._response)
        server.expect_request("/v1/chat/completions").respond_with_handler(self._completion)
        self.url = server.url_for("/v1")

    def _answer(self, asked: Asked) -> Says | Fails:
        with self._lock:
            self.asked.append(asked)
        found = self._script(asked)
        if isinstance(found, Hangs):
            found.until.wait()
            return Fails()
        return found

    def _response(self, request: Request) -> Response:
        data = json.loads(request.data)
        said: list[dict[str, Any]] = data["input"]
        made = [one for one in said if one.get("type") == "function_call"]
        names = [one["name"] for one in (*data.get("tools", []), *made)]
        if refusal := _refused(names, [one["call_id"] for one in made]):
            return refusal
        users = [one["content"] for one in said if one.get("role") == "user"]
        outputs = [one["output"] for one in said if one.get("type") == "function_call_output"]
        kinds = ["a" if one.get("role") == "assistant" or one.get("type") == "function_call" else "u" for one in said]
        asked = Asked(
            instructions=data["instructions"],
            first=users[0],
            outputs=tuple(outputs),
            told=tuple(users[1:]),
            turns=len("".join(kinds).replace("u", " ").split()),
            tools=frozenset(one["name"] for one in data.get("tools", [])),
            model=data["model"],
        )
        found = self._answer(asked)
        if isinstance(found, Fails):
            return _failed(found)
        self.tokens += len(request.data) // 4 + 10
        output: list[dict[str, Any]] = []
        if found.text or found.declines:
            content: dict[str, Any] = (
                {"type": "refusal", "refusal": "no"}
                if found.declines
                else {"type": "output_text", "text": found.text, "annotations": []}
            )
            message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [content]}
            output.append(message)
        for number, call in enumerate(found.calls):
            output.append(
                {
                    "type": "function_call",
                    "id": f"fc_{number}",
                    "call_id": f"call_{len(outputs)}_{number}",
                    "name": call.tool,
                    "arguments": _arguments(call),
                    "status": "completed",
                }
            )
        whole: dict[str, Any] = {
            "id": "r",
            "object": "response",
            "created_at": 1,
            "model": data["model"],
            "status": "incomplete" if found.is_cut else "completed",
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "output": output,
            "usage": {
                "input_tokens": len(request.data) // 4,
                "output_tokens": 10,
                "total_tokens": len(request.data) // 4 + 10,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }
        if not (self.streams and data.get("stream")):
            return _json(whole)
        deltas = ({"type": "response.output_text.delta", "delta": piece} for piece in _pieces(found))
        return _events(deltas, [] if found.breaks_off else [{"type": f"response.{whole['status']}", "response": whole}])

    def _completion(self, request: Request) -> Response:
        data = json.loads(request.data)
        said: list[dict[str, Any]] = data["messages"]
        made = [call for one in said for call in one.get("tool_calls") or ()]
        names = [one["function"]["name"] for one in (*data.get("tools", []), *made)]
        if refusal := _refused(names, [call["id"] for call in made]):
            return refusal
        users = [one["content"] for one in said if one["role"] == "user"]
        outputs = [one["content"] for one in said if one["role"] == "tool"]
        asked = Asked(
            instructions=said[0]["content"],
            first=users[0],
            outputs=tuple(outputs),
            told=tuple(users[1:]),
            turns=sum(one["role"] == "assistant" for one in said),
            tools=frozenset(one["function"]["name"] for one in data.get("tools", [])),
            model=data["model"],
        )
        found = self._answer(asked)
        if isinstance(found, Fails):
            return _failed(found)
        self.tokens += len(request.data) // 4 + 10
        calls = [
            {
                "id": f"call_{len(outputs)}_{number}",
                "type": "function",
                "function": {"name": call.tool, "arguments": _arguments(call)},
            }
            for number, call in enumerate(found.calls)
        ]
        message: dict[str, Any] = {"role": "assistant", "content": found.text or None}
        message |= {"tool_calls": calls} if calls else {}
        message |= {"refusal": "no"} if found.declines else {}
        reason = "length" if found.is_cut else "tool_calls" if calls else "stop"
        whole: dict[str, Any] = {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": data["model"],
            "choices": [{"index": 0, "finish_reason": reason, "message": message}],
            "usage": {
                "prompt_tokens": len(request.data) // 4,
                "completion_tokens": 10,
                "total_tokens": len(request.data) // 4 + 10,
            },
        }
        if not (self.streams and data.get("stream")):
            return _json(whole)
        deltas = (_chunk(data["model"], {"content": piece}) for piece in _pieces(found))
        calling = {name: value for name, value in message.items() if name == "refusal"}
        calling |= {"tool_calls": [{"index": place, **call} for place, call in enumerate(calls)]} if calls else {}
        last = _chunk(data["model"], calling, reason) | {"usage": whole["usage"]}
        return _events(deltas, [] if found.breaks_off else [last])


def _refused(names: Iterable[str], ids: Iterable[str]) -> Response | None:
    """Refuse what OpenAI's servers refuse: names with other signs than they take, and an id that is there twice."""
    used = list(ids)
    if all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names) and len(set(used)) == len(used):
        return None
    return _failed(Fails(400, body='{"error": {"message": "invalid name or id", "code": "invalid_value"}}'))


def _arguments(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))


def _failed(fault: Fails) -> Response:
    return Response(fault.body, status=fault.status, headers=dict(fault.headers), content_type="application/json")


def _pieces(turn: Says) -> Iterator[str]:
    """Yield a turn's text word by word."""
    for number, word in enumerate(re.findall(r"\S+\s*", turn.text)):
        turn.before(number)
        yield word


def _chunk(model: str, delta: Mapping[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]}


def _events(*parts: Iterable[Mapping[str, Any]]) -> Response:
    def lines() -> Iterator[str]:
        for part in parts:
            for event in part:
                yield f"data: {json.dumps(event)}\n\n"

    return Response(lines(), content_type="text/event-stream")


def _json(value: object) -> Response:
    return Response(json.dumps(value), content_type="application/json")
