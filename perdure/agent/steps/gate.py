"""What a call of a tool has to pass right before it is made, and what can be unknown of an earlier one. Pure."""

import datetime
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


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """An attempt left no result: it died, failed or was cut off, and nothing can tell whether the effect happened."""

    claim: str
    """The claim that this is about; what a person finds out is valid for it alone."""
    deadline: datetime.datetime | None
    """The dead attempt cannot have acted later than this; None: it had ended."""
    at: datetime.datetime | None
    """When it began."""
    other_arguments: bool = False
    """Whether the claim was made for a call with other arguments, which says nothing about this one."""
    lost: bool = False
    """Whether it is not known that there was an attempt: Redis lost its claims."""
    problem: str = ""
    """How the attempt failed; empty: nobody could write that down, as of one that died."""


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
