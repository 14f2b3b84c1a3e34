"""Recall for callers outside a task that have no tenant key."""

from datetime import UTC, datetime

from temporalio import activity

from perdure.documents import refuse_unknown
from perdure.errors import ResultTooLarge
from perdure.memory.membership import MemberBook
from perdure.memory.recall.query import Query, RecallResult
from perdure.memory.recall.service import Recall
from perdure.names import Activity
from perdure.stores.redis.outputs import Outputs
from perdure.tools import RESULT_LIMIT
from perdure.values.changes import Actor, ActorKind
from perdure.values.requests import HandleItem, RecallHandle, RecallRequest, Reference


class MemoryActivities:
    """Recall outside of tasks.

    Args:
        recall: The worker's recall service.
        members: Knows whose memory a user may ask for.
        results: Where results wait until they are fetched.
    """

    def __init__(self, recall: Recall, members: MemberBook, results: Outputs) -> None:
        self._recall = recall
        self._members = members
        self._results = results

    @activity.defn(name=Activity.RECALL_HANDLE)
    async def recall_handle(self, request: RecallRequest) -> RecallHandle:
        """Recall from every tier, and return what was found without its text.

        Raises:
            InvalidInput: The question is malformed.
            UnknownOwner: The user does not belong to whom it names, or there is no such owner.
        """
        found = await self._recalled(request, await self._tenant(request))
        items = tuple(HandleItem(id=item.id, version=item.version, score=item.score) for item in found.items)
        return RecallHandle(items=items, of=request.of, degraded=found.degraded, withheld=found.withheld)

    @activity.defn(name=Activity.RECALL_MEMORY)
    async def recall_memory(self, request: RecallRequest) -> Reference:
        """Recall from every tier, and return where the result is kept; if a store is down, the result is degraded.

        Raises:
            InvalidInput: The question is malformed.
            UnknownOwner: The user does not belong to whom it names, or there is no such owner.
            TenantErased: The memory's owner was erased meanwhile.
            ResultTooLarge: There is more under the keys than can be returned to a caller.
        """
        tenant = await self._tenant(request)
        epoch = await self._results.epoch(tenant)
        found = await self._recalled(request, tenant)
        encoded = found.model_dump_json()
        if (size := len(encoded.encode())) > RESULT_LIMIT:
            raise ResultTooLarge(
                f"the result has {size:,} bytes, and at most {RESULT_LIMIT:,} can be returned (ask for fewer keys)"
            )
        return Reference(tenant=tenant, id=await self._results.keep(tenant, encoded, epoch=epoch))

    async def _tenant(self, request: RecallRequest) -> str:
        refuse_unknown(request)
        return await self._members.tenant(request.user_id, request.of)

    async def _recalled(self, request: RecallRequest, tenant: str) -> RecallResult:
        info = activity.info()
        # A workflow that names no actor is the actor itself.
        by = request.by if "by" in request.model_fields_set else Actor(kind=ActorKind.AGENT, id=info.workflow_id or "")
        operation = f"recall:{info.workflow_run_id}:{info.activity_id}"
        query = Query.of(request, tenant=tenant, now=datetime.now(UTC), by=by, operation=operation)
        return await self._recall.recall(query)
