"""Steps that call activities and workflows of others: what surrounds the call, which is made by the task's workflow."""

from datetime import timedelta

from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.common import RawValue
from temporalio.service import RPCError, RPCStatusCode

from activities.episodes import SessionWriter
from activities.steps import asking, this_attempt
from perdure.agent.steps.calls import Asks, Calls, Ended
from perdure.agent.steps.foreign import ForeignSteps
from perdure.agent.steps.foreign_calls import AwaitCall, Awaited, EndCall, ForeignCall
from perdure.errors import InvalidSkill, NotDone, WorkflowFailed
from perdure.names import BINDING, Activity, Workflow
from perdure.skills.foreign import ActivityStep, TaskStep
from perdure.temporal.errors import failure_of, of_call
from perdure.temporal.failures import still_running, tokens_of_task
from perdure.temporal.heartbeats import beats
from perdure.temporal.raw import NotJson, json_of
from perdure.toolbox import Toolbox
from perdure.values.bindings import TaskBinding

_OURS = frozenset(one.value for one in Activity)
_OUR_WORKFLOWS = frozenset(one.value for one in Workflow) - {Workflow.RESUMABLE_AGENT.value}

_AGAIN_AFTER = timedelta(seconds=5)
"""How long until it is looked again whether a workflow has ended: a choice between calls and waiting."""


class ForeignActivities:
    """Works out calls, and takes up what they give back.

    Args:
        steps: What a call is, and what becomes of it.
        client: Knows the workflows that were started.
        session: Records what a step has learned.
        toolbox: The tools, which policies guard only where they are called as tools.
    """

    def __init__(self, steps: ForeignSteps, client: Client, session: SessionWriter, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._steps = steps
        self._client = client
        self._session = session

    @activity.defn(name=Activity.BEGIN_CALL)
    async def begin_call(self, call: ForeignCall) -> Calls | Ended:
        """Return what is to be called, or the outcome of a call that was made in an earlier run.

        Raises:
            InvalidSkill: It is a tool, or an activity or a workflow of this installation itself.
            ApplicationError: A person is asked first.
        """
        self._require_foreign(call)
        # Not the same where the step is begun again in one run: what became of the call before may not have been noted.
        owner = f"{activity.info().workflow_run_id}/{call.path}/{activity.info().activity_id}"
        outcome = await self._steps.begin(call, this_attempt(), owner, self._is_known)
        await self._session.answered(call, this_attempt())
        if isinstance(outcome, Asks):
            raise asking(outcome, call.path)
        return outcome

    @activity.defn(name=Activity.END_CALL)
    async def end_call(self, call: EndCall) -> Ended | Asks:
        """Return the outcome of a step whose call has ended."""
        # Also where the step fails as the result is not what it expects.
        beats().tokens = call.used
        outcome = await self._steps.end(call)
        if isinstance(outcome, Ended):
            await self._session.called(call, this_attempt().workflow_id, outcome)
        return outcome

    @activity.defn(name=Activity.AWAIT_WORKFLOW)
    async def await_workflow(self, call: AwaitCall) -> Awaited:
        """Return what a workflow gave back.

        Raises:
            WorkflowFailed: It did not complete, gave back what is not JSON, or is another task by now.
            ApplicationError: It is still running, or it was another task before it could be called.
        """
        handle = self._client.get_workflow_handle(call.workflow_id, result_type=RawValue)
        try:
            found = await handle.describe()
            if call.task is not None:
                _require_same(call, call.task, await found.memo_value(BINDING, None, type_hint=TaskBinding))
            if found.status is WorkflowExecutionStatus.RUNNING:
                raise still_running(call.workflow_id, again_after=_AGAIN_AFTER)
            return Awaited(output=json_of(await handle.result()))
        except NotJson as problem:
            raise WorkflowFailed(f"the workflow {call.workflow_id} {problem}") from None
        except WorkflowFailureError as problem:
            cause = problem.cause
            # Where its caller has continued as new, only this activity learns what a task that failed has used.
            beats().tokens = tokens_of_task(cause)
            raise WorkflowFailed(f"the workflow {call.workflow_id} failed: {type(cause).__name__}: {cause}") from None
        except RPCError as error:
            raise of_call(error) from error

    def _require_foreign(self, call: ForeignCall) -> None:
        step = call.step
        if step.queue != activity.info().task_queue:
            return
        field = f"{call.path}.{step.kind}"
        if isinstance(step, TaskStep):
            return
        if step.called in self._toolbox:
            # Called so, it would get a task and approvals that the skill makes up.
            raise InvalidSkill(field, f"{step.called!r} is a tool", fix=f"write tool: {step.called}")
        if step.called in (_OURS if isinstance(step, ActivityStep) else _OUR_WORKFLOWS):
            raise InvalidSkill(field, f"{step.called!r} belongs to Perdure itself", fix="name one of your own")

    async def _is_known(self, workflow_id: str) -> bool:
        try:
            await self._client.get_workflow_handle(workflow_id).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return False
            raise of_call(error) from error
        return True


def _require_same(call: AwaitCall, task: TaskBinding, bound: TaskBinding | None) -> None:
    """Refuse to take the result of another task for that of a call.

    Args:
        call: What is waited for.
        task: What was called.
        bound: What the workflow runs; None: it is not prepared yet, or was refused.

    Raises:
        WorkflowFailed: The call may have been made before its id stood for the other task.
        ApplicationError: It was surely not made.
    """
    if bound is None or task.is_same_call(bound):
        return
    differs = f"{call.workflow_id} is another task, which differs in {', '.join(task.differences(bound))}"
    if call.was_found:
        raise WorkflowFailed(differs)
    raise failure_of(NotDone(f"not called: {differs} (call it again)"), retryable=False)
