"""What a call of a tool has to pass right before it is made, as seen by the code that makes the call."""

from dataclasses import dataclass
from typing import Protocol

from perdure.model import Passed
from perdure.policies.decision import PolicyDecision
from perdure.policies.ruling import Ruling


class Verdict(Passed):
    """What a person found out about an effect."""

    claim: str
    happened: bool


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """Policies do not let the tool act now. Its effect has not happened, and this attempt claims nothing."""

    decision: PolicyDecision
    ruling: Ruling
    verdict: Verdict | None = None
    """What a person found out about a claim with other arguments, which is left as it is."""


class Gate(Protocol):
    """What policies say of one call."""

    async def would_stop(self) -> bool:
        """Return whether they would stop it."""
        ...

    async def stopped(self) -> Stopped | None:
        """Return what stops the call; None: it is made now, and what they said is written down.

        Raises:
            StoreUnavailable: It cannot be written down, so the call must not be made.
        """
        ...
