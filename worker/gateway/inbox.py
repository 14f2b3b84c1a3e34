"""The inbox: everything that people are asked, by tasks, memories on hold and workflows of anybody's own."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from temporalio.client import WorkflowExecution, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from perdure.names import QUESTIONS, Attribute, Workflow
from perdure.temporal.errors import is_cancelling
from perdure.values.changes import Actor
from perdure.values.holds import tenant_of
from perdure.values.inbox import OpenQuestion
from perdure.values.questions import Question
from perdure.values.tasks import Phase
from worker.gateway.base import ANSWERED_WITHIN, call
from worker.gateway.memories import MemoriesCalls
from worker.gateway.tasks import NOBODY_ANSWERS, TaskCalls

if TYPE_CHECKING:
    from worker.reader import Reader

_TASKS = f"(WorkflowType = '{Workflow.RESUMABLE_AGENT}' AND {Attribute.PHASE} = '{Phase.WAITING}')"
_ASKED = f"WorkflowType = '{Workflow.ASK_PERSON}'"
_HELD = f"WorkflowType = '{Workflow.HOLD_MEMORY}'"


class InboxCalls(TaskCalls, MemoriesCalls):
    """Looking at what waits for a person. ``answer`` answers each, by the workflow's id and the question's."""

    @call
    async def inbox(
        self, user_id: str | None = None, *, of: str | None = None, holds: bool = True, limit: int = 50, by: Actor
    ) -> list[OpenQuestion]:
        """Return the questions that wait for a person, those of the workflow that has run longest first.

        Args:
            user_id: Whose: questions of their tasks and workflows, and their memories on hold. None: everybody's;
                memories on hold only if this process has the tenant key, as who reads them is audited.
            of: The team or agent whose memories on hold are meant; None: the user's own.
            holds: Whether memories on hold are among them.
            limit: How many at most.
            by: Who looks.

        Raises:
            UnknownOwner: The user does not belong to the owner, or there is no such owner.
            TenantKeyMissing: A user is given, and this process has no tenant key.
            WorkerUnavailable: No worker serves the task queue, and only a worker knows.
        """
        if user_id is None:
            await self.served()
            auditing = await self._own_reader() if holds else None
            kinds = f"{_TASKS} OR {_ASKED} OR {_HELD}" if auditing else f"{_TASKS} OR {_ASKED}"
            found = [one async for one in self._open(kinds, limit)]
            return await _audited(auditing, found, by) if auditing else found
        reader = await self._keyed_reader()
        tenant = await reader.tenant(user_id, of)
        await self.served()
        kinds = _HELD if of else f"{_TASKS} OR {_ASKED} OR {_HELD}" if holds else f"{_TASKS} OR {_ASKED}"
        query = f"{Attribute.TENANT} = '{tenant}' AND ({kinds})"
        return await _audited(reader, [one async for one in self._open(query, limit)], by)

    async def _open(self, query: str, limit: int) -> AsyncGenerator[OpenQuestion]:
        """Yield the questions of the workflows that a query finds."""
        client, found, silent, answers = await self.client(), 0, 0, 0
        open_ = f"({query}) AND TaskQueue = '{self._settings.task_queue}' AND ExecutionStatus = 'Running'"
        running = [run async for run in client.list_workflows(open_)]
        # A page of the list is one call, and each workflow another one.
        for run in sorted(running, key=lambda one: (one.start_time, one.id)):
            asked = await self._asked_by(run)
            silent, answers = silent + (asked is None), answers + (asked is not None)
            for question in asked or ():
                if found >= limit:
                    return
                found += 1
                asker = run.parent_id if run.workflow_type == Workflow.ASK_PERSON else None
                yield OpenQuestion(workflow_id=run.id, kind=run.workflow_type, asker=asker or "", question=question)
            if found >= limit:
                return
        if silent and not answers:
            raise self.unserved(silent=await self.serving())

    async def _asked_by(self, run: WorkflowExecution) -> tuple[Question, ...] | None:
        """Return what a workflow asks; None where no worker can tell, which must not hide what others ask."""
        handle = (await self.client()).get_workflow_handle(run.id, run_id=run.run_id)
        try:
            return await handle.query(QUESTIONS, result_type=tuple[Question, ...], rpc_timeout=ANSWERED_WITHIN)
        except RPCError as error:
            # The list lags behind.
            if error.status is RPCStatusCode.NOT_FOUND:
                return ()
            if error.status not in NOBODY_ANSWERS or is_cancelling():
                raise
            self._notify(f"{run.id} does not say what it asks: no worker answers for it")
            return None
        except WorkflowQueryFailedError:
            self._notify(f"{run.id} does not say what it asks: no worker of this version can tell")
            return None


async def _audited(reader: "Reader", found: list[OpenQuestion], by: Actor) -> list[OpenQuestion]:
    """Audit whose memories on hold are shown, and return what is: no hold whose id does not say whose it is."""
    held: dict[str, list[str]] = {}
    for one in found:
        if one.kind == Workflow.HOLD_MEMORY:
            held.setdefault(tenant_of(one.workflow_id), []).append(one.workflow_id)
    nobodys = held.pop("", [])
    for tenant, ids in held.items():
        await reader.audited(tenant, ids, "held", by)
    return [one for one in found if one.workflow_id not in nobodys]
