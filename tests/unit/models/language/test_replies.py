"""What servers answer, in the forms that they promise and in those that they do not."""

import json
from typing import Any

import pytest

from perdure.errors import StoreUnavailable
from perdure.models.errors import ReplyUnusable
from perdure.models.language.conversation import ToolUse, Usage
from perdure.models.language.replies import read_completion, read_response


def response(*output: Any, **more: Any) -> str:
    return json.dumps({"status": "completed", "output": list(output), **more})


def completion(message: Any, **more: Any) -> str:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], **more})


@pytest.mark.parametrize(
    ("given", "arguments"), [('{"a": 1}', '{"a": 1}'), ({"a": 1}, '{"a": 1}'), (None, ""), ([1], "[1]")]
)
@pytest.mark.parametrize("identifier", ["c", None, 7])
def test_a_call_is_read_whatever_form_its_arguments_and_id_have(identifier: Any, given: Any, arguments: str) -> None:
    call = {"type": "function_call", "call_id": identifier, "name": "echo", "arguments": given}
    read = [read_response(response(call)).reply.calls]
    function = {"name": "echo", "arguments": given}
    read.append(read_completion(completion({"tool_calls": [{"id": identifier, "function": function}]})).reply.calls)
    expected = ToolUse(id="c" if identifier == "c" else "", tool="echo", arguments=arguments)
    assert read == [(expected,), (expected,)]


@pytest.mark.parametrize("name", [None, 7, {}])
def test_a_call_without_a_name_is_of_no_tool(name: Any) -> None:
    assert read_response(response({"type": "function_call", "name": name})).reply.calls[0].tool == ""


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("said", "said"),
        ([{"type": "text", "text": "sa"}, {"type": "text", "text": "id"}], "said"),
        ([{"type": "text", "text": None}, "said", 7], ""),
        (None, ""),
        ({"text": "said"}, ""),
    ],
)
def test_a_text_is_read_as_it_is_or_in_parts(content: Any, text: str) -> None:
    assert read_completion(completion({"content": content})).reply.text == text
    assert read_response(response({"type": "message", "content": content})).reply.text == text


@pytest.mark.parametrize("body", [completion(None), completion("said"), completion({"tool_calls": 7}), "[1]"])
def test_a_message_that_cannot_be_read_is_an_empty_turn(body: str) -> None:
    if body == "[1]":
        body = response(None, 7, {"type": "message"}, {"type": "unknown"})
        assert not read_response(body).reply.calls
        assert read_response(json.dumps({"output": None})).reply.text == ""
    else:
        assert read_completion(body).reply.text == ""


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ((5, 6), Usage(read=5, written=6)),
        ((5, None), Usage(read=5)),
        (("5", -6), Usage()),
        ((5.0, float("nan")), Usage(read=5)),
        ((10**30, True), Usage(written=1)),
    ],
)
def test_tokens_are_counted_as_far_as_the_server_tells(counts: tuple[Any, Any], usage: Usage) -> None:
    read, written = counts
    assert read_response(response(usage={"input_tokens": read, "output_tokens": written})).usage == usage
    used = {"prompt_tokens": read, "completion_tokens": written}
    assert read_completion(completion(None, usage=used)).usage == usage
    assert read_response(response(usage=None)).usage == Usage()


@pytest.mark.parametrize(
    "body",
    [
        response(status="failed", error={"code": "server_error"}),
        response(status="cancelled"),
        json.dumps({"error": {"message": "m"}}),
        '{"id": "r", "obj',
        "[" * 100_000,
        "<html>",
        "null",
    ],
)
def test_an_answer_of_a_server_that_failed_may_be_asked_for_again(body: str) -> None:
    server_failed = "status" in body
    with pytest.raises(StoreUnavailable) as caught:
        read_response(body)
    assert caught.value.retryable
    assert isinstance(caught.value, ReplyUnusable) is not server_failed
    if not server_failed:
        with pytest.raises(ReplyUnusable):
            read_completion(body)


def test_a_turn_that_is_declined_or_cut_says_so() -> None:
    refusal = {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}
    assert read_response(response(refusal)).declined
    assert read_response(response(refusal)).reply.text == ""
    assert read_completion(completion({"refusal": "no"})).declined
    assert read_response(response(status="incomplete")).is_cut
    assert not read_response(response()).is_cut
    filtered = {"choices": [{"message": {"content": "x"}, "finish_reason": "content_filter"}]}
    assert read_completion(json.dumps(filtered)).declined
    assert read_completion(json.dumps({"choices": [{"finish_reason": "length"}]})).is_cut
