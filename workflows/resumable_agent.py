"""The workflow of a task: runs a skill's steps in order, each once. Touches nothing; every effect is an activity."""

import asyncio
from datetime import timedelta
from typing import TypeVar, cast

from temporalio import workflow
from temporalio.common import SearchAttributeUpdate
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from perdure.agent.display import details
    from perdure.agent.questions import Questions
    from perdure.agent.skill_plan import Here, ended, entered, here, leaves
    from perdure.agent.state import ANSWERED_KEPT, RECALLS_KEPT, Learned, TaskRun, TaskState, progress_of, result_of
    from perdure.agent.steps.calls import (
        AnnounceCall,
        Asks,
        Ended,
        EvaluateCall,
        Evaluated,
        ExpandCall,
        Expanded,
        PrepareCall,
        PreparedTask,
        Result,
        Resumed,
        StepOutcome,
        Value,
        idempotency_key,
    )
    from perdure.errors import InvalidTask
    from perdure.model import Model
    from perdure.questions import AfterFailure, Answer, Question, QuestionKind, Subject, TakenAnswer, choice_of
    from perdure.skills.shape import ForEach, OnFailure, RememberStep, ToolStep
    from perdure.tasks import Phase, Progress, StepStatus, TaskResult
    from perdure.temporal.names import AGENT, PHASE, SKILL, TENANT
    from workflows import options
    from workflows import options as rolling
    from workflows.failures import problem_of, required
    from workflows.outbox import Learning
    from workflows.step_calls import activity_of, scope_of

T = TypeVar("T", bound=Model)

LAST_SUBMITS = timedelta(seconds=60)
"""How long a task's end waits until what it learned is accepted; it is accepted once it is in the mirror."""


class TaskFailed(Exception):
    """Ends a task with what a person should read."""


