"""What is taken for a refusal: too little leaves jobs stuck, too much loses what was accepted."""

import pytest
from grpc import StatusCode
from grpc.aio import AioRpcError, Metadata
from weaviate.exceptions import WeaviateBaseError, WeaviateBatchError, WeaviateInsertManyAllFailedError

from perdure.stores.weaviate.verdicts import refusal, refusal_of_call

NAMES = frozenset({"PerdureMemory", "tags"})
TEXT, DATE = (f"invalid {kind} property 'tags' on class 'PerdureMemory':" for kind in ("text", "date"))


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("invalid text property 'tags' on class 'PerdureMemory': not a string", "whole"),
        ("invalid text property 'tags' on class 'PerdureMemory': got 'it's mine'", "cut"),
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
        "new node has a vector with length 3. Existing nodes have vectors with length 384",
        "context deadline exceeded",
        "shard abc: shutdown in progress",
        "write: no space left on device",
        "EOF",
        "circuit breaker open",
        "forbidden",
        "quota exceeded",
        "http2: stream reset",
        "put: lsmkv: memtable flush failed",
        "unmarshal stored object: unexpected end of JSON input",
        "nobody has heard of this",
        "prop length tracker: invalid value at offset 3",
        "invalid vector value",
        "could not decode: invalid utf-8",
        "string field contains invalid UTF-8",
        "invalid property bucket",
        "segment is larger than max",
    ],
)
def test_what_may_pass_or_is_unknown_is_none(message: str) -> None:
    assert refusal(message, names=NAMES) is None


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("invalid text property `tags` on class `PerdureMemory`: `disk is full`", "whole, but what it quotes"),
        ("invalid text property 'tags' on class 'PerdureMemory': got 'rpc error'", "whole, but what it quotes"),
        ("flush failed for 'an invalid property'", None),
        ('it can\'t be stored: "invalid text property"', None),
        ("flush failed for 'an invalid property that is cut", None),
        ("the server's disk: 'it's an invalid property'", None),
    ],
)
def test_what_a_message_quotes_decides_nothing(message: str, shown: str | None) -> None:
    whole = message.partition(" 'rpc")[0].partition(" `disk")[0]
    assert refusal(message, names=NAMES) == (whole if shown and shown.startswith("whole") else shown)


def test_what_is_shown_of_a_refusal_is_short_and_without_the_elements_of_an_array() -> None:
    message = "invalid text array property 'tags' on class 'PerdureMemory': invalid text array value: [private words]"
    assert refusal(message, names=NAMES) == message.partition(" array value")[0]
    beginning = "invalid text property 'tags' on class 'PerdureMemory': "
    assert refusal(beginning + "o" * 500, names=NAMES) == beginning + "o" * (160 - len(beginning)) + "…"


def of_call(code: StatusCode, details: str) -> WeaviateBaseError:
    error = WeaviateBatchError("no")
    error.__cause__ = AioRpcError(code, Metadata(), Metadata(), details)
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (of_call(StatusCode.INVALID_ARGUMENT, TEXT), TEXT),
        (of_call(StatusCode.INVALID_ARGUMENT, "bad object"), None),
        (of_call(StatusCode.RESOURCE_EXHAUSTED, "Sent message larger than max"), "Sent message larger than max"),
        (of_call(StatusCode.RESOURCE_EXHAUSTED, "slow down"), None),
        (of_call(StatusCode.UNAVAILABLE, "connection refused"), None),
        (of_call(StatusCode.UNKNOWN, TEXT), None),
        (WeaviateInsertManyAllFailedError(f"errors: {TEXT}\n{DATE}"), TEXT),
        (WeaviateInsertManyAllFailedError(f"errors: {TEXT}\ntoo many open files"), None),
        (WeaviateInsertManyAllFailedError(f"errors: {TEXT} got 'two\nlines'\n{DATE}"), f"{TEXT} got"),
        (WeaviateInsertManyAllFailedError("errors: "), None),
    ],
)
def test_a_call_is_refused_only_for_what_is_sent(error: WeaviateBaseError, reason: str | None) -> None:
    assert refusal_of_call(error, names=NAMES) == reason
