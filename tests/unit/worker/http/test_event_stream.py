"""How many streams one user may have open."""

from contextlib import ExitStack

import pytest

from perdure.refusals import TooManyRequests
from perdure.values.access_tokens import Caller, acting
from worker.http.event_stream import STREAMS_OF_ONE, Followers


def of_provider(user: str, token: str) -> Caller:
    """Return whom a provider's token stands for that a program of many users sends."""
    return Caller(token=token, actor=acting("an-app", None, person=False), scopes=frozenset(), user_id=user)


def test_one_user_has_so_many_streams_whatever_their_tokens_and_another_user_of_the_program_as_many() -> None:
    followers = Followers()
    with ExitStack() as streams:
        for one in range(STREAMS_OF_ONE):
            streams.enter_context(followers.entered(of_provider("ada", f"token-{one}")))
        with pytest.raises(TooManyRequests):
            streams.enter_context(followers.entered(of_provider("ada", "another")))
        streams.enter_context(followers.entered(of_provider("kim", "token-1")))
    assert followers.open == 0