@workflow.defn(name="ResumableAgent")
class ResumableAgent:
    """A durable task that runs a skill.

    Start it by its name with an ``AgentTask``. The query ``progress`` tells where it is, ``questions`` what it
    waits for, and the update ``answer`` answers one.
    """

    @workflow.init
    def __init__(self, task: TaskRun | None = None) -> None:
        self._input = task
        self._state: TaskState | None = task.carried if task else None
        self._phase = Phase.PREPARING
        self._step = ""
        self._problem = ""
        self._questions = Questions(self._state.answered if self._state else ())
        self._learning = Learning(self._state.learned if self._state else Learned())

    @workflow.run
    async def run(self, task: TaskRun | None = None) -> TaskResult:
        """Run a task to its end, and give its result."""
        required(task, InvalidTask("task", "is missing", fix="give an AgentTask"))
        try:
            await self._run()
            return await self._evaluated()
        except TaskFailed as failure:
            await self._ended(Phase.FAILED, str(failure))
            raise ApplicationError(
                str(failure),
                result_of(self._task, self._whole, "failed", self._problem),
                type="TaskFailed",
                non_retryable=True,
            ) from failure
        except Exception as error:
            if is_cancelled_exception(error):
                await self._ended(Phase.CANCELLED, "cancelled")
            elif isinstance(error, FailureError):
                await self._ended(Phase.FAILED, str(error))
            raise
        except asyncio.CancelledError:
            await self._ended(Phase.CANCELLED, "cancelled")
            raise

    @workflow.query
    def progress(self) -> Progress:
        """Tell where the task is."""
        progress = progress_of(self._task, self._whole, self._phase, self._step)
        return progress.changed(questions=self._questions.open, problem=self._problem)

    @workflow.query
    def questions(self) -> tuple[Question, ...]:
        """Tell what the task waits for."""
        return self._questions.open

    @workflow.update
    async def answer(self, answer: Answer) -> Progress:
        """Answer a question; recorded at once, so that nothing can come between."""
        self._questions.answer(answer, workflow.now())
        return self.progress()

    @answer.validator
    def _refuse_answer(self, answer: Answer) -> None:
        self._questions.check(answer)

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
        """What is known, with what the task's questions and its learning know."""
        if self._state is None:
            return None
        live = {"learned": self._learning.learned, "answered": self._questions.answered[-ANSWERED_KEPT:]}
        return self._state.changed(**live)

    def _update(self, **changes: object) -> None:
        self._state = self._known.changed(**changes)

    async def _run(self) -> None:
        if self._state is None:
            await self._prepare()
        self._learning.start(self._known.prepared.tenant, self._task.agent)
        self._enter(Phase.RUNNING)
        skill = self._known.prepared.skill
        while (at := here(skill, self._known.cursor)) is not None:
            if self._should_continue():
                await self._continue()
            self._step = at.path
            self._show()
            if isinstance(at.step, ForEach):
                await self._expand(at, at.step)
            else:
                await self._take(at)
        self._step = ""

    async def _prepare(self) -> None:
        _label([AGENT.value_set(self._task.agent), SKILL.value_set(self._task.skill), PHASE.value_set(self._phase)])
        request = PrepareCall(task=self._task, started_at=workflow.now())
        summary = f"skill {self._task.skill}"
        prepared = await _done("prepare_task", request, PreparedTask, summary, options.of_preparation())
        self._state = TaskState(prepared=prepared, started_at=workflow.now(), total=leaves(prepared.skill.steps))

    async def _expand(self, at: Here, block: ForEach) -> None:
        prepared = self._known.prepared
        call = ExpandCall(
            tenant=prepared.tenant,
            path=at.path,
            block=block.changed(steps=block.steps[:1]),
            scope=scope_of(self._task, self._known, block.id),
        )
        expanded = await _done("expand", call, Expanded, f"{at.path}: its list", self._of_step(), step=at.path)
        self._update(
            cursor=entered(prepared.skill, self._known.cursor, expanded.elements),
            total=self._known.total + len(expanded.elements) * leaves(block.steps),
        )

    async def _take(self, at: Here) -> None:
        """Run a step to its end, through every question and failure."""
        if self._known.done >= self._task.limits.steps:
            raise TaskFailed(f"step {at.path}: the task may run {self._task.limits.steps} steps (limits.steps)")
        resumed, result = None, None
        while result is None:
            try:
                outcome = await self._execute(at, resumed)
                if isinstance(outcome, Asks):
                    resumed = Resumed(resume=outcome.resume, answer=await self._ask(outcome.question))
                else:
                    await self._remember(at, outcome)
                    result = outcome.result
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                result = await self._failed(at, problem_of(error))
        ended_before = self._known.ended
        self._update(
            cursor=ended(self._known.prepared.skill, self._known.cursor, result),
            ended={**ended_before, result.status: ended_before.get(result.status, 0) + 1},
        )

    async def _execute(self, at: Here, resumed: Resumed | None) -> Ended | Asks:
        """Run the activity of a step once."""
        what = activity_of(self._task, self._known, at, resumed, workflow.now())
        if what is None:
            return Ended(result=Result(status=StepStatus.SKIPPED))
        outcome: Ended | Asks = await workflow.execute_activity(
            what.name, what.argument, result_type=cast("type[Ended]", StepOutcome), summary=at.path, **what.options
        )
        if isinstance(outcome, Ended):
            self._recalled(outcome)
        return outcome

    async def _failed(self, at: Here, problem: str) -> Result | None:
        """Decide what becomes of a failed step; None: it is tried again."""
        policy = at.step.on_failure if isinstance(at.step, ToolStep | RememberStep) else OnFailure.FAIL
        if policy is OnFailure.ASK:
            about = None
            if isinstance(at.step, ToolStep):
                key = idempotency_key(self._known.prepared.tenant, self._task.task_id, at.path)
                about = Subject(tool=at.step.tool, attempted_at=workflow.now(), idempotency_key=key)
            question = Question(
                id=at.path,
                kind=QuestionKind.FAILURE,
                text=f"{at.path} failed: {problem}",
                about=about,
                answer=choice_of(AfterFailure),
            )
            answer = await self._ask(question)
            await self._announce(question, answer)
            if answer.value == AfterFailure.RETRY:
                return None
            if answer.value == AfterFailure.SKIP:
                return Result(status=StepStatus.SKIPPED, parts={"problem": Value(inline=problem)})
        if policy is OnFailure.CONTINUE:
            return Result(status=StepStatus.FAILED, parts={"problem": Value(inline=problem)})
        raise TaskFailed(f"step {at.path}: {problem}")

    async def _ask(self, question: Question) -> TakenAnswer:
        """Put a question and wait for its answer, for as long as the task's limits say."""
        self._learning.flush()
        asked = self._questions.named(question, workflow.now())
        self._enter(Phase.WAITING)
        await self._announce(asked)
        # From here to the wait nothing may be commanded. A worker that answers a query can be one task ahead of the
        # history, and the update that follows is then put before those commands in the next replay.
        self._questions.ask(asked)
        self._show()
        hours = self._task.limits.answer_hours
        try:
            await workflow.wait_condition(
                lambda: self._questions.is_answered(asked.id),
                timeout=timedelta(hours=hours),
                timeout_summary=f"an answer to {asked.id}",
            )
        except TimeoutError:
            # An answer that came with the last moment was accepted, so it counts.
            if not self._questions.is_answered(asked.id):
                self._questions.withdraw(asked.id)
                raise TaskFailed(f"step {self._step}: nobody answered within {hours:g} h") from None
        answer = self._questions.take(asked)
        self._enter(Phase.RUNNING)
        return answer

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
        try:
            await workflow.execute_activity("announce", call, summary=summary, **self._of_step())
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise

    def _recalled(self, outcome: Ended) -> None:
        if outcome.recall is not None:
            recalls = (*self._known.recalls, outcome.recall)[-RECALLS_KEPT:]
            self._update(recalls=recalls, recalled=self._known.recalled + outcome.recalled)

    async def _remember(self, at: Here, outcome: Ended) -> None:
        """Take up what a step has to remember; wait for it only where the step says that it is critical."""
        if outcome.items and isinstance(at.step, ToolStep | RememberStep) and at.step.critical:
            self._enter(Phase.REMEMBERING)
            await self._learning.finish(outcome.items, outcome.refused)
            self._enter(Phase.RUNNING)
        else:
            self._learning.add(outcome.items, outcome.refused)

    async def _evaluated(self) -> TaskResult:
        """End a task whose steps are through."""
        self._enter(Phase.EVALUATING)
        skill = self._known.prepared.skill
        call = EvaluateCall(
            tenant=self._known.prepared.tenant,
            output=skill.output,
            expect=skill.expect,
            scope=scope_of(self._task, self._known, ""),
        )
        evaluated = await _done("evaluate_task", call, Evaluated, "output and expectation", self._of_step())
        await self._ended(Phase.COMPLETED, "")
        result = result_of(self._task, self._whole, "completed", "")
        return result.changed(output=evaluated.output, evaluation=evaluated.evaluation)

    async def _ended(self, phase: Phase, problem: str) -> None:
        """Leave nothing behind: what was learned is handed over, and what it came to can be seen."""
        await self._learning.close(LAST_SUBMITS)
        self._questions.withdraw_all()
        self._problem = problem
        self._enter(phase)
        await workflow.wait_condition(workflow.all_handlers_finished)

    def _should_continue(self) -> bool:
        return rolling.is_due(self._known.prepared.continue_after)

    async def _continue(self) -> None:
        """Roll the history over; what is on its way is waited for shortly, and else sent again."""
        await self._learning.settle(timedelta(seconds=5))
        await workflow.wait_condition(workflow.all_handlers_finished)
        carried = self._task.changed(inputs={}, carried=self._whole)
        workflow.continue_as_new(carried)

    def _of_step(self) -> options.Options:
        return options.of_step(self._known.prepared.heartbeat)

    def _enter(self, phase: Phase) -> None:
        if phase is not self._phase:
            self._phase = phase
            changes = [PHASE.value_set(phase)]
            if self._state is not None:
                changes.append(TENANT.value_set(self._state.prepared.tenant))
            _label(changes)
        self._show()

    def _show(self) -> None:
        recalls = self._state.recalls if self._state else ()
        workflow.set_current_details(details(self.progress(), recalls, workflow.info().workflow_id))


async def _done(
    activity: str, argument: Model, result_type: type[T], summary: str, how: options.Options, *, step: str = ""
) -> T:
    """Have an activity done that the task cannot go on without."""
    try:
        return await workflow.execute_activity(activity, argument, result_type=result_type, summary=summary, **how)
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        at = f"step {step}: " if step else ""
        raise TaskFailed(f"{at}{problem_of(error)}") from error


def _label(changes: list[SearchAttributeUpdate[str]]) -> None:
    workflow.upsert_search_attributes(changes)  # pyright: ignore[reportUnknownMemberType]
