"""Where the service says that something is found: as whoever holds the token has to ask."""

import pytest

from perdure.values.access_tokens import Caller, acting
from worker.http.request_context import found_at


def holder(user: str | None) -> Caller:
    return Caller(token="t", actor=acting("backend", user, person=False), scopes=frozenset(), user_id=user)


@pytest.mark.parametrize(
    ("bound", "of", "query"),
    [
        ("ada & kim", None, ""),
        ("ada & kim", "team:ops", "?of=team:ops"),
        (None, None, "?user_id=ada%20%26%20kim"),
        (None, "team:ops", "?user_id=ada%20%26%20kim&of=team:ops"),
    ],
)
def test_only_what_the_token_does_not_say_is_named(bound: str | None, of: str | None, query: str) -> None:
    assert found_at("/jobs/1", holder(bound), "ada & kim", of) == {"Location": f"/jobs/1{query}"}
