"""A person's word on a task, as activities: into its session and, once it has ended, instead of how it ended itself."""

from dataclasses import dataclass

from temporalio import activity
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from activities.episodes import SessionWriter
from activities.outcomes import EndedTask, TaskOutcomes
from perdure.crashpoints import CrashPoint, reached
from perdure.documents import refuse_unknown
from perdure.errors import InvalidTask, TaskConflict
from perdure.memory.audit.audit import Audit
from perdure.names import BINDING, SESSION, TASK, Activity, Workflow
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.redis.leases import Leases
from perdure.temporal.attributes import TENANT
from perdure.temporal.errors import of_call
from perdure.values.bindings import TaskBinding
from perdure.values.feedback import FeedbackNote, LateFeedback, LateFeedbackCall, LateVerdict, verdict
from perdure.values.steering import GivenFeedback, require_judge, require_named
from perdure.values.tasks import TaskResult

JUDGED = "task judged"
"""The reason that the audit records."""


@dataclass(frozen=True, kw_only=True)
class FeedbackActivities:
    """The activities that take a person's word, and what they need."""

    client: Client
    outcomes: TaskOutcomes
    session: SessionWriter
    audit: Audit
    leases: Leases
    erasures: RedisErasures

    @activity.defn(name=Activity.NOTE_FEEDBACK)
    async def note(self, call: FeedbackNote) -> None:
        """Write what a person says of a running task into the task's session."""
        workflow_id = str(activity.info().workflow_id)
        await self.session.judged(call.tenant, call.session, call.given, call.id, workflow_id, epoch=call.epoch)

    @activity.defn(name=Activity.JUDGE_TASK)
    async def judge(self, call: LateFeedbackCall) -> LateVerdict:
        """Keep what a person says of a task that has ended, and count the task accordingly.

        Raises:
            InvalidTask: There is no such task, it is open or was run again since, or takes no more feedback; or whoever
                says so is no person.
            TenantErased: The user was erased after this was said.
            StoreUnavailable: A store does not answer.
        """
        said, at = call.feedback, call.at or activity.info().scheduled_time
        refuse_unknown(said, error=InvalidTask)
        require_named(said.by)
        require_judge(said.by)
        found = await self._ended(call)
        tenant, task_id, binding = await _identified(call.workflow_id, found)
        epoch = await self.erasures.epoch_since(tenant, at)
        await self.audit.ready()
        given = GivenFeedback(step=said.step, passed=said.passed, text=said.text, by=said.by, at=at)
        word = LateFeedback(id=said.id or str(activity.info().workflow_id), first_run=call.first_run, given=given)
        await self.outcomes.feedback.add(tenant, task_id, word, epoch=epoch)
        reached(CrashPoint.FEEDBACK_KEPT)
        if session := await found.memo_value(SESSION, "", type_hint=str):
            await self.session.judged(tenant, session, given, word.id, call.workflow_id, epoch=epoch)
        own = await self._succeeded(call.workflow_id, found)
        task = EndedTask(tenant=tenant, task_id=task_id, first_run=call.first_run, succeeded=bool(own))
        every = await self.outcomes.feedback.of(tenant, task_id, call.first_run)
        decided = verdict(every)
        # One that somebody cancelled says nothing about its skill, unless a person says it.
        if binding.skill and (decided is not None or own is not None):
            await self.outcomes.tried(task, binding.version)
        operation = f"feedback:{activity.info().workflow_run_id}"
        credited = await self.outcomes.credit(task, found.id, operation=operation, by=said.by, again=True)
        await self.audit.changed(tenant, {JUDGED: (found.id,)}, operation=operation, by=said.by, again=True)
        return LateVerdict(
            tenant=tenant,
            succeeded=task.succeeded if decided is None else decided,
            credited=credited,
            feedback=tuple(one.given for one in every),
        )

    async def _ended(self, call: LateFeedbackCall) -> WorkflowExecutionDescription:
        """Return what Temporal says of the task.

        Raises:
            InvalidTask: There is none, or it is open, or was run again.
        """
        try:
            found = await self.client.get_workflow_handle(call.workflow_id).describe()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise of_call(error) from error
            raise InvalidTask("task", f"there is none with the id {call.workflow_id}") from error
        if found.workflow_type != Workflow.RESUMABLE_AGENT:
            raise InvalidTask("task", f"{call.workflow_id} is a {found.workflow_type}, and no task")
        if found.raw_info.first_run_id != call.first_run:
            fix = "judge that run: perdure status shows how it ended"
            raise TaskConflict("task", f"{call.workflow_id} was run again since", fix=fix)
        if found.status is WorkflowExecutionStatus.RUNNING:
            raise TaskConflict("task", f"{call.workflow_id} has not ended", fix="send it the feedback itself")
        return found

    async def _succeeded(self, workflow_id: str, found: WorkflowExecutionDescription) -> bool | None:
        """Return whether the task itself says that it succeeded; None: somebody ended it."""
        match found.status:
            case WorkflowExecutionStatus.COMPLETED:
                handle = self.client.get_workflow_handle(workflow_id, run_id=found.run_id, result_type=TaskResult)
                result = await handle.result()
                return result.evaluation is None or result.evaluation.passed
            case WorkflowExecutionStatus.FAILED:
                return False
            case _:
                return None


async def _identified(workflow_id: str, found: WorkflowExecutionDescription) -> tuple[str, str, TaskBinding]:
    """Return whose task it is, its id, and what that stands for, as its workflow has noted.

    Raises:
        InvalidTask: It was refused before its first step.
    """
    tenant = found.typed_search_attributes.get(TENANT)
    task_id = await found.memo_value(TASK, "", type_hint=str)
    binding = await found.memo_value(BINDING, None, type_hint=TaskBinding)
    if not (tenant and task_id and binding):
        raise TaskConflict("task", f"{workflow_id} ended before its first step: there is nothing to judge")
    return tenant, task_id, binding
