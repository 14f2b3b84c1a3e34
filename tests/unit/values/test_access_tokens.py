"""What a token permits, and for whom."""

from datetime import UTC, datetime, timedelta

import pytest

from perdure.base_error import InvalidInput
from perdure.refusals import NotPermitted, UnknownThing
from perdure.values.access_tokens import (
    AccessToken,
    Caller,
    TokenRequest,
    TokenScope,
    caller_of,
    new_token,
    parts_of,
)
from perdure.values.changes import Actor, ActorKind

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
ADMIN = Actor(kind=ActorKind.PERSON, id="admin")


def made(**fields: object) -> tuple[AccessToken, str]:
    asked = TokenRequest.model_validate({"name": "billing", "scopes": ("read",)} | fields)
    one = new_token(asked, NOW, ADMIN)
    parts = parts_of(one.text)
    assert parts
    assert parts[0] == one.token.id
    return one.token, parts[1]


def test_a_token_stands_for_its_holder_until_its_end() -> None:
    token, secret = made(expires_at=NOW + timedelta(hours=1), user_id="ada")
    caller = caller_of(token, secret, NOW)
    assert caller
    assert (caller.actor, caller.scopes, caller.user_id) == (
        Actor(kind=ActorKind.AGENT, id="billing"),
        {TokenScope.READ},
        "ada",
    )
    assert caller_of(token, secret, NOW + timedelta(hours=1)) is None
    assert caller_of(token, secret[:-1] + ("0" if secret[-1] != "0" else "1"), NOW) is None
    assert caller_of(token, token.digest, NOW) is None


def test_a_person_acts_as_the_user_or_under_the_tokens_name() -> None:
    for user, name in (("ada", "ada"), (None, "billing")):
        token, secret = made(user_id=user, person=True)
        caller = caller_of(token, secret, NOW)
        assert caller
        assert caller.actor == Actor(kind=ActorKind.PERSON, id=name)
        caller.require_person()
    token, secret = made()
    program = caller_of(token, secret, NOW)
    assert program
    with pytest.raises(NotPermitted):
        program.require_person()


def test_a_token_is_never_the_same_and_tells_nothing_of_what_is_kept() -> None:
    found = [new_token(TokenRequest(name="a", scopes=(TokenScope.READ,)), NOW, ADMIN) for _ in range(100)]
    assert len({one.text for one in found}) == len({one.token.id for one in found}) == 100
    assert not [one for one in found if one.text.rpartition("_")[2] in one.token.model_dump_json()]


def test_a_scope_of_a_newer_build_permits_nothing() -> None:
    token, secret = made()
    newer = token.changed(scopes=("read", "rule"))
    caller = caller_of(newer, secret, NOW)
    assert caller
    caller.require(TokenScope.READ)
    for scope in (TokenScope.WRITE, TokenScope("rule")):
        with pytest.raises(NotPermitted):
            caller.require(scope)


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"scopes": ("raed",)}, "scopes"), ({"expires_at": NOW}, "expires_at")],
)
def test_what_would_be_no_use_is_refused(fields: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        made(**fields)
    assert refused.value.field == field


@pytest.mark.parametrize(
    "text",
    ["", "perdure", "perdure_a", "perdure_a_", "perdure__b", "other_a_b", "perdure_a_b_c", "x" * 999, "perdure_ä_b"],
)
def test_what_is_no_token_has_no_parts(text: str) -> None:
    assert parts_of(text) is None


def test_whom_a_caller_may_ask_for() -> None:
    bound = Caller(token="t", actor=ADMIN, scopes=frozenset(), user_id="ada")
    free = bound.changed(user_id=None)
    assert [bound.user(one) for one in (None, "", "ada")] == ["ada"] * 3
    assert free.user("kim") == "kim"
    with pytest.raises(UnknownThing):
        bound.user("kim")
    for nobody in (None, "", "team:ops", "a\x00b"):
        with pytest.raises(InvalidInput):
            free.user(nobody)
