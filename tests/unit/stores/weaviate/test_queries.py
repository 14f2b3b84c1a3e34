"""Which errors of a search speak of the vector index, and which of the machine or the way to it."""

import asyncio

import httpx
import pytest
from grpc import StatusCode
from grpc.aio import AioRpcError, Metadata
from weaviate.exceptions import WeaviateQueryError, WeaviateRetryError

from perdure.stores.weaviate.queries import _is_answer  # pyright: ignore[reportPrivateUsage]


def failed(code: StatusCode, details: str, *, retried: bool = False) -> WeaviateQueryError:
    """Return what Weaviate's client raises for a status of the server, or once it has retried often enough."""
    status = AioRpcError(code, Metadata(), Metadata(), details)
    try:
        if retried:
            raise WeaviateRetryError(str(status), 5) from status
        raise status
    except (AioRpcError, WeaviateRetryError):
        try:
            raise WeaviateQueryError(details, "GRPC search")
        except WeaviateQueryError as error:
            return error


@pytest.mark.parametrize(
    ("code", "details"),
    [
        (StatusCode.UNKNOWN, "explorer: get class: vector search: quantizer not initialized"),
        (StatusCode.INTERNAL, "runtime error: index out of range [3] with length 3"),
    ],
)
def test_an_error_of_weaviates_own_making_speaks_of_the_index(code: StatusCode, details: str) -> None:
    assert _is_answer(failed(code, details))


@pytest.mark.parametrize(
    ("code", "details"),
    [
        (StatusCode.UNKNOWN, "open /data/perdurememory/t_1/lsm/objects/segment-1.db: too many open files"),
        (StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded"),
        (StatusCode.CANCELLED, "context canceled"),
        (StatusCode.UNAVAILABLE, "failed to connect to all addresses; last error: Connection refused"),
        (StatusCode.RESOURCE_EXHAUSTED, "429 Too many requests"),
        (StatusCode.UNAUTHENTICATED, "invalid api key"),
    ],
)
def test_what_comes_of_load_time_or_the_connection_says_nothing_of_it(code: StatusCode, details: str) -> None:
    assert not _is_answer(failed(code, details))


def test_a_connection_that_was_tried_again_in_vain_says_nothing_of_it() -> None:
    assert not _is_answer(failed(StatusCode.UNAVAILABLE, "Socket closed", retried=True))


@pytest.mark.parametrize(
    "error", [None, TimeoutError(), asyncio.CancelledError(), ConnectionResetError(), httpx.ReadError("")], ids=repr
)
def test_no_answer_at_all_says_nothing_of_it(error: BaseException | None) -> None:
    assert not _is_answer(error)
