"""Whose memory it is has a name of its own, which no user can take, and a list of members."""

import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from perdure import RecallRequest
from perdure.errors import InvalidInput
from perdure.skills.library import read_skill
from perdure.stores.journal.folded_state import HISTORY, needed
from perdure.stores.journal.lines import Enrolled, Line, Named
from perdure.stores.tenant_key import TenantKey
from perdure.values.changes import Actor, ActorKind
from perdure.values.memberships import MemberRequest, Membership, latest, unknown_owner

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEY = TenantKey(b"a" * 32)
ADMIN = Actor(kind=ActorKind.PERSON, id="admin")
OWNERS = st.from_regex(r"(team|agent):[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)


def membership(member: str, order: int, *, days: int = 0, belongs: bool = True) -> Membership:
    at = NOW - timedelta(days=days)
    return Membership(member=member, user_id="x", belongs=belongs, at=at, by=ADMIN, order=order)


@given(st.text(min_size=1, max_size=40) | OWNERS, OWNERS)
@example("ops", "team:ops")
@example("team:ops", "team:ops")
@example("Team:ops", "team:ops")
@example("ｔeam:ops", "team:ops")
def test_no_user_id_gives_the_tenant_of_an_owner(user: str, owner: str) -> None:
    try:
        assert KEY.tenant_of(user) != KEY.tenant_of_owner(owner)
    except InvalidInput:
        written = unicodedata.normalize("NFC", user)
        refused = any(unicodedata.category(one) in ("Cc", "Cs") for one in user)
        assert user != written or user.startswith(("team:", "agent:")) or refused


@given(OWNERS, OWNERS)
def test_each_owner_has_a_tenant_of_its_own(one: str, other: str) -> None:
    assert (KEY.tenant_of_owner(one) == KEY.tenant_of_owner(other)) is (one == other)
    assert KEY.tenant_of_owner(one) != TenantKey(b"b" * 32).tenant_of_owner(one)


@pytest.mark.parametrize("user", ["team:ops", "agent:auditor", "team:", "agent:a b"])
def test_a_user_id_that_would_speak_as_an_owner_is_refused_with_the_reason(user: str) -> None:
    for model, more in ((RecallRequest, {}), (MemberRequest, {"of": "team:x", "belongs": True})):
        given_: dict[str, Any] = {"user_id": user, **more}
        with pytest.raises(ValidationError, match="names the memory of a team or an agent, and no user"):
            model.model_validate(given_)
    with pytest.raises(InvalidInput, match="name whose memory it is with 'of'"):
        KEY.tenant_of(user)


@pytest.mark.parametrize(
    "owner",
    [
        "ops",
        "team:",
        "team: ops",
        "team:-ops",
        "team:ops/x",
        "team:" + "a" * 81,
        "Team:ops",
        "group:ops",
        "team:café",
        "",
    ],
)
def test_what_names_no_owner_is_refused_with_the_form(owner: str) -> None:
    with pytest.raises(ValidationError, match="write team:NAME or agent:NAME"):
        RecallRequest(user_id="ada", of=owner)
    with pytest.raises(InvalidInput, match=r"PRD100 of: .*write team:NAME or agent:NAME"):
        KEY.tenant_of_owner(owner)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(0, 5), st.booleans())))
def test_what_was_said_last_of_each_user_counts_whatever_the_clocks_say(said: list[tuple[str, int, int, bool]]) -> None:
    found = latest([membership(member, order, days=days, belongs=belongs) for member, order, days, belongs in said])
    for member in {one for one, *_ in said}:
        last = max(order for one, order, *_ in said if one == member)
        counts = [belongs for one, order, _, belongs in said if (one, order) == (member, last)][-1]
        assert (found[member].order, found[member].belongs) == (last, counts)


def test_compaction_keeps_who_belongs_and_which_lists_name_a_user() -> None:
    old = HISTORY.days + 10
    lines: list[Line] = [
        Enrolled(membership=membership("t_a", 1, days=old + 2)),
        Enrolled(membership=membership("t_a", 2, days=old + 1, belongs=False)),
        Enrolled(membership=membership("t_b", 3, days=old)),
        Enrolled(membership=membership("t_a", 4, days=1)),
        Named(owner="t_x"),
        Named(owner="t_y"),
        Named(owner="t_x"),
    ]
    assert needed(lines, NOW) == [False, False, True, True, False, True, True]


def test_a_skill_names_owners_in_what_it_recalls_and_remembers() -> None:
    skill = read_skill(
        """
name: s
steps:
  - {id: known, recall: {of: team:ops, text: trains}}
  - for_each: "${[1]}"
    as: n
    steps:
      - id: learn
        remember: [{memory: x, of: agent:auditor}, {lane: pattern, key: k, payload: 1, of: team:ops}, {memory: y}]
"""
    )
    assert skill.owners == ("agent:auditor", "team:ops")
    with pytest.raises(InvalidInput, match=r"write team:NAME or agent:NAME"):
        read_skill("name: s\nsteps: [{id: known, recall: {of: ops, text: trains}}]")


def test_who_does_not_belong_is_told_how_members_are_added() -> None:
    problem = unknown_owner("team:apollo")
    assert str(problem) == (
        "PRD107 of: this user belongs to no 'team:apollo' "
        "(who administers the installation adds members: perdure memories members add)"
    )


def test_a_member_takes_away_no_other_members_id_and_not_who_enrolled_whom() -> None:
    mine, other = membership("m1", 1), membership("m2", 2)
    assert (mine.seen_by("m1").user_id, other.seen_by("m1").user_id) == ("x", "")
    assert {one.seen_by("m1").by.id for one in (mine, other)} == {""}
