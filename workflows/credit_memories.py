"""Learning from how a task ended: the memories that it recalled are credited, behind its result."""

from temporalio import workflow

from activities.credits import CreditActivities
from perdure.agent.steps.task_calls import CreditCall
from perdure.names import Workflow
from workflows import options
from workflows.failures import required


@workflow.defn(name=Workflow.CREDIT_MEMORIES, sandboxed=False)
class CreditMemories:
    """Credits the memories of one task that has ended, once the stores answer."""

    @workflow.run
    async def run(self, call: CreditCall | None = None) -> int:
        """Credit them on a worker; returns how many there were."""
        call = required(call, "give a CreditCall")
        return await options.change(CreditActivities.credit, call, "Count the task as a trial of what it recalled")
