"""What every workflow of ours is started with: the attributes it is found by, and its task time-out. Never content."""

from datetime import timedelta

from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

TENANT = SearchAttributeKey.for_keyword("PerdureTenant")
AGENT = SearchAttributeKey.for_keyword("PerdureAgent")
SKILL = SearchAttributeKey.for_keyword("PerdureSkill")
PHASE = SearchAttributeKey.for_keyword("PerdurePhase")

ALL = (TENANT, AGENT, SKILL, PHASE)

TASK_TIMEOUT = timedelta(seconds=4)
"""How long a worker may take to move a workflow on, which takes milliseconds. A worker that is killed while it does
is noticed only after this, and Temporal's default is 10 s (measured: 10.0 s), more than a task may stand still."""


def tenant_attributes(tenant: str) -> TypedSearchAttributes:
    """Give the attributes of a workflow that serves one tenant, so that erasure finds its history."""
    return TypedSearchAttributes([SearchAttributePair(TENANT, tenant)])
