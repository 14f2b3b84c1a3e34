"""What is taken for a refusal: too little leaves jobs stuck, too much loses what was accepted."""

import pytest
from grpc import StatusCode
from grpc.aio import AioRpcError, Metadata
from weaviate.exceptions import WeaviateBaseError, WeaviateBatchError, WeaviateInsertManyAllFailedError

from perdure.stores.weaviate.verdicts import refusal, refusal_of_call

NAMES = frozenset({"PerdureMemory", "tags"})


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("invalid text property 'tags' on class 'PerdureMemory': not a string", "whole"),
        ("invalid text property 'tags' on class 'PerdureMemory': got 'it's mine'", "cut"),
        ("string field contains invalid UTF-8", "whole"),
    ],
)
def test_what_is_wrong_with_the_content_is_a_refusal_without_what_it_quotes(message: str, shown: str) -> None:
    found = refusal(message, names=NAMES)
    assert found == (message if shown == "whole" else message.partition(" 'it")[0])


@pytest.mark.parametrize(
    "message",
    [
        "put object import abc: store is read-only due to: disk usage too high",
        "open segment: too many open files",
        "tenant not active: 't_1'",
        "no such prop with name 'x' found in class 'PerdureMemory' in the schema",
        "class PerdureMemory not found in schema",
        "insert called with a vector of the wrong size: 5",
        "context deadline exceeded",
        "shard abc: shutdown in progress",
        "write: no space left on device",
    ],
)
def test_what_may_pass_is_none_even_where_others_of_the_call_were_written(message: str) -> None:
    assert refusal(message, names=NAMES, served=True) is None


def test_an_unknown_reason_counts_where_others_of_the_call_were_written() -> None:
    assert refusal("this text is odd", names=NAMES) is None
    assert refusal("this text is odd", names=NAMES, served=True) == "this text is odd"
    assert refusal("o" * 500, names=NAMES, served=True) == "o" * 160 + "…"


def of_call(code: StatusCode, details: str) -> WeaviateBaseError:
    error = WeaviateBatchError("no")
    error.__cause__ = AioRpcError(code, Metadata(), Metadata(), details)
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (of_call(StatusCode.INVALID_ARGUMENT, "bad object"), "bad object"),
        (of_call(StatusCode.RESOURCE_EXHAUSTED, "Sent message larger than max"), "Sent message larger than max"),
        (of_call(StatusCode.RESOURCE_EXHAUSTED, "slow down"), None),
        (of_call(StatusCode.UNAVAILABLE, "connection refused"), None),
        (of_call(StatusCode.UNKNOWN, "bad object"), None),
        (
            WeaviateInsertManyAllFailedError("errors: invalid text property\ninvalid date property"),
            "invalid text property",
        ),
        (WeaviateInsertManyAllFailedError("errors: invalid text property\ntoo many open files"), None),
        (WeaviateInsertManyAllFailedError("errors: "), None),
    ],
)
def test_a_call_is_refused_only_for_what_is_sent(error: WeaviateBaseError, reason: str | None) -> None:
    assert refusal_of_call(error, names=NAMES) == reason
