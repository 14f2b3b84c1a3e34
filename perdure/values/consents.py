"""What a user consents to being kept and recalled, by purpose. Pure values."""

from collections.abc import Iterable, Mapping

from perdure.model import Instant, Stored
from perdure.values.changes import Actor
from perdure.values.entries import Purpose

BY_DEFAULT: Mapping[Purpose, bool] = {Purpose.GIVEN: True, Purpose.EXTRACTED: False}
"""The consent of a user who has said nothing."""


class Consent(Stored):
    """A user's statement about one purpose, made by the user or for them."""

    purpose: Purpose
    granted: bool
    at: Instant
    by: Actor
    order: int = 0
    """The greatest number is the latest statement, whatever machines' clocks say; counted under the user's lease."""
    operation: str = ""
    """The operation that stated it: once, however often it is tried."""


def latest(consents: Iterable[Consent]) -> dict[Purpose, Consent]:
    """Return the latest statement about each purpose."""
    found: dict[Purpose, Consent] = {}
    for one in consents:
        if one.purpose not in found or one.order >= found[one.purpose].order:
            found[one.purpose] = one
    return found


def is_granted(consents: Mapping[Purpose, Consent], purpose: Purpose) -> bool:
    """Return whether a purpose is consented to."""
    said = consents.get(purpose)
    return said.granted if said else BY_DEFAULT.get(purpose, False)


def withheld(consents: Mapping[Purpose, Consent]) -> tuple[Purpose, ...]:
    """Return the purposes that are not consented to."""
    return tuple(purpose for purpose in BY_DEFAULT if not is_granted(consents, purpose))


def withdrawn(consents: Mapping[Purpose, Consent]) -> tuple[Purpose, ...]:
    """Return the purposes that somebody explicitly withdrew, and that are not merely refused by default."""
    return tuple(purpose for purpose in withheld(consents) if purpose in consents)


def refusal(purpose: Purpose) -> str:
    """Return why nothing is written for a purpose, with what to do."""
    command = f"perdure memories consent --user ID [--of OWNER] --grant {purpose.value}"
    return f"the user has not consented to keeping what is {purpose.value} ({command})"
