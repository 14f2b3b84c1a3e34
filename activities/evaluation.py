"""A task's last activity: what it gives back, and whether that is what its skill promises."""

from temporalio import activity

from activities.heartbeats import beating
from perdure.procedures.calls import EvaluateCall, Evaluated
from perdure.procedures.running import StepRunner


class EvaluationActivities:
    """Evaluates tasks."""

    def __init__(self, runner: StepRunner) -> None:
        self._runner = runner

    @activity.defn
    async def evaluate_task(self, call: EvaluateCall) -> Evaluated:
        """Evaluate a skill's ``output`` and ``expect``."""
        async with beating():
            return await self._runner.evaluate(call)
