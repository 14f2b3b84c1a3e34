"""The plan of a task that has failed or was cancelled: what undoes its effects, the last one first. Pure."""

from collections.abc import Sequence

from perdure.agent.plan import Act, Action, ActionFailure, Finish, Unanswered
from perdure.agent.preparation import PreparedTask
from perdure.agent.state import Branch, TaskRun, TaskState
from perdure.agent.step_context import acting_of, context_of
from perdure.agent.step_paths import skill_of
from perdure.agent.steps.calls import Compensation, Ended, Result, StepCall
from perdure.model import Instant
from perdure.skills.steps import COMPENSATE, ToolStep
from perdure.values.questions import TakenAnswer
from perdure.values.steering import TakenMessage
from perdure.values.tasks import StepStatus

_WHY = 300
"""Characters of the reason why one could not be undone: a result names a thousand of them, and has at most 2 MB."""


class CompensationPlan:
    """Undoes effects one after the other, each by a call of its own; one that cannot be undone holds up no other.

    Args:
        task: The task.
        prepared: What it is pinned to.
    """

    unanswered = Unanswered.EFFECT_STAYS

    def __init__(self, task: TaskRun, prepared: PreparedTask) -> None:
        self._task = task
        self._prepared = prepared

    def begin(self, state: TaskState) -> TaskState:
        """Return the state of a task whose work has ended; its effects have still to be undone."""
        for path in state.unanswered:
            state = state.doubted(path)
        return state.changed(branches={COMPENSATE: Branch()})

    def next(self, state: TaskState, now: Instant) -> Act | Finish:
        """Return the call that undoes the last effect, or the end."""
        if not state.compensations:
            return Finish()
        if state.branches[COMPENSATE].path:
            return Act()
        undoing = state.compensations[-1]
        path = f"{undoing.path}.{COMPENSATE}"
        if undoing.problem:
            known = Ended(result=Result(status=StepStatus.FAILED), problem=undoing.problem)
            return Act(actions=(Action(branch=COMPENSATE, path=path, known=known, is_step=False),))
        return Act(actions=(self._calling(state, undoing, path, now),))

    def ended(self, state: TaskState, branch: str, outcome: Ended) -> TaskState:
        """Return the state after an effect was undone, or a person did not permit that."""
        *rest, undoing = state.compensations
        state = state.branch(branch, resumed=None).changed(compensations=tuple(rest))
        if outcome.result.status is StepStatus.DONE:
            return state.changed(compensated=(*state.compensated, undoing.path))
        return _left(state, undoing, outcome.problem or "it was not permitted")

    def failed(self, state: TaskState, branch: str, failure: ActionFailure) -> TaskState:
        """Return the state after an effect could not be undone."""
        *rest, undoing = state.compensations
        state = state.branch(branch, resumed=None).changed(compensations=tuple(rest))
        return _left(state, undoing, failure.problem)

    def refused(self, state: TaskState, branch: str, problem: str) -> TaskState | None:
        """Return None: beyond the task's limits, nothing more is undone."""
        return None

    def heard(self, state: TaskState, messages: Sequence[TakenMessage]) -> TaskState | None:
        """Never called: a task that ends takes no messages."""
        raise ValueError(f"a task that ends is told nothing ({len(messages)} messages)")

    def answered(self, state: TaskState, branch: str, answer: TakenAnswer) -> TaskState:
        """Return the state as it is: the plan itself asks nothing."""
        return state

    def _calling(self, state: TaskState, undoing: Compensation, path: str, now: Instant) -> Action:
        shape = self._prepared.tools[undoing.tool]
        call = StepCall(
            **context_of(self._task, self._prepared, path, now),
            step=ToolStep(id=COMPENSATE, tool=undoing.tool),
            arguments=undoing.arguments,
            acting=acting_of(self._task, self._prepared, state, skill_of(self._prepared, undoing.path)),
            resumed=state.branches[COMPENSATE].resumed,
            timeout=shape.timeout,
            binding=self._prepared.binding if shape.effect.is_once else None,
            earlier=state.earlier if shape.effect.is_once else None,
        )
        return Action(branch=COMPENSATE, path=path, activity=undoing.tool, call=call, tool=shape, is_step=False)


def _left(state: TaskState, undoing: Compensation, problem: str) -> TaskState:
    told = f"{undoing.path}: {problem}"
    return state.changed(uncompensated=(*state.uncompensated, told[: _WHY + len(undoing.path)]))
