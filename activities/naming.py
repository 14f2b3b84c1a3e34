"""Steps that only work something out of what is known."""

from temporalio import activity

from perdure.agent.steps.calls import Ended, LetCall
from perdure.agent.steps.named import named
from perdure.agent.steps.values import Values


class NamingActivities:
    """Works out what a ``let`` names.

    Args:
        values: Where large values are kept.
    """

    def __init__(self, values: Values) -> None:
        self._values = values

    @activity.defn
    async def let_step(self, call: LetCall) -> Ended:
        """Return what a ``let`` names."""
        return await named(call, self._values)
