"""Policies as people write them: read, refused with field and fix, and told apart by their content."""

import pytest

from perdure.errors import InvalidExpression, InvalidPolicy
from perdure.policies.shape import Outcome, PolicySet, contradiction, read_policy

POLICY = "name: p\nrationale: It is the rule.\nlevel: hard\nwhen: \"${tool == 'send'}\"\n"


def test_the_level_and_the_question_say_what_becomes_of_a_call() -> None:
    asking = "approve: May it?\n"
    outcomes = [read_policy(text).outcome for text in (POLICY, POLICY + asking)]
    soft = POLICY.replace("hard", "soft")
    outcomes += [read_policy(text).outcome for text in (soft, soft + asking)]
    assert outcomes == [Outcome.BLOCK, Outcome.ASK, Outcome.WARN, Outcome.ASK]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (POLICY.replace("rationale: It is the rule.\n", ""), "rationale: is missing"),
        (POLICY.replace("hard", "strict"), "level: 'strict' is not one of the choices"),
        (POLICY + "exept: x\n", "exept: is not a field here"),
        (POLICY.replace("${", "").replace("}", ""), "when: is not one expression"),
        (POLICY.replace("'}", "'} and so on"), "when: is not one expression"),
        (POLICY.replace("tool ==", "tol =="), "when: there is no name 'tol' .did you mean 'tool'"),
        (POLICY + 'unless: ["${args.x == 1}"]\n', "unless.0.: there is no name 'args'"),
        (POLICY + "unless: [\"${state.skil == 'a'}\"]\n", "unless.0.: there is no state.skil .did you mean 'skill'"),
        (POLICY + "unless: [\"${tool=='send'}\"]\n", "unless.0.: is the condition itself.*remove the policy, or"),
        (POLICY + "unless: x\n", "unless"),
        (POLICY + 'approve: ""\n', "approve"),
        ("- a\n", "policy: is a list"),
    ],
)
def test_what_is_wrong_is_refused_with_its_field(text: str, problem: str) -> None:
    with pytest.raises(InvalidPolicy, match=problem):
        read_policy(text)


def test_a_condition_that_does_not_parse_is_refused() -> None:
    with pytest.raises(InvalidExpression, match="when"):
        read_policy(POLICY.replace("==", "=="[:1]))


def test_a_variable_of_a_walk_is_no_name_from_outside() -> None:
    assert read_policy(POLICY.replace("tool == 'send'", "arguments.to.exists(one, one == user)")).name == "p"


def test_other_content_is_another_version_of_the_policy_and_of_the_set() -> None:
    same, other = read_policy(f"# a comment\n{POLICY}"), read_policy(POLICY.replace("rule", "law"))
    assert read_policy(POLICY).digest == same.digest != other.digest
    assert PolicySet.of([same]).version == PolicySet.of([read_policy(POLICY)]).version
    assert len({PolicySet.of(some).version for some in ([], [same], [other])}) == 3
    assert same.digest == "fafad634328452ee8840e47762faf71ae3fff97eabb89c72c0145665b144953c"


def named(name: str, level: str, *unless: str, approve: bool = False, when: str = "${tool == 'send'}") -> str:
    exceptions = ", ".join(f'"{one}"' for one in unless)
    return f'name: {name}\nrationale: r\nlevel: {level}\nwhen: "{when}"\nunless: [{exceptions}]\n' + (
        "approve: May it?\n" if approve else ""
    )


ADA, BOB = "${user == 'ada'}", "${user == 'bob'}"


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (named("a", "hard"), named("a", "soft", when="${tool == 'x'}"), "same name"),
        (named("a", "hard"), named("b", "soft", approve=True), "block and ask: 'b' never"),
        (named("a", "soft"), named("b", "hard", when="${ tool=='send' }"), "block and warn: 'a' never"),
        (named("a", "soft", approve=True), named("b", "soft"), "ask and warn: 'b' never"),
        (named("a", "hard", ADA), named("b", "hard"), "twice the same: 'a' never"),
        (named("a", "hard"), named("b", "hard"), "twice the same: 'b' never"),
        (named("a", "hard", ADA), named("b", "soft", ADA, BOB), "block and warn: 'b' never"),
    ],
)
def test_what_contradicts_itself_is_told_whichever_comes_first(one: str, other: str, why: str) -> None:
    pair = [read_policy(one), read_policy(other)]
    for policies in (pair, pair[::-1]):
        found = contradiction(policies)
        assert found is not None
        # Of two that say the same, either may be the one too many.
        assert why.partition(":")[0] in found[2]
    found = contradiction(pair)
    assert found is not None
    assert why in found[2]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (named("a", "hard", ADA), named("b", "hard", BOB)),
        (named("a", "hard", ADA), named("b", "soft", approve=True)),
        (named("a", "hard"), named("b", "soft", when="${tool == 'other'}")),
    ],
    ids=["other exceptions", "asked where it is excepted", "other conditions"],
)
def test_what_adds_something_is_no_contradiction(one: str, other: str) -> None:
    assert contradiction([read_policy(one), read_policy(other)]) is None
