"""The workflow of a task: prepares it, has its plan run, ends it. Touches nothing; every effect is an activity."""

import asyncio
from contextlib import suppress

from temporalio import workflow
from temporalio.exceptions import (
    ApplicationError,
    FailureError,
    WorkflowAlreadyStartedError,
    is_cancelled_exception,
)

from activities.tenants import AskedTenantCall, TenantActivities
from perdure.agent.chat_plan import ChatPlan
from perdure.agent.goal_plan import GoalPlan, conversation_of
from perdure.agent.plan import Finish, Plan, spent
from perdure.agent.preparation import PrepareCall, PreparedTask
from perdure.agent.reports import result_of
from perdure.agent.reused_steps import LeftBySteps, StepsAsked, left_by
from perdure.agent.skill_plan import SkillPlan
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.steering import judged_by_people
from perdure.agent.steps.task_calls import CreditCall, Evaluated, SkillTrial
from perdure.agent.turns import Conversation
from perdure.errors import InvalidAnswer, InvalidEvent, InvalidInput, InvalidTask, TaskFailed
from perdure.names import (
    ANSWER,
    CONVERSATION,
    DELIVER,
    HANDLED,
    MEMORY,
    PROGRESS,
    QUESTIONS,
    RESULT,
    STEPS,
    Activity,
    Workflow,
)
from perdure.temporal.attributes import AGENT, PHASE, SCHEDULED_START, SKILL, TASK_TIMEOUT, TENANT, tenant_attributes
from perdure.temporal.errors import failure_of
from perdure.values.events import Event
from perdure.values.explanations import TaskMemory
from perdure.values.questions import Answer, Question
from perdure.values.schedules import started_at
from perdure.values.tasks import Phase, Progress, TaskResult
from workflows import options
from workflows.claim_renewal import ClaimRenewal
from workflows.compensation import compensate
from workflows.conversation_updates import ConversationUpdates
from workflows.deadline import within_deadline
from workflows.evaluation import evaluate
from workflows.failures import done
from workflows.plan_runner import SUBMITS, PlanRunner
from workflows.running_task import RunningTask
from workflows.steerable import Steerable

LAST_SUBMITS = options.OUTAGE
"""How long a task's end waits until what it learned is accepted; it is accepted once it is in the journal."""


