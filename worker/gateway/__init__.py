"""The gateway: everything that an installation can be asked, for every face alike. Each call names its actor."""

from typing import TYPE_CHECKING

from perdure.errors import NothingRuns
from perdure.values.changes import Actor
from worker.gateway.access import AccessCalls
from worker.gateway.audit import AuditCalls
from worker.gateway.base import call
from worker.gateway.chats import ChatCalls
from worker.gateway.explanations import ExplanationCalls
from worker.gateway.health import HealthCalls
from worker.gateway.holds import HoldCalls
from worker.gateway.inbox import InboxCalls
from worker.gateway.lessons import LessonCalls
from worker.gateway.memories import MemoriesCalls
from worker.gateway.memory import MemoryCalls
from worker.gateway.owned_tasks import OwnedTaskCalls
from worker.gateway.schedules import ScheduleCalls
from worker.gateway.skills import SkillCalls
from worker.gateway.steering import SteeringCalls
from worker.gateway.task_list import TaskListCalls
from worker.gateway.tasks import TaskCalls, TaskHandle
from worker.gateway.transfers import TransferCalls

if TYPE_CHECKING:
    from worker.doctor import HealthFinding

__all__ = ["Gateway", "TaskHandle"]


class Gateway(
    HealthCalls,
    OwnedTaskCalls,
    HoldCalls,
    TransferCalls,
    InboxCalls,
    LessonCalls,
    SteeringCalls,
    ChatCalls,
    ScheduleCalls,
    SkillCalls,
    AuditCalls,
    ExplanationCalls,
    TaskCalls,
    TaskListCalls,
    AccessCalls,
    MemoriesCalls,
    MemoryCalls,
):
    """One installation, as its callers see it.

    Args:
        settings: The task queue, and where the tenant key is.
        addresses: Where the servers are; None: those that run here, looked for when one is needed.
        notify: Called with a sentence for a person when something takes a moment.
        plugins: More plugins for Temporal's client.

    Every method raises Perdure's errors and never Temporal's: StoreUnavailable if a server that it needs does not
    answer, InvalidInput for what it or a worker refuses, with the field and the fix, WorkflowCancelled for what was
    cancelled. What a worker raised arrives with the same class and code.
    """

    @call
    async def status(self, *, quick: bool = False, deep: bool = False, by: Actor) -> "list[HealthFinding]":
        """Return what every check of servers, durability, keys, models and skills finds.

        Where nothing runs, that is the first finding, before those of what can be checked without servers.

        Args:
            quick: Only what a container's health depends on: Temporal and a worker.
            deep: Also compare what is stored of every user with what is found by meaning.
            by: Who asks.
        """
        from worker import doctor  # noqa: PLC0415  it loads every client

        try:
            patient = doctor.Patient(settings=self._settings, addresses=self._addresses)
        except NothingRuns as error:
            without = [] if quick else await doctor.examine_without_servers(self._settings)
            return [doctor.nothing_runs(error), *without]
        return await doctor.examine(patient, quick=quick, deep=deep)
