"""Calls of activities and workflows of others, by a task's workflow. Decides nothing about what becomes of them."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from typing import cast

from pydantic import JsonValue
from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    FailureError,
    WorkflowAlreadyStartedError,
    is_cancelled_exception,
)

from perdure.agent.plan import Action
from perdure.agent.state import TaskState
from perdure.agent.steps.calls import Asks, Calls, Ended, StepOutcome
from perdure.agent.steps.foreign_calls import AwaitCall, Awaited, EndCall, ForeignCall
from perdure.history import History
from perdure.model import json_size
from perdure.names import Activity, Workflow
from perdure.skills.foreign import ActivityStep, TaskStep, WorkflowStep
from perdure.temporal.attributes import tenant_attributes
from perdure.temporal.raw import NotJson, json_of
from perdure.tools import Effect
from perdure.values.tasks import tokens_in
from workflows import options
from workflows.failures import is_not_done, problem_of
from workflows.running_task import RunningTask

AT_ONCE = 1_000_000
"""Bytes that are sent to others, or come back from them, in calls under way at the same time: with those of other steps
(``UNDER_WAY``) they fit the 4 MB of one message, as a worker sends all that it starts in one."""

_SENT_LIMIT = 2_090_000
"""Bytes of an activity's input, with some to spare: Temporal ends a workflow that sends more than 2 MiB."""

_NOTED_WITHIN = 30.0
"""Seconds for which a task that is cancelled waits until the outcome of a call is noted: a choice."""

ATTEMPTS = 5
"""How often an activity that may be repeated is tried, where its step does not say: a choice."""


_OUTCOME = cast("type[Ended | Asks]", StepOutcome)


