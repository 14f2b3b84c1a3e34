"""Write policies as data: what a file says is overridden, and mistakes are named."""

import pytest

from perdure.errors import InvalidInput
from perdure.memory.write_policies import POLICIES, Private, WritePolicy, policy_named, policy_of, read_policies
from perdure.values.statements import Ground


def test_what_a_file_leaves_out_stays() -> None:
    read = read_policies("default: {minimum_confidence: 0.5}\nstrict: {private: refuse}\n", "policies.yaml")
    assert read["default"] == POLICIES["default"].changed(minimum_confidence=0.5)
    assert read["strict"].private is Private.REFUSE
    assert read["transcript"] == POLICIES["transcript"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("default: {minimum: 0.5}", "default.minimum: is not a field here"),
        ("default: {minimum_confidence: 2}", "default.minimum_confidence"),
        ("default: {minimum_confidence: .nan}", "default.minimum_confidence"),
        ("default: {private: hide}", r"default.private: 'hide' is not one of the choices"),
        (
            "default: {believe: [hearsy]}",
            r"believe\[0\]: 'hearsy' is not one of the choices \(did you mean 'hearsay'",
        ),
        ("default: 3", "default: is a number"),
        ("- default", "is a list"),
    ],
)
def test_a_mistake_is_named_with_its_field(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_policies(text, "policies.yaml")


@pytest.mark.parametrize("ground", [Ground.PRIVATE, Ground.SECRET])
def test_no_policy_can_believe_private_data_or_secrets(ground: Ground) -> None:
    with pytest.raises(InvalidInput, match="can never be believed"):
        read_policies(f"default: {{believe: [{ground.value}]}}", "policies.yaml")
    assert read_policies("default: {believe: [unstable]}", "p").keys() == POLICIES.keys()


def test_an_unknown_policy_is_named_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match=r"there is no 'trancript' \(did you mean 'transcript'"):
        policy_named(POLICIES, "trancript")


def test_a_policy_of_the_file_keeps_what_it_leaves_out() -> None:
    read = read_policies("transcript: {minimum_confidence: 0.5}", "policies.yaml")
    assert read["transcript"] == POLICIES["transcript"].changed(minimum_confidence=0.5)


def test_a_file_that_cannot_be_read_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"policies\.yaml"):
        read_policies("default: [", "policies.yaml")


def test_a_batch_whose_policy_was_removed_is_decided_by_the_default_one() -> None:
    usual, strict = WritePolicy(minimum_confidence=0.5), WritePolicy(private=Private.REFUSE)
    policies = {"default": usual, "strict": strict}
    assert policy_of(policies, "strict") == strict
    assert policy_of(policies, "removed") == usual
    assert policy_of({}, "removed") == WritePolicy()
