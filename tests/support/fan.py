"""A plan of the tests with four branches, of which one asks a person, and the workflow that runs it."""

from collections.abc import Sequence

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from perdure.agent.plan import Act, Action, ActionFailure, Ask, Finish, Plan, Unanswered
    from perdure.agent.preparation import ToolShape
    from perdure.agent.state import TaskRun, TaskState
    from perdure.agent.step_context import acting_of
    from perdure.agent.steps.calls import Ended, StepCall, Value
    from perdure.model import Instant
    from perdure.skills.steps import ToolStep
    from perdure.tools import Effect
    from perdure.values.questions import AnswerSpec, AnswerType, Question, QuestionKind, TakenAnswer
    from perdure.values.steering import TakenMessage
    from perdure.values.tasks import TaskResult
    from workflows.resumable_agent import ResumableAgent

ROUNDS = 4
ACTING = ("left", "middle", "right")


class FanPlan:
    """Calls a tool in three branches, ``ROUNDS`` times in each, while a fourth one asks a person and goes on.

    What ends is gathered in the positions, as a plan that thinks with a model keeps the results of a turn.
    """

    unanswered = Unanswered.TASK_FAILS

    def __init__(self, task: TaskRun, state: TaskState) -> None:
        self._task = task
        self._tenant = state.prepared.tenant
        self._ledger = str(task.inputs["ledger"]) if task.inputs else str(state.prepared.inputs["ledger"].inline)

    def begin(self, state: TaskState) -> TaskState:
        """Return the state with its four branches."""
        for branch in (*ACTING, "asking"):
            state = state.branch(branch, position=[])
        return state.changed(total=len(ACTING) * ROUNDS + 1)

    def next(self, state: TaskState, now: Instant) -> Act | Ask | Finish:
        """Return all that can be done at once."""
        free = [name for name, branch in state.branches.items() if not branch.path]
        if state.failure:
            return Finish(problem=state.failure)
        if "asking" in free and not state.branches["asking"].position:
            how_many = AnswerSpec(type=AnswerType.INTEGER)
            question = Question(id="asking", kind=QuestionKind.INPUT, text="How many?", answer=how_many)
            return Ask(branch="asking", question=question)
        actions = tuple(
            self._action(name, state, now)
            for name in free
            if len(state.branches[name].position) < (2 if name == "asking" else ROUNDS)
        )
        if actions or len(free) < len(state.branches):
            return Act(actions=actions)
        return Finish(output={name: branch.position for name, branch in state.branches.items()})

    def ended(self, state: TaskState, branch: str, outcome: Ended) -> TaskState:
        """Return the state with a result at its branch."""
        output = outcome.result.parts["output"].inline
        position = [*state.branches[branch].position, output]
        return state.branch(branch, position=position).counted(outcome.result.status)

    def failed(self, state: TaskState, branch: str, failure: ActionFailure) -> TaskState:
        """Return the state of a task that is given up."""
        return state.changed(failure=f"{branch}: {failure.problem}")

    def refused(self, state: TaskState, branch: str, problem: str) -> TaskState | None:
        """Return None: beyond its limits, the task fails."""
        return None

    def heard(self, state: TaskState, messages: Sequence[TakenMessage]) -> TaskState | None:
        """Never called."""
        raise NotImplementedError

    def answered(self, state: TaskState, branch: str, answer: TakenAnswer) -> TaskState:
        """Return the state with an answer at its branch."""
        return state.branch(branch, position=[[answer.value, answer.by]])

    def _action(self, name: str, state: TaskState, now: Instant) -> Action:
        position = state.branches[name].position
        path = f"{name}[{len(position)}]"
        # Literal arguments: what a model wrote is not evaluated.
        arguments: dict[str, JsonValue] = {"ledger": self._ledger, "line": f"{path} ${{literal}}"}
        call = StepCall(
            tenant=self._tenant,
            session=self._task.session,
            task_id=self._task.task_id,
            path=path,
            memory=self._task.memory,
            occurred_at=now,
            step=ToolStep(id=name, tool="dwell"),
            acting=acting_of(self._task, state.prepared, state, self._task.skill),
            arguments=Value(inline=arguments),
        )
        shape = ToolShape(effect=Effect.IDEMPOTENT, timeout=5.0)
        return Action(branch=name, path=path, activity="dwell", call=call, tool=shape)


@workflow.defn(name="Fan")
class Fan(ResumableAgent):
    """The product's workflow with the plan of the tests."""

    @workflow.init
    def __init__(self, task: TaskRun | None = None) -> None:
        super().__init__(task)

    @workflow.run
    async def run(self, task: TaskRun | None = None) -> TaskResult:
        return await super().run(task)

    def plan(self) -> Plan:
        return FanPlan(self._running.task, self._running.state)
