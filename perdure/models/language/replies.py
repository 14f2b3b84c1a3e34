"""What OpenAI and compatible servers answer, as a model's turn. Pure: sends nothing.

Servers differ from each other and from the form that they promise. What cannot be read counts as not said: a turn in
which nothing can be read is empty, and reported to the model as such, instead of being asked for again and again.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from perdure.errors import StoreUnavailable
from perdure.models.errors import ReplyUnusable
from perdure.models.language.conversation import Replied, Reply, ToolUse, Usage

_FAILED = {"failed", "cancelled"}
"""States of a response in which the server, and not the model, ended it."""

_MOST_TOKENS = 1_000_000_000
"""A count above it is a mistake of the server."""


def read_response(body: str) -> Replied:
    """Read an answer of the Responses API.

    Raises:
        ReplyUnusable: It is not an answer of this API.
        StoreUnavailable: The server failed.
    """
    answer = _object(body)
    if answer.get("status") in _FAILED:
        raise StoreUnavailable("openai", f"the response is {answer['status']}")
    if "output" not in answer:
        raise ReplyUnusable("openai", "gave no output")
    output = _mappings(answer["output"])
    said = [one.get("content") for one in output if one.get("type") == "message"]
    calls = [_call(one.get("call_id"), one) for one in output if one.get("type") == "function_call"]
    return Replied(
        reply=Reply(text="".join(map(_text, said)), calls=tuple(calls)),
        usage=_usage(answer, "input_tokens", "output_tokens"),
        declined=any(part.get("type") == "refusal" for content in said for part in _mappings(content)),
        is_cut=answer.get("status") == "incomplete",
    )


def read_completion(body: str) -> Replied:
    """Read an answer of chat completions.

    Raises:
        ReplyUnusable: It is not an answer of this API.
    """
    answer = _object(body)
    choices = _mappings(answer.get("choices"))
    if not choices:
        raise ReplyUnusable("openai", "gave no choice")
    choice = choices[0]
    message = _mapping(choice.get("message"))
    wanted = [one for one in _mappings(message.get("tool_calls")) if one.get("type", "function") == "function"]
    calls = [_call(one.get("id"), _mapping(one.get("function"))) for one in wanted]
    return Replied(
        reply=Reply(text=_text(message.get("content")), calls=tuple(calls)),
        usage=_usage(answer, "prompt_tokens", "completion_tokens"),
        declined=bool(message.get("refusal")) or choice.get("finish_reason") == "content_filter",
        is_cut=choice.get("finish_reason") == "length",
    )


def _object(body: str) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise ReplyUnusable("openai", "did not answer in JSON") from error


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [_mapping(one) for one in cast("list[object]", value)] if isinstance(value, list) else []


def _text(content: object) -> str:
    """Return a text that is given as it is, or in parts."""
    if isinstance(content, str):
        return content
    return "".join(_word(part.get("text")) for part in _mappings(content) if part.get("type") != "refusal")


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _call(identifier: object, function: Mapping[str, Any]) -> ToolUse:
    given = function.get("arguments")
    arguments = given if isinstance(given, str) else "" if given is None else json.dumps(given)
    return ToolUse(id=_word(identifier), tool=_word(function.get("name")), arguments=arguments)


def _usage(answer: Mapping[str, Any], read: str, written: str) -> Usage:
    used = _mapping(answer.get("usage"))
    return Usage(read=_count(used.get(read)), written=_count(used.get(written)))


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value <= _MOST_TOKENS else 0
