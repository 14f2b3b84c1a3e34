"""A model's turn that comes in pieces, by both APIs: each piece when it comes, and the whole as it would have come."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from perdure.errors import StoreUnavailable
from perdure.models.errors import ModelBusy, ModelRefused, ReplyUnusable
from perdure.models.language import Api
from perdure.models.language.conversation import Instruction, Replied, ToolSpec
from perdure.models.language.openai import OpenAILanguageModel
from perdure.models.language.replies import read_completion
from perdure.models.language.streaming import CompletionPieces, Lines, ResponsePieces
from tests.support.turn_server import Call, Fails, Says, Script, TurnServer

ECHO = ToolSpec(name="echo", description="Says it again.", parameters={"type": "object", "properties": {}})


@pytest.fixture(params=["responses", "chat"])
async def model(httpserver: HTTPServer, request: pytest.FixtureRequest) -> AsyncGenerator[OpenAILanguageModel]:
    api = cast("Api", request.param)
    one = OpenAILanguageModel("small", api=api, api_key="none", base_url=httpserver.url_for("/v1"), timeout=10)
    yield one
    await one.close()


def serve(httpserver: HTTPServer, script: Script) -> TurnServer:
    return TurnServer(httpserver, script)


async def replied(model: OpenAILanguageModel, pieces: list[str] | None = None) -> Replied:
    said = None if pieces is None else pieces.append
    return await model.reply("Be brief.", [Instruction(text="Hello")], [ECHO], said=said)


async def test_a_turn_in_pieces_is_the_same_turn_as_at_once(httpserver: HTTPServer, model: OpenAILanguageModel) -> None:
    turn = Says("Let me\u2028 see …", calls=(Call("echo", {"value": 1}), Call("echo", {"value": "ö"})))
    serve(httpserver, lambda _: turn)
    pieces: list[str] = []
    streamed, whole = await replied(model, pieces), await replied(model)
    assert pieces == ["Let ", "me\u2028 ", "see ", "…"]
    assert (streamed.reply, streamed.usage.written) == (whole.reply, whole.usage.written)
    assert [call.arguments for call in streamed.reply.calls] == ['{"value": 1}', '{"value": "\\u00f6"}']


async def test_pieces_come_before_the_turn_has_ended(httpserver: HTTPServer, model: OpenAILanguageModel) -> None:
    seen = threading.Event()

    def wait(number: int) -> None:
        # The server says its second word once the first one has arrived.
        assert number == 0 or seen.wait(30)

    serve(httpserver, lambda _: Says("One two", before=wait))
    pieces: list[str] = []

    def take(piece: str) -> None:
        pieces.append(piece)
        seen.set()

    found = await model.reply("", [Instruction(text="Hello")], [], said=take)
    assert (pieces, found.reply.text) == (["One ", "two"], "One two")


async def test_a_server_that_gives_its_turn_at_once_is_read_all_the_same(
    httpserver: HTTPServer, model: OpenAILanguageModel
) -> None:
    serve(httpserver, lambda _: Says("At once.")).streams = False
    pieces: list[str] = []
    assert (await replied(model, pieces)).reply.text == "At once."
    assert pieces == []


@pytest.mark.parametrize("turn", [Says("Half of it", breaks_off=True), Says("", breaks_off=True)])
async def test_a_turn_that_breaks_off_may_be_asked_for_again(
    httpserver: HTTPServer, model: OpenAILanguageModel, turn: Says
) -> None:
    serve(httpserver, lambda _: turn)
    with pytest.raises(StoreUnavailable, match="cut off"):
        await replied(model, [])


async def test_a_turn_that_is_too_long_or_declined_is_said_to_be(
    httpserver: HTTPServer, model: OpenAILanguageModel
) -> None:
    turns = iter([Says("Half of", is_cut=True), Says(declines=True)])
    serve(httpserver, lambda _: next(turns))
    assert (await replied(model, [])).is_cut
    assert (await replied(model, [])).declined


@pytest.mark.parametrize(
    ("fault", "error"),
    [(Fails(401), ModelRefused), (Fails(429, {"retry-after": "7"}), ModelBusy), (Fails(500), StoreUnavailable)],
)
async def test_a_fault_is_the_same_error_as_where_the_turn_comes_at_once(
    httpserver: HTTPServer, model: OpenAILanguageModel, fault: Fails, error: type[Exception]
) -> None:
    serve(httpserver, lambda _: fault)
    with pytest.raises(error):
        await replied(model, [])


async def test_a_connection_that_dies_in_the_middle_is_an_error_of_ours() -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\ndata: {}\n\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(half, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        model = OpenAILanguageModel("small", api_key="none", base_url=f"http://127.0.0.1:{port}/v1", timeout=10)
        with pytest.raises(StoreUnavailable, match="openai"):
            await replied(model, [])
        await model.close()


@pytest.mark.parametrize("pieces", [ResponsePieces, CompletionPieces])
@pytest.mark.parametrize(
    "hostile", ["[]", "3", '{"choices": 7}', '{"choices": [3]}', '{"type": 3, "delta": {}}', '{"response": []}', "{}"]
)
def test_an_event_that_cannot_be_read_says_nothing(pieces: type[Any], hostile: str) -> None:
    assert pieces().take(hostile) == ""


@pytest.mark.parametrize("pieces", [ResponsePieces, CompletionPieces])
def test_an_event_that_is_not_json_and_one_that_is_an_error_end_the_turn(pieces: type[Any]) -> None:
    with pytest.raises(ReplyUnusable, match="JSON"):
        pieces().take("{" * 100_000)
    with pytest.raises(StoreUnavailable, match="failed while it answered"):
        pieces().take('{"type": "error", "error": {"message": "secret"}}')


def test_calls_are_put_together_also_where_a_server_gives_them_no_place() -> None:
    whole = CompletionPieces()
    for piece in (
        {"id": "a", "function": {"name": "ec", "arguments": '{"v"'}},
        {"function": {"name": "ho", "arguments": ": 1}"}},
        {"id": "b", "function": {"name": "stop", "arguments": "{}"}},
    ):
        whole.take(json.dumps({"choices": [{"delta": {"tool_calls": [piece, 3]}}]}))
    whole.take(json.dumps({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}))
    whole.take("[DONE]")
    calls = read_completion(whole.body()).reply.calls
    assert [(call.tool, call.arguments) for call in calls] == [("echo", '{"v": 1}'), ("stop", "{}")]


def test_lines_end_where_the_server_ends_them_and_nowhere_else() -> None:
    lines = Lines()
    assert lines.take(b'data: "\xe2\x80') == []
    assert lines.take(b'\xa8"\r\n\ndata: 2\nda') == ['data: "\u2028"', "", "data: 2"]
    assert lines.take(b"ta: \xff\n") == ["data: \ufffd"]


def test_an_answer_of_the_wrong_kind_is_read_as_one_at_once(httpserver: HTTPServer) -> None:
    """A proxy may answer with a page of its own, and says that it is none of ours."""
    page = Response("<html>", content_type="text/html")
    httpserver.expect_request("/v1/responses").respond_with_response(page)

    async def ask() -> None:
        model = OpenAILanguageModel("small", api_key="none", base_url=httpserver.url_for("/v1"))
        try:
            await replied(model, [])
        finally:
            await model.close()

    with pytest.raises(ReplyUnusable, match="JSON"):
        asyncio.run(ask())