@workflow.defn(name=Workflow.RESUMABLE_AGENT, sandboxed=False)
class ResumableAgent(Steerable, ConversationUpdates):
    """A durable task that runs a skill, or works towards a goal, or converses.

    Start it by its name with an ``AgentTask``. The query ``progress`` returns where it is, ``questions`` what it
    waits for, the update ``answer`` answers one, and ``deliver`` delivers an event that a step waits for. The other
    updates are those of ``Steerable`` and ``ConversationUpdates``.
    """

    @workflow.init
    def __init__(self, task: TaskRun | None = None) -> None:
        self._refused: InvalidTask | None = None
        try:
            self._running = RunningTask(_of_schedule(task))
        except InvalidTask as error:
            # Raised here, it would be retried for ever.
            self._running, self._refused = RunningTask(task), error
        self._keeper = ClaimRenewal(self._running)
        self._result: TaskResult | None = None

    @workflow.run
    async def run(self, task: TaskRun | None = None) -> TaskResult:
        """Run a task to its end, and return its result."""
        if task is None:
            raise failure_of(InvalidTask("task", "is missing", fix="give an AgentTask"))
        if self._refused is not None:
            raise failure_of(self._refused)
        if task.carried is not None and workflow.info().continued_run_id is None:
            raise failure_of(InvalidTask("carried", "is not a field here"))
        if task.pinned is not None and workflow.info().parent is None:
            raise failure_of(InvalidTask("pinned", "is not a field here"))
        try:
            return await self._finished(await self._run())
        except TaskFailed as failure:
            problem = failure.args[0]
            result = await self._end(Phase.FAILED, problem)
            raise ApplicationError(problem, result, type=TaskFailed.__name__, non_retryable=True) from failure
        except Exception as error:
            if is_cancelled_exception(error):
                await self._end(Phase.CANCELLED, "cancelled")
            elif isinstance(error, FailureError):
                await self._end(Phase.FAILED, str(error))
            raise
        except asyncio.CancelledError:
            await self._end(Phase.CANCELLED, "cancelled")
            raise

    @workflow.query(name=RESULT)
    def result(self) -> TaskResult | None:
        """Return how the task ended; None while it is open. Temporal keeps no result of a cancelled workflow."""
        return self._result

    @workflow.query(name=PROGRESS)
    def progress(self) -> Progress:
        """Return where the task is."""
        return self._running.progress()

    @workflow.query(name=MEMORY)
    def memory(self) -> TaskMemory:
        """Return what the task has recalled and handed to memory."""
        return self._running.memory()

    @workflow.query(name=CONVERSATION)
    def conversation(self) -> Conversation | None:
        """Return the turns of the task's model; None where it has none."""
        running = self._running
        return conversation_of(running.state, running.steering.unread) if running.is_prepared else None

    @workflow.query(name=STEPS)
    def steps(self, asked: StepsAsked) -> LeftBySteps:
        """Return what steps of its skill left that ended in this run."""
        return left_by(self._running.state, asked.steps) if self._running.is_prepared else LeftBySteps()

    @workflow.query(name=QUESTIONS)
    def questions(self) -> tuple[Question, ...]:
        """Return what the task waits for."""
        return self._running.questions.takes

    @workflow.update(name=ANSWER)
    async def answer(self, answer: Answer) -> Progress:
        """Answer a question; recorded at once, so that nothing can come between."""
        self._running.questions.answer(answer, workflow.now())
        return self.progress()

    @answer.validator
    def _refuse_answer(self, answer: Answer) -> None:
        try:
            self._running.questions.check(answer)
        except InvalidAnswer as error:
            # Raised unchanged, it would lose its field and its fix on the way to the caller.
            raise failure_of(error) from None

    @workflow.update(name=DELIVER)
    async def deliver(self, event: Event) -> Progress:
        """Deliver an event; recorded at once, so that nothing can come between."""
        running = self._running
        running.events.deliver(event, workflow.now())
        if not running.is_prepared:
            # Only now it is known which events its skill waits for.
            await workflow.wait_condition(lambda: running.is_prepared or running.branches.ending)
            try:
                running.require_awaited(event)
            except InvalidEvent as error:
                running.events.drop(event)
                raise failure_of(error) from None
        running.show()
        return self.progress()

    @deliver.validator
    def _refuse_event(self, event: Event) -> None:
        try:
            self._running.check_event(event)
        except InvalidInput as error:
            raise failure_of(error) from None

    def plan(self) -> Plan:
        """Return what decides about this task."""
        task, prepared = self._running.task, self._running.state.prepared
        if prepared.agent is None:
            return SkillPlan(task, prepared)
        return ChatPlan(task, prepared) if task.chat else GoalPlan(task, prepared)

    def runner(self) -> PlanRunner:
        """Return what runs its plan."""
        return PlanRunner(self._running, self.plan())

    async def _run(self) -> Finish:
        """Prepare the task, unless an earlier run did, and run its plan."""
        if self._running.is_prepared:
            await self._require_own()
        else:
            await self._prepare()
        running = self._running
        if workflow.info().run_id != workflow.info().original_execution_run_id:
            # The run was reset: what comes next may have happened in the run that it was reset from.
            running.state = running.state.changed(earlier=running.state.earlier or running.state.started_at)
        prepared = running.state.prepared
        task = running.task
        running.outbox.start(task.user_id, prepared.tenant, prepared.epoch, task.agent, task.session)
        self._keeper.start()
        running.enter(Phase.RUNNING)
        return await within_deadline(running, self.runner().run())

    async def _require_own(self) -> None:
        """Refuse carried state of another user: Temporal lets any workflow continue as one of this type.

        Raises:
            ApplicationError: It is another user's; nothing of it is used, not even at the end.
        """
        looking = asyncio.create_task(self._tenant())
        try:
            tenant = await asyncio.shield(looking)
        except asyncio.CancelledError:
            self._refuse_unless(await looking)
            raise
        self._refuse_unless(tenant)

    def _refuse_unless(self, tenant: str) -> None:
        if tenant != self._running.state.prepared.tenant:
            self._running = RunningTask(self._running.task.changed(carried=None))
            self._keeper = ClaimRenewal(self._running)
            raise failure_of(InvalidTask("carried", "is not a field here"))

    async def _tenant(self) -> str:
        asking = AskedTenantCall(user_id=self._running.task.user_id)
        return await options.change(TenantActivities.asked_tenant, asking, "Find the user's tenant")

    async def _prepare(self) -> None:
        task = self._running.task
        labels = [AGENT.value_set(task.agent), PHASE.value_set(Phase.PREPARING)]
        labels += [SKILL.value_set(task.skill)] if task.skill else []
        # First, so that the user's erasure finds the run also where the task is refused.
        tenant = await self._tenant()
        workflow.upsert_search_attributes([*labels, TENANT.value_set(tenant)])
        first_run = workflow.info().first_execution_run_id
        begun = workflow.info().workflow_start_time
        call = PrepareCall(task=task.asked, started_at=begun, first_run=first_run, begin=task.begin, pinned=task.pinned)
        how = options.of_preparation(begins=task.begin is not None)
        prepared = await done(Activity.PREPARE_TASK, call, PreparedTask, task.title, how)
        now = workflow.now()
        if task.begin is not None and prepared.binding is not None and prepared.binding.begins is not None:
            self._running.steering.begun(task.begin.by, now, prepared.binding.begins.told)
        self._running.state = TaskState(prepared=prepared, started_at=now, renewed_at=now, earlier=prepared.earlier)
        self._running.state = self.plan().begin(self._running.state)
        workflow.upsert_memo(self._running.memo)

    async def _finished(self, finish: Finish) -> TaskResult:
        """End a task that its plan has finished."""
        if finish.problem:
            raise TaskFailed(finish.problem)
        self._running.enter(Phase.EVALUATING)
        evaluated = Evaluated(output=finish.output, evaluation=None)
        if finish.evaluation is not None:
            state = self._running.state
            evaluated = await evaluate(state.prepared, finish.evaluation, spent(self._running.task.limits, state))
            self._running.state = self._running.state.changed(tokens=self._running.state.tokens + evaluated.tokens)
        evaluation = judged_by_people(evaluated.evaluation, self._running.steering.steered.feedback)
        return await self._end(Phase.COMPLETED, "", evaluated.changed(evaluation=evaluation))

    async def _end(self, phase: Phase, problem: str, evaluated: Evaluated | None = None) -> TaskResult:
        """End the task. An end that has begun is not cut: a cancellation changes nothing about it any more."""
        ending = asyncio.create_task(self._leave(phase, problem, evaluated))
        with suppress(asyncio.CancelledError):
            await asyncio.shield(ending)
        return await ending

    async def _leave(self, phase: Phase, problem: str, evaluated: Evaluated | None) -> TaskResult:
        """Leave nothing behind: what is on its way is cancelled, what was learned is submitted, claims are kept.

        The effects of a task that did not complete are undone.
        """
        running = self._running
        running.close(phase)
        running.chat.close(problem)
        if running.task.chat:
            workflow.upsert_memo({HANDLED: running.chat.handed_on})
        await running.branches.cancel()
        await self._cancel_unattached()
        running.questions.withdraw_all()
        if running.is_prepared and phase is not Phase.COMPLETED:
            await compensate(running)
        running.outbox.flush()
        if not await running.outbox.settle(SUBMITS):
            running.enter(Phase.REMEMBERING)
            await running.outbox.close(LAST_SUBMITS)
        if running.is_prepared:
            succeeded = _is_success(phase, evaluated)
            await self._keeper.end(completed=phase is Phase.COMPLETED, trial=self._trial(phase, succeeded=succeeded))
            await self._credit(succeeded=succeeded)
        await running.notes.settle()
        running.problem = problem
        running.enter(phase)
        await workflow.wait_condition(workflow.all_handlers_finished)
        result = result_of(running.task, running.whole, phase, problem)
        if evaluated is not None:
            result = result.changed(output=evaluated.output, evaluation=evaluated.evaluation)
        self._result = result
        return result

    async def _cancel_unattached(self) -> None:
        """Cancel the workflows for which an earlier run waited, and to which this one has not attached yet."""
        branches = self._running.state.branches.values() if self._running.is_prepared else ()
        for branch in branches:
            if branch.calls is not None:
                # It may have ended.
                with suppress(FailureError):
                    await workflow.get_external_workflow_handle(branch.calls.child).cancel()

    def _trial(self, phase: Phase, *, succeeded: bool) -> SkillTrial | None:
        """Return how the task counts as one of its skill; one that somebody cancelled says nothing about it."""
        prepared = self._running.state.prepared
        if prepared.skill is None or phase is Phase.CANCELLED:
            return None
        first_run = workflow.info().first_execution_run_id
        return SkillTrial(version=prepared.version, first_run=first_run, succeeded=succeeded)

    async def _credit(self, *, succeeded: bool) -> None:
        """Leave it to a workflow of its own to credit what was recalled: no store delays or fails the result."""
        task, state = self._running.task, self._running.state
        if not (state.recalled and task.memory.remembers):
            return
        tenant, first_run = state.prepared.tenant, workflow.info().first_execution_run_id
        # The one of a run that was reset may still wait for a store, and does the same.
        with suppress(WorkflowAlreadyStartedError):
            await workflow.start_child_workflow(
                Workflow.CREDIT_MEMORIES,
                CreditCall(
                    tenant=tenant, task_id=task.task_id, task=task.workflow_id, first_run=first_run, succeeded=succeeded
                ),
                id=f"credit-{first_run}",
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                search_attributes=tenant_attributes(tenant),
                task_timeout=TASK_TIMEOUT,
                static_summary="Credits what the task recalled",
            )


def _is_success(phase: Phase, evaluated: Evaluated | None) -> bool:
    """Return whether a task did what it was to do: it completed, and its output is what its skill promises."""
    evaluation = evaluated.evaluation if evaluated else None
    return phase is Phase.COMPLETED and (evaluation is None or evaluation.passed)


def _of_schedule(task: TaskRun | None) -> TaskRun | None:
    """Return the task that this run is, where a schedule starts it; any other as it is."""
    moment = workflow.info().typed_search_attributes.get(SCHEDULED_START)
    # A run that rolls over carries what it has become; one that Temporal retries is begun as the first was.
    return started_at(task, moment) if task is not None and moment is not None and task.carried is None else task
