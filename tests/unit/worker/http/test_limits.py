"""What of a body is looked at before anything reads it."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from perdure.refusals import RequestRefused
from worker.http.limits import DEEPEST, MOST_BYTES, MOST_FIELDS, require_readable


@pytest.mark.parametrize(
    "body",
    [
        b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1),
        b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1),
        b"[" * 1_000_000,
        b'["\\\\"' + b",[" * (DEEPEST + 1),
        b'["\\""' + b",[" * (DEEPEST + 1),
        b"\xff\xfe",
        b'{"a": NaN}',
        b"[-Infinity]",
        json.dumps(dict.fromkeys(map(str, range(MOST_FIELDS + 1)))).encode(),
        json.dumps([{"a": 1}] * (MOST_FIELDS + 1)).encode(),
    ],
    ids=lambda body: repr(body[:12]),
)
def test_what_no_reader_could_take_is_refused(body: bytes) -> None:
    with pytest.raises(RequestRefused):
        require_readable(body)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * DEEPEST + b"]" * DEEPEST,
        json.dumps({"a": "[" * 10_000, "b": '"[[' * 1_000, "c": "\\" * 999 + "["}).encode(),
        b"[[],[],[],{}]" + b" " * 100,
        json.dumps({"a": "NaN and Infinity"}).encode(),
        b"not JSON NaN",
        json.dumps(dict.fromkeys(map(str, range(MOST_FIELDS)))).encode(),
        json.dumps([":" * (MOST_FIELDS + 1)]).encode(),
    ],
    ids=lambda body: repr(body[:12]),
)
def test_what_a_reader_can_take_passes(body: bytes) -> None:
    require_readable(body)


def test_the_largest_body_takes_a_moment() -> None:
    def seconds(look: Callable[[], object]) -> float:
        began = time.process_time()
        with suppress(RequestRefused):
            look()
        return time.process_time() - began

    body = b"[" * MOST_BYTES
    # To go through it once in Python.
    floor = min(seconds(lambda: sum(1 for _ in body)) for _ in range(3))
    for one in (
        body,
        b"[" * (MOST_BYTES // 2) + b"]" * (MOST_BYTES // 2),
        b"[]," * (MOST_BYTES // 3),
        b'{"":' * (MOST_BYTES // 4),
        json.dumps(["x"] * (MOST_BYTES // 5)).encode(),
        b'"' * MOST_BYTES,
        b"\\" * MOST_BYTES,
    ):
        assert min(seconds(partial(require_readable, one)) for _ in range(3)) < 4 * floor, one[:5]
