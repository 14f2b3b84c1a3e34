"""A language model over HTTP: answers in a form, by both APIs, and errors that say whether to ask again."""

import json
from collections.abc import AsyncGenerator
from typing import cast

import pytest
from pytest_httpserver import HTTPServer

from perdure.errors import InvalidInput, StoreUnavailable
from perdure.model import Model
from perdure.models.errors import ContextExceeded, ModelBusy, ModelKeyRefused, ModelRefused, ReplyUnusable
from perdure.models.language import Api, open_language_model
from perdure.models.language.openai import OpenAILanguageModel
from tests.support.model_server import Answer, serve_model

PATHS = ("/v1/responses", "/v1/chat/completions")


class Weather(Model):
    """A form."""

    degrees: int


def always(text: str | None) -> Answer:
    """Answer the same whatever is asked."""

    def answer(instructions: str, asked: str) -> str | None:
        return text

    return answer


@pytest.fixture(params=["responses", "chat"])
async def model(httpserver: HTTPServer, request: pytest.FixtureRequest) -> AsyncGenerator[OpenAILanguageModel]:
    api = cast("Api", request.param)
    one = OpenAILanguageModel("small", api=api, api_key="none", base_url=httpserver.url_for("/v1"), timeout=10)
    yield one
    await one.close()


async def test_an_answer_comes_in_the_form_that_is_asked_for(
    httpserver: HTTPServer, model: OpenAILanguageModel
) -> None:
    serve_model(httpserver, lambda told, text: json.dumps({"degrees": len(told) + len(text)}))
    assert await model.answer("1234", "56", Weather) == Weather(degrees=6)
    schema = json.dumps(json.loads(httpserver.log[0][0].data))
    assert '"strict": true' in schema
    assert '"degrees"' in schema


async def test_no_copy_of_what_is_said_is_kept_at_the_provider(httpserver: HTTPServer) -> None:
    serve_model(httpserver, always('{"degrees": 3}'))
    model = OpenAILanguageModel("small", api_key="none", base_url=httpserver.url_for("/v1"), timeout=10)
    await model.answer("How warm?", "In Oslo.", Weather)
    await model.close()
    assert json.loads(httpserver.log[0][0].data)["store"] is False


@pytest.mark.parametrize("text", ['{"degrees": "warm"}', "it is warm", "{}", ""])
async def test_an_answer_in_another_form_may_be_asked_for_again(
    httpserver: HTTPServer, model: OpenAILanguageModel, text: str
) -> None:
    serve_model(httpserver, always(text))
    with pytest.raises(ReplyUnusable, match="did not answer in the form of Weather") as caught:
        await model.answer("How warm?", "", Weather)
    assert "warm" not in str(caught.value).removeprefix("PRD224")


async def test_a_model_that_declines_answers_nothing(httpserver: HTTPServer, model: OpenAILanguageModel) -> None:
    serve_model(httpserver, always(None))
    assert await model.answer("How warm?", "", Weather) is None


@pytest.mark.parametrize(("status", "error"), [(401, ModelRefused), (429, StoreUnavailable), (500, StoreUnavailable)])
async def test_an_error_says_whether_to_ask_again_and_nothing_of_the_answer(
    httpserver: HTTPServer, model: OpenAILanguageModel, status: int, error: type[Exception]
) -> None:
    for path in PATHS:
        httpserver.expect_request(path).respond_with_json({"error": {"message": "secret words"}}, status=status)
    with pytest.raises(error) as caught:
        await model.answer("How warm?", "", Weather)
    assert "secret" not in str(caught.value)
    assert len(httpserver.log) == 1


@pytest.mark.parametrize(
    ("status", "error"), [(400, ModelRefused), (401, ModelKeyRefused), (403, ModelKeyRefused), (422, ModelRefused)]
)
async def test_a_refusal_stays_one_where_the_server_also_says_when_to_ask_again(
    httpserver: HTTPServer, model: OpenAILanguageModel, status: int, error: type[Exception]
) -> None:
    for path in PATHS:
        httpserver.expect_request(path).respond_with_json({}, status=status, headers={"Retry-After": "20"})
    with pytest.raises(error):
        await model.answer("How warm?", "", Weather)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
async def test_a_fault_that_can_pass_is_waited_for_as_long_as_the_server_says(
    httpserver: HTTPServer, model: OpenAILanguageModel, status: int
) -> None:
    for path in PATHS:
        httpserver.expect_request(path).respond_with_json({}, status=status, headers={"Retry-After": "20"})
    with pytest.raises(ModelBusy) as caught:
        await model.answer("How warm?", "", Weather)
    assert caught.value.retry_after == 20


@pytest.mark.parametrize("field", ["code", "type"])
async def test_a_quota_that_is_used_up_is_not_waited_for(
    httpserver: HTTPServer, model: OpenAILanguageModel, field: str
) -> None:
    problem = {"error": {"message": "You exceeded your current quota", field: "insufficient_quota"}}
    for path in PATHS:
        httpserver.expect_request(path).respond_with_json(problem, status=429, headers={"Retry-After": "20"})
    with pytest.raises(ModelKeyRefused, match="insufficient_quota"):
        await model.answer("How warm?", "", Weather)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"}),
        (400, {"message": "The decoder prompt (length 9) is longer than the maximum model length of 8."}),
        (400, {"message": "the request exceeds the available context size", "type": "exceed_context_size_error"}),
        (400, {"message": "prompt is too long: 210000 tokens > 200000 maximum"}),
        (400, {"message": "The input token count (9) exceeds the maximum number of tokens allowed (8)."}),
        (413, {"message": "Please reduce the length of the messages or completion."}),
        (422, {"message": "Input length 9 exceeds model's maximum context length 8"}),
    ],
)
async def test_a_compatible_server_says_in_words_that_what_is_asked_is_too_long(
    httpserver: HTTPServer, model: OpenAILanguageModel, status: int, error: dict[str, str]
) -> None:
    for path in PATHS:
        httpserver.expect_request(path).respond_with_json({"error": {"code": status, **error}}, status=status)
    with pytest.raises(ContextExceeded):
        await model.answer("How warm?", "", Weather)


@pytest.mark.parametrize(
    ("status", "message"), [(400, "the schema is too long"), (403, "your plan has no long context window")]
)
async def test_any_other_refusal_is_not_taken_for_that(
    httpserver: HTTPServer, model: OpenAILanguageModel, status: int, message: str
) -> None:
    for path in PATHS:
        httpserver.expect_request(path).respond_with_json({"error": {"message": message}}, status=status)
    with pytest.raises(ModelRefused) as caught:
        await model.answer("How warm?", "", Weather)
    assert not isinstance(caught.value, ContextExceeded)


def test_no_name_is_no_model() -> None:
    assert open_language_model("") is None


@pytest.mark.parametrize("name", ["gpt", "openai:", "other:small", "openai:small"])
def test_a_model_that_cannot_be_used_is_refused_with_the_fix(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidInput) as caught:
        open_language_model(name)
    assert caught.value.fix
