"""What policies say of a call: blocking beats asking beats warning, and who cannot tell does not act."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.policies.decision import CallFacts, decide
from perdure.policies.ruling import Ruling, Spoke, ruling_of
from perdure.policies.shape import Level, Outcome, Policy, PolicySet

CONDITIONS = [
    "${true}",
    "${tool == 'send'}",
    "${tool == 'send' && arguments.cents > 100}",
    "${arguments.cents > 100}",
    "${user in ['ada', 'bob']}",
    "${state.done > 3}",
    "${arguments.to.exists(one, one == user)}",
    "${arguments.to}",
]
"""Of which some have no answer for some of the calls."""

some_values: st.SearchStrategy[JsonValue] = st.sampled_from([7, 200, "many", ["ada"]])
values = st.dictionaries(st.sampled_from(["cents", "to"]), some_values)
calls = st.builds(
    CallFacts,
    tool=st.sampled_from(["send", "look"]),
    arguments=values,
    user=st.sampled_from(["ada", "kim"]),
    state=st.dictionaries(st.just("done"), st.integers(0, 9)),
)
policies = st.builds(
    Policy,
    name=st.sampled_from("abcdefgh"),
    rationale=st.just("r"),
    level=st.sampled_from([Level.HARD, Level.SOFT]),
    when=st.sampled_from(CONDITIONS),
    unless=st.lists(st.sampled_from(CONDITIONS), max_size=2).map(tuple),
    approve=st.sampled_from([None, "May it?"]),
)
sets = st.lists(policies, max_size=6, unique_by=lambda policy: policy.name)


@given(sets, calls, st.integers())
def test_the_order_of_the_files_does_not_matter(some: list[Policy], call: CallFacts, seed: int) -> None:
    shuffled = list(some)
    Random(seed).shuffle(shuffled)
    assert decide(PolicySet.of(some), call) == decide(PolicySet.of(shuffled), call)


@given(sets, calls)
def test_blocking_beats_asking_beats_warning(some: list[Policy], call: CallFacts) -> None:
    decision = decide(PolicySet.of(some), call)
    for outcome in (Outcome.BLOCK, Outcome.ASK, Outcome.WARN, Outcome.PASS):
        if decision.of(outcome) or outcome is Outcome.PASS:
            assert decision.outcome is outcome
            break


@given(sets, policies, calls)
def test_a_further_policy_never_loosens_anything(some: list[Policy], more: Policy, call: CallFacts) -> None:
    rest = [one for one in some if one.name != more.name]
    before, after = decide(PolicySet.of(rest), call), decide(PolicySet.of([*rest, more]), call)
    assert after.outcome.rank >= before.outcome.rank
    assert set(before.findings) <= set(after.findings)


@given(sets, policies, st.sampled_from(CONDITIONS), calls)
def test_an_exception_only_ever_loosens_its_own_policy(
    some: list[Policy], own: Policy, exception: str, call: CallFacts
) -> None:
    rest = [one for one in some if one.name != own.name]
    before = decide(PolicySet.of([*rest, own]), call)
    after = decide(PolicySet.of([*rest, own.changed(unless=(*own.unless, exception))]), call)
    others = [[one for one in found.findings if one.policy != own.name] for found in (before, after)]
    assert others[0] == others[1]
    assert after.outcome.rank <= before.outcome.rank


def policy(level: str, when: str, *unless: str, approve: str | None = None) -> PolicySet:
    one = Policy(name="p", rationale="Because.", level=Level(level), when=when, unless=unless, approve=approve)
    return PolicySet.of([one])


UNSURE = "${tool == 'send' && arguments.cents > 100}"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "cents"),
        ({"cents": "many"}, "other types"),
    ],
    ids=["missing", "of another type"],
)
@pytest.mark.parametrize(
    ("level", "approve", "outcome"),
    [
        ("hard", None, Outcome.BLOCK),
        ("hard", "May it?", Outcome.BLOCK),
        ("soft", None, Outcome.WARN),
        ("soft", "May it?", Outcome.ASK),
    ],
)
def test_who_cannot_tell_must_not_act(
    arguments: dict[str, JsonValue], problem: str, level: str, approve: str | None, outcome: Outcome
) -> None:
    decision = decide(policy(level, UNSURE, approve=approve), CallFacts(tool="send", arguments=arguments))
    assert decision.outcome is outcome
    assert problem in decision.findings[0].problem
    assert decision.findings[0].problem.startswith("PRD103 when: ")
    assert problem in decision.findings[0].reason
    assert decision.findings[0].question == ("May it?" if outcome is Outcome.ASK else "")


def test_a_condition_begins_with_the_tool_that_it_is_about() -> None:
    assert decide(policy("hard", UNSURE), CallFacts(tool="look")).outcome is Outcome.PASS


def test_a_list_that_is_too_long_leaves_a_condition_without_an_answer() -> None:
    both = "${arguments.to.exists(one, arguments.to.exists(other, one != other))}"
    names: list[JsonValue] = []
    for length, outcome in ((100, Outcome.PASS), (101, Outcome.BLOCK)):
        names = ["x"] * length
        call = CallFacts(tool="send", arguments={"to": names})
        assert decide(policy("hard", both), call).outcome is outcome


def test_an_exception_without_an_answer_excuses_nothing() -> None:
    decision = decide(policy("hard", "${true}", "${arguments.safe}", "${arguments.cents < 5}"), CallFacts(tool="send"))
    assert decision.outcome is Outcome.BLOCK
    assert not decision.findings[0].problem


def test_a_condition_that_is_excused_without_having_an_answer_is_silent() -> None:
    decision = decide(policy("hard", UNSURE, "${user == 'ada'}"), CallFacts(tool="send", user="ada"))
    assert decision.outcome is Outcome.PASS


def test_a_yes_is_bound_to_the_policies_that_ask_and_to_the_call() -> None:
    def asked(rationale: str = "Because.", more: tuple[Policy, ...] = (), arguments: str = "d") -> str:
        [own] = policy("hard", "${true}", approve="May it?").policies
        decision = decide(PolicySet.of([own.changed(rationale=rationale), *more]), CallFacts(tool="send"))
        assert decision.findings[0].question == "May it?"
        return ruling_of(decision, tool="send", step="s", arguments=arguments).binding

    warns = policy("soft", "${true}").policies[0].changed(name="q")
    asks = warns.changed(approve="And this?")
    assert asked() == asked() == asked(more=(warns,))
    assert len({asked(), asked("Other."), asked(more=(asks,)), asked(arguments="e")}) == 4


def test_what_an_approval_is_bound_to_stays_what_it_is_for_ever() -> None:
    spoke = tuple(
        Spoke(policy=name, version="1", outcome=one) for name, one in [("p", Outcome.ASK), ("q", Outcome.PASS)]
    )
    ruling = Ruling(outcome=Outcome.ASK, tool="look", step="a", arguments="d", policies=spoke, version="v")
    assert ruling.binding == "4b5fa018bfbae74ccbfa46962ffd5fcd9cb33513911cdfb06aefa36f1a70eef2"


@pytest.mark.parametrize("known", [True, False], ids=["control", "of a later release"])
def test_what_a_policy_says_that_this_release_does_not_know_blocks(*, known: bool) -> None:
    assert (Outcome("pass" if known else "newer").rank >= Outcome.BLOCK.rank) is not known
