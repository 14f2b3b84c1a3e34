"""What workflows are started with: search attributes, which never hold content, and their task timeout."""

from datetime import timedelta

from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from perdure.names import Attribute

TENANT = SearchAttributeKey.for_keyword(Attribute.TENANT.value)
AGENT = SearchAttributeKey.for_keyword(Attribute.AGENT.value)
SKILL = SearchAttributeKey.for_keyword(Attribute.SKILL.value)
PHASE = SearchAttributeKey.for_keyword(Attribute.PHASE.value)

SCHEDULED_START = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")
"""When a schedule was to start a workflow: Temporal sets it on what a schedule starts, and on nothing else."""

TASK_TIMEOUT = timedelta(seconds=4)
"""How long a worker may take for one workflow task, which takes milliseconds. A worker that is killed in the middle of
one is noticed only after this; with Temporal's default of 10 s (measured: 10.0 s) a task would stand still too long."""


def tenant_attributes(tenant: str) -> TypedSearchAttributes:
    """Return the attributes of a workflow that serves one tenant, so that erasure finds its history."""
    return TypedSearchAttributes([SearchAttributePair(TENANT, tenant)])