class ForeignCalls:
    """The calls of one task's steps.

    Args:
        running: The task.
        history: What each call makes longer.
    """

    def __init__(self, running: RunningTask, history: History) -> None:
        self._running = running
        self._history = history
        self._children: dict[str, Calls] = {}
        self._sent = 0

    def freed(self, state: TaskState) -> TaskState:
        """Return the state with the branches that wait for workflows free: a later run of the task attaches to them."""
        for name, calls in sorted(self._children.items()):
            state = state.branch(name, path="", calls=calls.changed(args=(), runs=True))
        return state

    def attached(self, branch: str) -> Calls | None:
        """Return the call of a workflow for which the branch waited in the run before; None: it waited for none.

        That costs a run next to nothing of its history, however many it waits for: it would roll over for ever if each
        of them was begun anew.
        """
        calls = self._running.state.branches[branch].calls
        self._running.update(branch, calls=None)
        return calls

    async def call(self, action: Action, calls: Calls) -> Ended | Asks:
        """Call what a step calls, and return its outcome.

        Raises:
            FailureError: It failed, and what became of it is known, or nobody is to be asked.
        """
        call = action.call
        if not isinstance(call, ForeignCall):
            raise TypeError(f"{action.path} calls nothing of others")
        end = EndCall(
            **{name: getattr(call, name) for name in EndCall.model_fields if name in type(call).model_fields},
            owner=calls.owner,
            arguments=calls.arguments,
            shown=calls.shown,
            began=workflow.now(),
            warnings=calls.warnings,
        )
        if not calls.runs:
            self._history.grow(1, 2 * len(calls.model_dump_json()))
        try:
            output = await self._called(action, call, calls)
        except FailureError as error:
            if self._running.branches.ending and call.step.declared is Effect.IDEMPOTENT:
                # No claim tells of it.
                self._running.state = self._running.state.doubted(action.path)
            if is_cancelled_exception(error) or not calls.owner:
                raise
            self._history.grow()
            asks = await self._end(action, end.changed(problem=problem_of(error), not_done=is_not_done(error)))
            if isinstance(asks, Asks):
                return asks
            raise
        self._history.grow(1, 2 * json_size(output))
        ended = end.changed(output=output)
        # With the values that the step refers to.
        if json_size(output) + len(end.model_dump_json().encode()) > _SENT_LIMIT:
            ended = end.changed(too_large=json_size(output), tokens=tokens_in(output))
        return await self._end(action, ended)

    async def _end(self, action: Action, end: EndCall) -> Ended | Asks:
        summary = f"{action.place}: what came of it"
        ending = asyncio.create_task(self._noted(end, summary))
        try:
            return await asyncio.shield(ending)
        except asyncio.CancelledError:
            # What became of it is known, and is not to be called unknown because the task is cancelled.
            with suppress(TimeoutError):
                await workflow.wait_condition(ending.done, timeout=_NOTED_WITHIN, timeout_summary=summary)
            if ending.done() and not ending.cancelled() and ending.exception() is None:
                # What was called is undone with what the task did before.
                self._running.state = self._running.state.undoable(ending.result().compensation)
            ending.cancel()
            raise

    async def _noted(self, end: EndCall, summary: str) -> Ended | Asks:
        how = options.of_step(self._running.state.prepared.heartbeat)
        async with self._room(json_size(end.output)):
            return await workflow.execute_activity(Activity.END_CALL, end, result_type=_OUTCOME, summary=summary, **how)

    @asynccontextmanager
    async def _room(self, size: int) -> AsyncGenerator[None]:
        """Wait until so many bytes may be sent; what is too large to be sent with others is sent alone."""
        while self._sent and self._sent + size > AT_ONCE:
            await workflow.wait_condition(lambda: not self._sent or self._sent + size <= AT_ONCE)
        self._sent += size
        try:
            yield
        finally:
            self._sent -= size

    async def _called(self, action: Action, call: ForeignCall, calls: Calls) -> JsonValue:
        match call.step:
            case ActivityStep() as step:
                async with self._room(json_size(calls.args)):
                    return _read(await self._activity(step, action.place, calls))
            case WorkflowStep() | TaskStep() as step:
                return await self._workflow(action, step, call, calls)

    async def _activity(self, step: ActivityStep, place: str, calls: Calls) -> RawValue:
        is_once = step.effect.is_once
        attempts = 1 if is_once else max(1, ATTEMPTS if step.retry is None else step.retry)
        found: RawValue = await workflow.execute_activity(
            step.activity,
            args=list(calls.args),
            task_queue=step.queue,
            result_type=RawValue,
            start_to_close_timeout=timedelta(seconds=step.seconds),
            schedule_to_start_timeout=options.OUTAGE,
            retry_policy=RetryPolicy(
                initial_interval=options.RETRY.initial_interval,
                maximum_interval=options.RETRY.maximum_interval,
                maximum_attempts=attempts,
            ),
            # An effect that has begun is not left behind: it ends, or its time is over.
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED
            if is_once
            else workflow.ActivityCancellationType.TRY_CANCEL,
            summary=place,
        )
        return found

    async def _workflow(
        self, action: Action, step: WorkflowStep | TaskStep, call: ForeignCall, calls: Calls
    ) -> JsonValue:
        if not calls.runs:
            try:
                async with self._room(json_size(calls.args)):
                    child = await workflow.start_child_workflow(
                        step.type_name,
                        args=list(calls.args),
                        id=calls.child,
                        task_queue=step.queue,
                        result_type=RawValue,
                        # It survives a rollover, and a task that is terminated; a later run of the task attaches to it.
                        parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                        cancellation_type=workflow.ChildWorkflowCancellationType.TRY_CANCEL,
                        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                        execution_timeout=options.lasting(step.lasts),
                        retry_policy=RetryPolicy(maximum_attempts=max(1, step.retry))
                        if step.retry is not None
                        else None,
                        search_attributes=tenant_attributes(call.tenant),
                        static_summary=action.place,
                    )
            except WorkflowAlreadyStartedError:
                pass
            else:
                with self._awaiting(action.branch, step, calls):
                    return _read(await child)
        with self._awaiting(action.branch, step, calls):
            return await self._attached(action.place, calls)

    @contextmanager
    def _awaiting(self, branch: str, step: WorkflowStep | TaskStep, calls: Calls) -> Generator[None]:
        """Let the history be rolled over meanwhile: the workflow has been started, and the next run attaches to it."""
        self._children[branch] = calls
        if step.type_name == Workflow.RESUMABLE_AGENT:
            self._running.called[branch] = calls.child
        self._running.branches.awaiting.add(branch)
        try:
            yield
        finally:
            self._running.branches.awaiting.discard(branch)
            del self._children[branch]
            self._running.called.pop(branch, None)

    async def _attached(self, place: str, calls: Calls) -> JsonValue:
        """Wait until a workflow that was started before has ended."""
        child = calls.child
        try:
            awaited = await workflow.execute_activity(
                Activity.AWAIT_WORKFLOW,
                AwaitCall(workflow_id=child, task=calls.task, was_found=calls.runs),
                result_type=Awaited,
                summary=f"{place}: {child}",
                **options.of_ingest(),
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                await workflow.get_external_workflow_handle(child).cancel()
            raise
        return awaited.output


def _read(raw: RawValue) -> JsonValue:
    """Return what a call gave back; raises ApplicationError where no step can carry it."""
    try:
        return json_of(raw)
    except NotJson as problem:
        raise ApplicationError(f"it {problem}", non_retryable=True) from None
