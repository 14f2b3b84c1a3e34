"""Changing memories by their ids as an activity."""

from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio import activity

from perdure.documents import refuse_unknown
from perdure.memory.policies import WritePolicy
from perdure.memory.updating.screening import screened_update
from perdure.memory.updating.updater import Updater
from perdure.names import Activity
from perdure.stores.tenant_key import TenantKey
from perdure.updates import Updated, UpdateRequest


@dataclass(frozen=True, kw_only=True)
class UpdatingActivities:
    """The changes that a person or an agent asks for."""

    updater: Updater
    tenant_key: TenantKey
    policy: WritePolicy

    @activity.defn(name=Activity.UPDATE_MEMORY)
    async def update(self, request: UpdateRequest) -> Updated:
        """Make a change of one memory; the workflow's run is the operation, so that a retry changes nothing more.

        Raises:
            InvalidInput: There is no such memory of the user, or the change makes no sense.
        """
        refuse_unknown(request)
        tenant = self.tenant_key.tenant_of(request.user_id)
        operation = f"update:{activity.info().workflow_run_id}"
        request = screened_update(request, self.policy)
        return await self.updater.update(tenant, request, operation=operation, at=datetime.now(UTC))
