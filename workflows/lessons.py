"""What a task learns from its failures: recalls what earlier tasks learned, and writes down what became of each.

A lesson is an item in the task's outbox like any other, made of the workflow's own state: a killed worker neither loses
nor doubles it.
"""

from collections.abc import Mapping

from pydantic import JsonValue
from temporalio import workflow
from temporalio.exceptions import ActivityError, FailureError, is_cancelled_exception

from perdure.agent.plan import Action
from perdure.agent.step_context import observed_at
from perdure.agent.steps.calls import Ended, Result, StepCall
from perdure.agent.steps.foreign_calls import ForeignCall
from perdure.agent.steps.step_episodes import changes
from perdure.errors import Blocked, InvalidArguments, InvalidExpression
from perdure.history import History
from perdure.identity import digest
from perdure.names import Activity
from perdure.values.items import OfferedItem
from perdure.values.lessons import (
    FAILURES_KEPT,
    LESSONS_WRITTEN,
    KnownLessons,
    LessonsCall,
    MetFailure,
    by_another_call,
    by_person,
    lesson_of,
    quoted,
    resolved_by,
)
from perdure.values.questions import TakenAnswer
from perdure.values.tasks import StepStatus
from workflows import options
from workflows.failures import cause_named, text_of
from workflows.running_task import RunningTask

_NO_LESSON = frozenset({Blocked.__name__, InvalidExpression.__name__})
"""Causes that teach nothing: a policy says itself why it blocks, and what it said may no longer hold; an expression
that has no value is a mistake of its skill's author, and nothing was called."""


class Lessons:
    """The lessons of one task.

    Args:
        running: The task.
        history: Is told what is added to it.
    """

    def __init__(self, running: RunningTask, history: History) -> None:
        self._running = running
        self._history = history
        prepared = running.state.prepared
        self._is_wanted = (prepared.skill or prepared.agent) is not None and all(
            one.lessons for one in (prepared.skill, prepared.agent) if one is not None
        )

    async def met(self, action: Action, error: FailureError) -> None:
        """Note a call that has failed for good, and recall what earlier tasks learned about such a failure."""
        called, cause = _called(action), cause_named(error)
        arguments = _arguments(action)
        # A skill's arguments that do not fit are its author's mistake too; a model learns which do.
        is_of_author = cause == InvalidArguments.__name__ and not arguments
        if not (self._is_wanted and called) or cause in _NO_LESSON or is_of_author:
            return
        failure = MetFailure(
            path=action.path,
            tool=called,
            cause=cause[:100],
            problem=quoted(text_of(error)),
            arguments=arguments,
        )
        others = [one for one in self._running.state.failures if one.path != failure.path]
        self._keep(*others, failure)
        if action.applies_lessons and self._running.task.memory.recalls:
            self._running.update(action.branch, lessons=await self._known(action, failure))

    def failed(self, path: str) -> None:
        """Write the lesson of a failure that has just ended the task."""
        running = self._running
        if running.is_compensating:
            # What could not be undone is named in the task's result; it had ended before.
            self._keep(*(one for one in running.state.failures if one.path != path))
        elif (failure := self._of(path)) is not None and running.state.failure:
            self._learn(failure, "It ended the task: nothing resolved it.")
            # A person may have the task go on, and that may resolve it.
            self._keep(*running.state.failures, failure)

    def answered(self, path: str, answer: TakenAnswer) -> None:
        """Note what a person decided about a failure; unless the step is tried again, that is what it teaches."""
        if (failure := self._of(path)) is None:
            return
        failure = failure.changed(answer=str(answer.value), note=quoted(answer.note))
        if failure.answer == "retry":
            self._keep(*(one for one in self._running.state.failures if one.path != path), failure)
        else:
            self._learn(failure, by_person(failure))

    def ended(self, action: Action, outcome: Ended) -> None:
        """Write the lessons of the failures that a call has resolved by ending well."""
        if not (self._is_wanted and self._running.state.failures) or outcome.result.status is not StepStatus.DONE:
            return
        if (failure := self._of(action.path)) is not None:
            self._learn(failure, by_person(failure) if failure.answer else "It succeeded when it was tried again.")
        elif self._running.state.prepared.agent is not None and (called := _called(action)):
            given = _arguments(action)
            for one in resolved_by(self._running.state.failures, called, given):
                self._learn(one, by_another_call(changes(one.arguments, given)))

    def _of(self, path: str) -> MetFailure | None:
        return next((one for one in self._running.state.failures if one.path == path), None)

    def _keep(self, *failures: MetFailure) -> None:
        self._running.state = self._running.state.changed(failures=failures[-FAILURES_KEPT:])

    def _learn(self, failure: MetFailure, resolution: str) -> None:
        """Hand a lesson to the outbox, if the task remembers; what taught it is forgotten."""
        running = self._running
        # Of a model's calls the last one speaks for those before it; each step of a skill fails for itself.
        same, by_model = (failure.tool, failure.cause), running.state.prepared.agent is not None
        others = [one for one in running.state.failures if one.path != failure.path]
        self._keep(*(one for one in others if not by_model or (one.tool, one.cause) != same))
        if not running.task.memory.remembers or running.state.lessons >= LESSONS_WRITTEN:
            return
        at = observed_at(running.task.date, workflow.now())
        lesson = lesson_of(failure, resolution, task_id=running.task.task_id, at=at)
        running.state = running.state.changed(lessons=running.state.lessons + 1)
        running.outbox.add((OfferedItem(item=lesson),), ())

    async def _known(self, action: Action, failure: MetFailure) -> tuple[str, ...]:
        """Return what earlier tasks learned; nothing where that cannot be found out."""
        task, prepared = self._running.task, self._running.state.prepared
        call = LessonsCall(
            tenant=prepared.tenant,
            epoch=prepared.epoch,
            session=task.session,
            task_id=task.task_id,
            path=action.path,
            tool=failure.tool,
            cause=failure.cause,
            counts=task.memory.remembers,
            now=workflow.now(),
        )
        self._history.grow()
        how, summary = options.of_step(prepared.heartbeat), f"{action.place}: lessons"
        try:
            found = await workflow.execute_activity(
                Activity.RECALL_LESSONS, call, result_type=KnownLessons, summary=summary, **how
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return ()
        # Listed, and credited, like what any other recall gave.
        told = Ended(result=Result(status=StepStatus.DONE), recall=found.recall)
        self._running.state = self._running.state.telling(action.path, told)
        return found.lessons


def _called(action: Action) -> str:
    """Return the tool, or what else a step calls by name; empty: it calls nothing."""
    match action.call:
        case StepCall(step=step):
            return step.tool
        case ForeignCall(step=step):
            return step.called
        case _:
            return ""


def _arguments(action: Action) -> dict[str, str]:
    """Return digests of the arguments that a model gave, by name, where the history has them."""
    given = action.call.arguments if isinstance(action.call, StepCall) else None
    values: JsonValue = given.inline if given is not None else None
    if not isinstance(values, Mapping):
        return {}
    return {name: digest("argument/1", value)[:12] for name, value in values.items()}
