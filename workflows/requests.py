"""Small workflows for callers without the tenant key: a question to memory, items to remember, a change by its id."""

from typing import TypeVar

from temporalio import workflow

from activities.tenants import AskedTenantCall, TenantActivities
from perdure.names import Activity, Workflow
from perdure.temporal.attributes import TENANT
from perdure.values.memberships import Enrolment, MemberRequest
from perdure.values.requests import (
    ConsentRequest,
    Consents,
    RecallRequest,
    Reference,
    RememberRequest,
    Submitted,
)
from perdure.values.updates import Updated, UpdateRequest
from workflows import options
from workflows.failures import asked, required

R = TypeVar("R", ConsentRequest, MemberRequest, RecallRequest, RememberRequest, UpdateRequest)


@workflow.defn(name=Workflow.RECALL_MEMORY, sandboxed=False)
class RecallMemory:
    """Recalls. What it returns is where the result is kept for a few minutes: no history has it."""

    @workflow.run
    async def run(self, request: RecallRequest | None = None) -> Reference:
        """Recall on a worker."""
        request = await _asked(request, "give a RecallRequest")
        return await workflow.execute_activity(
            Activity.RECALL_MEMORY, request, result_type=Reference, summary="recall", **options.of_request()
        )


@workflow.defn(name=Workflow.REMEMBER_ITEMS, sandboxed=False)
class RememberItems:
    """Submits items as a job of their user's tenant."""

    @workflow.run
    async def run(self, request: RememberRequest | None = None) -> str:
        """Return the job's id; the job is a workflow of its own. Without items there is none."""
        request = await _asked(request, "give a RememberRequest")
        request = request.changed(asked_at=workflow.info().workflow_start_time)
        submitted = await workflow.execute_activity(
            Activity.REMEMBER, request, result_type=Submitted, summary="submit", **options.of_request()
        )
        workflow.upsert_search_attributes([TENANT.value_set(submitted.tenant)])
        return submitted.job


@workflow.defn(name=Workflow.UPDATE_MEMORY, sandboxed=False)
class UpdateMemory:
    """Changes one memory: corrects, refines, pins, forgets, merges, credits or reverts it."""

    @workflow.run
    async def run(self, request: UpdateRequest | None = None) -> Updated:
        """Make the change on a worker, however long a store is away; what is returned has no content."""
        request = await _asked(request, "give an UpdateRequest")
        request = request.changed(asked_at=workflow.info().workflow_start_time)
        updated = await workflow.execute_activity(
            Activity.UPDATE_MEMORY, request, result_type=Updated, summary=request.update.kind, **options.of_update()
        )
        workflow.upsert_search_attributes([TENANT.value_set(updated.tenant)])
        return updated


@workflow.defn(name=Workflow.SET_CONSENT, sandboxed=False)
class SetConsent:
    """Keeps what a user consents to."""

    @workflow.run
    async def run(self, request: ConsentRequest | None = None) -> Consents:
        """Return what holds of each purpose."""
        request = await _asked(request, "give a ConsentRequest")
        started = workflow.info().workflow_start_time
        request = request.changed(asked_at=min(request.asked_at or started, started))
        consents = await workflow.execute_activity(
            Activity.SET_CONSENT, request, result_type=Consents, summary="consent", **options.of_request()
        )
        workflow.upsert_search_attributes([TENANT.value_set(consents.tenant)])
        return consents


@workflow.defn(name=Workflow.SET_MEMBER, sandboxed=False)
class SetMember:
    """Adds a member to a team or an agent, or removes one. It belongs to the member, whose erasure deletes it."""

    @workflow.run
    async def run(self, request: MemberRequest | None = None) -> Enrolment:
        """Return what holds of the member."""
        request = await _asked(request, "give a MemberRequest")
        request = request.changed(asked_at=workflow.info().workflow_start_time)
        return await workflow.execute_activity(
            Activity.SET_MEMBER, request, result_type=Enrolment, summary="member", **options.of_request()
        )


async def _asked(request: R | None, fix: str) -> R:
    """Return a request once an erasure of the user who asks can find its run, whatever becomes of it.

    A request that is accepted for a team or an agent becomes theirs afterwards: the attribute holds one tenant.

    Raises:
        ApplicationError: The request is missing, or has an unknown field.
    """
    # Without an overall timeout: a run that failed before it is found would keep the text for good.
    asking = AskedTenantCall(user_id=required(request, fix).user_id)
    tenant = await options.change(TenantActivities.asked_tenant, asking, "Find the user's tenant")
    workflow.upsert_search_attributes([TENANT.value_set(tenant)])
    return asked(request, fix)
