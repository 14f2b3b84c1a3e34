"""Cases to test policies on: a call and its expected outcome. Pure."""

from pydantic import Field, JsonValue

from perdure.documents import join, validated
from perdure.errors import InvalidPolicy
from perdure.model import Model, Name
from perdure.policies.decision import CallFacts, PolicyDecision, decide
from perdure.policies.shape import STATE, Outcome, PolicySet
from perdure.suggestions import nearest
from perdure.yaml_text import read_document


class Case(Model):
    """A call and its expected outcome."""

    name: str = ""
    tool: Name
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    user: str = ""
    agent: str = ""
    state: dict[str, JsonValue] = Field(default_factory=dict)
    expect: Outcome
    policies: tuple[Name, ...] | None = None
    """Those that should speak; None: it does not matter."""

    def differences(self, decision: PolicyDecision) -> list[str]:
        """Return how a decision differs from what is expected; nothing if it does not."""
        found: list[str] = []
        if decision.outcome is not self.expect:
            found.append(f"is {decision.outcome}, not {self.expect}")
        spoke = sorted(one.policy for one in decision.findings)
        if self.policies is not None and spoke != sorted(self.policies):
            expected = ", ".join(sorted(self.policies)) or "none"
            found.append(f"{', '.join(spoke) or 'no policy'} spoke, not {expected}")
        return found


class _Cases(Model):
    cases: tuple[Case, ...] = Field(min_length=1)


def read_cases(text: str, where: str) -> tuple[Case, ...]:
    """Read cases from YAML.

    Args:
        text: The document.
        where: What it is, for messages about the document as a whole.

    Raises:
        InvalidPolicy: Naming the field, and the nearest name where one is unknown.
    """
    cases = validated(_Cases, read_document(text, where, InvalidPolicy), "", InvalidPolicy).cases
    for place, case in enumerate(cases):
        for name in case.state:
            if name not in STATE:
                field = join("cases", place, "state", name)
                raise InvalidPolicy(field, "is not there in state", fix=nearest(name, STATE))
    return cases


def tried(policies: PolicySet, case: Case) -> PolicyDecision:
    """Return the decision on the call of a case."""
    given = {"tool": case.tool, "arguments": case.arguments, "user": case.user, "agent": case.agent}
    return decide(policies, CallFacts.model_validate({**given, "state": case.state}))
