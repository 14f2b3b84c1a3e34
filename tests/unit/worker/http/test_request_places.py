"""How many places one user may take."""

from contextlib import ExitStack

import pytest

from perdure.refusals import TooManyRequests
from perdure.values.access_tokens import Caller, acting
from worker.http.request_places import RequestPlaces, whose


def of_provider(user: str, token: str) -> Caller:
    """Return whom a provider's token stands for that a program of many users sends."""
    return Caller(token=token, actor=acting("an-app", None, person=False), scopes=frozenset(), user_id=user)


def test_one_user_has_so_many_whatever_their_tokens_and_another_user_of_the_program_as_many() -> None:
    places = RequestPlaces(5, 3, "streams")
    with ExitStack() as taken:
        for one in range(3):
            taken.enter_context(places.entered(whose(of_provider("ada", f"token-{one}"))))
        with pytest.raises(TooManyRequests, match="too many streams at once"):
            taken.enter_context(places.entered(whose(of_provider("ada", "another"))))
        for one in range(2):
            taken.enter_context(places.entered(whose(of_provider("kim", f"token-{one}"))))
        with pytest.raises(TooManyRequests):
            taken.enter_context(places.entered(whose(of_provider("eva", "token-1"))))
    assert places.taken == 0
