"""A person promotes a lesson of a user to the installation, or withdraws one from it."""

from temporalio import workflow

from activities.lessons import LessonActivities
from activities.tenants import AskedTenantCall, TenantActivities
from perdure.names import Workflow
from perdure.temporal.attributes import TENANT
from perdure.values.lessons import LessonRequest, LessonSet
from workflows import options
from workflows.failures import asked, required


@workflow.defn(name=Workflow.SET_LESSON, sandboxed=False)
class SetLesson:
    """Sets one lesson. One that is promoted belongs to the user whose lesson it is: an erasure deletes the request."""

    @workflow.run
    async def run(self, request: LessonRequest | None = None) -> LessonSet:
        """Set it on a worker, however long a store is away."""
        user = required(request, "give a LessonRequest").user_id
        if user is not None:
            # First, so that the user's erasure finds the run also where the request is refused, or still waits.
            asking = AskedTenantCall(user_id=user)
            tenant = await options.change(TenantActivities.asked_tenant, asking, "Find the user's tenant")
            workflow.upsert_search_attributes([TENANT.value_set(tenant)])
        request = asked(request, "give a LessonRequest")
        request = request.changed(asked_at=workflow.info().workflow_start_time)
        done = await options.change(LessonActivities.set, request, "Promote a lesson, or withdraw one")
        workflow.upsert_search_attributes([TENANT.value_set(done.tenant)])
        return done
