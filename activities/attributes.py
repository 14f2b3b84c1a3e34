"""The search attributes under which every workflow can be found. Ids and names only, never content."""

from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

TENANT = SearchAttributeKey.for_keyword("PerdureTenant")
AGENT = SearchAttributeKey.for_keyword("PerdureAgent")
SKILL = SearchAttributeKey.for_keyword("PerdureSkill")
PHASE = SearchAttributeKey.for_keyword("PerdurePhase")

ALL = (TENANT, AGENT, SKILL, PHASE)


def tenant_attributes(tenant: str) -> TypedSearchAttributes:
    """Give the attributes of a workflow that serves one tenant, so that erasure finds its history."""
    return TypedSearchAttributes([SearchAttributePair(TENANT, tenant)])
