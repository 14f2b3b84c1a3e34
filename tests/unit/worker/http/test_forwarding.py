"""What proxies say of the requests that they pass on."""

import pytest

from worker.http.forwarding import is_forwarded, is_from_https


def scope_of(*headers: tuple[str, str]) -> dict[str, object]:
    return {"type": "http", "headers": [(name.encode(), value.encode()) for name, value in headers]}


@pytest.mark.parametrize(
    ("headers", "forwarded", "https"),
    [
        ([], False, False),
        ([("host", "x"), ("origin", "https://x"), ("x-request-id", "forwarded")], False, False),
        ([("via", "1.1 proxy")], True, False),
        ([("x-real-ip", "127.0.0.1")], True, False),
        ([("x-forwarded-for", "127.0.0.1, ::1")], True, False),
        ([("x-forwarded-proto", "https")], True, True),
        ([("x-forwarded-proto", "HTTPS , http")], True, True),
        ([("x-forwarded-proto", "http, https")], True, False),
        ([("forwarded", 'for="[2001:db8::1]:4711"; proto=https')], True, True),
        ([("forwarded", 'Proto="https";by=a, for=b;proto=http')], True, True),
        ([("forwarded", "for=b;proto=http, proto=https")], True, False),
        ([("forwarded", "https")], True, False),
        ([("forwarded", "")], True, False),
    ],
)
def test_headers_say_whether_and_how_a_request_was_passed_on(
    headers: list[tuple[str, str]], forwarded: bool, https: bool
) -> None:
    scope = scope_of(*headers)
    assert (is_forwarded(scope), is_from_https(scope)) == (forwarded, https)
