"""The outcome of a decision, as the audit keeps it: names and digests, but no content of a call. Pure."""

from perdure.identity import digest
from perdure.model import Passed
from perdure.policies.decision import PolicyDecision
from perdure.policies.shape import Outcome
from perdure.values.questions import Approval


class Spoke(Passed):
    """A policy that spoke."""

    policy: str
    version: str
    outcome: Outcome


class Ruling(Passed):
    """A decision about one call."""

    outcome: Outcome
    answer: Approval | None = None
    """A person's answer to the policies' question; None: nobody has answered."""
    tool: str
    step: str
    """The step's path."""
    arguments: str
    """The digest of the tool and its arguments."""
    policies: tuple[Spoke, ...] = ()
    """Those that spoke."""
    version: str
    """Of the set that was asked."""

    @property
    def binding(self) -> str:
        """What a person's yes is bound to: the asking policies, at their versions, and the call."""
        asking = [f"{one.policy} {one.version}" for one in self.policies if one.outcome is Outcome.ASK]
        return digest("approval/1", self.arguments, *asking)


def ruling_of(decision: PolicyDecision, *, tool: str, step: str, arguments: str) -> Ruling:
    """Return the part of a decision that is kept.

    Args:
        decision: The decision.
        tool: The tool's name.
        step: The step's path.
        arguments: The digest of the tool and its arguments.
    """
    spoke = (Spoke(policy=one.policy, version=one.version, outcome=one.outcome) for one in decision.findings)
    return Ruling(
        outcome=decision.outcome,
        tool=tool,
        step=step,
        arguments=arguments,
        policies=tuple(spoke),
        version=decision.version,
    )
