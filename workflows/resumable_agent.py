"""The workflow of a task: runs what its plan says, each action once. Touches nothing; every effect is an activity."""

import asyncio
from datetime import timedelta
from typing import cast

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from perdure.agent.display import details
    from perdure.agent.plan import Act, Action, Ask, Finish, Plan
    from perdure.agent.questions import Questions
    from perdure.agent.skill_plan import SkillPlan
    from perdure.agent.state import ANSWERED_KEPT, Learned, TaskRun, TaskState, progress_of, result_of
    from perdure.agent.steps.calls import (
        AnnounceCall,
        Asks,
        Ended,
        Evaluated,
        PrepareCall,
        PreparedTask,
        Resumed,
        StepOutcome,
    )
    from perdure.errors import InvalidTask
    from perdure.questions import Answer, Question, TakenAnswer
    from perdure.tasks import Phase, Progress, TaskResult
    from perdure.temporal.names import AGENT, PHASE, SKILL, TENANT
    from workflows import options
    from workflows.branches import Branches
    from workflows.failures import TaskFailed, done, problem_of, required
    from workflows.outbox import Outbox

LAST_SUBMITS = timedelta(seconds=60)
"""How long a task's end waits until what it learned is accepted; it is accepted once it is in the journal."""

SUBMITS = timedelta(seconds=5)
"""How long a rollover waits for submissions that are on their way; the next run sends the others again."""


