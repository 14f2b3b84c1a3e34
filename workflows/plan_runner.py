"""The running of a plan: starts the actions that it returns, and hands every outcome back. Decides nothing."""

from collections.abc import Sequence
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, FailureError, is_cancelled_exception

from perdure.agent.plan import Act, Action, ActionFailure, Ask, Finish, Listen, Plan, Unanswered, beyond, has_room
from perdure.agent.state import TaskState
from perdure.agent.steps.calls import Asks, Calls, Ended, Resumed, Waits
from perdure.agent.steps.task_calls import AnnounceCall
from perdure.errors import TaskFailed
from perdure.history import History
from perdure.names import Activity
from perdure.values.questions import Question, QuestionKind, TakenAnswer
from perdure.values.tasks import Phase
from workflows import options
from workflows.conversation_waits import ConversationWaits
from workflows.execution import Execution
from workflows.failures import is_unfit, last_attempt, may_have_acted, problem_of, tokens_of
from workflows.foreign import ForeignCalls
from workflows.lessons import Lessons
from workflows.pauses import Pauses
from workflows.rollover import continue_with
from workflows.running_task import RunningTask
from workflows.spans import waiting

SUBMITS = timedelta(seconds=5)
"""How long a rollover or an end waits for submissions before it acts on them."""


