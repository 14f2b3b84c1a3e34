"""The undoing of a task's effects: notes that it begins. What undoes each of them is a tool's own activity."""

from temporalio import activity

from perdure.agent.steps.task_calls import CompensateCall, Compensating
from perdure.names import Activity
from perdure.stores.redis.bindings import TaskBindings


class CompensationActivities:
    """Has tasks compensate.

    Args:
        bindings: What task ids stand for.
    """

    def __init__(self, bindings: TaskBindings) -> None:
        self._bindings = bindings

    @activity.defn(name=Activity.BEGIN_COMPENSATING)
    async def begin_compensating(self, call: CompensateCall) -> Compensating:
        """Note that a task's effects are undone from now on, so that no later run of it takes one for done.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        await self._bindings.compensate(call.tenant, call.task_id, epoch=call.epoch)
        return Compensating()
