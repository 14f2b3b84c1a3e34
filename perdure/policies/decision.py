"""The decision of policies on a call that is about to be made. Pure: equal policies and calls give equal decisions."""

from collections.abc import Mapping

from pydantic import Field, JsonValue

from perdure.errors import InvalidExpression
from perdure.expressions.evaluation import holds
from perdure.model import Model
from perdure.policies.shape import Level, Outcome, Policy, PolicySet

WALKED = 10_000
"""What walking lists may cost in one condition, in visited elements, a thousandth of what a skill's expression may:
30 ms (measured), in which the library holds the interpreter's lock."""

SHORT = 12
"""Characters of a version where people read it."""


class CallFacts(Model):
    """A call that is about to be made, as conditions see it."""

    tool: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    user: str = ""
    agent: str = ""
    state: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def names(self) -> dict[str, JsonValue]:
        """What conditions may refer to."""
        return {
            "tool": self.tool,
            "arguments": self.arguments,
            "user": self.user,
            "agent": self.agent,
            "state": self.state,
        }


class PolicyFinding(Model):
    """One policy's finding on a call."""

    policy: str
    version: str
    """The digest of its content."""
    outcome: Outcome
    rationale: str
    question: str = ""
    problem: str = ""
    """Why its condition has no answer, so that it speaks in any case."""

    @property
    def reason(self) -> str:
        """Which policy it is, and why it is there, for a person."""
        unsure = f" (it cannot tell: {self.problem})" if self.problem else ""
        return f"policy {self.policy} ({self.version[:SHORT]}): {self.rationale}{unsure}"


class PolicyDecision(Model):
    """The decision of all policies on a call."""

    outcome: Outcome
    findings: tuple[PolicyFinding, ...] = ()
    """Of those that speak, by name."""
    version: str
    """Of the set that was asked."""

    def of(self, outcome: Outcome) -> tuple[PolicyFinding, ...]:
        """Return the findings with this outcome."""
        return tuple(one for one in self.findings if one.outcome is outcome)


def decide(policies: PolicySet, call: CallFacts) -> PolicyDecision:
    """Return the outcome for a call: blocking beats asking, asking beats warning."""
    names = call.names
    findings = tuple(found for policy in policies.policies if (found := _finding(policy, names)))
    outcome = max((one.outcome for one in findings), key=lambda one: one.rank, default=Outcome.PASS)
    return PolicyDecision(outcome=outcome, findings=findings, version=policies.version)


def _finding(policy: Policy, names: Mapping[str, JsonValue]) -> PolicyFinding | None:
    """Return a policy's finding; None: it is silent."""
    outcome, problem = policy.outcome, ""
    try:
        if not holds(policy.when, names, "when", walked=WALKED):
            return None
    except InvalidExpression as error:
        # Without an answer, the call must not be made as if the condition were false. Of a soft policy the outcome
        # stays what it is where the condition is true: leaving an argument out must not spare a call the question.
        outcome, problem = policy.outcome if policy.level is Level.SOFT else Outcome.BLOCK, str(error)
    if any(_excuses(condition, names) for condition in policy.unless):
        return None
    question = policy.approve if policy.approve is not None and outcome is Outcome.ASK else ""
    return PolicyFinding(
        policy=policy.name,
        version=policy.digest,
        outcome=outcome,
        rationale=policy.rationale,
        question=question,
        problem=problem,
    )


def _excuses(condition: str, names: Mapping[str, JsonValue]) -> bool:
    try:
        return holds(condition, names, "unless", walked=WALKED)
    except InvalidExpression:
        return False