class PlanRunner:
    """Runs the plan of one task.

    Args:
        running: The task.
        plan: What decides about it.
        rolls: Whether its history is rolled over where it has become long.
    """

    def __init__(self, running: RunningTask, plan: Plan, *, rolls: bool = True) -> None:
        self._running = running
        self._plan = plan
        self._rolls = rolls
        self._history = History(running.state.prepared.continue_after)
        self._foreign = ForeignCalls(running, self._history)
        self._lessons = Lessons(running, self._history)
        self._pauses = Pauses(running, plan, self._history)
        self._listening = ConversationWaits(running, self._history, self._is_to_roll)
        self._execution = Execution(running, self._history)
        self._under_way = 0

    async def run(self) -> Finish:
        """Execute the plan until it says that the task is finished."""
        self._resume_waits()
        while True:
            if not self._running.steering.is_paused:
                self._running.hear(self._plan)
            move = self._plan.next(self._running.state, workflow.now())
            # A paused task does not end either: a person may still want something else of it.
            is_paused, is_due = self._running.steering.is_paused, self._is_due
            if is_paused and isinstance(move, Listen):
                # Its turn was under way, and whoever reads along has seen it.
                self._listening.answer(move)
            if is_paused or (is_due and not isinstance(move, Finish)):
                move = Act()  # Nothing new is started until what is on its way has ended.
                if is_due and self._can_roll():
                    await self._roll()
            match move:
                case Finish():
                    self._running.steering.close()
                    return move
                case Listen():
                    if not await self._listening.next(move):
                        self._running.steering.close()
                        return Finish()
                case Ask(branch=name, question=question):
                    self._running.update(name, path=question.id, question=question, of_plan=True)
                    self._running.branches.start(name, self._ask(name, question))
                case Act(actions=actions):
                    if not self._begin_all(actions):
                        await self._changed(is_paused=is_paused)

    def _resume_waits(self) -> None:
        """Go on waiting for what an earlier run waited for."""
        for name, branch in self._running.state.branches.items():
            if branch.question is not None:
                self._running.branches.start(name, self._wait(name, branch.question, asked_before=True))
            elif branch.event:
                self._running.branches.start(name, self._pauses.expect(name))
            elif branch.until is not None:
                self._running.branches.start(name, self._pauses.pause(name, branch.until))

    def _begin_all(self, actions: Sequence[Action]) -> bool:
        """Begin actions in their order; return False if there are none, or the rest has to wait for room."""
        for action in actions:
            size = len(action.call.model_dump_json().encode()) if action.call else 0
            if not has_room(self._under_way, size):
                return False
            self._begin(action, size)
        return bool(actions)

    def _begin(self, action: Action, size: int) -> None:
        if problem := beyond(self._running.task.limits, action, self._running.state):
            refused = self._plan.refused(self._running.state, action.branch, problem)
            if refused is None:
                raise TaskFailed(problem)
            self._running.state = refused
            return
        self._running.update(action.branch, path=action.path, shown=action.shown, of_plan=False)
        self._under_way += size
        self._running.branches.start(action.branch, self._act(action, size))

    async def _changed(self, *, is_paused: bool) -> None:
        """Wait until work under way has changed the state, or the task is paused, or is to go on."""
        branches, steering = self._running.branches, self._running.steering
        if is_paused:
            self._running.enter(branches.phase if branches else Phase.PAUSED)
        elif not branches:
            raise TaskFailed("the plan neither acts nor asks nor finishes")
        await branches.changed(lambda: steering.is_paused != is_paused or self._is_to_roll())
        if branches:
            self._running.enter(branches.phase)

    async def _act(self, action: Action, size: int) -> None:
        """Run an action once, and have the plan take up its outcome."""
        self._running.do(action.branch, Phase.RUNNING)
        was_called = False
        try:
            outcome = action.known or action.waits or await self._executed(action, size)
            if isinstance(outcome, Calls):
                was_called = True
                outcome = await self._foreign.call(action, outcome)
            if isinstance(outcome, Ended | Asks):
                # First, so that nothing comes between an effect and what undoes it.
                self._running.state = self._running.state.undoable(outcome.compensation)
            if not isinstance(outcome, Ended) and self._running.branches.ending:
                return
            if isinstance(outcome, Ended):
                await self._remember(action, outcome)
        except FailureError as error:
            if is_cancelled_exception(error):
                raise
            await self._lessons.met(action, error)
            self._running.update(action.branch, path="")
            failure = ActionFailure(
                problem=problem_of(error),
                attempt=last_attempt(error),
                acted=may_have_acted(error, was_called=was_called),
                tokens=tokens_of(error),
                unfit=is_unfit(error),
            )
            self._running.state = self._plan.failed(self._running.state, action.branch, failure)
            self._lessons.failed(action.path)
            return
        match outcome:
            case Ended(problem=problem) if problem and outcome.compensation:
                self._running.update(action.branch, path="")
                failure = ActionFailure(problem, tokens=outcome.tokens)
                self._running.state = self._plan.failed(self._running.state, action.branch, failure)
            case Ended():
                self._lessons.ended(action, outcome)
                state = self._running.state.branch(action.branch, path="", resumed=None, delivered=None).telling(
                    action.path, outcome
                )
                self._running.state = self._plan.ended(state, action.branch, outcome)
            case Waits(until=until, event=event, otherwise=otherwise):
                self._history.grow()
                self._running.update(action.branch, until=until, event=event, otherwise=otherwise)
                await (
                    self._pauses.expect(action.branch)
                    if event or until is None
                    else self._pauses.pause(action.branch, until)
                )
            case Asks():
                self._running.update(action.branch, question=outcome.question, of_plan=False, resume=outcome.resume)
                await self._ask(action.branch, outcome.question)

    async def _executed(self, action: Action, size: int) -> Ended | Asks | Waits | Calls:
        """Return the outcome of an action's activity, or of a call for which an earlier run of the task waited."""
        try:
            return self._foreign.attached(action.branch) or await self._execution.outcome(action, size)
        finally:
            self._under_way -= size

    async def _remember(self, action: Action, outcome: Ended) -> None:
        """Hand what a step has to remember to the outbox; wait for it only if the step says that it is critical."""
        if outcome.items and action.critical and not self._running.branches.ending:
            self._running.do(action.branch, Phase.REMEMBERING)
            await self._running.outbox.finish(outcome.items, outcome.refused)
            self._running.do(action.branch, Phase.RUNNING)
        else:
            self._running.outbox.add(outcome.items, outcome.refused)
            if action.hands_over:
                self._running.outbox.flush()
            if not self._running.outbox.has_room:
                self._running.do(action.branch, Phase.REMEMBERING)
                await self._running.outbox.room()
                self._running.do(action.branch, Phase.RUNNING)

    async def _ask(self, branch: str, question: Question) -> None:
        """Put a question, and wait for its answer."""
        self._running.outbox.flush()
        asked = self._running.questions.named(question, workflow.now())
        until = workflow.now() + timedelta(hours=self._running.task.limits.answer_hours)
        asked = asked.changed(until=until, otherwise=self._plan.unanswered.value)
        self._running.do(branch, Phase.WAITING)
        await self.announce(asked)
        self._running.update(branch, question=asked)
        await self._wait(branch, asked, asked_before=False)

    async def _wait(self, branch: str, asked: Question, *, asked_before: bool) -> None:
        """Wait for an answer for as long as the task's limits say, and have the branch go on with it."""
        if asked_before:
            self._running.do(branch, Phase.WAITING)
        else:
            self._running.questions.ask(asked)
            self._running.show()
        left = timedelta(hours=self._running.task.limits.answer_hours)
        if asked_before and asked.asked_at is not None:
            left = max(timedelta(), asked.asked_at + left - workflow.now())
        branches, kind = self._running.branches, asked.kind.value
        branches.awaiting.add(branch)
        path = self._running.state.branches[branch].path
        try:
            with waiting(branches, "perdure.question", path, since=asked.asked_at, kind=kind):
                await workflow.wait_condition(
                    lambda: self._running.questions.is_answered(asked.id),
                    timeout=left,
                    timeout_summary=f"an answer to {asked.id}",
                )
        except TimeoutError:
            # An answer that came with the last moment was accepted, so it counts.
            if not self._running.questions.is_answered(asked.id):
                await self._unanswered(branch, asked)
                return
        branches.awaiting.discard(branch)
        answer = self._running.questions.take(asked)
        self._running.do(branch, Phase.RUNNING)
        waited = self._running.state.branches[branch]
        if waited.of_plan:
            await self.announce(asked, answer)
            self._lessons.answered(waited.path, answer)
        self._running.update(branch, path="", question=None, resume=None)
        if waited.of_plan:
            self._running.state = self._plan.answered(self._running.state, branch, answer)
        else:
            self._running.update(branch, resumed=Resumed(resume=waited.resume, asked=asked.kind, answer=answer))

    async def _unanswered(self, branch: str, asked: Question) -> None:
        """Have the action that asked fail, as nobody has answered in time.

        Raises:
            TaskFailed: The plan has the task fail then.
        """
        running = self._running
        running.questions.lapse(asked.id)
        path = running.state.branches[branch].path
        problem = f"nobody answered within {running.task.limits.answer_hours:g} h"
        if self._plan.unanswered is Unanswered.TASK_FAILS:
            raise TaskFailed(f"step {path}: {problem}")
        running.branches.awaiting.discard(branch)
        running.do(branch, Phase.RUNNING)
        await self.announce(asked, lapsed=True)
        running.update(branch, path="", question=None, resume=None)
        if asked.kind is QuestionKind.UNKNOWN_EFFECT:
            running.state = running.state.changed(unknown=(*running.state.unknown, path))
        failure = ActionFailure(problem, acted=asked.may_have_acted)
        running.state = self._plan.failed(running.state, branch, failure)

    async def announce(self, question: Question, answer: TakenAnswer | None = None, *, lapsed: bool = False) -> None:
        """Write a question, its answer, or that it lapsed, into the session.

        It also gets the history past the point where a question is put.
        """
        self._history.grow()
        task, prepared = self._running.task, self._running.state.prepared
        call = AnnounceCall(
            tenant=prepared.tenant,
            epoch=prepared.epoch,
            session=task.session,
            memory=task.memory,
            question=question,
            answer=answer,
            lapsed=lapsed,
        )
        summary = f"{'not answered' if lapsed else 'answered' if answer else 'asks'}: {question.id}"
        how = options.of_step(self._running.state.prepared.heartbeat)
        try:
            await workflow.execute_activity(Activity.ANNOUNCE, call, summary=summary, **how)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise

    @property
    def _is_due(self) -> bool:
        """Whether the history is to be rolled over."""
        received = (self._running.received, self._running.received_bytes)
        return self._rolls and self._history.is_due_after(*received)

    def _is_to_roll(self) -> bool:
        """Return whether it can be done now, also where no branch's work has ended: one may only wait from now on."""
        return self._can_roll() and self._is_due

    def _can_roll(self) -> bool:
        """Whether nothing but questions and waits is under way: these travel, with the branches that wait."""
        untaken = self._running.questions.has_untaken or self._running.events.has_untaken
        return self._running.branches.can_roll and not untaken

    @property
    def _carried(self) -> TaskState | None:
        whole = self._running.whole
        return self._foreign.freed(whole) if whole else None

    async def _roll(self) -> None:
        """Continue as new, unless an answer or an event comes first. The next run sends what was not accepted."""
        await self._running.outbox.settle(SUBMITS)
        await self._running.notes.settle()
        self._running.is_rolling = True
        await workflow.wait_condition(workflow.all_handlers_finished)
        self._running.is_rolling = False
        if self._can_roll():
            continue_with(self._running.task, self._carried)
