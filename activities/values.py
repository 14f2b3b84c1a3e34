"""Steps that only work something out of what is known."""

from temporalio import activity

from perdure.agent.steps.calls import Ended, LetCall, WaitCall, Waits
from perdure.agent.steps.named import named
from perdure.agent.steps.values import Values
from perdure.agent.steps.waiting import waiting


class ValueActivities:
    """Works out what a ``let`` names, and until when a step waits.

    Args:
        values: Where large values are kept.
    """

    def __init__(self, values: Values) -> None:
        self._values = values

    @activity.defn
    async def let_step(self, call: LetCall) -> Ended:
        """Return what a ``let`` names."""
        return await named(call, self._values)

    @activity.defn
    async def wait_step(self, call: WaitCall) -> Ended | Waits:
        """Return until when a step waits; that it is skipped, where its ``when`` is false."""
        return await waiting(call, self._values)
