"""A task's steps as activities: one for each tool, under the tool's own name, and one for each kind without a tool."""

import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.episodes import SessionWriter
from activities.notifications import Notifier
from perdure.agent.steps.attempts import Attempt
from perdure.agent.steps.calls import (
    QUICK_SECONDS,
    Acts,
    Asks,
    Ended,
    ExpandCall,
    RecallCall,
    RememberCall,
    StepCall,
    Value,
)
from perdure.agent.steps.memory_guard import MemoryGuard
from perdure.agent.steps.runner import StepRunner
from perdure.agent.steps.task_calls import AnnounceCall
from perdure.agent.tool_specs import MemoryTool
from perdure.errors import NotDone, PerdureError, StoreUnavailable, ToolFailed, WorkerUnavailable
from perdure.frames import frames_of, said_by
from perdure.memory.writing.intake import Intake
from perdure.names import Activity
from perdure.temporal.errors import failure_of
from perdure.temporal.failures import details, details_of, pause
from perdure.temporal.heartbeats import beats
from perdure.toolbox import Toolbox
from perdure.tools import Effect
from perdure.values.jobs import Batch
from perdure.values.questions import QuestionKind

ATTEMPTS = 5
"""How often a tool that raises an exception of its own is tried; a killed attempt does not count."""


class StepActivities:
    """Everything that a step can be.

    Args:
        toolbox: The tools that become activities.
        runner: Runs a step.
        session: Where it is written what became of it.
        notifier: Has the webhook told what people are asked.
        guard: Asks the policies about what a model remembers.
        intake: Knows what memory refuses; None: tasks use the memory of another installation.
        attempts: How often a tool that raises an exception of its own is tried.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        runner: StepRunner,
        session: SessionWriter,
        notifier: Notifier,
        *,
        guard: MemoryGuard,
        intake: Intake | None,
        attempts: int = ATTEMPTS,
    ) -> None:
        self._toolbox = toolbox
        self._runner = runner
        self._session = session
        self._notifier = notifier
        self._guard = guard
        self._intake = intake
        self._attempts = attempts

    def activities(self) -> list[Callable[..., Any]]:
        """Return what a worker registers."""
        own = [self.quick_step, self.decide_step, self.remember_step, self.expand, self.announce]
        return [*(self._of_tool(tool.name) for tool in self._toolbox), *own]

    @activity.defn(name=Activity.QUICK_STEP)
    async def quick_step(self, call: StepCall) -> Ended | Asks:
        """Run a step with a quick tool, as a local activity.

        Raises:
            WorkerUnavailable: This worker lacks the tool; the step goes on as any other, on one that has it.
        """
        self._require_tool(call)
        began = time.monotonic()
        outcome = await self._step(call)
        return outcome.changed(seconds=_lasted(began)) if isinstance(outcome, Ended) else outcome

    @activity.defn(name=Activity.DECIDE_STEP)
    async def decide_step(self, call: StepCall) -> Acts | Ended | Asks:
        """Return whether a step's tool is called, as a local activity; where it is not, the outcome or the question.

        Raises:
            WorkerUnavailable: This worker lacks the tool; it is decided on one that has it.
        """
        self._require_tool(call)
        began = time.monotonic()
        attempt = this_attempt()
        try:
            outcome = await self._runner.decide(call, attempt)
        except PerdureError as problem:
            if not problem.retryable:
                await self._session.failed(call, attempt, str(problem))
            raise
        if isinstance(outcome, Ended):
            await self._session.done(call, attempt, outcome)
        return outcome if isinstance(outcome, Asks) else outcome.changed(seconds=_lasted(began))

    @activity.defn(name=Activity.REMEMBER_STEP)
    async def remember_step(self, call: RememberCall) -> Ended:
        """Return what a remember step writes; of what memory refuses of a model's, the reason.

        Raises:
            Blocked: A policy does not let the model remember that.
            TenantErased: The user was erased since the task was prepared.
            ApplicationError: A person is asked first; see ``asking``.
        """

        async def remember() -> Ended:
            ended = await self._runner.remember(call)
            return ended if call.acting is None else await self._taken(call, ended)

        how: dict[str, Any] = {
            "tool": MemoryTool.REMEMBER.value,
            "effect": Effect.IDEMPOTENT,
            "arguments": given_of(call),
        }
        return made(await self._guard.guarded(call, this_attempt(), remember, **how), call.path)

    @activity.defn(name=Activity.EXPAND)
    async def expand(self, call: ExpandCall) -> Ended:
        """Return the list of a ``for_each``."""
        return await self._runner.expand(call)

    @activity.defn(name=Activity.ANNOUNCE)
    async def announce(self, call: AnnounceCall) -> None:
        """Write into a task's session what the task is about to ask, or what came of it; tell the webhook."""
        await self._session.asked(call, this_attempt().workflow_id)
        if call.asks:
            await self._notifier.asked(call.tenant, call.question)

    async def _taken(self, call: RememberCall, ended: Ended) -> Ended:
        """Return what a model remembers without what memory refuses, so that the model is told why.

        What is left is decided on once more when it is submitted, as anything that is offered to memory.
        """
        if self._intake is None or not ended.items:
            return ended
        batch = Batch(
            tenant=call.tenant,
            key=call.path,
            items=tuple(one.item for one in ended.items),
            task=this_attempt().workflow_id,
            epoch=call.epoch,
        )
        refusals: dict[int, str] = {}
        # Without Redis the task goes on, and what is submitted waits.
        with suppress(StoreUnavailable):
            refusals = await self._intake.refusals(batch, at=datetime.now(UTC))
        left = tuple(one for place, one in enumerate(ended.items) if place not in refusals)
        return ended.changed(items=left, refused=(*ended.refused, *refusals.values()))

    def _require_tool(self, call: StepCall) -> None:
        if call.step.tool not in self._toolbox:
            raise WorkerUnavailable(f"this worker has no tool {call.step.tool!r}")

    def _of_tool(self, name: str) -> Callable[[StepCall], Awaitable[Ended | Asks]]:
        @activity.defn(name=name)
        async def step(call: StepCall) -> Ended | Asks:
            return await self._step(call)

        return step

    async def _step(self, call: StepCall) -> Ended | Asks:
        attempt, retry = this_attempt(call.tried), call.step.retry
        beats().failures = max(beats().failures, call.failed)
        attempts = self._attempts if retry is None else max(1, retry)
        try:
            if self._toolbox.get(call.step.tool, f"{call.path}.tool").effect.is_once:
                # Somebody may reset the activity: its attempts are then counted anew, but this is known of them.
                beats().tell()
            outcome = await self._runner.act(call, attempt)
        except ToolFailed as problem:
            beats().failures += 1
            await self._session.failed(call, attempt, f"{problem}: {problem.text}")
            raise ApplicationError(
                str(problem),
                *details(problem.text[:500], problem.kind, frames_of(problem.raised)),
                type=type(problem).__name__,
                non_retryable=beats().failures >= attempts,
                next_retry_delay=pause(),
            ) from None
        except PerdureError as problem:
            if isinstance(problem, NotDone) and retry is not None:
                beats().failures += 1
                if beats().failures >= attempts:
                    await self._session.failed(call, attempt, said_by(problem))
                    raise failure_of(problem, attempt=details_of(problem)[1], retryable=False) from None
            if not problem.retryable:
                await self._session.failed(call, attempt, said_by(problem))
            raise
        if isinstance(outcome, Ended) and outcome.problem:
            await self._session.failed(call, attempt, outcome.problem)
        else:
            await self._session.done(call, attempt, outcome)
        if isinstance(outcome, Asks) and not outcome.has_acted:
            raise asking(outcome, call.path)
        return outcome