@workflow.defn(name="ResumableAgent")
class ResumableAgent:
    """A durable task that runs a skill.

    Start it by its name with an ``AgentTask``. The query ``progress`` returns where it is, ``questions`` what it
    waits for, and the update ``answer`` answers one.
    """

    @workflow.init
    def __init__(self, task: TaskRun | None = None) -> None:
        self._input = task
        self._state: TaskState | None = task.carried if task else None
        self._phase = Phase.PREPARING
        self._problem = ""
        self._questions = Questions(self._state.answered if self._state else ())
        self._outbox = Outbox(self._state.learned if self._state else Learned())
        self._branches = Branches()
        for branch in self._state.branches.values() if self._state else ():
            if branch.question is not None:
                self._questions.ask(branch.question)

    @workflow.run
    async def run(self, task: TaskRun | None = None) -> TaskResult:
        """Run a task to its end, and return its result."""
        task = required(task, InvalidTask("task", "is missing", fix="give an AgentTask"))
        if task.carried is not None and workflow.info().continued_run_id is None:
            required(None, InvalidTask("carried", "is not a field here"))
        try:
            return await self._finished(await self._run())
        except TaskFailed as failure:
            await self._end(Phase.FAILED, str(failure))
            raise ApplicationError(
                str(failure),
                result_of(self._task, self._whole, "failed", self._problem),
                type="TaskFailed",
                non_retryable=True,
            ) from failure
        except Exception as error:
            if is_cancelled_exception(error):
                await self._end(Phase.CANCELLED, "cancelled")
            elif isinstance(error, FailureError):
                await self._end(Phase.FAILED, str(error))
            raise
        except asyncio.CancelledError:
            await self._end(Phase.CANCELLED, "cancelled")
            raise

    @workflow.query
    def progress(self) -> Progress:
        """Return where the task is."""
        progress = progress_of(self._task, self._whole, self._phase)
        return progress.changed(questions=self._questions.open, problem=self._problem)

    @workflow.query
    def questions(self) -> tuple[Question, ...]:
        """Return what the task waits for."""
        return self._questions.open

    @workflow.update
    async def answer(self, answer: Answer) -> Progress:
        """Answer a question; recorded at once, so that nothing can come between."""
        self._questions.answer(answer, workflow.now())
        return self.progress()

    @answer.validator
    def _refuse_answer(self, answer: Answer) -> None:
        self._questions.check(answer)

    def plan(self) -> Plan:
        """Return what decides about this task."""
        return SkillPlan(self._task, self._known.prepared)

    @property
    def _task(self) -> TaskRun:
        if self._input is None:
            raise ApplicationError("there is no task", type="InvalidTask", non_retryable=True)
        return self._input

    @property
    def _known(self) -> TaskState:
        if self._state is None:
            raise ApplicationError("the task is not prepared yet", type="InvalidTask", non_retryable=True)
        return self._state

    @property
    def _whole(self) -> TaskState | None:
        """What is known, with what the task's questions and its outbox know."""
        if self._state is None:
            return None
        live = {"learned": self._outbox.learned, "answered": self._questions.answered[-ANSWERED_KEPT:]}
        return self._state.changed(**live)

    async def _run(self) -> Finish:
        """Do what the plan says until it says that the task is finished."""
        if self._state is None:
            await self._prepare()
        plan = self.plan()
        if not self._known.branches:
            self._state = plan.begin(self._known)
        self._outbox.start(self._known.prepared.tenant, self._task.agent)
        self._enter(Phase.RUNNING)
        for name, branch in self._known.branches.items():
            if branch.question is not None:
                self._branches.start(name, self._wait(plan, name, branch.question, asked_before=True))
        while True:
            move: Act | Ask | Finish = Act()
            if not options.is_due(self._known.prepared.continue_after):
                move = plan.next(self._known, workflow.now())
            elif self._can_roll():
                await self._roll()
            match move:
                case Finish():
                    return move
                case Ask(branch=name, question=question):
                    self._state = self._known.branch(name, path=question.id, question=question, of_plan=True)
                    self._branches.start(name, self._ask(plan, name, question))
                case Act(actions=actions):
                    for action in actions:
                        self._begin(plan, action)
                    if not actions:
                        await self._changed()

    async def _prepare(self) -> None:
        workflow.upsert_search_attributes(
            [AGENT.value_set(self._task.agent), SKILL.value_set(self._task.skill), PHASE.value_set(self._phase)]
        )
        call = PrepareCall(task=self._task.asked, started_at=workflow.now())
        summary = f"skill {self._task.skill}"
        prepared = await done("prepare_task", call, PreparedTask, summary, options.of_preparation())
        self._state = TaskState(prepared=prepared, started_at=workflow.now())

    def _begin(self, plan: Plan, action: Action) -> None:
        limit = self._task.limits.steps
        if action.is_step and self._known.done + len(self._branches) >= limit:
            raise TaskFailed(f"step {action.path}: the task may run {limit} steps (limits.steps)")
        self._state = self._known.branch(action.branch, path=action.path)
        self._branches.start(action.branch, self._act(plan, action))

    async def _changed(self) -> None:
        """Wait until something that is on its way has changed the state."""
        if not self._branches:
            raise TaskFailed("the plan neither acts nor asks nor finishes")
        await self._branches.changed()
        self._enter(self._branches.phase)

    async def _act(self, plan: Plan, action: Action) -> None:
        """Run an action once, and have the plan take up its outcome."""
        self._do(action.branch, Phase.RUNNING)
        try:
            outcome = action.known or await self._execute(action)
            if isinstance(outcome, Ended):
                await self._remember(action, outcome)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            self._state = plan.failed(self._known.branch(action.branch, path=""), action.branch, problem_of(error))
            return
        if isinstance(outcome, Ended):
            state = self._known.branch(action.branch, path="", resumed=None).recalling(outcome)
            self._state = plan.ended(state, action.branch, outcome)
        else:
            self._state = self._known.branch(
                action.branch, question=outcome.question, of_plan=False, resume=outcome.resume
            )
            await self._ask(plan, action.branch, outcome.question)

    async def _execute(self, action: Action) -> Ended | Asks:
        heartbeat = self._known.prepared.heartbeat
        how = options.of_tool(action.tool, heartbeat) if action.tool else options.of_step(heartbeat)
        outcome: Ended | Asks = await workflow.execute_activity(
            action.activity,
            action.call,
            result_type=cast("type[Ended]", StepOutcome),
            summary=action.summary or action.path,
            **how,
        )
        return outcome

    async def _remember(self, action: Action, outcome: Ended) -> None:
        """Take up what a step has to remember; wait for it only where the step says that it is critical."""
        if outcome.items and action.critical:
            self._do(action.branch, Phase.REMEMBERING)
            await self._outbox.finish(outcome.items, outcome.refused)
            self._do(action.branch, Phase.RUNNING)
        else:
            self._outbox.add(outcome.items, outcome.refused)

    async def _ask(self, plan: Plan, branch: str, question: Question) -> None:
        """Put a question, and wait for its answer."""
        self._outbox.flush()
        asked = self._questions.named(question, workflow.now())
        self._do(branch, Phase.WAITING)
        await self._announce(asked)
        self._state = self._known.branch(branch, question=asked)
        await self._wait(plan, branch, asked, asked_before=False)

    async def _wait(self, plan: Plan, branch: str, asked: Question, *, asked_before: bool) -> None:
        """Wait for an answer for as long as the task's limits say, and have the branch go on with it."""
        # From the announcement to the wait nothing may be commanded. A worker that answers a query can be one task
        # ahead of the history, and the update that follows is then put before those commands in the next replay.
        if asked_before:
            self._do(branch, Phase.WAITING)
        else:
            self._questions.ask(asked)
            self._show()
        hours = self._task.limits.answer_hours
        left = timedelta(hours=hours)
        if asked_before and asked.asked_at is not None:
            left = max(timedelta(), asked.asked_at + left - workflow.now())
        self._branches.awaiting.add(branch)
        try:
            await workflow.wait_condition(
                lambda: self._questions.is_answered(asked.id), timeout=left, timeout_summary=f"an answer to {asked.id}"
            )
        except TimeoutError:
            # An answer that came with the last moment was accepted, so it counts.
            if not self._questions.is_answered(asked.id):
                self._questions.withdraw(asked.id)
                path = self._known.branches[branch].path
                raise TaskFailed(f"step {path}: nobody answered within {hours:g} h") from None
        self._branches.awaiting.discard(branch)
        answer = self._questions.take(asked)
        self._do(branch, Phase.RUNNING)
        waited = self._known.branches[branch]
        if waited.of_plan:
            await self._announce(asked, answer)
        state = self._known.branch(branch, path="", question=None, resume=None)
        if waited.of_plan:
            self._state = plan.answered(state, branch, answer)
        else:
            self._state = state.branch(branch, resumed=Resumed(resume=waited.resume, answer=answer))

    async def _announce(self, question: Question, answer: TakenAnswer | None = None) -> None:
        """Write a question or its answer into the session; it also gets the history past the point where it is put."""
        call = AnnounceCall(
            tenant=self._known.prepared.tenant,
            session=self._task.session,
            memory=self._task.memory,
            question=question,
            answer=answer,
        )
        summary = f"{'answered' if answer else 'asks'}: {question.id}"
        how = options.of_step(self._known.prepared.heartbeat)
        try:
            await workflow.execute_activity("announce", call, summary=summary, **how)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise

    async def _finished(self, finish: Finish) -> TaskResult:
        """End a task that its plan has finished."""
        if finish.problem:
            raise TaskFailed(finish.problem)
        self._enter(Phase.EVALUATING)
        evaluated = Evaluated(output=finish.output, evaluation=None)
        if finish.evaluation is not None:
            how = options.of_step(self._known.prepared.heartbeat)
            evaluated = await done("evaluate_task", finish.evaluation, Evaluated, "output and expectation", how)
        await self._end(Phase.COMPLETED, "")
        result = result_of(self._task, self._whole, "completed", "")
        return result.changed(output=evaluated.output, evaluation=evaluated.evaluation)

    async def _end(self, phase: Phase, problem: str) -> None:
        """Leave nothing behind: what is on its way is cancelled, what was learned is submitted."""
        await self._branches.cancel()
        await self._outbox.close(LAST_SUBMITS)
        self._questions.withdraw_all()
        self._problem = problem
        self._enter(phase)
        await workflow.wait_condition(workflow.all_handlers_finished)

    def _can_roll(self) -> bool:
        """Whether nothing is on its way but questions: these travel, with the branches that wait for them."""
        return self._branches.can_roll and not self._questions.has_untaken

    async def _roll(self) -> None:
        """Continue as new, unless an answer comes first. The next run sends again what was not accepted in time."""
        await self._outbox.settle(SUBMITS)
        await workflow.wait_condition(workflow.all_handlers_finished)
        if self._can_roll():
            workflow.continue_as_new(self._task.changed(inputs={}, carried=self._whole))

    def _do(self, branch: str, phase: Phase) -> None:
        """Note what a branch does, and show it."""
        self._branches.do(branch, phase)
        self._enter(self._branches.phase)

    def _enter(self, phase: Phase) -> None:
        if phase is not self._phase:
            self._phase = phase
            tenant = [TENANT.value_set(self._state.prepared.tenant)] if self._state else []
            workflow.upsert_search_attributes([PHASE.value_set(phase), *tenant])
        self._show()

    def _show(self) -> None:
        recalls = self._state.recalls if self._state else ()
        workflow.set_current_details(details(self.progress(), recalls, workflow.info().workflow_id))
