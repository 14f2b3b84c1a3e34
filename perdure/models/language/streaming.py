"""Answers of OpenAI and compatible servers in pieces, put together into the bodies that would have come whole.

Pure: sends nothing. What cannot be read counts as not said, as in ``replies``, which reads the bodies.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

from perdure.errors import StoreUnavailable
from perdure.models.errors import ReplyUnusable

_ENDED = {"response.completed", "response.incomplete", "response.failed"}
"""The events of the Responses API that have the whole response."""

_LAST = "[DONE]"
"""What chat completions end with."""


class Pieces(Protocol):
    """What one kind of server sends."""

    def take(self, data: str) -> str:
        """Take an event's data, and return the text that the model says with it; most events have none.

        Raises:
            ReplyUnusable: It is not an event of this API.
            StoreUnavailable: The server failed.
        """
        ...

    def body(self) -> str:
        """Return the body of the whole answer.

        Raises:
            StoreUnavailable: The answer was cut off.
        """
        ...


class ResponsePieces:
    """An answer of the Responses API."""

    def __init__(self) -> None:
        self._whole: Mapping[str, Any] | None = None

    def take(self, data: str) -> str:
        """Take an event; see ``Pieces``."""
        event = _event(data)
        kind = event.get("type")
        if kind == "error":
            raise StoreUnavailable("openai", "failed while it answered")
        if kind in _ENDED:
            self._whole = _mapping(event.get("response"))
        return _word(event.get("delta")) if kind == "response.output_text.delta" else ""

    def body(self) -> str:
        """Return the body of the whole answer; see ``Pieces``."""
        if self._whole is None:
            raise _cut()
        return json.dumps(self._whole)


class CompletionPieces:
    """An answer of chat completions."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._refusal = ""
        self._calls: dict[object, dict[str, str]] = {}
        """By their place in the turn, or by their id where a server gives no place."""
        self._reason = ""
        self._usage: Mapping[str, Any] = {}

    def take(self, data: str) -> str:
        """Take an event; see ``Pieces``."""
        if data == _LAST:
            return ""
        event = _event(data)
        if "error" in event:
            raise StoreUnavailable("openai", "failed while it answered")
        self._usage = _mapping(event.get("usage")) or self._usage
        choice = next(_mappings(event.get("choices")), _mapping(None))
        self._reason = _word(choice.get("finish_reason")) or self._reason
        delta = _mapping(choice.get("delta"))
        self._refusal += _word(delta.get("refusal"))
        for one in _mappings(delta.get("tool_calls")):
            self._call(one)
        text = _word(delta.get("content"))
        self._said.append(text)
        return text

    def _call(self, piece: Mapping[str, Any]) -> None:
        identifier, function = _word(piece.get("id")), _mapping(piece.get("function"))
        place: object = piece.get("index")
        if not isinstance(place, int):
            place = identifier or next(reversed(self._calls), "")
        call = self._calls.setdefault(place, {"id": "", "name": "", "arguments": ""})
        call["id"] = call["id"] or identifier
        call["name"] += _word(function.get("name"))
        call["arguments"] += _word(function.get("arguments"))

    def body(self) -> str:
        """Return the body of the whole answer; see ``Pieces``."""
        if not self._reason:
            raise _cut()
        calls = [
            {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": one["arguments"]}}
            for one in self._calls.values()
        ]
        message = {"content": "".join(self._said), "refusal": self._refusal or None, "tool_calls": calls}
        return json.dumps({"choices": [{"finish_reason": self._reason, "message": message}], "usage": self._usage})


class Lines:
    """The lines of a body that comes in chunks; a JSON text may hold what other readers take for a line's end."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, chunk: bytes) -> list[str]:
        """Return the lines that have come to their end."""
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        return [line.rstrip(b"\r").decode(errors="replace") for line in whole]


def data_of(line: str) -> str:
    """Return the data of a line of server-sent events; empty: it has none."""
    return line.removeprefix("data:").strip() if line.startswith("data:") else ""


def _event(data: str) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise ReplyUnusable("openai", "did not answer in JSON") from error


def _cut() -> StoreUnavailable:
    return StoreUnavailable("openai", "the answer was cut off")


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    yield from map(_mapping, cast("list[object]", value) if isinstance(value, list) else [])


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