def _lasted(began: float) -> float:
    """Return how long a local activity took; 0 for any other, of which no workflow task waits for the end."""
    return time.monotonic() - began if activity.info().is_local else 0.0


def this_attempt(tried: int = 0) -> Attempt:
    """Return the attempt that is running now, numbered after earlier ones that its activity does not count."""
    info = activity.info()
    if info.workflow_id is None:
        raise ApplicationError("a step runs inside a task's workflow only", non_retryable=True)
    return Attempt(
        workflow_id=info.workflow_id,
        owner=uuid.uuid4().hex,
        number=info.attempt + tried,
        scheduled_at=info.scheduled_time,
        started_at=info.started_time,
        cut=QUICK_SECONDS if info.is_local else None,
        report=beats(),
        lets_end=_is_asked_to_stop,
    )


def given_of(call: RecallCall | RememberCall) -> Value:
    """Return the arguments that a model gave; those of a skill's step are in the step itself."""
    return call.scope.inputs.get("given", Value(inline={}))


def made(outcome: Ended | Asks, path: str) -> Ended:
    """Return what came of a call of memory.

    Raises:
        ApplicationError: A person is asked first; see ``asking``.
    """
    if isinstance(outcome, Asks):
        raise asking(outcome, path)
    return outcome


def asking(asks: Asks, path: str) -> ApplicationError:
    """Return the failure of an activity that does not act before a person has answered: benign, and not retried.

    Its message has no content; the question, and what the step needs to go on, travel in its details.
    """
    is_unknown = asks.question.kind is QuestionKind.UNKNOWN_EFFECT
    what = "whether an earlier attempt acted" if is_unknown else "whether it may act"
    return ApplicationError(
        f"{path}: did not act, as a person is asked {what}",
        *details(),
        asks.model_dump_json(),
        type=Asks.__name__,
        non_retryable=True,
        category=ApplicationErrorCategory.BENIGN,
    )


def _is_asked_to_stop() -> bool:
    """Return whether the task of this attempt is cancelled, and not its worker, which would leave it to another one."""
    why = activity.cancellation_details()
    return why is not None and why.cancel_requested
