"""The shape of a policy, how one is read from YAML, and which contradict each other. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any

from pydantic import Field

from perdure.documents import join, validated
from perdure.errors import InvalidPolicy
from perdure.expressions.evaluation import expressions
from perdure.expressions.syntax import TOKEN
from perdure.identity import digest
from perdure.model import Model, Name, OpenEnum
from perdure.suggestions import nearest
from perdure.yaml_text import read_document

VISIBLE = ("tool", "arguments", "user", "agent", "state")
"""What a condition sees of the call that is about to be made."""

STATE = ("task", "skill", "task_skill", "step", "date", "effect", "memory", "done")
"""The fields of ``state``."""

MOST_POLICIES = 200
"""Policies that an installation may have: all are read and asked for each call, 8 ms for so many (measured)."""

Condition = Annotated[str, Field(min_length=1, max_length=2_000)]
"""One expression in ``${…}``."""


class Level(OpenEnum):
    """What a policy does where it speaks and asks nobody. An unknown level counts as ``hard``."""

    HARD = "hard"
    SOFT = "soft"
    """It only warns."""


class Outcome(OpenEnum):
    """What becomes of a call. An unknown outcome counts as ``block``."""

    PASS = "pass"  # noqa: S105  no password
    WARN = "warn"
    ASK = "ask"
    """A person is asked first."""
    BLOCK = "block"

    @property
    def rank(self) -> int:
        """The higher one counts where policies differ."""
        return [*Outcome].index(self) if self.known else len(Outcome) - 1


class Policy(Model):
    """One policy, as written in its YAML."""

    name: Name
    """Its name, which is also that of its file."""
    rationale: Annotated[str, Field(min_length=1, max_length=1_000)]
    """Why it is there, for anyone who is stopped by it."""
    level: Level
    """What it does where it speaks and asks nobody."""
    when: Condition
    """The calls that it speaks about."""
    unless: Annotated[tuple[Condition, ...], Field(max_length=20)] = ()
    """Its exceptions."""
    approve: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    """The question for a person, whose yes lets the call be made. Nothing is evaluated in it."""
    deprecated: Annotated[str, Field(max_length=500)] = ""
    """Why it is being phased out. It still counts."""

    @property
    def digest(self) -> str:
        """The identity of its content: a changed policy is another version."""
        return digest("policy/1", self.model_dump(mode="json", exclude_defaults=True))

    @property
    def outcome(self) -> Outcome:
        """What becomes of a call that it speaks about."""
        if self.approve is not None:
            return Outcome.ASK
        return Outcome.WARN if self.level is Level.SOFT else Outcome.BLOCK


@dataclass(frozen=True)
class PolicySet:
    """All policies of an installation, in the order of their names."""

    policies: tuple[Policy, ...] = ()

    @classmethod
    def of(cls, policies: Iterable[Policy]) -> "PolicySet":
        """Return the set of some policies, in whichever order they come."""
        return cls(tuple(sorted(policies, key=lambda policy: policy.name)))

    @cached_property
    def version(self) -> str:
        """The identity of all their content."""
        return digest("policies/1", *(policy.digest for policy in self.policies))


def read_policy(text: str, where: str = "policy") -> Policy:
    """Read a policy from YAML.

    Args:
        text: The document.
        where: What it is, for messages about the document as a whole.

    Raises:
        InvalidPolicy: Naming the field, and the nearest name where one is unknown.
        InvalidExpression: When a condition does not parse.
    """
    policy = validated(Policy, read_document(text, where, InvalidPolicy), "", InvalidPolicy)
    own = _plain(policy.when)
    for field, condition in _conditions(policy):
        _check_condition(condition, field)
        if field != "when" and _plain(condition) == own:
            fix = "remove the policy, or name what is to be excepted"
            raise InvalidPolicy(field, "is the condition itself, so that the policy never speaks", fix=fix)
    return policy


def contradiction(policies: Sequence[Policy]) -> tuple[Policy, Policy, str] | None:
    """Return two policies that contradict each other, and why; None: there are none.

    A policy that never decides anything is a mistake: whenever it speaks, another one with the same condition and no
    more exceptions speaks as well, and overrides it.
    """
    for one, other in combinations(policies, 2):
        if one.name == other.name:
            return one, other, "have the same name"
        if _plain(one.when) == _plain(other.when):
            strong, weak = sorted((one, other), key=lambda policy: -policy.outcome.rank)
            if strong.outcome is weak.outcome and _excepted(weak) < _excepted(strong):
                strong, weak = weak, strong
            if _excepted(strong) <= _excepted(weak):
                differ = strong.outcome is not weak.outcome
                ways = f"for {strong.outcome} and {weak.outcome}" if differ else "twice the same"
                return strong, weak, f"have the same condition, {ways}: {weak.name!r} never decides anything"
    return None


def _conditions(policy: Policy) -> Iterator[tuple[str, str]]:
    yield "when", policy.when
    for place, condition in enumerate(policy.unless):
        yield join("unless", place), condition


def _check_condition(condition: str, field: str) -> None:
    found = list(expressions(condition, field))
    if len(found) != 1 or condition.strip() != f"${{{found[0].source}}}":
        raise InvalidPolicy(field, "is not one expression", fix="write \"${tool == 'name'}\"")
    for root, *fields in found[0].reading.paths:
        if root not in VISIBLE:
            raise InvalidPolicy(field, f"there is no name {root!r}", fix=nearest(root, VISIBLE))
        if root == "state" and fields and fields[0] not in STATE:
            raise InvalidPolicy(field, f"there is no state.{fields[0]}", fix=nearest(fields[0], STATE))


def _excepted(policy: Policy) -> frozenset[str]:
    return frozenset(map(_plain, policy.unless))


def _plain(condition: str) -> str:
    """Return a condition as it is compared: without the spaces between its words."""
    tokens: list[Any] = [token for token in TOKEN.finditer(condition) if token.lastgroup != "space"]
    return " ".join(token.group() for token in tokens)
