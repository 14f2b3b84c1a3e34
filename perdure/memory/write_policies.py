"""What may be believed, as data that an installation can read and override. Pure."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from perdure.documents import join, mapping, validated
from perdure.errors import InvalidInput
from perdure.memory.hold_policies import HoldPolicy
from perdure.model import Model, OpenEnum, Unit
from perdure.names import DEFAULT_POLICY, EXACT_POLICY
from perdure.suggestions import nearest
from perdure.values.statements import Ground
from perdure.yaml_text import read_document

_NEVER_BELIEVED = (Ground.PRIVATE, Ground.SECRET)


class Private(OpenEnum):
    """What becomes of an item that holds private data or a secret. An unknown value counts as ``refuse``."""

    REDACT = "redact"
    """It is kept without them, if what is left says something."""
    REFUSE = "refuse"
    KEEP = "keep"
    """A record keeps private data, and one with a secret is refused; whatever else is remembered is redacted."""


class WritePolicy(Model):
    """What may be believed."""

    minimum_confidence: Unit = 0.7
    """A memory offered with less is refused (R30). Records and turns are what happened, so they are exempt."""
    private: Private = Private.REDACT
    allow: Annotated[tuple[str, ...], Field(max_length=1_000)] = ()
    """What is not private, whatever it looks like: a support address, a hotline."""
    believe: tuple[Ground, ...] = ()
    """Grounds that are no reason to refuse a statement here: ``unstable``, say. Private data and secrets always are."""
    most_a_session: Annotated[int, Field(ge=1)] | None = 10
    """How many memories may be extracted from one session, counted by distinct occurrences (R30); None: any number."""
    hold: HoldPolicy = HoldPolicy()
    """Which memories a person has to approve first."""
    verbatim: bool = False
    """Whether what is said is kept word for word, as turns, and nothing is extracted."""


POLICIES: Mapping[str, WritePolicy] = {
    DEFAULT_POLICY: WritePolicy(),
    "transcript": WritePolicy(verbatim=True, most_a_session=None),
    EXACT_POLICY: WritePolicy(private=Private.KEEP),
}
"""The policies that every installation has."""


def read_policies(text: str, where: str) -> dict[str, WritePolicy]:
    """Read a YAML document of policies by name; fields that it leaves out of an existing one keep their values.

    Args:
        text: The document.
        where: What it is, for messages.

    Raises:
        InvalidInput: Naming the field and the fix.
    """
    policies = dict(POLICIES)
    for name, fields in read_document(text, where).items():
        changes: dict[str, Any] = mapping(fields, name, InvalidInput)
        policy = validated(WritePolicy, {**policies.get(name, WritePolicy()).model_dump(), **changes}, name)
        if private := [ground.value for ground in policy.believe if ground in _NEVER_BELIEVED]:
            raise InvalidInput(
                join(name, "believe"), f"{private[0]} can never be believed", fix="list harmless texts under 'allow'"
            )
        policies[name] = policy
    return policies


def policy_of(policies: Mapping[str, WritePolicy], name: str) -> WritePolicy:
    """Return the policy of an accepted batch: a policy that was removed must not keep its job from ending."""
    return policies.get(name) or policies.get(DEFAULT_POLICY) or WritePolicy()


def policy_named(policies: Mapping[str, WritePolicy], name: str) -> WritePolicy:
    """Return a policy.

    Raises:
        InvalidInput: There is none with this name; with the nearest one.
    """
    if name not in policies:
        fix = f"{nearest(name, policies)}; a worker reads the file when it starts: perdure restart"
        raise InvalidInput("policy", f"there is no {name!r}", fix=fix)
    return policies[name]
