import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from perdure.errors import EmbeddingMismatch, InvalidInput, StoreUnavailable
from perdure.models.embedding.openai import OpenAIEmbedder
from perdure.models.errors import ModelKeyRefused, ModelRefused


def _embedding(index: int, vector: list[float]) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": vector}


def _answer(data: list[dict[str, Any]]) -> dict[str, Any]:
    return {"object": "list", "data": data, "model": "small", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@pytest.fixture
async def embedder(httpserver: HTTPServer) -> AsyncGenerator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder("small", api_key="none", base_url=httpserver.url_for("/v1"), dimension=2, timeout=2)
    yield embedder
    await embedder.close()


async def test_vectors_come_in_the_order_of_their_texts(httpserver: HTTPServer, embedder: OpenAIEmbedder) -> None:
    def answer(request: Request) -> Response:
        texts = json.loads(request.data)["input"]
        data = [
            {"object": "embedding", "index": n, "embedding": [float(len(text)), 0.5]} for n, text in enumerate(texts)
        ]
        body = {
            "object": "list",
            "data": data[::-1],
            "model": "small",
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
        return Response(json.dumps(body), content_type="application/json")

    httpserver.expect_request("/v1/embeddings").respond_with_handler(answer)
    assert await embedder.embed(["a", "bbb"]) == [[1.0, 0.5], [3.0, 0.5]]
    assert embedder.name == "openai:small"


async def test_an_error_is_raised_at_once_and_not_tried_again(httpserver: HTTPServer, embedder: OpenAIEmbedder) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_data("secret words", status=500)
    with pytest.raises(StoreUnavailable, match="openai: InternalServerError") as caught:
        await embedder.embed(["a"])
    assert "secret" not in str(caught.value)
    assert len(httpserver.log) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ModelRefused),
        (401, ModelKeyRefused),
        (403, ModelKeyRefused),
        (404, ModelKeyRefused),
        (422, ModelRefused),
    ],
)
async def test_what_would_be_refused_again_is_not_retried(
    httpserver: HTTPServer, embedder: OpenAIEmbedder, status: int, kind: type[ModelRefused]
) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_json({"error": {"message": "secret words"}}, status=status)
    with pytest.raises(ModelRefused, match=f"HTTP {status}; check the key") as caught:
        await embedder.embed(["a"])
    assert type(caught.value) is kind
    assert not caught.value.retryable
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", [408, 409, 429, 503])
async def test_what_can_pass_is_retried(httpserver: HTTPServer, embedder: OpenAIEmbedder, status: int) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_json({"error": {}}, status=status)
    with pytest.raises(StoreUnavailable) as caught:
        await embedder.embed(["a"])
    assert caught.value.retryable


async def test_a_vector_of_another_size_is_an_error(httpserver: HTTPServer, embedder: OpenAIEmbedder) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_json(_answer([_embedding(0, [1.0])]))
    with pytest.raises(EmbeddingMismatch, match="a vector of 1 numbers, not 2"):
        await embedder.embed(["a"])


def test_an_unknown_models_dimension_must_be_given() -> None:
    with pytest.raises(InvalidInput, match="dimension"):
        OpenAIEmbedder("of-our-own", api_key="none")
